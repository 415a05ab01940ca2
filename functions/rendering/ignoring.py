"""Rules that are turned off: for a run by the functionConfig, for one resource by an annotation.

Only advice can be turned off. A refusal of the cluster comes true whatever is ignored here, and without an error about
our own kinds there would be a manifest that nobody meant.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping

from krmfn import Field, Item, Ref, ResourceList, Result, error, info, warning
from krmfn.ownership import OWNER, Id
from krmfn.rule import Rule

from ..kmm.module import MODULE_GROUP, MODULE_KIND
from .function_config import JUDGING, FunctionConfig
from .generated import Finding
from .kinds import OURS
from .reach import reaching
from .suspects import near

Hidden = tuple[Id, str]
"""A resource, and a rule that it turns off."""

IGNORE = f"{OURS}/ignore"
"""Annotation on a Module or on the resource it is made from: `KRM204: why; KRM209: why`."""
ANNOTATION = f"metadata.annotations[{IGNORE}]"
ADVICE = ("KRM2", "KRM4")
"""Families of rules that advise: lints, and what `diff` says."""
WARNINGS = frozenset({"KRM127", "KRM132", "KRM142", "KRM143", "KRM144", "KRM162"})
"""Rules about our own kinds that warn: those findings can be turned off, an error of the same rule cannot."""
REFUSALS = frozenset({"KRM403"})
"""Rules of those families about what the cluster itself refuses."""
FLEET = frozenset(f"KRM60{number}" for number in range(4, 10))
"""Rules about what nodes get: advice, too. What is wrong with the nodes themselves cannot be turned off."""
FINAL = frozenset({"KRM701", "KRM703", "KRM704", "KRM708", "KRM709", "KRM710", "KRM711"})
"""Rules about the final list that warn: those findings can be turned off, an error of the same rule cannot."""
_CHANGES = tuple(f"KRM{number}" for number in range(401, 411))
"""The rules about changes, which stand above this room; a test holds them against `upgrades.change_rules`."""


def can_be_turned_off(rule: str) -> bool:
    """Return True for the id of a rule that advises: it can be turned off, and what it says then does not count."""
    return (rule[:4] in ADVICE and rule not in REFUSALS) or rule in WARNINGS or rule in FLEET or rule in FINAL


def report(
    resources: ResourceList,
    findings: Iterable[Finding],
    owners: Mapping[Ref, Item],
    config: FunctionConfig,
    handled: Collection[tuple[str, str]],
) -> bool:
    """Report the findings that are not turned off, and count the others; return False when one is an error.

    A command that judges says then which entries hide nothing.
    """
    hidden = Counter[frozenset[Hidden]]()
    is_sound = resources.report(reaching(kept(findings, owners, config, hidden), config.source))
    resources.turned_off += hidden.total()
    if is_sound and resources.options.command in JUDGING and not resources.is_rendered:
        resources.report(idle(resources, config, handled, hidden))
    return is_sound


def kept(
    findings: Iterable[Finding], owners: Mapping[Ref, Item], config: FunctionConfig, hidden: Counter[frozenset[Hidden]]
) -> Iterator[Finding]:
    """Yield the findings that are not turned off, neither by their owners nor by the functionConfig.

    The others are counted in `hidden` by the entries that have hidden them.
    """
    off: dict[Ref, set[str]] = {}
    for owner, finding in findings:
        by = {(config.source.ref.id, finding.rule)} if finding.rule in config.ignore else set()
        if owner and owner not in off:
            off[owner] = {rule for rule, reason in _entries(owners.get(owner)) if reason}
        by |= {(owners[owner].ref.id, finding.rule)} if owner and finding.rule in off[owner] else set()
        if by and _is_advice(finding):
            hidden[frozenset(by)] += finding.unlisted or 1
        else:
            yield owner, finding


def _is_advice(finding: Result) -> bool:
    is_error_of_ours = finding.severity == "error" and finding.rule in WARNINGS | FINAL
    return can_be_turned_off(finding.rule) and not is_error_of_ours


def _entries(item: Item | None) -> Iterator[tuple[str, str]]:
    """Yield the rules that an item turns off, each with the reason; "" for one without."""
    text = item.annotations.get(IGNORE, "") if item else ""
    for entry in filter(str.strip, text.split(";")):
        rule, _, reason = entry.partition(":")
        yield rule.strip(), reason.strip()


def check(item: Item) -> Iterator[Result]:
    """Yield the findings about the rules that an item turns off: each can be, and has a reason."""
    for rule, reason in _entries(item):
        field = Field(ANNOTATION, rule)
        message = _not_turned_off(rule)
        if message:
            yield item.located(error(message, rule="KRM119", field=field))
        elif not reason:
            message = f"{rule} is turned off without a reason; write `{rule}: why`"
            yield item.located(warning(message, rule="KRM115", field=field))


def check_function_config(config: FunctionConfig, function_config: Ref) -> Iterator[Result]:
    """Yield errors about rules that the functionConfig turns off and that cannot be turned off."""
    for rule in config.ignore:
        message = _not_turned_off(rule)
        if message:
            field = Field(_path(function_config, rule), rule)
            yield error(f"{message} (in the functionConfig)", rule="KRM119", ref=function_config, field=field)


def idle(
    resources: ResourceList,
    config: FunctionConfig,
    kinds: Collection[tuple[str, str]],
    hidden: Iterable[frozenset[Hidden]],
    of_final: bool = False,
) -> Iterator[Result]:
    """Yield an info per entry that has hidden nothing, after a run that has judged all of its input.

    A generated object has its entries from elsewhere, and a functionConfig that is not among the resources, or has
    nothing to judge beside it, is also for others. What `diff` says is judged elsewhere, and what nodes get only where
    nodes are known. `of_final` asks about the rules of the final list, which is judged after all else.
    """
    nodes = resources.select("Node", "") or resources.select("NodeInventory", OURS)
    useful = frozenset[Hidden]().union(*hidden)
    elsewhere = {*_CHANGES, *(() if nodes else FLEET)}
    for item in resources.mentioning(IGNORE):
        for rule, reason in _entries(item):
            is_asked = rule not in elsewhere and (rule in FINAL) == of_final
            is_idle = reason and is_asked and (item.ref.id, rule) not in useful
            if is_idle and OWNER not in item.annotations:
                yield item.located(_hides_nothing(rule, ANNOTATION))
    if resources.config_item in resources.items and any(_is_judged(item, kinds) for item in resources.items):
        for rule in config.ignore:
            is_asked = rule not in elsewhere and (rule in FINAL) == of_final
            if is_asked and (config.source.ref.id, rule) not in useful:
                yield config.source.located(_hides_nothing(rule, _path(config.source.ref, rule)))


def _is_judged(item: Item, kinds: Collection[tuple[str, str]]) -> bool:
    """Return True for our own kinds and for a Module that is written by hand."""
    kind = (item.group, item.kind)
    return kind in kinds or (kind == (MODULE_GROUP, MODULE_KIND) and OWNER not in item.annotations)


def _hides_nothing(rule: str, path: str) -> Result:
    message = f"{rule} is turned off, and there is no such finding in what was checked; remove the entry"
    return info(message, rule="KRM139", field=Field(path, rule))


def _path(function_config: Ref, rule: str) -> str:
    return f"data[ignore.{rule}]" if function_config.kind == "ConfigMap" else f"spec.ignore.{rule}"


def _not_turned_off(name: str) -> str:
    """Return why a rule's id turns nothing off; "" when it does."""
    from ..exclusivity.rules import RULES as EXCLUSIVITY  # here: few lists turn rules off
    from ..kmm.rules import RULES as MODULES

    of_modules = [rule.id for rule in MODULES]
    known = [rule for rule in (*of_modules, *_CHANGES, *sorted(WARNINGS | FLEET | FINAL)) if can_be_turned_off(rule)]
    if name in known:
        return ""
    if name in (*of_modules, *REFUSALS):
        return f"{name} is what the cluster itself refuses and cannot be turned off; correct what it reports"
    if name in [rule.id for rule in EXCLUSIVITY]:
        return f'{name} is about node exclusivity, which is turned off as a whole: `exclusivity: {{mode: "off"}}`'
    # An id of the hundred between these is a rule of its own (KRM121), and no misspelt KRM221.
    sure = len(name) == len("KRM121") and name.startswith("KRM1")
    close = [] if sure else sorted((rule for rule in known if near(name, rule)), key=lambda rule: rule != name.upper())
    hint = f"; did you mean {close[0]}?" if close else "; the command `rules` prints all rules"
    own = ", ".join(sorted(WARNINGS))
    families = "lints, KRM2xx; what `diff` says, KRM4xx; what nodes get, KRM604 to KRM609; " + (
        "what reaches a cluster, KRM701, KRM703, KRM704 and KRM708 to KRM711"
    )
    return f"{name or 'nothing'} is no rule that can be turned off ({families}; {own}){hint}"


