"""The table of commands."""

from __future__ import annotations

from importlib import import_module

from ..command import Command

GROUPS = {
    "everyday": {
        "render": "commands.render:COMMAND",
        "check": "commands.check:COMMAND",
        "diff": "commands.diff:COMMAND",
        "ci": "commands.ci:COMMAND",
    },
    "fleet": {
        "nodes": "commands.nodes:COMMAND",
        "why": "commands.why:COMMAND",
        "images": "commands.images:COMMAND",
        "report": "commands.report:COMMAND",
        "resolve": "commands.resolve:COMMAND",
        "inventory": "commands.inventory:COMMAND",
    },
    "authoring and editors": {
        "import": "commands.import_:COMMAND",
        "rules": "commands.catalogue:COMMAND",
        "explain": "commands.explain:COMMAND",
        "schema": "commands.schema:COMMAND",
    },
    "more": {
        "crd": "commands.crd:COMMAND",
        "kustomize-config": "commands.crd:KUSTOMIZE_CONFIG",
        "completion": "command_line.completion:COMMAND",
    },
}
"""Where each command is, in the groups and in the order of the help; only the one that is called is loaded."""
COMMANDS = {name: place for group in GROUPS.values() for name, place in group.items()}


def command(name: str) -> Command:
    """Return the command of a name."""
    module, _, attribute = COMMANDS[name].partition(":")
    value: Command = getattr(import_module(f"..{module}", __package__), attribute)
    return value
