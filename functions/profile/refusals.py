"""What a Profile refuses of a config, and the options that it calls deprecated; and both as CEL rules of a CRD.

Source of CEL's escapes and types: k8s.io/apiextensions-apiserver v0.34.2, pkg/apiserver/schema/cel, and
kubernetes.io/docs, "CRD validation rules".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from krmfn.typed import Any

from ..mistake import Mistake
from . import defaulting, structural
from .expressions import Values, at, holds, path_of
from .structural import ABSENT, Node, Path

_ESCAPES = (("__", "__underscores__"), (".", "__dot__"), ("-", "__dash__"), ("/", "__slash__"))
_KEYWORDS = frozenset(
    {
        *("true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if"),
        *("import", "let", "loop", "package", "namespace", "return", "var", "void", "while"),
    }
)
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*").fullmatch


def refused(spec: Mapping[str, Any], values: Values) -> Iterator[tuple[Path, str]]:
    """Yield the option and the message of each entry of `refuse` whose condition holds."""
    for entry in spec.get("refuse", ()):
        if holds(entry["if"], values):
            paths = [path_of(name) for name in entry["if"]]
            written = (path for path in paths if at(values.written, path) is not ABSENT)
            yield next(written, paths[0][:1]), entry["message"]


def deprecated(spec: Mapping[str, Any], values: Values) -> Iterator[tuple[Path, str]]:
    """Yield the path and the message of each deprecated option that is written."""
    for name, message in spec.get("deprecated", {}).items():
        if at(values.written, path_of(name)) is not ABSENT:
            yield path_of(name), message


def unsaid(name: str, value: Any, node: Node) -> Mistake | None:
    """Return why a condition of `refuse` cannot be said in a CRD; None when it can."""
    parts = path_of(name)
    if parts[:1] == ("metadata",):
        return (
            None
            if parts[1:] == ("name",)
            else Mistake("the API server's rules see no namespace", "write metadata.name alone")
        )
    option = structural.at(node, parts) or {}
    if isinstance(value, dict) and defaulting.default_of(option) is not None:
        return Mistake("the API server cannot tell a default from what is written", "write the value itself")
    return (
        None
        if _steps(parts, node)
        else Mistake("lies below fields that the schema does not name, where no rule can look")
    )


def validations(spec: Mapping[str, Any], node: Node) -> list[dict[str, str]]:
    """Return the entries of `refuse` as x-kubernetes-validations of the schema of a whole config."""
    rules = []
    for entry in spec.get("refuse", ()):
        entries = {path_of(name): value for name, value in entry["if"].items()}
        absent = {parts for parts in entries if parts[0] != "metadata" and structural.at(node, parts) is None}
        if any(entries[parts] != {"exists": False} for parts in absent) or absent == entries.keys():
            continue  # an option of another version
        terms = [_term(parts, value, node) for parts, value in entries.items() if parts not in absent]
        rules.append({"rule": f"!({' && '.join(terms)})", "message": entry["message"]})
    return rules


def _term(parts: tuple[str, ...], expected: Any, node: Node) -> str:
    """Return one entry of a condition in CEL."""
    *guards, place = [*_steps(parts, node), ""] if parts[0] == "metadata" else _steps(parts, node)
    if parts[0] == "metadata":
        guards, place = ["has(self.metadata.name)"], "self.metadata.name"
    if isinstance(expected, dict):
        term = " && ".join(guards)
        return term if expected.get("exists") else f"!({term})"
    choices = expected if isinstance(expected, list) else [expected]
    kind = (structural.at(node, parts) or {}).get("type", "")
    values = " || ".join(f"{place} == {_literal(choice, kind)}" for choice in choices)
    return " && ".join([*guards, f"({values})"])


def _steps(parts: tuple[str, ...], node: Node) -> list[str]:
    """Return a guard for each step of a path, and the place itself; [] where the schema does not name a step."""
    place, steps, parent = "self", list[str](), node
    for part in parts:
        known = parent.get("properties", {}).get(part)
        if isinstance(known, dict):
            place = f"{place}.{_escaped(part)}"
            steps.append(f"has({place})")
            parent = known
        elif isinstance(parent.get("additionalProperties"), dict):
            steps.append(f"{json.dumps(part)} in {place}")
            place = f"{place}[{json.dumps(part)}]"
            parent = parent["additionalProperties"]
        else:
            return []
    return [*steps, place]


def _escaped(name: str) -> str:
    """Return the name of a field as CEL calls it."""
    if name in _KEYWORDS:
        return f"__{name}__"
    if _IDENTIFIER(name) and "__" not in name:
        return name
    for text, escape in _ESCAPES:
        name = name.replace(text, escape)
    return name


def _literal(value: Any, kind: str) -> str:
    """Return a scalar in CEL, whose numbers have a type."""
    return f"{float(value)!r}" if kind == "number" and type(value) in (int, float) else json.dumps(value)
