"""What a reviewer reads first: rights, privileged pods, policies and Profiles that a change brings."""

from __future__ import annotations

from collections.abc import Iterator

from krmfn.item import Item
from krmfn.ownership import OWNER
from krmfn.resource import Manifest
from krmfn.resourcelist import ResourceList
from krmfn.typed import Any

from ..kmm.lookup import table, tables
from ..plan import Change, Plan
from ..rendering.kinds import PROFILE, PROFILE_MARK

_RULES = ("Role", "ClusterRole")
_BINDINGS = ("RoleBinding", "ClusterRoleBinding")
_POLICIES = ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "NetworkPolicy")
_HOST = ("hostNetwork", "hostPID", "hostIPC")


def first(plan: Plan, old: ResourceList, new: ResourceList) -> Iterator[str]:
    """Yield a sentence per changed Profile, new right, new privileged pod and changed policy, in this order."""
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


def _profiles(old: ResourceList, new: ResourceList) -> Iterator[str]:
    before, after = ({item.name: item for item in one.select(PROFILE[1], PROFILE[0])} for one in (old, new))
    for name, item in after.items():
        other = before.get(name)
        if other is None:
            yield f"new Profile: {_title(name, item)}"
        elif other.manifest.get("spec") != item.manifest.get("spec"):
            one, two = _title(name, other), _title(name, item)
            yield (
                f"changed Profile: {one} becomes {two}"
                if one != two
                else f"changed Profile without a new version: {one}"
            )
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


def _bound(manifest: Manifest) -> str:
    role, subjects = table(manifest, "roleRef"), [subject for _, subject in tables(manifest, "subjects")]
    to = ", ".join(f"{one.get('kind')} {one.get('namespace', '')}/{one.get('name')}" for one in subjects)
    return f"{role.get('kind')} {role.get('name')} to {to}"


def _privileges(manifest: Manifest) -> set[str]:
    """Return what of a pod's host its containers get."""
    pod: dict[str, Any] = table(manifest, "spec", "template", "spec")
    found = {name for name in _HOST if pod.get(name) is True}
    for part in ("containers", "initContainers"):
        for _, container in tables(pod, part):
            if table(container, "securityContext").get("privileged") is True:
                found.add(f"container {container.get('name')} is privileged")
    return found
