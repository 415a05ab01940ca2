"""Every rule of the product, and the command `rules` that lists them."""

import argparse
from importlib import import_module

from krmfn.printing import json_text
from krmfn.typed import Any, NamedTuple

from ..command import PRINTED, Command, Context
from ..rendering import ignoring
from ..rule import OracleKind, Rule

_ROOMS = {
    "adoption": "leaving",
    "cluster": "applications deployed engine_additions engine_checks fleet_bundles flux_ignores flux_unbuilt "
    "function_runs hub_modules layout left_out other_tools rules",
    "deviceconfig": "effects profiles rules",
    "exclusivity": "rules",
    "final": "against judge",
    "fleet": "readings rules",
    "kmm": "rules",
    "kustomization": "graph_rules",
    "ptemplate": "render",
    "rendering": "extra_kinds function_config ignoring leftovers metadata_checks object_checks operator_claims "
    "products recognition undriven version_checks",
    "upgrades": "change_rules",
}
"""The modules with rules, by their rooms: each has them as RULES."""


def rules() -> list[Rule]:
    """Return every rule of the product, in the order of their ids."""
    from ..deviceconfig import extra_rules, name_rules  # here: no other command needs all rules

    known = [name_rules.TOGETHER, extra_rules.TOGETHER]
    modules = (f"..{room}.{name}" for room, names in _ROOMS.items() for name in names.split())
    known += (rule for module in modules for rule in import_module(module, __package__).RULES)
    return sorted(known, key=lambda rule: rule.id)


_WHAT: dict[OracleKind, str] = {
    "engine": "the real program",
    "recording": "what was recorded",
    "reference": "what was read",
}
_ASKS: dict[OracleKind, str] = {
    "engine": "asks it",
    "recording": "plays it",
}


def usual_kind(rule: str) -> str:
    """Return the kind of a document that names none in the examples of the rule with this id."""
    return "Module" if rule.startswith(("KMM", "KRM2")) else "DeviceConfig"


def turning_off(rule: Rule) -> str:
    """Return the severity of a rule's findings, and whether and how they are turned off."""
    from ..deviceconfig import profiles

    *others, last = rule.severities
    severity = f"Severity: {', '.join(others)}{' or ' if others else ''}{last}."
    if rule.advice:
        subject = "It can" if rule.hideable == rule.severities else "Unless it is an error, it can"
        ways = f'for a run with `ignore: {{{rule.id}: "why"}}` in the spec of the functionConfig'
        if rule not in profiles.RULES:
            ways = f'for one resource with the annotation `{ignoring.IGNORE}: "{rule.id}: why"`, {ways}'
        return f"{severity} {subject} be turned off: {ways}."
    if rule.id.startswith(("KMM", "KRM4")):
        return f"{severity} It cannot be turned off: the cluster itself refuses what it reports."
    if rule.id.startswith("KRM3"):
        exclusivity = '`exclusivity: {mode: "off"}` in the spec of the functionConfig turns node exclusivity off'
        return f"{severity} It cannot be turned off by itself; {exclusivity} as a whole."
    return f"{severity} It cannot be turned off."


def holding(rule: Rule) -> str:
    """Return who holds a rule's claim, as a sentence."""
    kind, name, test = rule.held
    if kind == "own":
        return f"Held by krmfn's own definition: {name}."
    if kind == "none":
        return f"Held by nobody: {name}."
    of_test = f"; `{test}` {_ASKS[kind]}" if test else ""
    return f"Held by {_WHAT[kind]}: {name}{of_test}."


class Request(NamedTuple):
    """What is asked of `rules`."""

    format: str


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command `rules`."""
    text = "output format (default: text)"
    parser.add_argument("--format", choices=("text", "json"), default="text", help=text)


def text(_: Context, args: Request) -> str:
    """Return all rules: a line each with what holds it, or as JSON."""
    if args.format == "text":
        return "".join(f"{rule.id}  {rule.held.kind:9}  {rule.sentence}\n" for rule in rules())
    return json_text([*map(_record, rules())], 2) + "\n"


def _record(rule: Rule) -> dict[str, Any]:
    """Return a rule as JSON data."""
    names = ("id", "sentence", "severities", "bad", "good", "remedy")
    held = {"kind": rule.held.kind, "name": rule.held.name, "test": rule.held.test or None}
    return {name: getattr(rule, name) for name in names} | {"canBeTurnedOff": rule.advice, "heldBy": held}


COMMAND = Command(("", "--format json"), arguments, text, Request, exits=PRINTED)
