"""The order of the final list: dependencies, sync waves of Argo CD, and stages of Flux."""

import re
from collections.abc import Iterator

from krmfn import Field, Item, Result, warning
from krmfn.ownership import Id

from .. import oracles
from ..kmm.module import LABELS, MODULE_KINDS
from ..mistake import Mistake
from ..rule import Rule
from .stream import FinalList, labels_of_kmm

DEPENDS, WAVE = "config.kubernetes.io/depends-on", "argocd.argoproj.io/sync-wave"

_OBJECT = re.compile(r"(?P<group>[^/\s]*)/(?:namespaces/(?P<namespace>[^/\s]+)/)?(?P<kind>[^/\s]+)/(?P<name>[^/\s]+)")
"""Source: cli-utils, pkg/object/dependson (group/namespaces/namespace/kind/name, or group/kind/name)."""


WORD = "depends-on"
"""A resource without it has no dependencies."""


def dependencies_come_first(final: FinalList) -> Iterator[Result]:
    """Yield a warning per depends-on whose object is not deployed, or comes in a later sync wave of Argo CD."""
    present: dict[Id, Item] = {}
    for item in final.deployed:
        for dependency in _dependencies(item):
            present = present or {other.ref.id: other for other in final.deployed}
            if mistake := _mistake(item, present, dependency):
                field = Field(f"metadata.annotations[{DEPENDS}]", item.annotations[DEPENDS])
                yield final.located(item, warning(mistake.message, field=field, remedy=mistake.remedy))


def _dependencies(item: Item) -> list[str]:
    """Return the entries of a resource's depends-on."""
    text = item.annotations.get(DEPENDS, "") if item.mentions(WORD) else ""
    return [entry for entry in map(str.strip, text.split(",")) if entry]


def _mistake(item: Item, present: dict[Id, Item], dependency: str) -> Mistake | None:
    """Return what is wrong with an entry of a resource's depends-on; None for nothing."""
    match = _OBJECT.fullmatch(dependency)
    if not match:
        form = "group/namespaces/namespace/Kind/name, or group/Kind/name"
        return Mistake(f"{dependency!r} is not a reference to an object", f"write {form}")
    group, namespace, kind, name = match.groups("")
    other = present.get((group, kind, namespace, name))
    ref = f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}"
    if not other:
        problem = f"{ref} is not among the deployed objects, and kpt refuses to apply anything that depends on it"
        return Mistake(problem, "add it, or remove the entry")
    item_wave, other_wave = wave(item), wave(other)
    if item_wave < other_wave:
        remedy = f"set the annotation {WAVE} to {other_wave} or more"
        problem = f"depends on {ref}, which Argo CD applies later, in wave {other_wave} instead of {item_wave}"
        return Mistake(problem, remedy)
    return None


def wave(item: Item) -> int:
    """Return the sync wave of a resource; like Argo CD, 0 for an annotation that is no number."""
    try:
        return int(item.annotations.get(WAVE, "0"))
    except ValueError:
        return 0


_NEEDED = {
    *(("", kind) for kind in ("Namespace", "ServiceAccount", "Secret", "ConfigMap")),
    ("apiextensions.k8s.io", "CustomResourceDefinition"),
    ("scheduling.k8s.io", "PriorityClass"),
    *(("rbac.authorization.k8s.io", kind) for kind in ("Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding")),
}
"""Kinds that a Module may need: they come before the Modules whatever their wave is, or no Module becomes ready."""


STAGES = ("before", "modules", "consumers")
"""The folders of `render --split stages`, in the order in which they are applied."""


def stage_of(item: Item) -> str:
    """Return the stage of an object: before, modules or consumers.

    It depends on the object alone, so that no object changes its stage when others are added or removed.
    """
    if (item.group, item.kind) in MODULE_KINDS:
        return "modules"
    if (item.group, item.kind) in _NEEDED:
        return "before"
    if item.mentions(WAVE) and wave(item) > 0:
        return "consumers"
    is_waiting = item.mentions(LABELS) and any(labels_of_kmm(item))
    modules = tuple(f"{group}/" for group, _ in MODULE_KINDS)
    is_waiting = is_waiting or any(entry.startswith(modules) for entry in _dependencies(item))
    return "consumers" if is_waiting else "before"


KRM704 = Rule(
    "KRM704",
    "what config.kubernetes.io/depends-on names should be deployed, and not in a later sync wave",
    good="""\
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: agent
  namespace: kmm
  annotations:
    argocd.argoproj.io/sync-wave: "1"
    config.kubernetes.io/depends-on: kmm.sigs.x-k8s.io/namespaces/kmm/Module/gpu
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      containers: [{name: agent, image: "registry.example.com/agent:1.0"}]
---
kind: Module
metadata: {name: gpu, annotations: {argocd.argoproj.io/sync-wave: "0"}}
""",
    bad="""\
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: agent
  namespace: kmm
  annotations:
    argocd.argoproj.io/sync-wave: "-1"
    config.kubernetes.io/depends-on: kmm.sigs.x-k8s.io/namespaces/kmm/Module/gpu
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      containers: [{name: agent, image: "registry.example.com/agent:1.0"}]
---
kind: Module
metadata: {name: gpu, annotations: {argocd.argoproj.io/sync-wave: "0"}}
""",
    remedy="Give the resource the sync wave of what it depends on, or a later one, or correct the annotation.",
    held=oracles.KPT_LIVE,
    check=dependencies_come_first,
    severities=("warning",),
    advice=True,
)

RULES = (KRM704,)
"""The rules about the order of objects."""
