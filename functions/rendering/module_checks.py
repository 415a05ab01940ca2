"""What the cluster would say to every Module of a run, generated or written by hand, and what is turned off of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from krmfn import Item, Manifest, Ref, ResourceList, Result, warning
from krmfn.resource import ref
from krmfn.results import Field

from .. import kmm
from ..kmm import lints
from ..kmm.lookup import listing, table
from ..kmm.webhook import admission
from .function_config import Settings
from .generated import Generated

IGNORE = "krmfn.dev/ignore"
"""Annotation on a Module or on the resource it is made from: `KRM204: why; KRM209: why`."""


def kernels(resources: ResourceList, modules: Iterable[Manifest]) -> list[str]:
    """The distinct kernel versions of the Nodes in the list, sorted; [] when no Module has mappings to choose from."""
    if not any(len(_mappings(module)) > 1 for module in modules):
        return []
    found = {item.string("status", "nodeInfo", "kernelVersion") for item in resources.select("Node", "")}
    return sorted(found - {""})


def handwritten(resources: ResourceList, items: Sequence[Item], settings: Settings, lint: bool) -> Iterator[Result]:
    """Yield the findings about Modules that this run does not generate; `lint` for more than refusals."""
    real = kernels(resources, (item.manifest for item in items)) if lint else []
    for item in items:
        found = kmm.check(item.manifest, settings.kmm_version, real)
        if not lint:
            found = [finding for finding in found if finding.severity == "error"]
        yield from kept((item.located(finding) for finding in found), item, settings)


def generated(
    resources: ResourceList, children: Iterable[Generated], settings: Settings, answered: Collection[str] = ()
) -> Iterator[tuple[Ref, Result]]:
    """Yield the findings about generated Modules and pods, each with the resource that its object is made from.

    A finding stands at the field that caused it, where one field did. `answered` are lints whose question the
    resource's own rules have put and had answered.

    Their structure is right by construction (the end-to-end tests ask a real API server), but for fields that the
    cluster's KMM does not have yet; what users decide about them is not: names, regexps, images, loading orders.
    """
    children = list(children)
    real = kernels(resources, (module for child in children if (module := _module(child.manifest)) is not None))
    for child in children:
        found = _judged(child.manifest, settings.kmm_version, real)
        told = (_at_origin(child, finding) for finding in found if finding.rule not in answered)
        for finding in kept(told, child.item, settings):
            yield child.owner, finding


def _unknown(module: Manifest, version: str) -> list[Result]:
    """Fields that this KMM version does not have: it would drop them."""
    spec = module["spec"]
    if "dra" not in spec and "automountServiceAccountToken" not in spec.get("devicePlugin", {}):
        return []  # all others are in every version that we know
    from ..kmm.crd import structure  # here, for the start-up of the others

    return [finding for finding in structure.check(module, version) if finding.rule == "KMM051"]


def _at_origin(child: Generated, finding: Result) -> Result:
    found = child.origin(finding)
    if found:
        return found._replace(message=f"in the generated {child.manifest['kind']}: {found.message}")
    message = f"generated from {child.owner}: {finding.message}"
    return finding._replace(ref=ref(child.manifest), place=child.item.place, message=message)


def _judged(manifest: Manifest, version: str, real: Sequence[str]) -> Iterator[Result]:
    """The findings about one generated object."""
    module = _module(manifest)
    if module is not None:
        yield from _unknown(module, version)
        yield from admission.check(module, version)
        yield from lints.check(module, version, real)
    elif manifest["kind"] == "DaemonSet":
        yield from lints.check_pods(manifest)


def _mappings(module: Manifest) -> list[object]:
    return listing(table(module, "spec", "moduleLoader", "container"), "kernelMappings") or []


def together(manifests: Sequence[Manifest]) -> list[Result]:
    """The findings about Modules that meet on nodes: those that remove what another one loads."""
    return lints.across([module for module in manifests if module["kind"] == "Module"])


def _module(manifest: Manifest) -> Manifest | None:
    """The Module to check; of a ManagedClusterModule the one that each spoke gets, since the hub does not check it."""
    if manifest["kind"] == "Module":
        return manifest
    if manifest["kind"] != "ManagedClusterModule":
        return None
    metadata = {"name": manifest["metadata"]["name"], "namespace": manifest["spec"]["spokeNamespace"]}
    return {"kind": "Module", "metadata": metadata, "spec": manifest["spec"]["moduleSpec"]}


def kept(findings: Iterable[Result], item: Item | None, settings: Settings) -> Iterator[Result]:
    """The findings without those that are turned off, for this item or in the functionConfig.

    What keeps a manifest from being made or taken stays: the refusals of the cluster, and errors about our own kinds.
    """
    off = dict(settings.ignore)
    text = item.annotations.get(IGNORE, "") if item and item.mentions(IGNORE) else ""
    for entry in filter(str.strip, text.split(";")):
        rule, _, reason = (part.strip() for part in entry.partition(":"))
        if reason:
            off[rule] = reason
        elif item:
            message = f"{rule} is turned off without a reason; write `{rule}: why`"
            field = Field(f"metadata.annotations[{IGNORE}]", entry.strip())
            yield item.located(warning(message, rule="KRM115", field=field))
    for finding in findings:
        if finding.rule not in off or _stays(finding):
            yield finding


def _stays(finding: Result) -> bool:
    refused = any(key == "admission" for key, _ in finding.tags)
    return refused or (finding.severity == "error" and finding.rule.startswith("KRM1"))
