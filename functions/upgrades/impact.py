"""The impact of a plan: which Modules change, in which fields, for which kernels, and which workloads wait for them.

A kernel takes the first mapping that matches. The kernels of literals are tried. Two regexps are taken to match a
common kernel, unless they begin with different characters; so no kernel is left out, and some are named that no node
has.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from krmfn import Field, KrmfnError, Manifest, Ref, Result
from krmfn.ownership import Id
from krmfn.resource import ref
from krmfn.typed import NamedTuple

from ..differences import ABSENT, FieldChange, differences
from ..kmm.lookup import has, table, tables, text
from ..kmm.module import (
    CONTAINER,
    EVERY_KERNEL,
    HUB_KIND,
    IN_TREE,
    MAPPINGS,
    MODULE_KINDS,
    Module,
    module_of,
    node_labels,
)
from ..kmm.resolution import compared_fields, first_mapping
from ..kmm.versions import Target
from ..plan import Effect, Plan
from .lost_labels import LostLabel

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

    def removes(self, section: str) -> bool:
        """Return True when the Module stays and this section of its spec is removed."""
        return bool(self.old and self.new and has(self.old.spec, section) and not has(self.new.spec, section))


class Impact(NamedTuple):
    """A plan, and what it does to Modules and workloads."""

    plan: Plan
    steps: Sequence[Step]
    holders: Mapping[str, Sequence[str]]
    """The workloads after the plan, also external ones (--against), by the node labels that they select."""
    kmm: Target
    nodes: Mapping[Id, Sequence[str]]
    """The nodes on which a Module, or the pods of an object, run after the plan, where they are known.

    It is empty unless the plan `restarts`.
    """
    kernels: Mapping[Id, Collection[str]]
    """The kernels of the nodes that a Module selects before or after the plan, where they are known.

    It is empty unless the plan `builds`.
    """
    knows_nodes: bool
    """Whether the plan's effects are all that happens on the nodes."""
    effects: Mapping[Id, Sequence[Effect]]
    """The plan's effects by the ids of their Modules."""

    lost_labels: Mapping[int, LostLabel]
    """The label of a node, changed as well, by which an effect takes nodes from a Module; by positions in the plan."""

    def nodes_with(self, step: Step, word: str) -> list[str] | None:
        """Return the nodes on which the plan has this effect on a Module; None where that is not known.

        That is so for what a hub brings to spokes whose nodes are not known: the nodes in the list are its own.
        """
        effects = self.effects.get(step.ref.id, ())
        is_unknown = step.ref.kind == HUB_KIND and not effects
        if is_unknown or not self.knows_nodes or any(effect.word == "unknown" for effect in effects):
            return None
        return sorted(name for effect in effects if effect.word == word for name in effect.nodes)

    def holders_of(self, module: Ref) -> list[str]:
        """Return the workloads that select nodes by a label about the Module."""
        return list(dict.fromkeys(holder for key in node_labels(*module[2:]) for holder in self.holders.get(key, ())))


class Kernels(NamedTuple):
    """Kernels that take one mapping before a change, and one mapping (None: no mapping) after it."""

    text: str
    """`literal 6.1.0-test`, `regexp ^6`."""
    old: int
    new: int | None
    is_all: bool = True
    """Whether these are all kernels of the old mapping."""


def each_step(check: Callable[[Impact, Step], Iterator[Result]]) -> Callable[[Impact], Iterator[Result]]:
    """Return the check of an impact that yields the findings of `check` on each step, as findings on its Module."""
    return lambda impact: (finding._replace(ref=step.ref) for step in impact.steps for finding in check(impact, step))


def restarts(plan: Plan) -> bool:
    """Return True when a Module or a DaemonSet changes and stays: rules then name its nodes."""
    kinds = (*MODULE_KINDS, ("apps", "DaemonSet"))
    return any(change.old and change.new and (change.ref.group, change.ref.kind) in kinds for change in plan.changes)


def builds(plan: Plan) -> bool:
    """Return True when something changes where a Module's images are built or signed: a rule then names kernels."""
    modules = filter(None, map(module_of, chain(plan.old, plan.new) if plan.changes else ()))
    return any(module.holds("build", "sign") for module in modules)


External = Iterable[tuple[Manifest, str]]
"""Manifests from elsewhere, each with the words for where it is from."""


def changed_modules(plan: Plan, external: External) -> tuple[list[Step], Mapping[str, Sequence[str]]]:
    """Return the steps and the holders of a plan, as Impact has them."""
    holders: dict[str, list[str]] = defaultdict(list)
    for manifest, origin in (*((manifest, "") for manifest in plan.new), *external):
        for key in selector(manifest):
            holders[key].append(f"{ref(manifest)}{f' ({origin})' if origin else ''}")
    steps = []
    for change in plan.changes:
        old, new = module_of(change.old or {}), module_of(change.new or {})
        if module := new or old:
            steps.append(Step(change.ref, module.ref, old, new))
    return steps, holders


