"""The rule about images that KMM builds and signs in the cluster, which it does only where the registry lacks them.

Source: KMM v2.6.0 and main (2026-07-29), ModuleImagesConfig controller: an image that exists is neither built nor
signed, unless imageRebuildTriggerGeneration changes.
"""

from collections.abc import Iterable, Iterator, Mapping

from krmfn import Field, Manifest, Result, warning
from krmfn.printing import some
from krmfn.resource import ref
from krmfn.results import Rule
from krmfn.typed import Any

from ..kmm.lookup import has, table, tables, text, texts
from ..kmm.module import CONTAINER, MAPPINGS, Module, module_of
from ..kmm.resolution import compared_fields
from .impact import SHOWN, Impact, Kernels, mapped_kernels

_FILE, _IMAGE = "the Dockerfile", "containerImage"
_SIGNED = ("unsignedImage", "keySecret", "certSecret")
_TRIGGER = "imageRebuildTriggerGeneration"
Files = Mapping[tuple[str, str], str]
"""Dockerfiles by the namespace and name of their ConfigMaps."""


def builds_have_names(impact: Impact) -> Iterator[Result]:
    """Yield a warning per Module whose images keep their names though they are built or signed from something else."""
    if not impact.plan.changes:
        return
    old_files, new_files = _dockerfiles(impact.plan.old), _dockerfiles(impact.plan.new)
    before = {ref(manifest).id: module for manifest in impact.plan.old if (module := _built_module(manifest))}
    for manifest in impact.plan.new:
        new, old = _built_module(manifest), before.get(ref(manifest).id)
        if not (new and old) or new.spec.get(_TRIGGER) != old.spec.get(_TRIGGER):
            continue
        changes: dict[Kernels, list[str]] = {}
        for kernels in mapped_kernels(old, new):
            if kernels.new is not None:
                recipe, new_recipe = _recipe(old, kernels.old, old_files), _recipe(new, kernels.new, new_files)
                if parts := _changed_parts(recipe, new_recipe):
                    changes[kernels] = parts
        if changes:
            names = dict.fromkeys(name for parts in changes.values() for name in parts)
            position = next(iter(changes)).new or 0
            path = f"{MAPPINGS}[{position}]" if text(new.mappings[position], "containerImage") else CONTAINER
            affected = some([kernels.text for kernels in changes], len(changes), SHOWN)
            message = (
                f"{' and '.join(names)} changed, but the image keeps its name: KMM builds and signs only what the "
                f"registry lacks, so the image that is there stays in use for kernels of {affected}"
            )
            yield warning(message, ref=ref(manifest), field=Field(f"{path}.containerImage"))


def _built_module(manifest: Manifest) -> Module | None:
    """Return the Module of a manifest if KMM builds or signs images for it."""
    module = module_of(manifest)
    return module if module and module.holds("build", "sign") else None


def _dockerfiles(manifests: Iterable[Manifest]) -> Files:
    """Return the Dockerfiles in ConfigMaps."""
    maps = (manifest for manifest in manifests if manifest.get("kind") == "ConfigMap")
    return {ref(manifest)[2:]: text(table(manifest, "data"), "dockerfile") for manifest in maps}


def _recipe(module: Module, index: int, files: Files) -> dict[str, Any]:
    """Return what the image of a mapping is built and signed from, merged as KMM does; pull settings are left out."""
    entry = module.mappings[index]
    holders = (module.container, entry)
    builds, signs = ([table(holder, kind) for holder in holders] for kind in ("build", "sign"))
    recipe: dict[str, Any] = {_IMAGE: compared_fields(module, entry)[_IMAGE]}
    if any(has(holder, "build") for holder in holders):
        names = [name for build in builds if (name := text(table(build, "dockerfileConfigMap"), "name"))]
        recipe[_FILE] = names[-1:], files.get((module.ref.namespace, "".join(names[-1:])))
        arguments = [argument for build in builds for _, argument in tables(build, "buildArgs")]
        recipe["the build arguments"] = {text(argument, "name"): text(argument, "value") for argument in arguments}
    if any(has(holder, "sign") for holder in holders):
        merged = {key: sign[key] for sign in signs for key in _SIGNED if sign.get(key)}
        recipe["what is signed"] = merged, [file for sign in signs for file in texts(sign, "filesToSign")]
    return recipe


def _changed_parts(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Return the parts that differ between two recipes for an image of one name; none where its name differs."""
    changed = [part for part in old if part in new and old[part] != new[part]]
    if _FILE in changed:
        (old_name, old_file), (new_name, new_file) = old[_FILE], new[_FILE]
        # by the texts where both are known, else by the names of the ConfigMaps
        if old_file == new_file if old_file and new_file else old_name == new_name:
            changed.remove(_FILE)
    return [] if _IMAGE in changed else changed


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
        remedy="Change the image's tag with what it is made from. Or set another `imageRebuildTriggerGeneration` in a "
        "hand-written Module (KMM 2.6+).",
        check=builds_have_names,
        severities=("warning",),
        advice=True,
    ),
)
