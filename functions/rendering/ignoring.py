"""Rules that are turned off: for a run by the functionConfig, for one resource by an annotation.

Only advice can be turned off. The cluster refuses an object whatever is ignored here, and an error about our own kinds
keeps a wrong manifest from being generated.
"""

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from krmfn import Field, Item, Ref, ResourceList, Result, error, info, warning
from krmfn.ownership import OWNER, Id
from krmfn.printing import is_similar
from krmfn.results import MEND, REMOVE, Severity

from .. import oracles
from ..kmm.module import MODULE_GROUP, MODULE_KIND
from ..mistake import Mistake
from ..rule import Rule
from ..run import note, run_of
from .function_config import FunctionConfig, Source
from .generated import Finding, Judged
from .kinds import OURS, Kinds, has_nodes, of_kinds
from .repeats import merge_repeats

Entry = tuple[Id, str]
"""An entry that turns off a rule: the resource that has it, and the rule."""

IGNORE = f"{OURS}/ignore"
"""Annotation on a Module or on the resource it is generated from: `KRM204: why; KRM209: why`."""
ANNOTATION = f"metadata.annotations[{IGNORE}]"
_CHANGES, _NODES = "KRM4", "KRM6"
"""Families of rules that only some runs judge: changes, what nodes get."""
FINAL = (
    "KRM7",
    "KMM080",
    "KMM081",
    "KMM082",
    "KMM083",
    "KRM530",
    "KRM531",
    "KRM532",
    "KRM191",
    "KRM231",
    "KRM546",
    "KRM614",
    "KRM615",
    "KRM616",
    "KRM617",
    "KRM632",
)
"""The rules about the final list, and the family of most of them."""


@cache
def _hideable() -> dict[str, list[Severity]]:
    """Return, for the id of every rule, the severities of its findings that can be turned off.

    Source: `advice.json`, which tools/rules.py writes from the rules: loading all of these takes as long as a render.
    """
    with open(os.path.join(os.path.dirname(__file__), "advice.json"), "rb") as file:  # noqa: PTH118, PTH120, PTH123
        table: dict[str, list[Severity]] = json.load(file)
    return table


def is_hideable(finding: Result) -> bool:
    """Return True for a finding that can be turned off."""
    return finding.severity in _hideable().get(finding.rule, ())


def visible(
    resources: ResourceList, judged: Judged, config: FunctionConfig, handled: Kinds, of_final: bool = False
) -> Iterator[Result]:
    """Yield the findings that are not turned off, and count the others in the run.

    A command that judges all of its input also reports the entries that hide nothing, but for rules that are judged
    elsewhere: by `diff`, or where nodes are known. `of_final` is for the rules of the final list, which is judged last.
    """
    hidden = Counter[frozenset[Entry]]()
    yield from merge_repeats(not_ignored(*judged, config, hidden), config.source)
    run = run_of(resources)
    if hidden:
        note(resources, turned_off=run.turned_off + hidden.total())
    if resources.failed or not run.settings.intent.judges_nodes or (run.is_settled and not of_final):
        return
    used = frozenset[Entry]().union(*hidden)
    # KRM613 is judged between clusters, after each of them
    not_judged = (_CHANGES, "KRM613") if has_nodes(resources) else (_CHANGES, _NODES)
    users = of_kinds(resources.items, handled)
    vendors = {product.item.ref for product in map(config.product, users) if product} if config.products else set()
    holders = [
        item  # one that is made inherits the entry; that of a Profile may be for other configs than these
        for item in resources.mentioning(IGNORE)
        if OWNER not in item.annotations and item.ref not in vendors
    ]
    entries: list[tuple[Item | Source, str, str]] = [
        (item, ANNOTATION, rule) for item in holders for rule, reason in _entries(item) if reason
    ]
    modules = resources.where(kind=MODULE_KIND, group=MODULE_GROUP)
    is_judged = users or any(OWNER not in item.annotations for item in modules)
    if is_judged and run.config_item in resources.items:  # else it is also for other lists
        entries += ((config.source, f"spec.ignore.{rule}", rule) for rule in config.ignore)
    for holder, path, rule in entries:
        was_judged = not rule.startswith(not_judged) and rule.startswith(FINAL) == of_final
        if was_judged and _hideable().get(rule) and (holder.ref.id, rule) not in used:
            message = f"{rule} is turned off, but nothing that was checked has such a finding"
            finding = info(message, rule="KRM139", field=Field(path, rule), remedy="remove the entry")
            yield holder.located(finding._replace(facts=((MEND, (REMOVE, rule)),)))


def not_ignored(
    findings: Iterable[Finding], owners: Mapping[Ref, Item], config: FunctionConfig, hidden: Counter[frozenset[Entry]]
) -> Iterator[Finding]:
    """Yield the findings that no entry turns off: of their owners, the functionConfig, the Profile with their place.

    The others are counted in `hidden` by the entries that hide them.
    """
    rules: dict[Ref, set[str]] = {}
    vendors = {product.item.ref: product.item for product in config.products.values()}
    for owner, finding in findings:
        entries = {(config.source.ref.id, finding.rule)} if finding.rule in config.ignore else set()
        if owner and owner not in rules:
            rules[owner] = turned_off(owners.get(owner))
        if owner and finding.rule in rules[owner]:
            entries.add((owners[owner].ref.id, finding.rule))
        vendor = vendors.get(finding.ref) if finding.ref else None
        if vendor and finding.rule in turned_off(vendor):
            entries.add((vendor.ref.id, finding.rule))
        if entries and is_hideable(finding):
            hidden[frozenset(entries)] += finding.unlisted or 1
        else:
            yield owner, finding


