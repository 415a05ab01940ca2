"""The walk: check, stop if anything is wrong, generate, put in place."""

from __future__ import annotations

from collections.abc import Iterator

from krmfn import Item, ResourceList, Result, error, schema, warning
from krmfn.results import Field

from .. import admission, children, claims, exclusivity, settings
from ..owners import Owners, owned
from ..published import schema as published
from . import generate, model, rules
from .model import DeviceConfig


def walk(resources: ResourceList, items: list[Item], owners: Owners) -> None:
    """All DeviceConfigs of a list to their children; with any error finding nothing is changed."""
    config, problems = settings.read(resources)
    if items or owned(resources, owners):
        problems += children.partial_view(resources, config)
    if not resources.report([*problems, *_fit(items), *children.repeated(items), *_marked(items)]):
        return

    profiles = [finding for item in items for finding in _profile(item, config)]
    groups = [model.from_item(item, config) for item in items]
    configs = [one for group in groups for one in group]
    if not resources.report([*profiles, *(finding for one in configs for finding in rules.check(one))]):
        return

    if not resources.report(
        [*_conflicts(resources, configs, owners, config), *_written(resources, items, owners, config)]
    ):
        return

    wanted = [child for group in groups for child in generate.children(group)]
    modules = [item.manifest for item in admission.written(resources, owners)]
    met = admission.together([*(child.manifest for child in wanted), *modules])
    if not resources.report([*admission.generated(resources, wanted, config), *met]):
        return
    if not resources.report(children.clashes(resources, wanted, owners, config.adopt)):
        return
    children.settle(resources, wanted, owners, config.prune)


def _fit(items: list[Item]) -> Iterator[Result]:
    """The schema's findings; a key that stands twice is one too, since readers disagree on which counts."""
    for item in items:
        for path in item.duplicate_keys:
            yield item.located(error("this key stands twice; remove one", rule="KRM102", field=Field(path)))
        for finding in schema.check(item.manifest, published(model.SCHEMAS[item.ref.group])):
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
    here = [*(_claim(one) for one in configs if "hub" not in one.spec), *claims.of_modules(resources, owners)]
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
