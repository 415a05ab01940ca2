"""What KMM builds and signs an image from: the sections of the container and of a mapping, merged as KMM does.

Source: KMM v2.6.0 and main (de3f8c9), internal/module/kernelmapper.go, internal/build and internal/sign.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from krmfn import Manifest
from krmfn.resource import ref
from krmfn.typed import Any, NamedTuple

from .lookup import has, table, tables, text, texts
from .module import HUB_KIND, Module

DOCKERFILE, ARGUMENTS, SIGNED = "the Dockerfile", "the build arguments", "what is signed"
"""The parts of a recipe, in words."""
KEY = "dockerfile"
"""The key of the ConfigMap that KMM reads."""
_SIGN_FIELDS = ("unsignedImage", "keySecret", "certSecret")
Recipe = Mapping[str, Any]
"""What an image is built and signed from, part by part; empty for one that is only pulled."""


class Files(NamedTuple):
    """The Dockerfiles in ConfigMaps; "" for a ConfigMap without one."""

    of_namespaces: Mapping[str, Mapping[str, str]]
    """Those of each namespace, by the names of their ConfigMaps."""
    unique: Mapping[str, str]
    """Those of names that only one ConfigMap has, by these names."""


def dockerfiles(manifests: Iterable[Manifest]) -> Files:
    """Return the Dockerfiles in the ConfigMaps among some manifests."""
    of_namespaces: dict[str, dict[str, str]] = {}
    for manifest in manifests:
        if manifest.get("kind") == "ConfigMap":
            name = ref(manifest)
            of_namespaces.setdefault(name.namespace, {})[name.name] = text(table(manifest, "data"), KEY)
    number = Counter(name for of_namespace in of_namespaces.values() for name in of_namespace)
    pairs = (pair for of_namespace in of_namespaces.values() for pair in of_namespace.items())
    return Files(of_namespaces, {name: file for name, file in pairs if number[name] == 1})


def files_of(manifest: Manifest, module: Module, files: Files) -> Mapping[str, str]:
    """Return the Dockerfiles that a Module can name, by name: those of its namespace.

    A hub builds in the namespace of its operator, which the input does not tell: a name that only one ConfigMap has.
    """
    return files.unique if manifest.get("kind") == HUB_KIND else files.of_namespaces.get(module.ref.namespace, {})


def recipe_of(module: Module, index: int, files: Mapping[str, str]) -> Recipe:
    """Return what the image of a mapping is built and signed from; pull settings are left out."""
    holders = (module.container, module.mappings[index])
    builds, signs = ([table(holder, kind) for holder in holders] for kind in ("build", "sign"))
    recipe: dict[str, Any] = {}
    if any(has(holder, "build") for holder in holders):
        names = [name for build in builds if (name := text(table(build, "dockerfileConfigMap"), "name"))]
        recipe[DOCKERFILE] = names[-1:], files.get("".join(names[-1:]))
        arguments = [argument for build in builds for _, argument in tables(build, "buildArgs")]
        recipe[ARGUMENTS] = {text(argument, "name"): text(argument, "value") for argument in arguments}
    if any(has(holder, "sign") for holder in holders):
        merged = {key: sign[key] for sign in signs for key in _SIGN_FIELDS if sign.get(key)}
        recipe[SIGNED] = merged, [file for sign in signs for file in texts(sign, "filesToSign")]
    return recipe


def different_parts(recipe: Recipe, other: Recipe) -> list[str]:
    """Return the parts that two recipes have and that differ; Dockerfiles by their texts, where both are known."""
    parts = [part for part in recipe if part in other and recipe[part] != other[part]]
    if DOCKERFILE in parts:
        (name, file), (other_name, other_file) = recipe[DOCKERFILE], other[DOCKERFILE]
        if file == other_file if file and other_file else name == other_name:
            parts.remove(DOCKERFILE)
    return parts
