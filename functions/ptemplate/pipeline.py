"""The pipeline: check, stop at errors, generate, put the objects into the list."""

from __future__ import annotations

from collections.abc import Iterator

from krmfn import Item, ResourceList, Result, error, info, schema, warning
from krmfn.ownership import Scope
from krmfn.results import Field

from .. import exclusivity
from ..rendering import (
    apply,
    beside,
    claims,
    function_config,
    input_checks,
    leftovers,
    module_checks,
    recognition,
    schemas,
)
from ..rendering.kinds import OURS, SEED
from .generate import MODULE, generate


def run(
    resources: ResourceList,
    items: list[Item],
    scope: Scope,
    handled: frozenset[tuple[str, str]],
    earlier: beside.Beside | None = None,
) -> None:
    """Render all Ptemplates of a list; with any error finding nothing is changed.

    `earlier` is a function that has run on the list before this one: what it has made is in the list.
    """
    config, problems = function_config.read(resources)
    problems += input_checks.partial_view(resources, config)
    if not input_checks.clean(resources, problems):
        return
    read = beside.kinds(handled, earlier)
    resources.report([*recognition.check_run(resources, read, config), *input_checks.repeated(items)])
    resources.report(_without_effect(resources, config))

    sound = [
        item for item in input_checks.distinct(items) if input_checks.clean(resources, [*_fit(item, config.namespace)])
    ]
    wanted = [one for item in sound for one in generate(item, config.namespace, config.annotations)]
    names = leftovers.ids([one.manifest for one in wanted])
    left = leftovers.sort_out(resources, scope, config, names)
    resources.report([*leftovers.findings(left, config), *leftovers.strays(resources, scope, names)])
    modules = [item for item in left.kept if item.kind == "Module"]
    resources.report(module_checks.handwritten(resources, modules, config, lint=True))
    to_be = {(item.ref.namespace or config.namespace, item.ref.name) for item in sound}
    written = leftovers.handwritten(resources, scope, config, left, names)
    others = claims.of_modules(written, to_be)
    if earlier:  # it has judged the Modules among themselves
        others = [claim for claim in others if {name.replace("-", "_") for name in claim.kernel_modules} == {MODULE}]
    wishes = [*map(_claim, sound), *others]
    resources.report(exclusivity.check(wishes, claims.nodes(resources, wishes), config.exclusivity))
    resources.report(recognition.check_generated(wanted))
    resources.report([*_counts(sound), *(finding for _, finding in module_checks.generated(resources, wanted, config))])
    of_others = beside.made_anew(resources, earlier, config)
    if resources.report(apply.clashes(resources, wanted, scope, config.adopt, of_others)):
        apply.settle(resources, wanted, scope, config, left.kept)


def _without_effect(resources: ResourceList, config: function_config.FunctionConfig) -> Iterator[Result]:
    """Yield findings about values for DeviceConfigs when there are none."""
    if not any(item.group in (OURS, SEED) for item in resources.select("DeviceConfig")):
        for name, there in (("defaults", config.defaults), ("profiles", config.profiles)):
            if there:
                message = "has no effect: it is for DeviceConfigs, and there are none"
                yield config.source.located(info(message, rule="KRM142", field=Field(f"spec.{name}")))


def _fit(item: Item, namespace: str) -> Iterator[Result]:
    for path in item.duplicate_keys:
        yield item.located(error("this key stands twice; remove one", rule="KRM102", field=Field(path)))
    for finding in schema.check(item.manifest, schemas.schema("ptemplate")):
        yield item.located(_with_guide_name(finding))
    if not (item.ref.namespace or namespace):
        message = "has no namespace; it is part of the label that KMM puts on nodes"
        yield item.located(error(message, rule="KRM120", field=Field("metadata.namespace")))


_GUIDE_NAMES = {"spec.consumerimage": "spec.consumer", "spec.imageRepoSecret": "spec.imagePullSecret"}


def _with_guide_name(finding: Result) -> Result:
    """Return the finding with the CRD's name for a field that the operator's guides misspell."""
    path = finding.field.path if finding.field else ""
    if path in _GUIDE_NAMES:
        return finding._replace(message=f"unknown field {path}; did you mean {_GUIDE_NAMES[path]}?")
    if path == "apiVersion":
        return finding._replace(message=f"{finding.message} (guides of the operator spell it otherwise)")
    return finding


def _counts(items: list[Item]) -> Iterator[Result]:
    """Yield warnings where pods request more devices than a node has (a maxdev below 1 counts as 1)."""
    for item in items:
        spec = item.manifest["spec"]
        devices, needed = spec.get("maxdev") or 5, spec.get("requiredDevices") or 1
        if needed > devices:
            message = (
                f"each consumer requires {needed} devices and a node has {devices} (maxdev): no pod is ever scheduled"
            )
            yield item.located(warning(message, rule="KRM141", field=Field("spec.requiredDevices", needed)))


def _claim(item: Item) -> exclusivity.Claim:
    selector = item.manifest["spec"]["selector"]
    return exclusivity.Claim(item.ref, selector, "spec.selector", None, frozenset({MODULE}), "", item.place)
