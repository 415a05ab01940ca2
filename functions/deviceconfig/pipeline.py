"""The pipeline: check, stop at errors, generate, put the objects into the list."""

from __future__ import annotations

from collections.abc import Iterator

from krmfn import Item, ResourceList, Result, error, schema
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
from ..rendering.reach import reaching
from . import effects, generate, model, profiles, rules
from .model import DeviceConfig


def run(resources: ResourceList, items: list[Item], scope: Scope, later: beside.Beside | None = None) -> None:
    """Render all DeviceConfigs of a list; with any error finding nothing is changed.

    `later` is a function that runs on the list after this one: what it makes anew is left to it.

    What is wrong with one config hides nothing about the others: each goes through the stages as far as it is sound.
    """
    config, problems = function_config.read(resources)
    if items or resources.owned(scope):
        problems += input_checks.partial_view(resources, config)
    if not input_checks.clean(resources, problems):
        return
    resources.report(recognition.check_run(resources, beside.kinds(scope.owners, later), config))
    resources.report(input_checks.repeated(items))

    fitting = [item for item in input_checks.distinct(items) if input_checks.clean(resources, _fit(item))]
    known = [item for item in fitting if input_checks.clean(resources, _profile(item, config))]
    groups = [model.from_item(item, config) for item in known]
    resources.report(profiles.check(resources, groups, config))
    resources.report(_without_effect(items, groups, config))
    judged = [(group, list(module_checks.kept(rules.check_group(group), group[0].item, config))) for group in groups]
    resources.report(
        reaching(((group[0].ref, finding) for group, findings in judged for finding in findings), config.source)
    )
    groups = [group for group, findings in judged if not any(finding.severity == "error" for finding in findings)]

    wanted = [one for group in groups for one in generate.objects(group)]
    names = leftovers.ids([one.manifest for one in wanted])
    left = leftovers.sort_out(resources, scope, config, names)
    of_others = beside.made_anew(resources, later, config)
    written = [
        item for item in leftovers.handwritten(resources, scope, config, left, names) if item.ref.id not in of_others
    ]
    resources.report([*leftovers.findings(left, config), *leftovers.strays(resources, scope, names)])
    resources.report(_written(resources, items, written, config))
    resources.report(_conflicts(resources, [one for group in groups for one in group], written, config))
    resources.report(recognition.check_generated(wanted))

    others = [item.manifest for item in written]
    # An empty selector is confirmed by allNodes (KRM123), so KRM201 is left out.
    resources.report(module_checks.kept(effects.annotations_have_an_effect(wanted, config), None, config))
    findings = module_checks.generated(resources, wanted, config, answered=("KRM201",))
    resources.report(reaching(findings, config.source))
    resources.report(module_checks.together([*(one.manifest for one in wanted), *others]))
    if resources.report(apply.clashes(resources, wanted, scope, config.adopt, of_others)):
        apply.settle(resources, wanted, scope, config, left.kept)


def _without_effect(
    items: list[Item], groups: list[list[DeviceConfig]], config: function_config.FunctionConfig
) -> Iterator[Result]:
    """Yield the findings about fields that are written and have no effect."""
    idle = effects.fields_have_an_effect([one for group in groups for one in group])
    items_by_ref = {one.ref: one.item for group in groups for one in group}
    findings = [
        (ref, finding) for ref, result in idle for finding in module_checks.kept([result], items_by_ref[ref], config)
    ]
    yield from reaching(findings, config.source)
    yield from module_checks.kept(profiles.profiles_are_named(items, config), None, config)
    if len(groups) == len(items):
        yield from module_checks.kept(profiles.defaults_are_used(groups, config), None, config)


def _fit(item: Item) -> Iterator[Result]:
    """Yield the schema's findings, and an error for each repeated key, since readers disagree on which one counts."""
    for path in item.duplicate_keys:
        yield item.located(error("this key stands twice; remove one", rule="KRM102", field=Field(path)))
    for finding in schema.check(item.manifest, schemas.schema(model.SCHEMAS[item.group])):
        yield item.located(finding)


def _profile(item: Item, config: function_config.FunctionConfig) -> list[Result]:
    field = (
        "spec.profile" if "profile" in (item.manifest.get("spec") or {}) else f"metadata.annotations[{model.PROFILE}]"
    )
    return [
        item.located(finding) for finding in function_config.profile_findings(model.profile_of(item), field, config)
    ]


def _conflicts(
    resources: ResourceList, configs: list[DeviceConfig], written: list[Item], config: function_config.FunctionConfig
) -> Iterator[Result]:
    """Yield the conflicts about nodes here, and on a hub's clusters, where only selectors and cluster labels decide."""
    local = [one for one in configs if "hub" not in one.spec]
    generated = {(one.ref.namespace, one.name) for one in local}
    here = [*map(_claim, local), *claims.of_modules(written, generated)]
    yield from exclusivity.check(here, claims.nodes(resources, here), config.exclusivity)
    there = [_hub_claim(one) for one in configs if "hub" in one.spec]
    yield from exclusivity.check(there, None, "off" if config.exclusivity == "off" else "selectors")


def _written(
    resources: ResourceList, items: list[Item], written: list[Item], config: function_config.FunctionConfig
) -> Iterator[Result]:
    """Yield the findings about hand-written Modules; lints too where DeviceConfigs or files are read."""
    lint = bool(items) or "command" in resources.options
    return module_checks.handwritten(resources, written, config, lint)


def _hub_claim(one: DeviceConfig) -> exclusivity.Claim:
    clusters = {f"cluster {key}": value for key, value in one.spec["hub"]["clusterSelector"].items()}
    return _claim(one)._replace(selector={**clusters, **(one.node_selector or {})})


def _claim(one: DeviceConfig) -> exclusivity.Claim:
    return exclusivity.Claim(
        ref=one.ref,
        selector=one.node_selector or {},
        field=one.at("nodeSelector"),
        domain=one.profile,
        kernel_modules=one.kernel_modules,
        pool=one.pool,
        place=one.item.field_place(one.at("nodeSelector")),
    )
