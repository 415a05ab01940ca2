"""Every rule with its sentence: what `rules` prints, and what docs/rules.md is made from."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Iterator

from .. import kmm
from ..deviceconfig import effects, profiles
from ..deviceconfig import rules as deviceconfig
from ..exclusivity import messages
from ..rendering import leftovers, metadata_checks, recognition
from ..upgrades import change_rules

RULE = re.compile(r"^\s*(K(?:RM|MM)\d{3}): (.+?)$", re.MULTILINE)

# Rules that are a line in a walk rather than a function of their own.
ELSEWHERE = {
    "KRM100": "a document or an item of a List has apiVersion and kind; else it is no resource and is left out",
    "KRM101": "a resource fits its schema: known fields, their types, their shapes",
    "KRM102": "a key stands once in a mapping: readers disagree on which of two counts",
    "KRM103": "a resource stands once in the list",
    "KRM105": "a kustomization is built: its folder is the PATH, not a folder below it",
    "KRM106": "kustomize has nothing to say about the directory it builds",
    "KRM109": "what is checked or rendered holds something of ours: another PATH may have been meant",
    "KRM110": "the functionConfig is a RenderDeviceConfigs that fits its schema, a ConfigMap of its settings, or none",
    "KRM111": "a profile that a config names is defined in the functionConfig",
    "KRM112": "kpt shows all items, not a selection: hidden children would be generated again at every render",
    "KRM113": "two configs generate objects of different names",
    "KRM114": "an object that somebody else made is not overwritten, unless the functionConfig says adopt",
    "KRM115": "a rule that is turned off has a reason",
    "KRM141": "a Ptemplate's consumer requires no more devices than a node has",
}


def rules() -> list[tuple[str, str]]:
    """(id, sentence) of every rule, in the order of their ids; from the docstrings of their functions."""
    sentences = dict(ELSEWHERE)
    for function in _functions():
        sentences |= dict(RULE.findall(function.__doc__ or ""))
    return sorted(sentences.items())


def _functions() -> Iterator[Callable[..., object]]:
    yield from deviceconfig.RULES
    yield from deviceconfig.GROUP_RULES
    yield from (effects.fields_have_an_effect, profiles.profiles_are_named, profiles.defaults_are_used)
    yield from (rule for _, rule in kmm.rules() + change_rules.RULES)
    yield from (leftovers.findings, leftovers.strays)
    yield from (recognition.kinds_exist, recognition.vendors_are_named)
    yield from (
        metadata_checks.inputs_are_marked,
        metadata_checks.keys_mean_something,
        metadata_checks.rules_can_be_turned_off,
    )
    yield from (messages._driver, messages._pool, messages._module, messages.undecided, messages.unlisted)


CHAPTERS = (
    ("KMM", "What the cluster refuses", "The API server (the CRD) and KMM's webhook, in their own words."),
    ("KRM1", "DeviceConfig, Ptemplate and the functionConfig", "What must hold before anything is generated."),
    ("KRM2", "What KMM does not check", "Lints; the errors among them can never work on any node."),
    ("KRM3", "Node exclusivity", "Who drives which node."),
    ("KRM4", "Changes", "What `diff` says about going from an old state to a new one."),
)


def markdown() -> str:
    """Return the catalogue page."""
    lines = [
        "# The rules\n",
        "Generated from the docstrings of the functions that are the rules (`python tools/rules.py`); do not edit.\n",
        "A lint about Modules (KRM2xx) or a rule about changes (KRM4xx) is turned off for one resource with the "
        'annotation `krmfn.dev/ignore: "KRM204: why"`, for a run with `spec.ignore` of the functionConfig.\n',
    ]
    for prefix, title, scope in CHAPTERS:
        rows = [
            f"| {rule} | {sentence[0].upper()}{sentence[1:]} |" for rule, sentence in rules() if rule.startswith(prefix)
        ]
        if rows:
            lines += [f"## {title}\n", f"{scope}\n", "| id | rule |\n|---|---|", *rows, ""]
    return "\n".join(lines)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command `rules`."""
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> str:
    """Return what the command `rules` prints."""
    if args.format == "json":
        return json.dumps([{"rule": rule, "about": sentence} for rule, sentence in rules()], indent=2) + "\n"
    return "".join(f"{rule}  {sentence}\n" for rule, sentence in rules())
