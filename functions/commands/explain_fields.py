"""What `explain` says of a field: what it is, how it merges, where it ends up, since which KMM, an example."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from krmfn.errors import KrmfnError
from krmfn.typed import Any
from krmfn.yamltext import emit

from ..reference import ends, fields, specimens
from ..reference.fields import KINDS, Entry
from ..rendering.kinds import near

_LABELS = 15


def is_field(name: str) -> bool:
    """Return True for what is meant as a field: it begins with one of our kinds."""
    return name.partition(".")[0].lower() in KINDS


def meant(name: str) -> str:
    """Return `deviceconfig.spec.driverVersion` for `driverVersion` or `spec.driverVersion`; other names as they are."""
    path = f"spec.{name.removeprefix('spec.').replace('[]', '')}"
    known = any(entry.name.replace("[]", "") == path for entry in fields.entries("deviceconfig"))
    return f"deviceconfig.{path}" if known and not is_field(name) else name


def text(name: str, width: int) -> str:
    """Return the explanation of a field such as `deviceconfig.spec.devicePlugin`. Raises KrmfnError without it."""
    kind, _, path = name.partition(".")
    every = list(fields.entries(kind.lower()))
    wanted = path.replace("[]", "") or "spec"
    found = next((entry for entry in every if entry.name.replace("[]", "") == wanted), None)
    if found is None:
        raise KrmfnError(_unknown(kind, wanted, every))
    inside = [entry for entry in every if entry.path[:-1] in (found.path, (*found.path[:-1], f"{found.path[-1]}[]"))]
    lines = [f"{found.kind}.{found.name}", *_labelled(_facts(found), width)]
    if inside:
        longest = max(len(entry.path[-1]) for entry in inside)
        lines += ["", "fields:"]
        lines += [line for entry in inside for line in _row(entry, longest, width)]
    return "\n".join([*lines, "", "example:", textwrap.indent(emit.dump(example(found)).rstrip(), "  "), ""])


def example(entry: Entry) -> dict[str, Any]:
    """Return the field with an example, in what holds it."""
    value: Any = specimens.specimen(entry.node, fields.definitions(entry.kind), entry.path[-1])
    for part in reversed(entry.path):
        value = {part.removesuffix("[]"): [value] if part.endswith("[]") else value}
    whole: dict[str, Any] = value
    return whole


def _facts(entry: Entry) -> list[tuple[str, str]]:
    found = ends.ends(entry)
    default = ends.default(entry, found)
    facts = [
        ("", entry.about),
        ("type", entry.type + (", required" if entry.required else "")),
        ("default", "" if default is None else str(default)),
        ("of two layers", entry.merge),
        ("ends up in", ", ".join(map(str, found)) or "no object; it is used for checking or merging"),
        ("since KMM", ends.since(found)),
    ]
    return [(label, text) for label, text in facts if text]


def _labelled(facts: Sequence[tuple[str, str]], width: int) -> list[str]:
    lines = []
    for label, text in facts:
        indent = " " * (_LABELS + 2)
        wrapped = textwrap.wrap(text, width, initial_indent=indent if label else "  ", subsequent_indent=indent)
        lines += [f"  {label}".ljust(_LABELS + 2) + wrapped[0][_LABELS + 2 :], *wrapped[1:]] if label else wrapped
    return lines


def _row(entry: Entry, longest: int, width: int) -> list[str]:
    head = f"  {entry.path[-1].ljust(longest)}  "
    return textwrap.wrap(f"{entry.about} ({entry.type})", width, initial_indent=head, subsequent_indent=" " * len(head))


def _unknown(kind: str, wanted: str, every: Sequence[Entry]) -> str:
    last = wanted.rpartition(".")[2]
    holder = wanted.rpartition(".")[0]
    close = [entry.name for entry in every if near(entry.path[-1], last)]
    close = sorted(close, key=lambda name: name.replace("[]", "").rpartition(".")[0] != holder)[:3]
    known = [entry.path[-1] for entry in every if ".".join(entry.path[:-1]).replace("[]", "") == holder]
    hint = f"did you mean {' or '.join(f'{kind}.{name}' for name in close)}?" if close else ""
    there = f"fields there: {', '.join(known) or 'nothing'}"
    return f"unknown field {kind}.{wanted}; {hint or there}"
