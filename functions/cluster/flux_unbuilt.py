"""Folders without a kustomization of which Flux applies nothing, since a YAML file in them is no Kubernetes object.

Its kustomize-controller lists each YAML file of such a folder, those of Helm charts and hidden ones among them, and
stops at the first that kustomize does not take for objects.
Source: fluxcd/pkg kustomize 1.35.6, kustomize_generator.go, scanManifests; kyaml's resource factory, SliceFromBytes.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache

from krmfn import KrmfnError, Place, Result, error
from krmfn.printing import counted
from krmfn.typed import Any

from .. import oracles
from ..deployments.deployment import Deployment
from ..kmm.lookup import table
from ..paths import files
from ..paths.contents import has_resource
from ..rule import Rule
from . import flux_listing
from .deployed import Clusters
from .engines import Engines
from .root_files import may_be_ours


def check(streams: Clusters, top: str) -> None:
    """Report the first file that stops Flux in each folder that holds something of ours.

    `top` is the root of the repository. Where krmfn builds a folder as Flux does, kustomize reports such a file.
    """
    # many clusters may get one folder: its files are read once
    refused, concerns_us = lru_cache(maxsize=None)(_refused), lru_cache(maxsize=None)(_concerns_us)
    for cluster in streams.clusters:
        built = {root.path for root in cluster.roots if root.is_generated}
        for deployment in cluster.deployments:
            real = deployment.real(top)
            if _is_listed(deployment, real) and real not in built and concerns_us(real):
                cluster.final.report(_findings(deployment, refused(real, top, deployment.declaration.ignore)))


def folders_of_others(engines: Engines) -> tuple[str, ...]:
    """Return the folders with nothing of ours of which Flux applies nothing, as far as a look at their files tells."""
    # many clusters may get one folder: its files are read once
    listed = {
        (deployment.path, deployment.real(engines.top), deployment.declaration.ignore): None
        for deployment in engines.deployments
        if _is_listed(deployment, deployment.real(engines.top))
    }
    names = dict[str, None]()
    for path, real, ignore in listed:
        if not _concerns_us(real) and _kept(_without_resource(real), engines.top, ignore):
            names[path] = None
    return tuple(names)


def _is_listed(deployment: Deployment, real: str) -> bool:
    """Return True for a folder for which Flux writes a kustomization."""
    declaration = deployment.declaration
    is_flux = (declaration.engine, declaration.how) == ("flux", "raw")
    return is_flux and os.path.isdir(real) and not flux_listing.has_kustomization(real)


def _concerns_us(real: str) -> bool:
    return any(may_be_ours(path) for path in flux_listing.listed(real) if os.path.isfile(path))


def _without_resource(real: str) -> list[str]:
    """Return the files of a folder that hold something, and nothing like a resource."""
    texts = ((path, _text(path)) for path in flux_listing.listed(real) if os.path.isfile(path))
    return [path for path, text in texts if not has_resource(text) and _holds_something(text)]


def _holds_something(text: bytes) -> bool:
    lines = (line.partition(b"#")[0].strip() for line in text.splitlines())
    return any(line and line != b"---" for line in lines)


def _refused(real: str, top: str, ignore: str) -> tuple[tuple[str, str], ...]:
    """Return each file of a folder that stops Flux, with the reason."""
    reasons = {path: refusal(_text(path)) for path in flux_listing.listed(real) if os.path.isfile(path)}
    kept = _kept([path for path, reason in reasons.items() if reason], top, ignore)
    return tuple((path, reasons[path]) for path in kept)


def _text(path: str) -> bytes:
    """Return the text of a file; b"" for one that cannot be read, which has an error of its own."""
    with suppress(KrmfnError):
        return files.read_regular(path, path)
    return b""


def _kept(paths: list[str], top: str, ignore: str) -> list[str]:
    """Return the files that Flux fetches; none where it is not known."""
    try:
        ignored = {*flux_listing.ignored(top, ignore)} if paths else set[str]()
    except KrmfnError:
        return [] if flux_listing.has_patterns(top, ignore) else paths
    return [path for path in paths if path not in ignored]


def refusal(text: bytes) -> str:
    """Return why kustomize does not take a text for Kubernetes objects; "" where it does."""
    from krmfn.yamltext import documents, load  # imported here: few folders are looked into

    try:
        contents = [load.read(document.text) for document in documents.documents(text)]
    except KrmfnError:
        return "is no YAML"
    return next((reason for content in contents if (reason := _reason(content))), "")


def _reason(content: Any) -> str:
    """Return what a document lacks to be an object; "" for one, and for an empty document."""
    if content is None or content == {}:
        return ""
    if not isinstance(content, dict) or not content.get("kind"):
        return "has no kind"
    if str(content["kind"]).endswith("List") and isinstance(content.get("items"), list):
        return next((reason for item in content["items"] if (reason := _reason(item))), "")
    return "" if table(content, "metadata").get("name") else "has no metadata.name"


def _findings(deployment: Deployment, refused: tuple[tuple[str, str], ...]) -> Iterator[Result]:
    """Yield the error about the first file that stops Flux, which counts the others."""
    for path, reason in refused[:1]:
        others = f", nor are {counted(len(refused) - 1, 'more file')}" if refused[1:] else ""
        message = (
            f"it {reason}, so it is no Kubernetes object{others}: Flux fails on it, and applies nothing of "
            f"{deployment.path}, which has no kustomization.yaml"
        )
        remedy = "write a kustomization.yaml there that lists the manifests, or name the file in .sourceignore"
        yield error(message, rule="KRM538", place=Place(os.path.relpath(path)), remedy=remedy)


_GOOD = """\
# clusters/lab/drivers.yaml
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: drivers, namespace: flux-system}
spec: {path: ./drivers, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
---
# drivers/module.yaml
kind: Module
"""
RULES = (
    Rule(
        "KRM538",
        "each YAML file in a folder that Flux applies without a kustomization.yaml must hold Kubernetes objects",
        good=_GOOD,
        bad=f"{_GOOD}---\n# drivers/values.yaml\nsize: 1\n",
        remedy="Write a kustomization.yaml there that lists the manifests, or name the file in .sourceignore.",
        held=oracles.FLUX_FOLDERS,
    ),
)
"""The rule about folders that Flux cannot build."""
