"""The impact of a plan on nodes: the Modules that change, in which fields, and the workloads that wait for them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from krmfn import Field, Manifest, Ref
from krmfn.resource import ref
from krmfn.typed import NamedTuple

from ..differences import ABSENT, FieldChange, differences
from ..kmm.lookup import has, table, tables, text
from ..kmm.module import (
    CONTAINER,
    IN_TREE,
    MAPPINGS,
    Module,
    module_of,
    plugin_ready_label,
    ready_label,
    version_label,
    version_ready_label,
)
from ..kmm.resolution import compared
from ..kmm.versions import Target
from ..plan import Change, Plan
from .kernels import Served

SHOWN = 3
"""How many workloads a message names before it counts the rest."""


class Step(NamedTuple):
    """The change of one Module, also of one that a ManagedClusterModule brings to every spoke; None where absent."""

    ref: Ref
    """The object in the list."""
    module: Ref
    """The Module on the cluster with the nodes."""
    old: Module | None
    new: Module | None

    @property
    def versions(self) -> tuple[str, str]:
        """The version of an ordered upgrade before and after; "" without one."""
        return self.old.version if self.old else "", self.new.version if self.new else ""

    def lost(self, section: str) -> bool:
        """Return True when the Module stays and this section of its spec is removed."""
        return bool(self.old and self.new and has(self.old.spec, section) and not has(self.new.spec, section))


class Impact(NamedTuple):
    """A plan, the Modules that it changes, and the workloads after it by the keys of their node labels.

    Those of others (--against) are among the workloads.
    """

    plan: Plan
    steps: Sequence[Step]
    holders: Mapping[str, Sequence[str]]
    kmm: Target
    nodes_of: Callable[[Ref], Sequence[str] | None]
    """Returns the nodes on which a Module, or the pods of an object, run after the plan; None: not known."""
    knows_nodes: bool
    """Whether the plan's effects are all that happens on the nodes."""

    def reloading(self, step: Step) -> list[str] | None:
        """Return the nodes on which KMM unloads a Module and loads it anew; None where that is not known."""
        effects = [effect for effect in self.plan.effects if effect.ref.id == step.ref.id]
        if not self.knows_nodes or any(effect.what == "unknown" for effect in effects):
            return None
        return sorted(name for effect in effects if effect.what == "reloaded" for name in effect.nodes)

    def waiting(self, module: Ref) -> list[str]:
        """Return the names of the workloads whose nodes are selected by a label about the Module."""
        return list(dict.fromkeys(who for key in label_keys(module) for who in self.holders.get(key, ())))


def label_keys(module: Ref) -> list[str]:
    """Return the keys of the node labels about a Module."""
    labels = (ready_label, version_ready_label, plugin_ready_label, version_label)
    return [label(module.namespace, module.name) for label in labels]


def impact_of(
    plan: Plan,
    kmm: Target,
    theirs: Iterable[Manifest],
    nodes_of: Callable[[Ref], Sequence[str] | None],
    knows_nodes: bool,
) -> Impact:
    """Return the impact of a plan; `theirs` is what the cluster gets from elsewhere, the rest as in Impact."""
    holders: dict[str, list[str]] = defaultdict(list)
    for manifests, whose in ((plan.new, ""), (theirs, " (from --against)")):
        for manifest in manifests:
            for key in selected(manifest):
                holders[key].append(f"{ref(manifest)}{whose}")
    steps = [step for change in plan.changes if (step := _step(change))]
    return Impact(plan, steps, holders, kmm, nodes_of, knows_nodes)


def selected(manifest: Manifest) -> dict[str, str]:
    """Return the node labels that an object's pods select by; of an affinity the keys only."""
    spec = table(manifest, "spec")
    pod = spec if manifest.get("kind") == "Pod" else table(spec, "template", "spec")
    required = table(pod, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    terms = [term for _, term in tables(required, "nodeSelectorTerms")]
    keys = {text(wish, "key"): "" for term in terms for _, wish in tables(term, "matchExpressions")}
    return keys | {key: str(value) for key, value in table(pod, "nodeSelector").items()}


def reloaded_field(step: Step, served: Served) -> Field | None:
    """Return the field whose change gives these kernels another result."""
    if not (step.old and step.new and served.new is not None):
        return Field(MAPPINGS)
    before, after = step.old.mappings[served.old], step.new.mappings[served.new]
    path = f"{MAPPINGS}[{served.new}]"
    if any(text(before, key) != text(after, key) for key in ("literal", "regexp")):
        return Field(path, None, after)
    first = next(differences(compared(step.old, before), compared(step.new, after)))
    key = str(first.parts[0])
    if key == "modprobe":
        return field_of(first._replace(parts=(*CONTAINER.split("."), *first.parts)))
    holders = ((path, before, after), (CONTAINER, step.old.container, step.new.container))
    names = [(*holder, name) for holder in holders for name in (IN_TREE if key in IN_TREE else (key,))]
    return next(
        Field(f"{where}.{name}", was.get(name), now.get(name))
        for where, was, now, name in names
        if was.get(name) != now.get(name)
    )


def field_of(change: FieldChange) -> Field:
    """Return the field of a finding about a change, with its old and its new value; None for one that is absent."""
    old, new = (None if value is ABSENT else value for value in (change.old, change.new))
    return Field(change.path, old, new)


def _step(change: Change) -> Step | None:
    old, new = module_of(change.old or {}), module_of(change.new or {})
    module = new or old
    return Step(change.ref, module.ref, old, new) if module else None
