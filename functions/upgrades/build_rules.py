"""The rule about images that KMM builds and signs in the cluster, which it does only where the registry lacks them.

Source: KMM v2.6.0 and main (de3f8c9), internal/controllers/mic_reconciler.go: an image that exists is neither built nor
signed. Another imageRebuildTriggerGeneration makes KMM forget what it knows of an image and look for it again; one that
it finds stays as it is (39 of 39 recorded changes).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from krmfn import Field, KrmfnError, Manifest, Result, warning
from krmfn.printing import some
from krmfn.resource import ref
from krmfn.results import Rule
from krmfn.typed import Any

from ..kmm.lookup import has, table, tables, text, texts
from ..kmm.module import CONTAINER, HUB_KIND, MAPPINGS, Module, module_of
from ..kmm.resolution import compared_fields, resolver
from .impact import SHOWN, Impact, Kernels, mapped_kernels

_FILE, _SIGN, _IMAGE = "the Dockerfile", "what is signed", "containerImage"
_SIGNED = ("unsignedImage", "keySecret", "certSecret")
Files = Mapping[tuple[str, str], str]
"""Dockerfiles by the namespace and name of their ConfigMaps."""
Recipe = Mapping[str, Any]
"""What an image is built and signed from, part by part."""


def builds_have_names(impact: Impact) -> Iterator[Result]:
    """Yield a warning per Module whose images keep their names though they are built or signed from something else."""
    if not impact.plan.changes:
        return
    files = _dockerfiles(impact.plan.old), _dockerfiles(impact.plan.new)
    before = {ref(manifest).id: module for manifest in impact.plan.old if (module := module_of(manifest))}
    for manifest in impact.plan.new:
        new, old = module_of(manifest), before.get(ref(manifest).id)
        if not (new and old) or not any(module.holds("build", "sign") for module in (old, new)):
            continue
        known_kernels, changed = impact.kernels_of(ref(manifest)), dict[Kernels, list[str]]()
        old_files, new_files = (_of_module(manifest, new, of_side) for of_side in files)
        is_known = known_kernels is not None
        for kernels in _known_kernels(old, new, known_kernels or ()) if is_known else _mapped_kernels(old, new):
            recipes = _recipe(old, kernels.old, old_files), _recipe(new, kernels.new or 0, new_files)
            if parts := _changed_parts(*recipes):
                changed[kernels] = parts
        if changed:
            yield _old_image_stays(new, changed, is_known)._replace(ref=ref(manifest))


def _old_image_stays(module: Module, changed: Mapping[Kernels, Sequence[str]], is_known: bool) -> Result:
    """Return the finding; `changed` has the parts that changed, by the kernels whose image is made from them.

    `is_known` says whether these are the kernels of nodes; else each stands for all that a mapping takes.
    """
    parts = dict.fromkeys(part for parts in changed.values() for part in parts)
    position = next(iter(changed)).new or 0
    path = f"{MAPPINGS}[{position}]" if text(module.mappings[position], _IMAGE) else CONTAINER
    names = some([kernels.text for kernels in changed], len(changed), SHOWN)
    affected = f"{'kernel' if len(changed) == 1 else 'kernels'} {names}" if is_known else f"kernels of {names}"
    message = (
        f"{' and '.join(parts)}, but the image keeps its name: KMM makes only what the registry lacks, so the "
        f"old one stays in use for {affected}"
    )
    return warning(message, field=Field(f"{path}.{_IMAGE}"))


def _mapped_kernels(old: Module, new: Module) -> Iterator[Kernels]:
    """Yield the kernels that take a mapping before and after the change, with one image."""
    for kernels in mapped_kernels(old, new):
        if kernels.new is not None:
            pairs = ((old, kernels.old), (new, kernels.new))
            before, after = (compared_fields(module, module.mappings[index]) for module, index in pairs)
            if before[_IMAGE] == after[_IMAGE]:
                yield kernels


def _known_kernels(old: Module, new: Module, kernels: Iterable[str]) -> Iterator[Kernels]:
    """Yield the kernels of nodes that take a mapping before and after the change, with one image."""
    resolvers = resolver(old), resolver(new)
    for kernel in sorted(kernels):
        try:
            before, after = (resolve(kernel) for resolve in resolvers)
        except KrmfnError:  # KMM fails on it, and builds nothing
            continue
        if before.mapping is not None and after.mapping is not None and before.image == after.image:
            yield Kernels(kernel, before.mapping, after.mapping)


def _dockerfiles(manifests: Iterable[Manifest]) -> Files:
    """Return the Dockerfiles in ConfigMaps."""
    maps = (manifest for manifest in manifests if manifest.get("kind") == "ConfigMap")
    return {ref(manifest)[2:]: text(table(manifest, "data"), "dockerfile") for manifest in maps}


def _of_module(manifest: Manifest, module: Module, files: Files) -> Mapping[str, str]:
    """Return the Dockerfiles that a Module can name, by name: those of its namespace.

    A hub builds in the namespace of its operator, which the input does not tell: a name that only one ConfigMap has.
    """
    if manifest.get("kind") == HUB_KIND:
        number = Counter(name for _, name in files)
        return {name: file for (_, name), file in files.items() if number[name] == 1}
    return {name: file for (namespace, name), file in files.items() if namespace == module.ref.namespace}


def _recipe(module: Module, index: int, files: Mapping[str, str]) -> Recipe:
    """Return what the image of a mapping is built and signed from, merged as KMM does; pull settings are left out."""
    entry = module.mappings[index]
    holders = (module.container, entry)
    builds, signs = ([table(holder, kind) for holder in holders] for kind in ("build", "sign"))
    recipe: dict[str, Any] = {}
    if any(has(holder, "build") for holder in holders):
        names = [name for build in builds if (name := text(table(build, "dockerfileConfigMap"), "name"))]
        recipe[_FILE] = names[-1:], files.get("".join(names[-1:]))
        arguments = [argument for build in builds for _, argument in tables(build, "buildArgs")]
        recipe["the build arguments"] = {text(argument, "name"): text(argument, "value") for argument in arguments}
    if any(has(holder, "sign") for holder in holders):
        merged = {key: sign[key] for sign in signs for key in _SIGNED if sign.get(key)}
        recipe[_SIGN] = merged, [file for sign in signs for file in texts(sign, "filesToSign")]
    return recipe


def _changed_parts(old: Recipe, new: Recipe) -> list[str]:
    """Return in words which parts differ between two recipes."""
    sections = {"build": _FILE, "sign": _SIGN}
    words = [f"`{name}` is new" for name, part in sections.items() if part in new and part not in old]
    words += [f"`{name}` is gone" for name, part in sections.items() if part in old and part not in new]
    changed = [part for part in old if part in new and old[part] != new[part]]
    if _FILE in changed:
        (old_name, old_file), (new_name, new_file) = old[_FILE], new[_FILE]
        # by the texts where both are known, else by the names of the ConfigMaps
        if old_file == new_file if old_file and new_file else old_name == new_name:
            changed.remove(_FILE)
    return [*words, *(f"{part} changed" for part in changed)]


RULES = (
    Rule(
        "KRM412",
        "an image that is built or signed in the cluster should get another name when what it is made from changes",
        good="""\
# before
spec:
  driverVersion: "1.0"
  build: {dockerfileConfigMap: {name: gpu}, buildArgs: [{name: OPTIONS, value: a}]}
---
# after
spec:
  driverVersion: "1.1"
  build: {dockerfileConfigMap: {name: gpu}, buildArgs: [{name: OPTIONS, value: b}]}
""",
        bad="""\
# before
spec: {build: {dockerfileConfigMap: {name: gpu}, buildArgs: [{name: OPTIONS, value: a}]}}
---
# after
spec: {build: {dockerfileConfigMap: {name: gpu}, buildArgs: [{name: OPTIONS, value: b}]}}
""",
        remedy="Change the image's tag with what it is made from. Or delete the image from the registry first. "
        "Leave `imageRebuildTriggerGeneration` as it is: it rebuilds nothing while the image exists.",
        check=builds_have_names,
        severities=("warning",),
        advice=True,
    ),
)
