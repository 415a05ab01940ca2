"""The command `explain`: a rule with examples, a field with its place, a config with its layers, or a Profile."""

from __future__ import annotations

import argparse
import os
import shutil
import textwrap
from collections.abc import Sequence

from krmfn.errors import KrmfnError
from krmfn.results import Rule
from krmfn.typed import Any
from krmfn.yamltext import emit

from .. import options
from ..command import PRINTED, Command, Context
from ..formats import rules as reports
from ..paths import output
from ..reference import ends, fields
from ..reference.fields import KINDS, Entry
from ..rendering.kinds import near
from . import catalogue

_WIDEST = 100
_LABELS = 15


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command `explain`."""
    help_ = (
        "a rule id such as KRM301, a field such as deviceconfig.spec.build, PATH NAME for a config in PATH, "
        "or NAME PATH... for a Profile in PATHs or, as NAME.spec.FIELD, for its option"
    )
    names = parser.add_argument("names", nargs="+", metavar="NAME", help=help_)
    setattr(names, options.OFFERED, (options.ASKED.format("rules"),))


def run(_: Context, args: Any) -> int:
    """Print what the arguments are about."""
    output.write_stdout(explained(args.names))
    return 0


def explained(names: tuple[str, ...]) -> str:
    """Return the explanations. Raises KrmfnError that names the ids that no rule has, or an unknown field or config."""
    if names[0] == "-" or os.path.exists(names[0]):  # noqa: PTH110  # `-` and what is no file are names, too
        from . import explain_inputs

        if len(names) != 2:
            raise KrmfnError(f"name the config in {names[0]} to explain: krmfn explain {names[0]} NAME")
        return explain_inputs.layers(*names)
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    if len(names) > 1 and all(name == "-" or os.path.exists(name) for name in names[1:]):  # noqa: PTH110  # as above
        from . import explain_inputs

        return explain_inputs.profile(names[0], names[1:], width)
    names = tuple(map(_meant, names))
    known = {rule.id: rule for rule in catalogue.rules()}
    wanted = list(dict.fromkeys(name if _is_field(name) else name.upper() for name in names))
    unknown = [_unknown(name, [*known]) for name in names if not (_is_field(name) or name.upper() in known)]
    if unknown:
        raise KrmfnError(*unknown)
    texts = (_field(name, width) if _is_field(name) else _rule(known[name], width) for name in wanted)
    return "\n\n".join(texts)


def _rule(rule: Rule, width: int) -> str:
    kind = catalogue.usual_kind(rule.id)
    examples = f"The examples show only what matters, and the rest is valid; one without a kind is a {kind}."
    return reports.text(rule, (catalogue.turning_off(rule), examples), width)


def _unknown(name: str, known: list[str]) -> str:
    close = [one for one in known if near(one, name)][:3]
    if name.startswith("spec."):
        close = [f"deviceconfig.{name}"]
    others = "`krmfn rules` prints all rules; a field is written as deviceconfig.spec.NAME, a config as PATH NAME, "
    others += "a Profile as NAME PATH"
    hint = f"did you mean {' or '.join(close)}?" if close else others
    return f"unknown rule {name}; {hint}"


def _is_field(name: str) -> bool:
    """Return True for what is meant as a field: it begins with one of our kinds."""
    return name.partition(".")[0].lower() in KINDS


def _meant(name: str) -> str:
    """Return `deviceconfig.spec.driverVersion` for `driverVersion` or `spec.driverVersion`; other names as they are."""
    path = f"spec.{name.removeprefix('spec.').replace('[]', '')}"
    known = any(entry.name.replace("[]", "") == path for entry in fields.entries("deviceconfig"))
    return f"deviceconfig.{path}" if known and not _is_field(name) else name


def _field(name: str, width: int) -> str:
    """Return the explanation of a field such as `deviceconfig.spec.devicePlugin`. Raises KrmfnError without it."""
    kind, _, path = name.partition(".")
    every = list(fields.entries(kind.lower()))
    wanted = path.replace("[]", "") or "spec"
    found = next((entry for entry in every if entry.name.replace("[]", "") == wanted), None)
    if found is None:
        raise KrmfnError(_unknown_field(kind, wanted, every))
    inside = [entry for entry in every if entry.path[:-1] in (found.path, (*found.path[:-1], f"{found.path[-1]}[]"))]
    lines = [f"{found.kind}.{found.name}", *_labelled(_facts(found), width)]
    if inside:
        longest = max(len(entry.path[-1]) for entry in inside)
        lines += ["", "fields:"]
        lines += [line for entry in inside for line in _row(entry, longest, width)]
    return "\n".join([*lines, "", "example:", textwrap.indent(emit.dump(_example(found)).rstrip(), "  "), ""])


def _example(entry: Entry) -> dict[str, Any]:
    """Return the field with an example, in what holds it."""
    value: Any = fields.specimen(entry.node, fields.definitions(entry.kind), entry.path[-1])
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


def _unknown_field(kind: str, wanted: str, every: Sequence[Entry]) -> str:
    last = wanted.rpartition(".")[2]
    holder = wanted.rpartition(".")[0]
    close = [entry.name for entry in every if near(entry.path[-1], last)]
    close = sorted(close, key=lambda name: name.replace("[]", "").rpartition(".")[0] != holder)[:3]
    known = [entry.path[-1] for entry in every if ".".join(entry.path[:-1]).replace("[]", "") == holder]
    hint = f"did you mean {' or '.join(f'{kind}.{name}' for name in close)}?" if close else ""
    there = f"fields there: {', '.join(known) or 'nothing'}"
    return f"unknown field {kind}.{wanted}; {hint or there}"


_EXAMPLES = ("KRM301", "deviceconfig.spec.devicePlugin", "clusters/lab gaudi", "amd-gpu.spec.selector profiles")
COMMAND = Command(_EXAMPLES, arguments, run, exits=PRINTED)
