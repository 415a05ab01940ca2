"""What a reviewer reads first: rights, privileged pods, policies and Profiles that a change brings."""

from collections.abc import Iterable, Iterator, Sequence

from krmfn import Item, Manifest, ResourceList, Result, error
from krmfn.ownership import OWNER, Id
from krmfn.printing import counted, some
from krmfn.resource import ref

from ..final.engines import LASTING, behaviours, is_read_by, is_renewed
from ..final.pod_security import BASELINE, ENFORCE, RESTRICTED
from ..kmm.lookup import table, tables, text, texts
from ..kmm.module import MODULE_KINDS
from ..plan import Change, Plan
from ..rendering.kinds import PROFILE, PROFILE_MARK
from ..run import run_of
from ..sentence import Topic
from ..upgrades import known_nodes
from .origins import new_origins
from .privileges import binding, gained, gained_accounts, rights

_RULES = ("Role", "ClusterRole")
_BINDINGS = ("RoleBinding", "ClusterRoleBinding")
_ADMISSION = ("AdmissionPolicy", "AdmissionPolicyBinding", "WebhookConfiguration")
_POLICIES = (
    *("NetworkPolicy", "SecurityContextConstraints"),
    *(f"{prefix}{kind}" for prefix in ("Mutating", "Validating") for kind in _ADMISSION),
)
_AGGREGATION = "rbac.authorization.k8s.io/aggregate-"
"""The beginning of the labels by which a ClusterRole becomes a part of those of the cluster (admin, edit, view)."""


def sentences(plan: Plan, old: ResourceList, new: ResourceList) -> Iterator[str]:
    """Yield a sentence about changed node labels, and one per new Profile, source, right, privileged pod and policy."""
    yield from _labels(old, new) if plan.changes else ()
    yield from _profiles(old, new)
    yield from new_origins(plan)
    known_rights = rights(plan.old, plan.new) if plan.changes else None
    for change in plan.changes:
        kind = change.ref.kind
        if kind in _RULES:
            yield from (f"new right: {change.ref}: {rule}" for rule in _new_rules(change))
        elif kind in _BINDINGS and change.new and binding(change.new) != binding(change.old or {}):
            yield f"new right: {change.ref} gives {binding(change.new)}"
        elif kind in _POLICIES:
            yield f"policy {change.what}: {change.ref}"
        elif kind == "Namespace":
            yield from _lowered_level(change)
        elif change.new:
            if privileges := gained(change):
                yield f"new privileged pod: {change.ref}: {', '.join(privileges)}"
            yield from gained_accounts(change, known_rights) if known_rights else ()


def unapplied(plan: Plan, *sides: ResourceList) -> Iterator[Result]:
    """Yield an error per changed Module, or its Namespace, that an annotation has an engine do something else with.

    It is deleted, made anew or not applied, whatever is compared. Of a Namespace only annotations that change count,
    of a deleted object only those that keep it on the cluster; and only those for an engine that deploys it on one of
    the sides.
    """
    deployers = _deployers(sides)
    namespaces = {ref(manifest).namespace for manifest in plan.new if _kind(manifest) in MODULE_KINDS}
    for change in plan.changes:
        is_module = (change.ref.group, change.ref.kind) in MODULE_KINDS
        is_namespace = (change.ref.group, change.ref.kind) == ("", "Namespace") and change.ref.name in namespaces
        former = {*behaviours(change.old or {})} if is_namespace else set()
        for behaviour in behaviours(change.new or change.old or {}) if is_module or is_namespace else ():
            is_effective = bool(change.new) or behaviour.row.effect == LASTING
            is_read = is_read_by(behaviour.row, deployers.get(change.ref.id, ()))
            if is_effective and is_read and behaviour not in former:
                yield error((Topic(behaviour.row), f"{behaviour.sentence} ({behaviour.annotation})"), ref=change.ref)


def renewed(manifests: Iterable[Manifest], *sides: ResourceList) -> frozenset[Id]:
    """Return the Modules that engines delete and create at each change: no webhook sees an update of one."""
    deployers = _deployers(sides)
    modules = [manifest for manifest in manifests if _kind(manifest) in MODULE_KINDS]
    ids = [ref(module).id for module in modules if is_renewed(module, deployers.get(ref(module).id, ()))]
    return frozenset(ids)