def selector(manifest: Manifest) -> dict[str, str]:
    """Return the node labels that an object's pods select by; of an affinity only the keys."""
    spec = table(manifest, "spec")
    pod = spec if manifest.get("kind") == "Pod" else table(spec, "template", "spec")
    required = table(pod, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    terms = [term for _, term in tables(required, "nodeSelectorTerms")]
    keys = {text(expression, "key"): "" for term in terms for _, expression in tables(term, "matchExpressions")}
    return keys | {key: str(value) for key, value in table(pod, "nodeSelector").items()}


def reloaded_field(step: Step, kernels: Kernels) -> Field | None:
    """Return the field whose change gives these kernels another result."""
    if not (step.old and step.new and kernels.new is not None):
        return Field(MAPPINGS)
    before, after = step.old.mappings[kernels.old], step.new.mappings[kernels.new]
    path = f"{MAPPINGS}[{kernels.new}]"
    if any(text(before, key) != text(after, key) for key in ("literal", "regexp")):
        return Field(path, None, after)
    first = next(differences(compared_fields(step.old, before), compared_fields(step.new, after)))
    if (key := str(first.parts[0])) == "modprobe":
        return field_of(first._replace(parts=(*CONTAINER.split("."), *first.parts)))
    holders = ((path, before, after), (CONTAINER, step.old.container, step.new.container))
    names = [(*holder, name) for holder in holders for name in (IN_TREE if key in IN_TREE else (key,))]
    for holder_path, old, new, name in names:
        if old.get(name) != new.get(name):
            return Field(f"{holder_path}.{name}", old.get(name), new.get(name))
    return None


def field_of(change: FieldChange) -> Field:
    """Return the field of a finding about a change, with its old and its new value; None for an absent one."""
    old, new = (None if value is ABSENT else value for value in (change.old, change.new))
    return Field(change.path, old, new)


_START = re.compile(r"\^((?:[\w-]|\\[.+d-]|\.)*)(?![*+?{])")
_ATOM = re.compile(r"\\?.")
_ANY = (".", "\\d")


def mapped_kernels(old: Module, new: Module) -> Iterator[Kernels]:
    """Yield the kernels that take a mapping of the old Module, with their mappings before and after."""
    entries = (*old.mappings, *new.mappings)
    for literal in dict.fromkeys(text(entry, "literal") for entry in entries):
        position = _first_position(old, literal) if literal else None
        if position is not None:
            yield Kernels(f"literal {literal}", position, _first_position(new, literal))
    before, after = _regexps(old), _regexps(new)
    old_order, new_order = list(before), list(after)
    for regexp, position in before.items():
        if regexp in after:
            yield Kernels(f"regexp {regexp}", position, after[regexp])
        elif not after.keys() & EVERY_KERNEL:
            yield Kernels(f"regexp {regexp}", position, None)
        for other in new_order[: new_order.index(regexp)] if regexp in after else new_order:
            is_first = other not in before or old_order.index(regexp) < old_order.index(other)
            if is_first and not _are_disjoint(regexp, other):
                yield Kernels(f"regexp {other} (before: regexp {regexp})", position, after[other], is_all=False)


def changed_kernels(old: Module, new: Module) -> tuple[list[Kernels], bool]:
    """Return the mapped kernels that get another result, or none; and whether all get another one."""
    before, after = ([compared_fields(module, entry) for entry in module.mappings] for module in (old, new))
    mapped = list(mapped_kernels(old, new))
    changed = {kernels: None for kernels in mapped if kernels.new is None or before[kernels.old] != after[kernels.new]}
    return list(changed), all(kernels in changed and kernels.new is not None for kernels in mapped if kernels.is_all)


def _first_position(module: Module, kernel: str) -> int | None:
    """Return the position of the mapping that a kernel takes; None without one."""
    try:
        return first_mapping(module, kernel)
    except KrmfnError:  # the webhook refuses such a Module
        return None


def _regexps(module: Module) -> dict[str, int]:
    """Return the regexps in order, with their positions, up to one for every kernel; a repeated one counts once."""
    regexps: dict[str, int] = {}
    for index, entry in enumerate(module.mappings):
        if regexp := text(entry, "regexp"):
            regexps.setdefault(regexp, index)
            if regexp in EVERY_KERNEL:
                break
    return regexps


def _are_disjoint(regexp: str, other_regexp: str) -> bool:
    """Return True when no kernel matches both, since they begin with different characters."""
    atoms = zip(_start(regexp), _start(other_regexp), strict=False)
    return any(atom.lstrip("\\") != other.lstrip("\\") for atom, other in atoms if not {atom, other} & {*_ANY})


def _start(regexp: str) -> list[str]:
    """Return what every match of a regexp begins with, character by character; [] where that is not certain."""
    match = None if "|" in regexp else _START.match(regexp)
    return _ATOM.findall(match[1]) if match else []
