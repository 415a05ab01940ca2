"""The impact of a plan on nodes: the Modules that change, in which fields, for which kernels, and who waits for them.

A kernel takes the first mapping that matches. The kernels of literals are tried. Any two regexps may match one kernel,
unless the characters that they begin with say otherwise; so no kernel is passed over, and some are named that no node
has.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from krmfn import Field, KrmfnError, Manifest, Ref, Result
from krmfn.resource import ref
from krmfn.typed import NamedTuple

from ..differences import ABSENT, FieldChange, differences
from ..kmm.lookup import has, table, tables, text
from ..kmm.module import CONTAINER, EVERY_KERNEL, IN_TREE, MAPPINGS, Module, module_of, node_labels
from ..kmm.resolution import compared_fields, first_mapping
from ..kmm.versions import Target
from ..plan import Plan

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

    def known(self, step: Step, word: str) -> list[str] | None:
        """Return the nodes on which the change has this effect on a Module; None where that is not known."""
        effects = [effect for effect in self.plan.effects if effect.ref.id == step.ref.id]
        if not self.knows_nodes or any(effect.word == "unknown" for effect in effects):
            return None
        return sorted(name for effect in effects if effect.word == word for name in effect.nodes)

    def waiting(self, module: Ref) -> list[str]:
        """Return the names of the workloads whose nodes are selected by a label about the Module."""
        return list(dict.fromkeys(who for key in node_labels(*module[2:]) for who in self.holders.get(key, ())))


class Served(NamedTuple):
    """Kernels of one mapping before, of one mapping (None: of none) after a change."""

    kernels: str
    """`literal 6.1.0-test`, `regexp ^6`."""
    old: int
    new: int | None
    whole: bool = True
    """Whether these are all kernels of the old mapping."""


def each_step(check: Callable[[Impact, Step], Iterator[Result]]) -> Callable[[Impact], Iterator[Result]]:
    """Return the check of an impact that yields what `check` finds about each of its steps, about its Module."""
    return lambda impact: (one._replace(ref=step.ref) for step in impact.steps for one in check(impact, step))


def changed_modules(plan: Plan, theirs: Iterable[Manifest]) -> tuple[list[Step], Mapping[str, Sequence[str]]]:
    """Return the steps and the holders of a plan, as Impact has them; `theirs` is what comes from elsewhere."""
    holders: dict[str, list[str]] = defaultdict(list)
    for manifests, whose in ((plan.new, ""), (theirs, " (from --against)")):
        for manifest in manifests:
            for key in selected(manifest):
                holders[key].append(f"{ref(manifest)}{whose}")
    sides = ((change.ref, module_of(change.old or {}), module_of(change.new or {})) for change in plan.changes)
    return [Step(own, one.ref, old, new) for own, old, new in sides if (one := new or old)], holders


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
    first = next(differences(compared_fields(step.old, before), compared_fields(step.new, after)))
    if (key := str(first.parts[0])) == "modprobe":
        return field_of(first._replace(parts=(*CONTAINER.split("."), *first.parts)))
    holders = ((path, before, after), (CONTAINER, step.old.container, step.new.container))
    names = [(*holder, name) for holder in holders for name in (IN_TREE if key in IN_TREE else (key,))]
    for where, was, now, name in names:
        if was.get(name) != now.get(name):
            return Field(f"{where}.{name}", was.get(name), now.get(name))
    return None


def field_of(change: FieldChange) -> Field:
    """Return the field of a finding about a change, with its old and its new value; None for one that is absent."""
    old, new = (None if value is ABSENT else value for value in (change.old, change.new))
    return Field(change.path, old, new)


_START = re.compile(r"\^((?:[\w-]|\\[.+d-]|\.)*)(?![*+?{])")
_ATOM = re.compile(r"\\?.")
_ANY = (".", "\\d")


def served(old: Module, new: Module) -> Iterator[Served]:
    """Yield the kernels that the old Module served, each with its mapping before and after."""
    entries = (*old.mappings, *new.mappings)
    for literal in dict.fromkeys(text(entry, "literal") for entry in entries):
        at = _first(old, literal) if literal else None
        if at is not None:
            yield Served(f"literal {literal}", at, _first(new, literal))
    before, after = _regexps(old), _regexps(new)
    order, later = list(before), list(after)
    for regexp, at in before.items():
        if regexp in after:
            yield Served(f"regexp {regexp}", at, after[regexp])
        elif not after.keys() & EVERY_KERNEL:
            yield Served(f"regexp {regexp}", at, None)
        ahead = later[: later.index(regexp)] if regexp in after else later
        for other_regexp in ahead:
            is_first = other_regexp not in before or order.index(regexp) < order.index(other_regexp)
            if is_first and not _are_apart(regexp, other_regexp):
                yield Served(f"regexp {other_regexp} (before: regexp {regexp})", at, after[other_regexp], whole=False)


def changed(old: Module, new: Module) -> tuple[list[Served], bool]:
    """Return the served kernels for which the result is another one, or none; and whether all get another one."""
    before, after = ([compared_fields(module, entry) for entry in module.mappings] for module in (old, new))
    every = list(served(old, new))
    affected = {kernels: None for kernels in every if kernels.new is None or before[kernels.old] != after[kernels.new]}
    return list(affected), all(kernels in affected and kernels.new is not None for kernels in every if kernels.whole)


def _first(module: Module, kernel: str) -> int | None:
    try:
        return first_mapping(module, kernel)
    except KrmfnError:  # the webhook refuses such a Module
        return None


def _regexps(module: Module) -> dict[str, int]:
    """Return the regexps in order, with their mappings; not one that is repeated, or behind one for every kernel."""
    regexps: dict[str, int] = {}
    for index, entry in enumerate(module.mappings):
        if regexp := text(entry, "regexp"):
            regexps.setdefault(regexp, index)
            if regexp in EVERY_KERNEL:
                break
    return regexps


def _are_apart(regexp: str, other_regexp: str) -> bool:
    """Return True when no kernel matches both: they begin with other characters."""
    pairs = zip(_start(regexp), _start(other_regexp), strict=False)
    return any(left.lstrip("\\") != right.lstrip("\\") for left, right in pairs if not {left, right} & {*_ANY})


def _start(regexp: str) -> list[str]:
    """Return what every match of a regexp begins with, character by character; [] where that is not plain."""
    match = None if "|" in regexp else _START.match(regexp)
    return _ATOM.findall(match[1]) if match else []
