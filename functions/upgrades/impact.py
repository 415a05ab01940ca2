"""The impact of a plan on nodes: the Modules that change, in which fields, and the workloads that wait for them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from krmfn import Manifest, Ref
from krmfn.plan import ABSENT, Change, FieldChange, Plan, differences
from krmfn.resource import ref

from ..kmm.lookup import has, listing, table, tables, text
from ..kmm.versions import Target
from ..rendering.kinds import HUB_GROUP, MODULE_GROUP
from ..rendering.metadata import ready_label

CONTAINER = "spec.moduleLoader.container"
_IN_TREE = ("inTreeModulesToRemove", "inTreeModuleToRemove")
_OF_CONTAINER = frozenset({"modprobe", "containerImage", "imagePullPolicy", "registryTLS", *_IN_TREE})
_OF_MAPPING = frozenset({"containerImage", "registryTLS", "literal", "regexp", *_IN_TREE})
"""The fields that KMM compares between a node and the Module; a difference is an unload and a load."""


class Step(NamedTuple):
    """The change of one Module, also of one that a ManagedClusterModule brings to every spoke; None where absent."""

    ref: Ref
    """The object in the list."""
    module: Ref
    """The Module on the cluster with the nodes."""
    old: Manifest | None
    new: Manifest | None

    @property
    def versions(self) -> tuple[str, str]:
        """The version of an ordered upgrade before and after; "" without one."""
        before, after = (text(_container(module), "version") for module in (self.old, self.new))
        return before, after

    def lost(self, section: str) -> bool:
        """Return True when the Module stays and this section of its spec is removed."""
        return self.new is not None and has(table(self.old, "spec"), section) and not has(self.new["spec"], section)


class Impact(NamedTuple):
    """A plan, the Modules that it changes, and the workloads after it by the keys of their node labels."""

    plan: Plan
    steps: Sequence[Step]
    holders: Mapping[str, Sequence[Ref]]
    kmm: Target

    def waiting(self, module: Ref) -> list[str]:
        """Return the names of the workloads whose nodes are selected by a label about the Module."""
        named = f"kmm.node.kubernetes.io/{module.namespace}.{module.name}"
        keys = [ready_label(*module[2:]), f"{named}.version.ready", f"{named}.device-plugin-ready"]
        keys.append(version_label(module))
        return list(dict.fromkeys(str(who) for key in keys for who in self.holders.get(key, ())))


def impact_of(plan: Plan, kmm: Target) -> Impact:
    """Return the impact of a plan."""
    holders: dict[str, list[Ref]] = defaultdict(list)
    for manifest in plan.new:
        for key in selected(manifest):
            holders[key].append(ref(manifest))
    return Impact(plan, [step for change in plan.changes if (step := _step(change))], holders, kmm)


def version_label(module: Ref) -> str:
    """Return the label with which an administrator chooses a node's version of the Module."""
    return f"kmm.node.kubernetes.io/version-module.{module.namespace}.{module.name}"


def selected(manifest: Manifest) -> dict[str, str]:
    """Return the node labels that an object's pods select by; of an affinity the keys only."""
    spec = table(manifest, "spec")
    pod = spec if manifest.get("kind") == "Pod" else table(spec, "template", "spec")
    required = table(pod, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    terms = [term for _, term in tables(required, "nodeSelectorTerms")]
    keys = {text(wish, "key"): "" for term in terms for _, wish in tables(term, "matchExpressions")}
    return keys | {key: str(value) for key, value in table(pod, "nodeSelector").items()}


def reloads(step: Step) -> list[FieldChange]:
    """Return the changed fields for which KMM unloads and loads on nodes that have the module."""
    old, new = _container(step.old), _container(step.new)
    if not old or not new:
        return []
    count = len(listing(old, "kernelMappings") or [])
    return [field for field in differences(old, new, tuple(CONTAINER.split("."))) if _counts(field, count)]


def _counts(field: FieldChange, mappings: int) -> bool:
    key, *rest = field.parts[3:]
    if rest == ["dirName"] and {ABSENT, "/opt"} == {field.old, field.new}:
        return False  # what is absent is /opt, too
    if key != "kernelMappings":
        return key in _OF_CONTAINER
    if len(rest) < 2:  # a whole mapping: a new last one serves only kernels that had none
        return not (rest and field.old is ABSENT and isinstance(rest[0], int) and rest[0] >= mappings)
    return rest[1] in _OF_MAPPING


def _step(change: Change) -> Step | None:
    old, new = _module(change.old), _module(change.new)
    module = new or old
    return Step(change.ref, ref(module), old, new) if module else None


def _module(manifest: Manifest | None) -> Manifest | None:
    """Return the Module that a manifest is or, on a hub, holds."""
    own = ref(manifest or {})
    if manifest and (own.group, own.kind) == (MODULE_GROUP, "Module"):
        return {**manifest, "spec": table(manifest, "spec")}
    if (own.group, own.kind) != (HUB_GROUP, "ManagedClusterModule"):
        return None
    spec = table(manifest, "spec")
    metadata = {"name": own.name, "namespace": text(spec, "spokeNamespace")}
    return {"kind": "Module", "metadata": metadata, "spec": table(spec, "moduleSpec")}


def _container(module: Manifest | None) -> Manifest:
    return table(module, "spec", "moduleLoader", "container")
