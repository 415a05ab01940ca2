"""The API server's checks of a Module before KMM sees it: the CRD's types, required fields, bounds and CEL rules.

Source: the Module CRD of KMM v2.4.0, v2.5.0, v2.6.0 and main (2026-07-29), as `facts` holds it; the messages are
those of k8s.io/apiextensions-apiserver v0.34.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from krmfn.resource import Manifest, ref
from krmfn.results import Result

from ..lookup import table
from ..rule import ADMISSION, Rules, apply, mark_first, refused, tag
from ..versions import DEFAULT, target
from .apitext import Path
from .facts import Node, module_facts
from .metadata import NAME_IS_REQUIRED
from .metadata import RULES as METADATA_RULES
from .values import NULL_RULES, RULES_OF
from .values import RULES as VALUE_RULES

NOT_CHECKED = (
    "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation"
)


def check(module: Manifest, version: str = DEFAULT) -> Iterator[Result]:
    """Yield everything that the API server refuses in a Module, at create or at apply; what a create prints is `first`.

    Nulls are findings: server-side apply refuses them, and a plain create drops them, which changes a selector.
    Raises KrmfnError for an unknown KMM version.
    """
    facts = module_facts(target(version).structure)
    findings = [*apply(METADATA_RULES, module), *_check(module, facts, ())]
    blocked = any(map(_blocks, findings))
    findings += apply(CEL_RULES, module, facts, blocked)
    subject, printed = ref(module), {id(finding) for finding in _printed(findings)}
    for finding in findings:
        located = finding._replace(ref=subject)
        yield mark_first(located) if id(finding) in printed else located


def _check(value: Any, node: Node, path: Path) -> Iterator[Result]:
    yield from apply(RULES_OF[node.type], value, node, path)
    if isinstance(value, dict) and node.type == "object":
        for key, entry in value.items():
            known = (node.fields or {}).get(key) or (node.item if node.fields is None else None)
            if known and entry is None:
                yield from apply(NULL_RULES, known, node, (*path, key))
            elif known:
                yield from _check(entry, known, (*path, key))
    elif isinstance(value, list) and node.type == "array" and node.item:
        for index, entry in enumerate(value):
            yield from _check(entry, node.item, (*path, index))


def _printed(findings: list[Result]) -> list[Result]:
    """Return what a create prints: the first undecodable value, or else all unknown fields, or else all errors.

    When it would print nothing, only an apply is refused, and may print everything.
    """
    undecodable = [finding for finding in findings if finding.rule == "KMM065"]
    unknown = [finding for finding in findings if finding.rule in _UNKNOWN]
    created = [finding for finding in findings if finding.rule not in _OF_APPLY and not _is_of_status(finding)]
    if not any(map(_blocks, created)):
        created = [finding for finding in created if finding.rule != "KMM060"]
    return undecodable[:1] or unknown or created or findings


def _blocks(finding: Result) -> bool:
    """Return True when the API server evaluates no CEL rule after this; it does after an error in a status."""
    of_rule = finding.rule in _BLOCKING and not _is_of_status(finding)
    return of_rule or tag(finding, ADMISSION) == NAME_IS_REQUIRED


def _is_of_status(finding: Result) -> bool:
    path = finding.field.path if finding.field else ""
    return path == "status" or path.startswith(("status.", "status["))


def dra_excludes_device_plugin(module: Manifest, facts: Node, blocked: bool) -> Iterator[Result]:
    """KMM058: a Module has dra or devicePlugin, not both. KMM main (a CEL rule of the CRD)."""
    spec = table(module, "spec")
    if not blocked and "dra" in spec and "devicePlugin" in spec:
        for _, message in _cel_rules(facts):
            yield refused(f'spec: Invalid value: "object": {message}', "spec.dra")


def cel_is_not_asked(module: Manifest, facts: Node, blocked: bool) -> Iterator[Result]:
    """KMM060: the CRD's CEL rules are asked only when no type is wrong and no field missing. KMM main."""
    if blocked and _cel_rules(facts):
        yield refused(NOT_CHECKED, "spec")


def _cel_rules(facts: Node) -> tuple[tuple[str, str], ...]:
    return (facts.fields or {})["spec"].rules


CEL_RULES: Rules = (
    ("KMM058", dra_excludes_device_plugin),
    ("KMM060", cel_is_not_asked),
)
RULES: Rules = METADATA_RULES + VALUE_RULES + NULL_RULES + CEL_RULES

_UNKNOWN = {"KMM051", "KMM066"}
_OF_APPLY = {"KMM059", "KMM070", "KMM072", "KMM073"}
"""A create takes these."""
_BLOCKING = {"KMM052", "KMM053", "KMM055", "KMM059", "KMM067"}
