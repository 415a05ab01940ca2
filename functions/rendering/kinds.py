"""The kinds that our functions read and generate: their groups and versions, their misspellings, their schemas."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from functools import cache, lru_cache

from krmfn import Item, Manifest, Ref, ResourceList
from krmfn.ownership import Mark, known_as, mark_of
from krmfn.printing import is_similar
from krmfn.resource import ref
from krmfn.typed import TYPE_CHECKING, NamedTuple

from ..kmm.lookup import table
from ..kmm.module import HUB_GROUP, HUB_KIND, MODULE_GROUP, MODULE_KIND, MODULE_KINDS, MODULE_VERSION
from ..run import run_of

if TYPE_CHECKING:
    from krmfn.schema import Schema


Kinds = Collection[tuple[str, str]]
"""(group, kind) pairs."""


class Scope(NamedTuple):
    """The objects that a function may update and remove: of these kinds, with a mark that names it and an owner."""

    function: str
    owners: frozenset[tuple[str, str]]
    """(group, kind) of the resources that it generates objects from; these are never removed."""
    kinds: frozenset[tuple[str, str]]
    """(group, kind) of the objects that it can generate."""

    def names(self, mark: Mark | None) -> bool:
        """Return True when a mark names this function, and an owner of its kinds."""
        return mark is not None and mark.owner[:2] in self.owners and mark.function == self.function

    def has_generated(self, ref: Ref, annotations: dict[str, str]) -> bool:
        """Return True when this function generated the object: its mark, its kind and its own id all fit."""
        mark = mark_of(annotations)
        if mark is None or not self.names(mark) or (ref.group, ref.kind) not in self.kinds - self.owners:
            return False
        return mark.made == ref.id or mark.made in known_as(ref, annotations)


Scopes = Sequence[Scope]
Items = Sequence[Item]
OURS, SEED = "krmfn.dev", "example.com"
"""The groups whose DeviceConfigs are ours, and the he-sample operator's."""
PTEMPLATE_GROUP = "pt.example.com"
PROFILE = (OURS, "Profile")
"""A vendor's product; those among the resources are read and not deployed."""
PROFILE_MARK = f"{OURS}/profile"
"""Annotation: on a config the name of its profile, on an object that a Profile generates NAME@VERSION."""
CONFIG = (OURS, "RenderDeviceConfigs")
"""The functionConfig; one among the resources in a PATH is taken as such."""

_RBAC = "rbac.authorization.k8s.io"
_MONITORING = "monitoring.coreos.com"
_ADMISSION = "admissionregistration.k8s.io"
CLUSTER_WIDE = frozenset(
    {
        *(("scheduling.k8s.io", "PriorityClass"), ("resource.k8s.io", "DeviceClass")),
        *((_ADMISSION, "ValidatingAdmissionPolicy"), (_ADMISSION, "ValidatingAdmissionPolicyBinding")),
        ("nfd.k8s-sigs.io", "NodeFeatureRule"),  # OpenShift's has a namespace
    }
)
"""Kinds without namespaces among EXTRA."""
EXTRA = CLUSTER_WIDE | {
    *(("", "ConfigMap"), ("", "Service"), ("", "ServiceAccount"), (_RBAC, "Role"), (_RBAC, "RoleBinding")),
    *(("policy", "PodDisruptionBudget"), ("networking.k8s.io", "NetworkPolicy")),
    *(("nfd.openshift.io", "NodeFeatureRule"), ("resource.k8s.io", "ResourceClaimTemplate")),
    *((_MONITORING, "ServiceMonitor"), (_MONITORING, "PodMonitor"), (_MONITORING, "PrometheusRule")),
}
"""Kinds that a profile may add to each config: nothing that holds secrets, runs pods or gives rights in the cluster."""

DEVICECONFIG = Scope(
    "deviceconfig",
    frozenset({(OURS, "DeviceConfig"), (SEED, "DeviceConfig")}),
    EXTRA.union(MODULE_KINDS, {("apps", "DaemonSet"), (_RBAC, "ClusterRole"), (_RBAC, "ClusterRoleBinding")}),
)
PTEMPLATE = Scope(
    "ptemplate",
    frozenset({(PTEMPLATE_GROUP, "Ptemplate")}),
    frozenset({(MODULE_GROUP, MODULE_KIND), ("apps", "DaemonSet")}),
)
OWNERS = DEVICECONFIG.owners | PTEMPLATE.owners
"""Kinds that objects are generated from."""
INVENTORY = (OURS, "NodeInventory")
NODES = frozenset({INVENTORY, ("", "Node")})
"""Kinds that list the nodes of a cluster."""
COUNTING = NODES | {CONFIG}
"""Kinds that only inform a run: they are not deployed (a Node exists already), and nothing is generated from them."""
INPUTS = OWNERS | COUNTING | {PROFILE}
"""Kinds that a render reads and does not print, but for the kinds that Profiles are for."""


def driven_kinds(items: Iterable[Item], kept: bool = False) -> frozenset[tuple[str, str]]:
    """Return (group, kind) of the configs that the Profiles among some items are for; `kept`: of those to print."""
    values = [table(item.manifest, "spec").get("for") for item in of_kinds(items, {PROFILE})]
    targets = [value for value in values if isinstance(value, dict) and (not kept or value.get("keep") is True)]
    return frozenset((str(target.get("group")), str(target.get("kind"))) for target in targets)