RULES = (
    Rule(
        "KRM115",
        "a rule that is turned off has a reason",
        good="""\
metadata: {annotations: {krmfn.dev/ignore: "KRM225: the vendor has no other tag"}}
spec: {driverImage: "registry.example.com/gpu:latest", driverVersion: null}
""",
        bad="""\
metadata: {annotations: {krmfn.dev/ignore: KRM225}}
spec: {driverImage: "registry.example.com/gpu:latest", driverVersion: null}
""",
        remedy="Write the reason after a colon; without one the rule is not turned off.",
    ),
    Rule(
        "KRM119",
        "a rule that is turned off can be: a lint (KRM2xx), what `diff` says (KRM4xx), a warning about a field",
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
        remedy="Correct what the rule reports: the cluster would refuse it, or nothing could be generated from it.",
    ),
    Rule(
        "KRM139",
        "a rule that is turned off would report something; asked by `check`, when it finds no error",
        good="""\
metadata: {annotations: {krmfn.dev/ignore: "KRM225: the vendor has no other tag"}}
spec: {driverImage: "registry.example.com/gpu:latest", driverVersion: null}
""",
        bad="""\
metadata: {annotations: {krmfn.dev/ignore: "KRM225: the vendor has no other tag"}}
spec: {driverImage: "registry.example.com/gpu:1.0", driverVersion: null}
""",
        remedy="Remove the entry, so that it hides nothing later; keep it where another run needs it.",
    ),
)
"""The rules about turning rules off: steps of the checks above."""
