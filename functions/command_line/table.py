"""The table of commands."""

from __future__ import annotations

from krmfn.typed import NamedTuple


class Entry(NamedTuple):
    """Where a command is, and its line in the help, which loads no command."""

    place: str
    """The module and, where it is not COMMAND, the name there: `commands.schema:CRD`."""
    summary: str


GROUPS = {
    "everyday": {
        "render": Entry("commands.render", "print the manifests that would reach the cluster"),
        "check": Entry("commands.check", "print what is wrong with the resources, and where"),
        "diff": Entry("commands.diff", "print what would change on the cluster, and the risks"),
        "ci": Entry("commands.ci", "check a pull request and say what it changes, as files for a CI server"),
    },
    "fleet": {
        "clusters": Entry("commands.deployments", "print which folder reaches which cluster, and what says so"),
        "nodes": Entry("commands.nodes", "print which driver each node gets, or why it gets none"),
        "why": Entry("commands.why", "explain why a node has its drivers, or lacks them"),
        "adopt": Entry("commands.adopt", "say whether Git can take over from an operator, and by which steps"),
        "images": Entry("commands.images", "print the images that the nodes will pull, each once"),
        "report": Entry("commands.report", "write one HTML page about a fleet"),
        "resolve": Entry("commands.resolve", "print which image each kernel gets, and from which mapping"),
        "inventory": Entry(
            "commands.inventory",
            "print a NodeInventory from the output of `kubectl get nodes -o json` (or yaml)",
        ),
    },
    "authoring and editors": {
        "init": Entry("commands.init", "write a new repository, from nothing or from dumps of clusters"),
        "import": Entry("commands.import_", "write DeviceConfigs that render to the Modules and DaemonSets in PATH"),
        "test": Entry("commands.test", "compare a vendor's golden cases with the present output"),
        "rules": Entry("commands.catalogue", "list the rules, each with its id and its source"),
        "explain": Entry(
            "commands.explain", "explain a rule or a field, or print where the fields of a config come from"
        ),
        "schema": Entry("commands.schema", "print a kind's JSON Schema, for editors (yaml-language-server)"),
    },
    "more": {
        "crd": Entry("commands.schema:CRD", "print the CustomResourceDefinitions, for kubectl apply -f -"),
        "kustomize-config": Entry(
            "commands.schema:KUSTOMIZE_CONFIG",
            "print the fields that name other resources or hold images, for `configurations:` of a kustomization",
        ),
        "completion": Entry("command_line.completion", "print a shell completion script for commands and options"),
    },
}
"""The commands, in the groups and in the order of the help; only the one that is called is loaded."""
COMMANDS = {name: entry for group in GROUPS.values() for name, entry in group.items()}