def owners_among(items: Collection[Item]) -> list[Item]:
    """Return the items that objects are generated from, those of the kinds that Profiles are for included."""
    kinds = driven_kinds(items)
    owners = of_kinds(items, OWNERS | kinds)
    return [item for item in owners if not is_foreign(item)] if kinds else owners


def is_foreign(item: Item) -> bool:
    """Return True for a config whose annotation says that its own operator acts on it."""
    return item.annotations.get(PROFILE_MARK) == "none"


def is_custom(group: str) -> bool:
    """Return True for the group of a custom resource: neither Kubernetes' own nor KMM's."""
    return "." in group and not group.endswith((".k8s.io", MODULE_GROUP))


@lru_cache(maxsize=64)
def _kinds_of(pairs: frozenset[tuple[str, str]]) -> frozenset[str]:
    return frozenset(kind for _, kind in pairs)


def of_kinds(items: Iterable[Item], pairs: Kinds) -> list[Item]:
    """Return the items whose (group, kind) is one of the pairs."""
    kinds = _kinds_of(pairs) if isinstance(pairs, frozenset) else {kind for _, kind in pairs}
    # looked at first: the group costs more
    return [item for item in items if item.kind in kinds and (item.group, item.kind) in pairs]


def has_nodes(resources: ResourceList) -> bool:
    """Return True for a list with Nodes or inventories, or for a hub's whose spokes are known."""
    return bool(of_kinds(resources.items, NODES) or run_of(resources).spokes)


def in_file(item: Item) -> str:
    """Return ` (a.yaml)` for an item from that file; "" for one of a stream."""
    return f" ({item.place.path})" if item.place and item.place.path else ""


GUIDE_GROUP = f"ptemplates.{PTEMPLATE_GROUP}"
"""The group of Ptemplates as the operator's guides spell it: treated as ours, so that the error names the right one."""
OWN = (OURS, SEED, PTEMPLATE_GROUP, GUIDE_GROUP)
"""The groups whose configs need no Profile for their kind."""

_V1, _KMM = ("v1alpha1",), (MODULE_VERSION,)
KNOWN: dict[str, dict[str, tuple[str, ...]]] = {
    OURS: {"DeviceConfig": _V1, "RenderDeviceConfigs": _V1, "NodeInventory": _V1, "Profile": _V1},
    SEED: {"DeviceConfig": _V1},
    PTEMPLATE_GROUP: {"Ptemplate": _V1},
    MODULE_GROUP: {
        MODULE_KIND: _KMM,
        "PreflightValidation": ("v1beta1", "v1beta2"),
        **dict.fromkeys(("NodeModulesConfig", "ModuleImagesConfig", "ModuleBuildSignConfig", "BootModuleConfig"), _KMM),
    },
    HUB_GROUP: {HUB_KIND: _KMM},
}
"""The versions that exist, by group and kind. Source: KMM v2.4.0 to main (2026-07-29), and the fork's CRDs."""
_KINDS = frozenset(kind for kinds in KNOWN.values() for kind in kinds)

_COMMON = frozenset({"Node", "Pod", "Deployment", "Service", "ConfigMap", "Secret"})
"""Kinds that are frequent in large lists, and that no group of ours has."""


def is_ours(function_config: Manifest) -> bool:
    """Return True for a functionConfig of our own kind."""
    named = ref(function_config)
    return (named.group, named.kind) == CONFIG


def candidates(resources: ResourceList) -> list[Item]:
    """Return the items whose kind is similar to one of KNOWN, and those whose text names one of our groups."""
    kinds = {item.kind for item in resources.items}
    similar = {kind for kind in kinds if _is_similar(kind)}
    named = {id(item) for item in resources.mentioning(OURS)}
    others = _COMMON | similar
    named |= {id(item) for item in resources.items if item.kind not in others and item.mentions(PTEMPLATE_GROUP)}
    return [item for item in resources.items if item.kind in similar or id(item) in named]


@lru_cache(maxsize=1024)  # the lists of a run have the same few kinds
def _is_similar(kind: str) -> bool:
    return any(is_similar(kind, known) for known in _KINDS)


@cache
def schema(name: str) -> Schema:
    """Return the schema `schemas/<name>.schema.json`."""
    import json  # here, like the next: a list without anything of ours needs neither

    from krmfn.schema import Schema

    return Schema(json.loads(text(f"{name}.schema.json")))


def text(file: str) -> str:
    """Return the text of `schemas/<file>`."""
    package = os.path.dirname(os.path.dirname(__file__))  # pathlib costs a tenth of the start-up time  # noqa: PTH120
    installed = os.path.join(package, "schemas")  # noqa: PTH118
    folder = installed if os.path.isdir(installed) else os.path.join(package, os.pardir, "schemas")  # noqa: PTH112, PTH118
    with open(os.path.join(folder, file), encoding="utf-8") as source:  # noqa: PTH118, PTH123
        return source.read()
