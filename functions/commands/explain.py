"""The command `explain`: a rule, a field, a config with its layers, a Profile, or a word of an incident."""

import argparse
import os
import shutil
import textwrap
from collections.abc import Mapping

from krmfn.errors import KrmfnError
from krmfn.printing import is_similar
from krmfn.typed import Any, NamedTuple
from krmfn.yamltext import emit

from .. import options
from ..chain import dictionary
from ..chain.dictionary import Known
from ..command import PRINTED, Command, Context
from ..formats import rules as reports
from ..reference import ends, fields
from ..reference.fields import KINDS, Entry
from ..rule import Rule
from . import catalogue

_WIDEST = 100
_LABELS = 17
"""The columns of a label with what stands before and behind it."""


class Request(NamedTuple):
    """What is asked of `explain`."""

    names: tuple[str, ...]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command `explain`."""
    help_ = "a rule id such as KRM301, a field such as deviceconfig.spec.build, a message of a cluster such as "
    help_ += "ImagePullBackOff, PATH NAME for a config in PATH, "
    help_ += "or NAME PATH... for a Profile in PATHs or, as NAME.spec.FIELD, for its option"
    names = parser.add_argument("names", nargs="+", metavar="NAME", help=help_)
    setattr(names, options.OFFERED, (options.ASKED.format("rules"),))


def explanations(names: tuple[str, ...]) -> str:
    """Return what is known about each name.

    Raises KrmfnError for ids that no rule has, and for a field, a config, a Profile or an option that there is not.
    """
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    is_path, *are_paths = (name == "-" or os.path.exists(name) for name in names)  # noqa: PTH110  # any name is looked up
    if is_path or (are_paths and all(are_paths)):
        from . import explain_inputs

        if are_paths and all(are_paths) and (not is_path or explain_inputs.has_profile(names[0], names[1:])):
            return explain_inputs.options(names[0], names[1:], width)
        if len(names) != 2:
            raise KrmfnError(f"name the config in {names[0]} to explain: krmfn explain {names[0]} NAME")
        return explain_inputs.layers(*names)
    rules = {rule.id: rule for rule in catalogue.rules()}
    are_known = all(
        name.upper() in rules or _is_field(_full_name(name)) or any(dictionary.of_word(name)) for name in names
    )
    is_sentence = not are_known and any(dictionary.of_word(" ".join(names)))
    names = tuple(map(_full_name, [" ".join(names)] if is_sentence else names))
    texts, mistakes = dict[str, None](), list[str]()
    for name in names:
        if _is_field(name):
            texts[_field(name, width)] = None
        elif rule := rules.get(name.upper()):
            texts[_rule(rule, width)] = None
        elif incident := "\n\n".join(_incident(known, width) for known in dictionary.of_word(name)):
            texts[f"{incident}\n"] = None
        else:
            mistakes.append(_unknown(name, [*rules, *dictionary.words()]))
    if mistakes:
        raise KrmfnError(*mistakes)
    return "\n\n".join(texts)


def _incident(known: Known, width: int) -> str:
    return "\n".join([*_wrap("", known.sense, width), *known.lines()])


def _rule(rule: Rule, width: int) -> str:
    examples = "The examples show only what matters, and the rest is valid; one without a kind is a "
    notes = catalogue.turning_off(rule), catalogue.holding(rule), f"{examples}{catalogue.usual_kind(rule.id)}."
    return reports.text(rule, notes, width)


def _unknown(name: str, ids: list[str]) -> str:
    """Return the message about a name that is no rule, with the ids that it may be meant for."""
    suggestions = [rule for rule in ids if is_similar(rule, name)]
    if name.startswith("spec."):
        suggestions = [f"deviceconfig.{name}"]
    if suggestions:
        return f"unknown word or rule {name}; did you mean {' or '.join(suggestions[:3])}?"
    forms = "a field is written as deviceconfig.spec.NAME, a config as PATH NAME, a Profile as NAME PATH"
    return f"unknown word or rule {name}; `krmfn rules` prints all rules; {forms}"


def _is_field(name: str) -> bool:
    """Return True for a name that begins with one of our kinds, as that of a field does."""
    return name.partition(".")[0].lower() in KINDS


def _full_name(name: str) -> str:
    """Return `deviceconfig.spec.driverVersion` for `driverVersion` or `spec.driverVersion`; other names as they are."""
    path = f"spec.{name.removeprefix('spec.').replace('[]', '')}"
    is_known = path in fields.by_name("deviceconfig")
    return f"deviceconfig.{path}" if is_known and not _is_field(name) else name


def _field(name: str, width: int) -> str:
    """Return the explanation of a field such as `deviceconfig.spec.devicePlugin`. Raises KrmfnError without it."""
    kind, _, path = name.partition(".")
    entries = fields.by_name(kind.lower())
    path = path.replace("[]", "") or "spec"
    field = entries.get(path)
    if field is None:
        raise KrmfnError(_unknown_field(kind, path, entries))
    lines = [f"{field.kind}.{field.name}"]
    lines += textwrap.wrap(field.about, width, initial_indent="  ", subsequent_indent=" " * _LABELS)
    places = ends.ends(field)
    default = ends.default(field, places)
    facts = {
        "type": field.type + (", required" if field.required else ""),
        "default": "" if default is None else str(default),
        "of two layers": field.merge,
        "ends up in": ", ".join(map(str, places)) or "no object; it is used for checking or merging",
        "since KMM": ends.since(places),
    }
    for label, text in facts.items():
        lines += _wrap(f"  {label}".ljust(_LABELS), text, width)
    children = _children(path, entries)
    lines += ["", "fields:"] if children else []
    longest = max((len(entry.path[-1]) for entry in children), default=0)
    for entry in children:
        lines += _wrap(f"  {entry.path[-1].ljust(longest)}  ", f"{entry.about} ({entry.type})", width)
    example: Any = fields.specimen(field.node, fields.definitions(field.kind), field.path[-1])
    for part in reversed(field.path):  # in the fields that hold it
        example = {part.removesuffix("[]"): [example] if part.endswith("[]") else example}
    return "\n".join([*lines, "", "example:", textwrap.indent(emit.dump(example).rstrip(), "  "), ""])


def _wrap(head: str, text: str, width: int) -> list[str]:
    """Return the lines of a text beside its head; [] without any text."""
    return textwrap.wrap(text, width, initial_indent=head, subsequent_indent=" " * len(head))


def _children(holder: str, entries: Mapping[str, Entry]) -> list[Entry]:
    return [entry for name, entry in entries.items() if name.rpartition(".")[0] == holder]


def _unknown_field(kind: str, path: str, entries: Mapping[str, Entry]) -> str:
    """Return the message about a field that there is not, with those that are similar or beside it."""
    holder, _, last = path.rpartition(".")
    siblings = _children(holder, entries)
    similar = [entry for entry in entries.values() if is_similar(entry.path[-1], last)]
    similar = sorted(similar, key=lambda entry: entry not in siblings)[:3]
    if similar:
        return f"unknown field {kind}.{path}; did you mean {' or '.join(f'{kind}.{entry.name}' for entry in similar)}?"
    names = ", ".join(entry.path[-1] for entry in siblings) or "nothing"
    return f"unknown field {kind}.{path}; fields there: {names}"


_EXAMPLES = (
    "KRM301",
    "deviceconfig.spec.devicePlugin",
    "ImagePullBackOff",
    "clusters/lab gaudi",
    "amd-gpu.spec.selector profiles",
)


def _run(_: Context, args: Request) -> str:
    return explanations(args.names)


COMMAND = Command(_EXAMPLES, arguments, _run, Request, exits=PRINTED)