def _deployers(sides: Sequence[ResourceList]) -> dict[Id, frozenset[str]]:
    """Return the engines that deploy each object on one of the sides."""
    return {id_: engines for side in sides for id_, engines in run_of(side).deployers.items()}


def _kind(manifest: Manifest) -> tuple[str, str]:
    return ref(manifest).group, ref(manifest).kind


def _labels(old: ResourceList, new: ResourceList) -> Iterator[str]:
    """Yield how many nodes get other labels: if selectors change in the same way, nothing seems to happen on nodes."""
    if known := known_nodes.clusters(old, new):
        before, after = ({node.name: node.labels for node in side.fleet.nodes} for side in known)
        others = [name for name, labels in before.items() if after.get(name, labels) != labels]
        if others:
            nodes = f"labels of {counted(len(others), 'node')} change with the objects ({some(others, len(others))})"
            yield f"{nodes}: the effects on nodes are right only if the nodes have these labels already"


def _profiles(old: ResourceList, new: ResourceList) -> Iterator[str]:
    before, after = ({item.name: item for item in side.where(kind=PROFILE[1], group=PROFILE[0])} for side in (old, new))
    for name, item in after.items():
        other = before.get(name)
        if other is None:
            yield f"new Profile: {_title(name, item)}"
        elif other.manifest.get("spec") != item.manifest.get("spec"):
            former, title = _title(name, other), _title(name, item)
            change = "changed Profile without a new version" if former == title != name else "changed Profile"
            yield f"{change}: {title}" if former == title else f"{change}: {former} becomes {title}"
    yield from (f"Profile removed: {_title(name, item)}" for name, item in before.items() if name not in after)
    if not (before or after):  # both sides are rendered: generated objects name their Profile
        marks, new_marks = _marks(old), _marks(new)
        names = {mark.partition("@")[0] for mark in marks & new_marks}
        gone = {mark.partition("@")[0]: mark for mark in marks - new_marks}
        for mark in sorted(new_marks - marks):
            name = mark.partition("@")[0]
            if name in gone and name not in names:
                yield f"changed Profile: {gone[name]} becomes {mark}"


def _marks(resources: ResourceList) -> set[str]:
    """Return the Profiles, as NAME@VERSION, of which something in a list was generated."""
    marks = (item.annotations.get(PROFILE_MARK) for item in resources.items if OWNER in item.annotations)
    return {str(mark) for mark in marks if mark}


def _title(name: str, item: Item) -> str:
    version = table(item.manifest, "spec").get("version", "")
    return f"{name}@{version}" if version else name


def _lowered_level(change: Change) -> Iterator[str]:
    """Yield a sentence about a Namespace that stays and takes pods which its Pod Security level refused before."""
    levels = [text(table(side or {}, "metadata", "labels"), ENFORCE) for side in (change.old, change.new)]
    order = (RESTRICTED, BASELINE)
    before, after = (order.index(level) if level in order else len(order) for level in levels)
    if change.old and change.new and after > before:
        yield f"policy changed: {change.ref} enforces the level {levels[1] or 'of the cluster'}, before {levels[0]}"


def _new_rules(change: Change) -> Iterator[str]:
    known = [rule for _, rule in tables(change.old or {}, "rules")]
    for _, rule in tables(change.new or {}, "rules"):
        if rule not in known:
            resources, groups = texts(rule, "resources"), texts(rule, "apiGroups")
            names = f" named {', '.join(names)}" if (names := texts(rule, "resourceNames")) else ""
            targets = ", ".join(resources or texts(rule, "nonResourceURLs")) or "?"
            groups_text = ", ".join(group or "core" for group in groups)
            yield f"{', '.join(texts(rule, 'verbs')) or '?'} of {targets}{names} ({groups_text})"
    selected = table(change.new or {}, "aggregationRule").get("clusterRoleSelectors")
    if selected and selected != table(change.old or {}, "aggregationRule").get("clusterRoleSelectors"):
        yield f"those of every ClusterRole that {selected} selects"
    former, labels = (table(side or {}, "metadata", "labels") for side in (change.old, change.new))
    for key, value in labels.items():
        if str(key).startswith(_AGGREGATION) and former.get(key) != value:
            yield f"its rules for whoever has a ClusterRole that selects the label {key}"
