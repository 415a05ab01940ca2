"""The walk: check, stop if anything is wrong, generate, put in place."""

from __future__ import annotations

from collections.abc import Iterator

from krmfn import Item, ResourceList, Result, error, schema, warning
from krmfn.results import Field

from .. import admission, children, claims, exclusivity, settings
from ..owners import Owners, owned, written
from ..published import schema as published
from . import generate, model, rules
from .model import DeviceConfig


def walk(resources: ResourceList, items: list[Item], owners: Owners) -> None:
    """All DeviceConfigs of a list to their children; with any error finding nothing is changed.

    What is wrong with one config hides nothing about the others: each goes through the stages as far as it is sound.
    """
    config, problems = settings.read(resources)
    if items or owned(resources, owners):
        problems += children.partial_view(resources, config)
    if not resources.report(problems):
        return
    resources.report([*children.repeated(items), *_marked(items), *_written(resources, items, owners, config)])

    fitting = [item for item in children.distinct(items) if children.clean(resources, _fit(item))]
    known = [item for item in fitting if children.clean(resources, _profile(item, config))]
    groups = [model.from_item(item, config) for item in known]
    groups = [group for group in groups if children.clean(resources, rules.check_group(group))]
    resources.report(_conflicts(resources, [one for group in groups for one in group], owners, config))

    wanted = [child for group in groups for child in generate.children(group)]
    others = [item.manifest for item in written(resources, owners)]
    # An empty selector is confirmed by allNodes (KRM123), so KRM201 does not ask again.
    resources.report(admission.generated(resources, wanted, config, answered=("KRM201",)))
    resources.report(admission.together([*(child.manifest for child in wanted), *others]))
    if resources.report(children.clashes(resources, wanted, owners, config.adopt)):
        children.settle(resources, wanted, owners, config.prune)


def _fit(item: Item) -> Iterator[Result]:
    """The schema's findings; a key that stands twice is one too, since readers disagree on which counts."""
    for path in item.duplicate_keys:
        yield item.located(error("this key stands twice; remove one", rule="KRM102", field=Field(path)))
    for finding in schema.check(item.manifest, published(model.SCHEMAS[item.group])):
        yield item.located(finding)


def _marked(items: list[Item]) -> Iterator[Result]:
    """A warning under kustomize, which deploys what is not marked as local."""
    for item in items:
        notes = item.annotations
        if "kustomize.config.k8s.io/id" in notes and notes.get("config.kubernetes.io/local-config") != "true":
            mark = 'config.kubernetes.io/local-config: "true"'
            message = f"would be deployed with its children; mark it with the annotation {mark}"
            yield item.located(warning(message, rule="KRM104"))


def _profile(item: Item, config: settings.Settings) -> list[Result]:
    field = (
        "spec.profile" if "profile" in (item.manifest.get("spec") or {}) else f"metadata.annotations[{model.PROFILE}]"
    )
    return [item.located(finding) for finding in settings.profile_findings(model.profile_of(item), field, config)]


def _conflicts(
    resources: ResourceList, configs: list[DeviceConfig], owners: Owners, config: settings.Settings
) -> Iterator[Result]:
    """Node exclusivity here, and on the clusters of a hub: there only selectors tell, the clusters' labels included."""
    local = [one for one in configs if "hub" not in one.spec]
    generated = {(one.ref.namespace, one.name) for one in local}
    here = [*map(_claim, local), *claims.of_modules(resources, owners, generated)]
    yield from exclusivity.check(here, claims.nodes(resources, here), config.exclusivity)
    there = [_hub_claim(one) for one in configs if "hub" in one.spec]
    yield from exclusivity.check(there, None, "off" if config.exclusivity == "off" else "selectors")


def _written(resources: ResourceList, items: list[Item], owners: Owners, config: settings.Settings) -> Iterator[Result]:
    """What the cluster says to hand-written Modules; lints too where DeviceConfigs are rendered or files are read."""
    lint = bool(items) or "command" in resources.options
    return admission.handwritten(resources, owners, config, lint)


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
