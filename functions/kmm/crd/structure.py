"""The API server's checks of a Module before KMM sees it: the CRD's types, required fields, bounds and CEL rules.

Source: the Module CRD of KMM v2.4.0, v2.5.0, v2.6.0 and main (2026-07-29), as `facts` holds it; the messages are
those of k8s.io/apiextensions-apiserver v0.34.
"""

from collections.abc import Iterator

from krmfn import Manifest, Result
from krmfn.findings import Findings
from krmfn.resource import FieldPath, ref
from krmfn.typed import Any

from ... import oracles
from ...rule import Rule
from ..lookup import table
from ..module import Module
from ..rule import ADMISSION, mark_first, refusal, tag
from ..versions import DEFAULT, target
from . import metadata, server_fields, values
from .facts import Fact, hub_facts, module_facts
from .user_facts import UserFacts

NOT_CHECKED = (
    "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation"
)


def check(module: Module, version: str = DEFAULT, user_facts: UserFacts | None = None) -> Iterator[Result]:
    """Yield everything that the API server refuses in a Module, at create or at apply; what a create prints is `first`.

    Nulls are findings: server-side apply refuses them, and a plain create drops them, which changes a selector.
    `user_facts` go before those of a version. Raises KrmfnError for an unknown KMM version.
    """
    return _check_all(
        module.manifest, (user_facts and user_facts.module) or module_facts(target(version).table), "spec"
    )


def check_hub(manifest: Manifest, version: str = DEFAULT, user_facts: UserFacts | None = None) -> Iterator[Result]:
    """Yield everything that the API server of a hub refuses in a ManagedClusterModule, as `check` does of a Module."""
    return _check_all(manifest, (user_facts and user_facts.hub) or hub_facts(target(version).table), "spec.moduleSpec")


def _check_all(manifest: Manifest, facts: Fact, base: str) -> Iterator[Result]:
    """Yield what the API server refuses in a resource; `base` is the path of the Module's spec in it."""
    walks = (metadata.check_types, metadata.check, server_fields.check_owners, server_fields.check)
    findings = [finding for walk in walks for finding in walk(manifest)]
    findings += Findings(_check(manifest, facts, ()))
    spec, fact = table(manifest, *base.split(".")), facts
    for name in base.split("."):
        fact = (fact.fields or {})[name]
    if fact.rules and any(map(_blocks, findings)):
        findings.append(refusal(NOT_CHECKED, base, rule="KMM060"))
    elif "dra" in spec and "devicePlugin" in spec:
        head = f'{base}: Invalid value: "object"'
        findings += [refusal(f"{head}: {message}", f"{base}.dra", rule="KMM058") for _, message in fact.rules]
    subject = ref(manifest)
    printed = {id(finding) for finding in _first_findings(findings)}
    for finding in findings:
        located = finding._replace(ref=subject)
        yield mark_first(located) if id(finding) in printed else located


def _check(value: Any, node: Fact, path: FieldPath) -> Iterator[Result]:
    yield from values.check(value, node, path)
    if isinstance(value, dict) and node.type == "object":
        for key, entry in value.items():
            known = (node.fields or {}).get(key) or (node.item if node.fields is None else None)
            if known and entry is None:
                yield from values.null_value(known, node, (*path, key))
            elif known:
                yield from _check(entry, known, (*path, key))
    elif isinstance(value, list) and node.type == "array" and node.item:
        for index, entry in enumerate(value):
            yield from _check(entry, node.item, (*path, index))


def _first_findings(findings: list[Result]) -> list[Result]:
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
    return of_rule or tag(finding, ADMISSION) == metadata.NAME_IS_REQUIRED


def _is_of_status(finding: Result) -> bool:
    path = finding.field.path if finding.field else ""
    return path == "status" or path.startswith(("status.", "status["))


KMM058 = Rule(
    "KMM058",
    "a Module must not have both dra and devicePlugin (after KMM 2.6; a CEL rule of the CRD)",
    good="""\
# kmm: main
spec:
  dra: {driverName: gpu.example.com, container: {image: "registry.example.com/dra:1.0"}}
""",
    bad="""\
# kmm: main
spec:
  dra: {driverName: gpu.example.com, container: {image: "registry.example.com/dra:1.0"}}
  devicePlugin: {container: {image: "registry.example.com/plugin:1.0"}}
""",
    remedy="Remove one of the two.",
    held=oracles.APISERVER,
)

KMM060 = Rule(
    "KMM060",
    "a Module must have no wrong types and no missing fields before the CRD's CEL rules are checked (after KMM 2.6)",
    good="""\
# kmm: main
spec: {selector: {example.com/generation: "3"}}
""",
    bad="""\
# kmm: main
spec: {selector: {example.com/generation: 3}}
""",
    remedy="Correct the other findings about the Module; this one then disappears.",
    held=oracles.APISERVER,
)


RULES = (*metadata.RULES, *server_fields.RULES, KMM058, KMM060)

_UNKNOWN = {"KMM051", "KMM066"}
_OF_APPLY = {"KMM059", "KMM070", "KMM072", "KMM073"}
"""A create takes these."""
_BLOCKING = {"KMM052", "KMM053", "KMM055", "KMM059", "KMM067"}
