"""The rule about images that KMM builds and signs in the cluster, which it does only where the registry lacks them.

Source: KMM v2.6.0 and main (de3f8c9), internal/controllers/mic_reconciler.go: an image that exists is neither built nor
signed. Another imageRebuildTriggerGeneration makes KMM forget what it knows of an image and look for it again; one that
it finds stays as it is (39 of 39 recorded changes).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from krmfn import Field, KrmfnError, Result, warning
from krmfn.printing import some
from krmfn.resource import ref

from .. import oracles
from ..kmm.lookup import text
from ..kmm.module import CONTAINER, MAPPINGS, Module, module_of
from ..kmm.recipes import DOCKERFILE, SIGNED, Recipe, different_parts, dockerfiles, files_of, recipe_of
from ..kmm.resolution import compared_fields, resolver
from ..rule import Rule
from .impact import SHOWN, Impact, Kernels, builds, mapped_kernels

_IMAGE = "containerImage"


def builds_have_names(impact: Impact) -> Iterator[Result]:
    """Yield a warning per Module whose images keep their names though they are built or signed from something else."""
    if not builds(impact.plan):
        return
    files = dockerfiles(impact.plan.old), dockerfiles(impact.plan.new)
    before = {ref(manifest).id: module for manifest in impact.plan.old if (module := module_of(manifest))}
    for manifest in impact.plan.new:
        new, old = module_of(manifest), before.get(ref(manifest).id)
        if not (new and old) or not any(module.holds("build", "sign") for module in (old, new)):
            continue
        known_kernels, changed = impact.kernels.get(ref(manifest).id), dict[Kernels, list[str]]()
        old_files, new_files = (files_of(manifest, new, of_side) for of_side in files)
        is_known = known_kernels is not None
        for kernels in _known_kernels(old, new, known_kernels or ()) if is_known else _mapped_kernels(old, new):
            recipes = recipe_of(old, kernels.old, old_files), recipe_of(new, kernels.new or 0, new_files)
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
    remedy = "give the image another tag with each such change"
    return warning(message, field=Field(f"{path}.{_IMAGE}"), remedy=remedy)


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


def _changed_parts(old: Recipe, new: Recipe) -> list[str]:
    """Return in words which parts differ between two recipes."""
    sections = {"build": DOCKERFILE, "sign": SIGNED}
    words = [f"`{name}` is new" for name, part in sections.items() if part in new and part not in old]
    words += [f"`{name}` is gone" for name, part in sections.items() if part in old and part not in new]
    return [*words, *(f"{part} changed" for part in different_parts(old, new))]


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
        held=oracles.HISTORIES,
        check=builds_have_names,
        severities=("warning",),
        advice=True,
    ),
)
