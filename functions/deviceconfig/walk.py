"""The walk: check, stop if anything is wrong, generate, put in place."""

from __future__ import annotations

from collections.abc import Iterator

from krmfn import Item, ResourceList, Result, error, schema, warning
from krmfn.results import Field

from .. import children, claims, exclusivity, settings
from ..owners import Owners
from ..published import schema as published
from . import generate, model, rules
from .model import DeviceConfig


def walk(resources: ResourceList, items: list[Item], owners: Owners) -> None:
    """All DeviceConfigs of a list to their children; with any error finding nothing is changed."""
    config, problems = settings.read(resources)
    problems += children.partial_view(resources, config)
    if not resources.report([*problems, *_fit(items), *children.repeated(items), *_marked(items)]):
        return

    profiles = [finding for item in items for finding in _profile(item, config)]
    configs = [model.from_item(item, config) for item in items]
    if not resources.report([*profiles, *(finding for one in configs for finding in rules.check(one))]):
        return

    wishes = [*map(_claim, configs), *claims.of_modules(resources, owners)]
    if not resources.report(exclusivity.check(wishes, claims.nodes(resources, wishes), config.exclusivity)):
        return

    wanted = [child for one in configs for child in generate.children(one)]
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


def _claim(one: DeviceConfig) -> exclusivity.Claim:
    return exclusivity.Claim(
        ref=one.ref,
        selector=one.node_selector or {},
        domain=one.profile,
        kernel_modules=frozenset({one.module_name}),
        place=one.item.field_place("spec.nodeSelector"),
    )
