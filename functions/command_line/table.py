"""The table of commands."""

from __future__ import annotations

from krmfn.typed import NamedTuple


class Entry(NamedTuple):
    """Where a command is, and what the help says of it: the help loads no command."""

    place: str
    summary: str


GROUPS = {
    "everyday": {
        "render": Entry("commands.render:COMMAND", "print the manifests that would reach the cluster"),
        "check": Entry("commands.check:COMMAND", "print what is wrong with the resources, and where"),
        "diff": Entry("commands.diff:COMMAND", "print what would change on the cluster, and the risks"),
        "ci": Entry("commands.ci:COMMAND", "check a pull request and say what it changes, as files for a CI server"),
    },
    "fleet": {
        "nodes": Entry("commands.nodes:COMMAND", "print which driver each node gets, or why it gets none"),
        "why": Entry("commands.why:COMMAND", "explain why a node has its drivers, or lacks them"),
        "images": Entry("commands.images:COMMAND", "print the images that the nodes will pull, each once"),
        "report": Entry("commands.report:COMMAND", "write one HTML page about a fleet"),
        "resolve": Entry("commands.resolve:COMMAND", "print which image each kernel gets, and from which mapping"),
        "inventory": Entry(
            "commands.inventory:COMMAND",
            "print a NodeInventory from the output of `kubectl get nodes -o json` (or yaml)",
        ),
    },
    "authoring and editors": {
        "import": Entry(
            "commands.import_:COMMAND", "write DeviceConfigs that render to the Modules and DaemonSets in PATH"
        ),
        "test": Entry("commands.test:COMMAND", "compare a vendor's cases with what is rendered now"),
        "rules": Entry("commands.catalogue:COMMAND", "print every rule with its id"),
        "explain": Entry(
            "commands.explain:COMMAND", "explain a rule or a field, or print where the fields of a config come from"
        ),
        "schema": Entry("commands.schema:COMMAND", "print a kind's JSON Schema, for editors (yaml-language-server)"),
    },
    "more": {
        "crd": Entry("commands.schema:CRD", "print the CustomResourceDefinitions, for kubectl apply -f -"),
        "kustomize-config": Entry(
            "commands.schema:KUSTOMIZE_CONFIG",
            "print the fields that name other resources or hold images, for `configurations:` of a kustomization",
        ),
        "completion": Entry(
            "command_line.completion:COMMAND", "print a shell completion script for commands and options"
        ),
    },
}
"""The commands, in the groups and in the order of the help; only the one that is called is loaded."""
COMMANDS = {name: entry for group in GROUPS.values() for name, entry in group.items()}
