"""Rules about what KMM builds and signs in the cluster: it does so only where the registry lacks the image.

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
from .impact import SHOWN, Impact, served

_FILE, _IMAGE = "the Dockerfile", "containerImage"
_SIGNED = ("unsignedImage", "keySecret", "certSecret")
_TRIGGER = "imageRebuildTriggerGeneration"
Files = Mapping[tuple[str, str], str]
"""Dockerfiles by the namespace and name of their ConfigMaps."""


def builds_have_names(impact: Impact) -> Iterator[Result]:
    """Yield a warning per Module whose images are built or signed from something else and keep their names."""
    if not impact.plan.changes:
        return
    files, later = _dockerfiles(impact.plan.old), _dockerfiles(impact.plan.new)
    before = {ref(manifest).id: module for manifest in impact.plan.old if (module := _made_here(manifest))}
    for manifest in impact.plan.new:
        new, old = _made_here(manifest), before.get(ref(manifest).id)
        if not (new and old) or new.spec.get(_TRIGGER) != old.spec.get(_TRIGGER):
            continue
        staying = ((kernel, kernel.new) for kernel in served(old, new) if kernel.new is not None)
        recipes = ((kernel, _recipe(old, kernel.old, files), _recipe(new, at, later)) for kernel, at in staying)
        remade = [(kernel, others) for kernel, was, now in recipes if (others := _others(was, now))]
        if remade:
            kernels = [kernel.kernels for kernel, _ in remade]
            changed = dict.fromkeys(part for _, others in remade for part in others)
            first = remade[0][0].new or 0
            path = f"{MAPPINGS}[{first}]" if text(new.mappings[first], "containerImage") else CONTAINER
            message = (
                f"{' and '.join(changed)} changed, but the image keeps its name: KMM builds and signs only what the "
                "registry lacks, so the image that is there stays in use for kernels of "
                f"{some(kernels, len(kernels), SHOWN)}"
            )
            yield warning(message, ref=ref(manifest), field=Field(f"{path}.containerImage"))


def _made_here(manifest: Manifest) -> Module | None:
    module = module_of(manifest)
    return module if module and module.holds("build", "sign") else None


def _dockerfiles(manifests: Iterable[Manifest]) -> Files:
    """Return the Dockerfiles in ConfigMaps."""
    maps = (manifest for manifest in manifests if manifest.get("kind") == "ConfigMap")
    return {ref(manifest)[2:]: text(table(manifest, "data"), "dockerfile") for manifest in maps}


def _recipe(module: Module, index: int, files: Files) -> dict[str, Any]:
    """Return what the image of a mapping is made from, merged as KMM does; what is needed to pull is no part of it."""
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


def _others(recipe: Mapping[str, Any], other_recipe: Mapping[str, Any]) -> list[str]:
    """Return which parts of two recipes for an image of the same name differ; of another name none."""
    changed = [part for part in recipe if part in other_recipe and recipe[part] != other_recipe[part]]
    if _FILE in changed:
        (name, file), (other_name, other_file) = recipe[_FILE], other_recipe[_FILE]
        # by the texts where both are known, else by the names of the ConfigMaps
        if file == other_file if file and other_file else name == other_name:
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