def turned_off(item: Item | None) -> set[str]:
    """Return the rules that an item turns off, each with a reason."""
    return {rule for rule, reason in _entries(item) if reason}


def _entries(item: Item | None) -> Iterator[tuple[str, str]]:
    """Yield the rules that an item turns off, each with the reason; "" for one without."""
    text = item.annotations.get(IGNORE, "") if item else ""
    for entry in filter(str.strip, text.split(";")):
        rule, _, reason = entry.partition(":")
        yield rule.strip(), reason.strip()


def check(item: Item) -> Iterator[Result]:
    """Yield the findings about the rules that an item turns off: one that cannot be, one without a reason."""
    for rule, reason in _entries(item):
        field = Field(ANNOTATION, rule)
        if wrong := mistake(rule):
            finding = error(wrong.message, rule="KRM119", field=field, facts=(("rule", rule),), remedy=wrong.remedy)
            yield item.located(finding)
        elif not reason:
            message = f"{rule} is turned off without a reason"
            yield item.located(
                warning(message, rule="KRM115", field=field, facts=(("rule", rule),), remedy=f"write `{rule}: why`")
            )


def check_function_config(config: FunctionConfig) -> Iterator[Result]:
    """Yield an error per rule that the functionConfig turns off and that cannot be turned off."""
    for rule in config.ignore:
        if wrong := mistake(rule):
            field, message = Field(f"spec.ignore.{rule}", rule), f"{wrong.message} (in the functionConfig)"
            yield config.source.located(error(message, rule="KRM119", field=field, remedy=wrong.remedy))


def mistake(name: str) -> Mistake | None:
    """Return why a rule with this id cannot be turned off; None when it can."""
    rules = _hideable()
    if rules.get(name):
        return None
    if name in rules and name.startswith(("KMM", _CHANGES)):
        return Mistake(
            f"{name} cannot be turned off, because the cluster itself refuses what it reports", "correct that instead"
        )
    if name in rules and name.startswith("KRM3"):
        turn_off = '`exclusivity: {mode: "off"}`'
        return Mistake(
            f"{name} is about node exclusivity, which can only be turned off as a whole", f"write {turn_off}"
        )
    is_own = len(name) == len("KRM121") and name.startswith("KRM1")  # KRM121 is no misspelt KRM221
    similar = [] if is_own else [rule for rule in rules if rules[rule] and is_similar(name, rule)]
    close = sorted(similar, key=lambda rule: rule != name.upper())
    hint = f"did you mean {close[0]}?" if close else "`krmfn rules` lists all rules"
    return Mistake(f"{name or 'nothing'} is not a rule that can be turned off", hint)


KRM115 = Rule(
    "KRM115",
    "an entry that turns off a rule should give a reason",
    good="""\
metadata: {annotations: {krmfn.dev/ignore: "KRM225: the vendor has no other tag"}}
spec: {driverImage: "registry.example.com/gpu:latest", driverVersion: null}
""",
    bad="""\
metadata: {annotations: {krmfn.dev/ignore: KRM225}}
spec: {driverImage: "registry.example.com/gpu:latest", driverVersion: null}
""",
    remedy="Write the reason after a colon; without one the rule is not turned off.",
    held=oracles.OUR_KINDS,
    severities=("warning",),
)

KRM119 = Rule(
    "KRM119",
    "an entry that turns off a rule must name a rule that can be turned off",
    good="""\
kind: RenderDeviceConfigs
spec: {ignore: {KRM225: the vendor has no other tag}}
---
spec: {driverImage: "registry.example.com/gpu:latest", driverVersion: null}
""",
    bad="""\
kind: RenderDeviceConfigs
spec: {ignore: {KMM020: the vendor has no tag}}
---
spec: {driverImage: "registry.example.com/gpu:latest", driverVersion: null}
""",
    remedy="Correct what the rule reports, and remove the entry; `krmfn explain` says of each rule whether it can "
    "be turned off.",
    held=oracles.OUR_KINDS,
)

KRM139 = Rule(
    "KRM139",
    "an entry that turns off a rule should hide a finding (reported by `check` if there is no error)",
    good="""\
metadata: {annotations: {krmfn.dev/ignore: "KRM225: the vendor has no other tag"}}
spec: {driverImage: "registry.example.com/gpu:latest", driverVersion: null}
""",
    bad="""\
metadata: {annotations: {krmfn.dev/ignore: "KRM225: the vendor has no other tag"}}
spec: {driverImage: "registry.example.com/gpu:1.0", driverVersion: null}
""",
    remedy="Remove the entry, so that it hides nothing later; keep it if another run needs it.",
    held=oracles.OUR_KINDS,
    severities=("info",),
)

RULES = (KRM115, KRM119, KRM139)
"""The rules about turning rules off: steps of the checks above."""
