"""What a reviewer reads first: rights, privileged pods, policies and Profiles that a change brings."""

from collections.abc import Iterator

from krmfn import Item, Manifest, ResourceList
from krmfn.ownership import OWNER
from krmfn.printing import counted, some

from ..kmm.lookup import POD_KINDS, table, tables
from ..plan import Change, Plan
from ..rendering.kinds import PROFILE, PROFILE_MARK
from ..upgrades import node_effects

_RULES = ("Role", "ClusterRole")
_BINDINGS = ("RoleBinding", "ClusterRoleBinding")
_ADMISSION = ("AdmissionPolicy", "AdmissionPolicyBinding", "WebhookConfiguration")
_POLICIES = (
    *("NetworkPolicy", "SecurityContextConstraints"),
    *(f"{what}{kind}" for what in ("Mutating", "Validating") for kind in _ADMISSION),
)
_HOST = ("hostNetwork", "hostPID", "hostIPC")
_PODS = {*POD_KINDS.values(), ("template", "spec")}
"""Where a pod stands in what is a pod, or makes some."""


def first(plan: Plan, old: ResourceList, new: ResourceList) -> Iterator[str]:
    """Yield a sentence for changed labels of nodes, per changed Profile, new right, privileged pod and policy."""
    yield from _labels(old, new) if plan.changes else ()
    yield from _profiles(old, new)
    for change in plan.changes:
        kind = change.ref.kind
        if kind in _RULES:
            yield from (f"new right: {change.ref}: {rule}" for rule in _new_rules(change))
        elif kind in _BINDINGS and change.new and _bound(change.new) != _bound(change.old or {}):
            yield f"new right: {change.ref} gives {_bound(change.new)}"
        elif kind in _POLICIES:
            yield f"policy {change.what}: {change.ref}"
        elif change.new and (gained := _privileges(change.new) - _privileges(change.old or {})):
            yield f"new privileged pod: {change.ref}: {', '.join(sorted(gained))}"


def _labels(old: ResourceList, new: ResourceList) -> Iterator[str]:
    """Yield how many nodes get other labels: a selector may move to those, and nothing seems to happen on nodes."""
    if known := node_effects.clusters(old, new):
        before, after = ({node.name: node.labels for node in side.fleet.nodes} for side in known)
        others = [name for name, labels in before.items() if after.get(name, labels) != labels]
        if others:
            nodes = f"labels of {counted(len(others), 'node')} change with the objects ({some(others, len(others))})"
            yield f"{nodes}: what is said about nodes is true only where they have these labels already"


def _profiles(old: ResourceList, new: ResourceList) -> Iterator[str]:
    before, after = ({item.name: item for item in one.select(PROFILE[1], PROFILE[0])} for one in (old, new))
    for name, item in after.items():
        other = before.get(name)
        if other is None:
            yield f"new Profile: {_title(name, item)}"
        elif other.manifest.get("spec") != item.manifest.get("spec"):
            one, two = _title(name, other), _title(name, item)
            same = f"changed Profile{' without a new version' if one != name else ''}: {one}"
            yield f"changed Profile: {one} becomes {two}" if one != two else same
    yield from (f"Profile removed: {_title(name, item)}" for name, item in before.items() if name not in after)
    if not (before or after):  # rendered already: what was made names it
        marks = [
            {str(m) for one in part.items if (m := one.annotations.get(PROFILE_MARK)) and OWNER in one.annotations}
            for part in (old, new)
        ]
        names = {mark.partition("@")[0] for mark in marks[0] & marks[1]}
        gone = {mark.partition("@")[0]: mark for mark in marks[0] - marks[1]}
        for mark in sorted(marks[1] - marks[0]):
            name = mark.partition("@")[0]
            if name in gone and name not in names:
                yield f"changed Profile: {gone[name]} becomes {mark}"


def _title(name: str, item: Item) -> str:
    version = table(item.manifest, "spec").get("version", "")
    return f"{name}@{version}" if version else name


def _new_rules(change: Change) -> Iterator[str]:
    known = [rule for _, rule in tables(change.old or {}, "rules")]
    for _, rule in tables(change.new or {}, "rules"):
        if rule not in known:
            verbs, things = (", ".join(map(str, rule.get(key, ()))) for key in ("verbs", "resources"))
            groups = ", ".join(str(group) or "core" for group in rule.get("apiGroups", ()))
            yield f"{verbs or '?'} of {things or rule.get('nonResourceURLs', '?')} ({groups})"
    selected = table(change.new or {}, "aggregationRule").get("clusterRoleSelectors")
    if selected and selected != table(change.old or {}, "aggregationRule").get("clusterRoleSelectors"):
        yield f"those of every ClusterRole that {selected} selects"


def _bound(manifest: Manifest) -> str:
    role, subjects = table(manifest, "roleRef"), [subject for _, subject in tables(manifest, "subjects")]
    to = ", ".join(f"{one.get('kind')} {one.get('namespace', '')}/{one.get('name')}" for one in subjects)
    return f"{role.get('kind')} {role.get('name')} to {to}"


def _privileges(manifest: Manifest) -> set[str]:
    """Return what of a pod's host its containers get."""
    found = set[str]()
    for pod in (table(manifest, *path) for path in _PODS):
        found.update(name for name in _HOST if pod.get(name) is True)
        paths = (table(volume, "hostPath").get("path") for _, volume in tables(pod, "volumes"))
        found.update(f"hostPath {path}" for path in paths if path)
        for _, container in (*tables(pod, "containers"), *tables(pod, "initContainers")):
            name, context = f"container {container.get('name')}", table(container, "securityContext")
            found.update([f"{name} is privileged"] if context.get("privileged") is True else ())
            added = table(context, "capabilities").get("add")
            found.update(f"{name} has {one}" for one in (added if isinstance(added, list) else ()))
    return found
