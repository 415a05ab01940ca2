"""The kinds that our functions read and make: what there is of them, how they are misspelt, and their schemas."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from functools import cache

from krmfn import Item, Ref, ResourceList
from krmfn.ownership import Mark, known_as, mark_of
from krmfn.typed import TYPE_CHECKING, NamedTuple

from ..kmm.lookup import table
from ..kmm.module import HUB_GROUP, HUB_KIND, MODULE_GROUP, MODULE_KIND, MODULE_KINDS, MODULE_VERSION

if TYPE_CHECKING:
    from krmfn.schema import Schema


Kinds = Collection[tuple[str, str]]
"""(group, kind) pairs."""


class Scope(NamedTuple):
    """What a function may update and remove: objects that carry its name, of these kinds, from these owners."""

    function: str
    owners: frozenset[tuple[str, str]]
    """(group, kind) of the resources that it makes objects from; these are never removed."""
    kinds: frozenset[tuple[str, str]]
    """(group, kind) of the objects that it can make."""

    def names(self, mark: Mark | None) -> bool:
        """Return True when a mark names this function, and an owner of its kinds."""
        return mark is not None and mark.owner[:2] in self.owners and mark.function == self.function

    def made(self, now: Ref, annotations: dict[str, str]) -> bool:
        """Return True when this function made the object `now`: its mark, its kind and its own id all fit."""
        mark = mark_of(annotations)
        if mark is None or not self.names(mark) or (now.group, now.kind) not in self.kinds - self.owners:
            return False
        return mark.made == now.id or mark.made in known_as(now, annotations)


Scopes = Sequence[Scope]
Items = Sequence[Item]
OURS, SEED = "krmfn.dev", "example.com"
"""The groups whose DeviceConfigs are ours, and the he-sample operator's."""
PTEMPLATE_GROUP = "pt.example.com"
PROFILE = (OURS, "Profile")
"""A vendor's product; those among the resources are read and not deployed."""
PROFILE_MARK = f"{OURS}/profile"
"""Annotation: on a config the name of its profile, on what a Profile has made NAME@VERSION."""
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
"""What objects are generated from."""
INVENTORY = (OURS, "NodeInventory")
NODES = frozenset({INVENTORY, ("", "Node")})
"""What says which nodes there are."""
COUNTING = NODES | {CONFIG}
"""What counts where it stands, and is neither deployed (a Node is there already) nor made into anything."""
INPUTS = OWNERS | COUNTING | {PROFILE}
"""What a render reads and does not print, but for the kinds that Profiles are for."""


def driven(items: Iterable[Item], kept: bool = False) -> frozenset[tuple[str, str]]:
    """Return (group, kind) of the configs that the Profiles among some items are for; `kept`: of those to print."""
    owns = [table(item.manifest, "spec").get("for") for item in of_kinds(items, {PROFILE})]
    those = [own for own in owns if isinstance(own, dict) and (not kept or own.get("keep") is True)]
    return frozenset((str(own.get("group")), str(own.get("kind"))) for own in those)


def owning(items: Collection[Item]) -> list[Item]:
    """Return those among some items that objects are generated from, the kinds of Profiles among them."""
    theirs = driven(items)
    own = of_kinds(items, OWNERS | theirs)
    return [item for item in own if not is_foreign(item)] if theirs else own


def is_foreign(item: Item) -> bool:
    """Return True for a config of which an annotation says that its own operator acts on it."""
    return item.annotations.get(PROFILE_MARK) == "none"


def is_custom(group: str) -> bool:
    """Return True for the group of a custom resource: neither Kubernetes' own nor KMM's."""
    return "." in group and not group.endswith((".k8s.io", MODULE_GROUP))


def of_kinds(items: Iterable[Item], pairs: Kinds) -> list[Item]:
    """Return those among some items whose (group, kind) is one of the pairs."""
    kinds = {kind for _, kind in pairs}  # a kind is known without a look at the group
    return [item for item in items if item.kind in kinds and (item.group, item.kind) in pairs]


def has_nodes(resources: ResourceList) -> bool:
    """Return True for a list with Nodes or inventories."""
    return bool(of_kinds(resources.items, NODES))


def in_file(item: Item) -> str:
    """Return ` (a.yaml)` for an item that stands in that file; "" for one of a stream."""
    return f" ({item.place.path})" if item.place and item.place.path else ""


GUIDE_GROUP = f"ptemplates.{PTEMPLATE_GROUP}"
"""The group of Ptemplates as the operator's guides spell it: taken for ours, so that its error names the right one."""
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
"""Group -> kind -> versions of what there is. Source: KMM v2.4.0 to main (2026-07-29), and the fork's CRDs."""
_KINDS = frozenset(kind for kinds in KNOWN.values() for kind in kinds)

_COMMON = frozenset({"Node", "Pod", "Deployment", "Service", "ConfigMap", "Secret"})
"""Kinds that large lists are full of, which no group of ours has."""


def candidates(resources: ResourceList) -> list[Item]:
    """Return the items whose kind is nearly one of KNOWN, and those whose text names one of our groups."""
    kinds = {item.kind for item in resources.items}
    near_ours = {kind for kind in kinds if any(near(kind, known) for known in _KINDS)}
    named = {id(item) for item in resources.mentioning(OURS)}
    known = _COMMON | near_ours
    named |= {id(item) for item in resources.items if item.kind not in known and item.mentions(PTEMPLATE_GROUP)}
    return [item for item in resources.items if item.kind in near_ours or id(item) in named]


def near(one: str, other: str) -> bool:
    """Return True when at most one letter is added, left out, changed or swapped with its neighbour, in any case."""
    one, other = one.lower(), other.lower()
    pairs = enumerate(zip(one, other, strict=False))
    at = next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
    left, right = one[at:], other[at:]
    swapped = left[1::-1] + left[2:]
    return right in (left[1:], swapped) or left in (right[1:], left[:1] + right[1:])


@cache
def schema(name: str) -> Schema:
    """Return the schema `schemas/<name>.schema.json`."""
    import json  # here, as what follows: a list without anything of ours has no use for them

    from krmfn.schema import Schema

    return Schema(json.loads(text(f"{name}.schema.json")))


def text(file: str) -> str:
    """Return the text of `schemas/<file>`."""
    package = os.path.dirname(os.path.dirname(__file__))  # pathlib costs a tenth of the start-up time  # noqa: PTH120
    installed = os.path.join(package, "schemas")  # noqa: PTH118
    folder = installed if os.path.isdir(installed) else os.path.join(package, os.pardir, "schemas")  # noqa: PTH112, PTH118
    with open(os.path.join(folder, file), encoding="utf-8") as source:  # noqa: PTH118, PTH123
        return source.read()
