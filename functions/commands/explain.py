"""The command `explain`: a rule with examples, a field with its place, a config with its layers, or a Profile."""

from __future__ import annotations

import argparse
import os
import shutil

from krmfn.errors import KrmfnError
from krmfn.rule import Rule
from krmfn.typed import NamedTuple

from ..command import PRINTED, Command, Context
from ..formats import rules as reports
from ..paths import output
from ..rendering.kinds import near
from . import catalogue

_WIDEST = 100


class Args(NamedTuple):
    """The arguments of `explain`."""

    names: tuple[str, ...]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command `explain`."""
    help_ = (
        "a rule id such as KRM301, a field such as deviceconfig.spec.build, PATH NAME for a config in PATH, "
        "or NAME PATH... for a Profile in PATHs or, as NAME.spec.FIELD, for its option"
    )
    parser.add_argument("names", nargs="+", metavar="NAME", help=help_)


def run(_: Context, args: Args) -> int:
    """Print what the arguments are about."""
    output.write_stdout(explained(args.names))
    return 0


def explained(names: tuple[str, ...]) -> str:
    """Return the explanations. Raises KrmfnError that names the ids that no rule has, or an unknown field or config."""
    if names[0] == "-" or os.path.exists(names[0]):  # noqa: PTH110  # `-` and what is no file are names, too
        from . import explain_layers

        if len(names) != 2:
            raise KrmfnError(f"name the config in {names[0]} to explain: krmfn explain {names[0]} NAME")
        return explain_layers.text(*names)
    from . import explain_fields

    width = min(shutil.get_terminal_size().columns, _WIDEST)
    if len(names) > 1 and all(name == "-" or os.path.exists(name) for name in names[1:]):  # noqa: PTH110  # as above
        from . import products

        return products.text(names[0], names[1:], width)
    names = tuple(map(explain_fields.meant, names))
    known = {rule.id: rule for rule in catalogue.rules()}
    wanted = list(dict.fromkeys(name if explain_fields.is_field(name) else name.upper() for name in names))
    unknown = [_unknown(name, list(known)) for name in names if not _is_known(name, known)]
    if unknown:
        raise KrmfnError(*unknown)
    texts = (
        explain_fields.text(name, width) if explain_fields.is_field(name) else _rule(known[name], width)
        for name in wanted
    )
    return "\n\n".join(texts)


def _is_known(name: str, rules: dict[str, Rule]) -> bool:
    from . import explain_fields

    return explain_fields.is_field(name) or name.upper() in rules


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


_EXAMPLES = ("KRM301", "deviceconfig.spec.devicePlugin", "clusters/lab gaudi", "amd-gpu.spec.selector profiles")
COMMAND = Command(_EXAMPLES, arguments, Args, run, exits=PRINTED)
