"""The cluster's checks and the lints for every Module of a run, and the findings that are turned off."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from krmfn import Item, Manifest, Ref, ResourceList, Result, warning
from krmfn.resource import ref
from krmfn.results import Field

from .. import kmm
from ..kmm import lints
from ..kmm.lookup import listing, table
from ..kmm.webhook import admission
from .function_config import FunctionConfig
from .generated import Generated

IGNORE = "krmfn.dev/ignore"
"""Annotation on a Module or on the resource it is made from: `KRM204: why; KRM209: why`."""


def kernels(resources: ResourceList, modules: Iterable[Manifest]) -> list[str]:
    """Return the distinct kernel versions of the Nodes in the list, sorted; [] when no Module has several mappings."""
    if not any(len(_mappings(module)) > 1 for module in modules):
        return []
    versions = {item.string("status", "nodeInfo", "kernelVersion") for item in resources.select("Node", "")}
    return sorted(versions - {""})


def handwritten(resources: ResourceList, items: Sequence[Item], config: FunctionConfig, lint: bool) -> Iterator[Result]:
    """Yield the findings about Modules that this run does not generate; `lint` for more than refusals."""
    real = kernels(resources, (item.manifest for item in items)) if lint else []
    for item in items:
        findings = kmm.check(item.manifest, config.kmm_version, real)
        if not lint:
            findings = [finding for finding in findings if finding.severity == "error"]
        yield from kept((item.located(finding) for finding in findings), item, config)


def generated(
    resources: ResourceList, objects: Iterable[Generated], config: FunctionConfig, answered: Collection[str] = ()
) -> Iterator[tuple[Ref, Result]]:
    """Yield the findings about generated Modules and pods, each with the resource that its object is generated from.

    A finding stands at the field that caused it, where one field did. `answered` are lints that the resource's own
    rules stand for.

    Their structure is right by construction (the end-to-end tests hold it against a real API server), but for fields
    that the cluster's KMM does not have yet. What users decide is not: names, regexps, images, loading orders.
    """
    objects = list(objects)
    real = kernels(resources, (module for one in objects if (module := _module(one.manifest)) is not None))
    for one in objects:
        findings = _judged(one.manifest, config.kmm_version, real)
        at_origin = (_at_origin(one, finding) for finding in findings if finding.rule not in answered)
        for finding in kept(at_origin, one.item, config):
            yield one.owner, finding


def _unknown(module: Manifest, version: str) -> list[Result]:
    """Return the errors about fields that this KMM version does not have and would drop."""
    spec = module["spec"]
    if "dra" not in spec and "automountServiceAccountToken" not in spec.get("devicePlugin", {}):
        return []  # all others are in every version that we know
    from ..kmm.crd import structure  # here, for the start-up of the others

    return [finding for finding in structure.check(module, version) if finding.rule == "KMM051"]


def _at_origin(one: Generated, finding: Result) -> Result:
    moved = one.origin(finding)
    if moved:
        return moved._replace(message=f"in the generated {one.manifest['kind']}: {moved.message}")
    message = f"generated from {one.owner}: {finding.message}"
    return finding._replace(ref=ref(one.manifest), place=one.item.place, message=message)


def _judged(manifest: Manifest, version: str, real: Sequence[str]) -> Iterator[Result]:
    """Yield the findings about one generated object."""
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
    """Return the findings about Modules that meet on nodes: those that remove what another one loads."""
    return lints.across([module for module in manifests if module["kind"] == "Module"])


def _module(manifest: Manifest) -> Manifest | None:
    """Return the Module to check; of a ManagedClusterModule the one for each spoke, which the hub does not check."""
    if manifest["kind"] == "Module":
        return manifest
    if manifest["kind"] != "ManagedClusterModule":
        return None
    metadata = {"name": manifest["metadata"]["name"], "namespace": manifest["spec"]["spokeNamespace"]}
    return {"kind": "Module", "metadata": metadata, "spec": manifest["spec"]["moduleSpec"]}


def kept(findings: Iterable[Result], item: Item | None, config: FunctionConfig) -> Iterator[Result]:
    """Yield the findings that are not turned off, by this item or by the functionConfig.

    What keeps a manifest from being made or taken stays: the refusals of the cluster, and errors about our own kinds.
    """
    off = dict(config.ignore)
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
