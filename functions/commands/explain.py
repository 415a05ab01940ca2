"""The command `explain`: a rule with examples, a field with its place, a config with its layers, or a Profile."""

import argparse
import os
import shutil
import textwrap
from collections.abc import Mapping

from krmfn.errors import KrmfnError
from krmfn.results import Rule
from krmfn.typed import Any
from krmfn.yamltext import emit

from .. import options
from ..command import PRINTED, Command
from ..formats import rules as reports
from ..reference import ends, fields
from ..reference.fields import KINDS, Entry
from ..rendering.kinds import is_similar
from . import catalogue

_WIDEST = 100
_LABELS = 17
"""The columns of a label with what stands before and behind it."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command `explain`."""
    help_ = (
        "a rule id such as KRM301, a field such as deviceconfig.spec.build, PATH NAME for a config in PATH, "
        "or NAME PATH... for a Profile in PATHs or, as NAME.spec.FIELD, for its option"
    )
    names = parser.add_argument("names", nargs="+", metavar="NAME", help=help_)
    setattr(names, options.OFFERED, (options.ASKED.format("rules"),))


def explained(names: tuple[str, ...]) -> str:
    """Return the explanations. Raises KrmfnError that names the ids that no rule has, or an unknown field or config."""
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    is_path, *are_paths = (name == "-" or os.path.exists(name) for name in names)  # noqa: PTH110  # any name is looked up
    if is_path or (are_paths and all(are_paths)):
        from . import explain_inputs

        if not is_path:
            return explain_inputs.profile(names[0], names[1:], width)
        if len(names) != 2:
            raise KrmfnError(f"name the config in {names[0]} to explain: krmfn explain {names[0]} NAME")
        return explain_inputs.layers(*names)
    names = tuple(map(_meant, names))
    known = {rule.id: rule for rule in catalogue.rules()}
    wanted = list(dict.fromkeys(name if _is_field(name) else name.upper() for name in names))
    unknown = [_unknown(name, [*known]) for name in names if not (_is_field(name) or name.upper() in known)]
    if unknown:
        raise KrmfnError(*unknown)
    texts = (_field(name, width) if _is_field(name) else _rule(known[name], width) for name in wanted)
    return "\n\n".join(texts)


def _rule(rule: Rule, width: int) -> str:
    examples = "The examples show only what matters, and the rest is valid; one without a kind is a "
    return reports.text(rule, (catalogue.turning_off(rule), f"{examples}{catalogue.usual_kind(rule.id)}."), width)


def _unknown(name: str, known: list[str]) -> str:
    close = [one for one in known if is_similar(one, name)][:3]
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
    is_known = path in fields.by_name("deviceconfig")
    return f"deviceconfig.{path}" if is_known and not _is_field(name) else name


def _field(name: str, width: int) -> str:
    """Return the explanation of a field such as `deviceconfig.spec.devicePlugin`. Raises KrmfnError without it."""
    kind, _, path = name.partition(".")
    every = fields.by_name(kind.lower())
    wanted = path.replace("[]", "") or "spec"
    found = every.get(wanted)
    if found is None:
        raise KrmfnError(_unknown_field(kind, wanted, every))
    lines = [f"{found.kind}.{found.name}"]
    lines += textwrap.wrap(found.about, width, initial_indent="  ", subsequent_indent=" " * _LABELS)
    places = ends.ends(found)
    default = ends.default(found, places)
    facts = {
        "type": found.type + (", required" if found.required else ""),
        "default": "" if default is None else str(default),
        "of two layers": found.merge,
        "ends up in": ", ".join(map(str, places)) or "no object; it is used for checking or merging",
        "since KMM": ends.since(places),
    }
    for label, text in facts.items():
        lines += _wrapped(f"  {label}".ljust(_LABELS), text, width)
    inside = _inside(wanted, every)
    lines += ["", "fields:"] if inside else []
    longest = max((len(entry.path[-1]) for entry in inside), default=0)
    for entry in inside:
        lines += _wrapped(f"  {entry.path[-1].ljust(longest)}  ", f"{entry.about} ({entry.type})", width)
    example: Any = fields.specimen(found.node, fields.definitions(found.kind), found.path[-1])
    for part in reversed(found.path):  # in what holds it
        example = {part.removesuffix("[]"): [example] if part.endswith("[]") else example}
    return "\n".join([*lines, "", "example:", textwrap.indent(emit.dump(example).rstrip(), "  "), ""])


def _wrapped(head: str, text: str, width: int) -> list[str]:
    """Return the lines of a text beside its head; [] without any text."""
    return textwrap.wrap(text, width, initial_indent=head, subsequent_indent=" " * len(head))


def _inside(holder: str, every: Mapping[str, Entry]) -> list[Entry]:
    return [entry for name, entry in every.items() if name.rpartition(".")[0] == holder]


def _unknown_field(kind: str, wanted: str, every: Mapping[str, Entry]) -> str:
    holder, _, last = wanted.rpartition(".")
    there = _inside(holder, every)
    close = [entry for entry in every.values() if is_similar(entry.path[-1], last)]
    close = sorted(close, key=lambda entry: entry not in there)[:3]
    hint = f"did you mean {' or '.join(f'{kind}.{one.name}' for one in close)}?" if close else ""
    known = f"fields there: {', '.join(entry.path[-1] for entry in there) or 'nothing'}"
    return f"unknown field {kind}.{wanted}; {hint or known}"


_EXAMPLES = ("KRM301", "deviceconfig.spec.devicePlugin", "clusters/lab gaudi", "amd-gpu.spec.selector profiles")
COMMAND = Command(_EXAMPLES, arguments, lambda _, args: explained(args.names), exits=PRINTED)
