"""Predict what recorded histories of KMM's controllers show: `python tools/histories.py FOLDER > predictions.jsonl`.

FOLDER holds files `*.jsonl.gz`; each line is a case: its `id`, whose first word is the name of the file, and its
`phases`, each with `modules`, `nodes`, `mcms` (ManagedClusterModules) and `registry`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

from krmfn_functions.fleet import facts, images
from krmfn_functions.fleet.coverage import by_driver, coverage
from krmfn_functions.fleet.drivers import driver
from krmfn_functions.kmm.lints import hub_lints
from krmfn_functions.kmm.lookup import table
from krmfn_functions.kmm.resolution import resolver
from krmfn_functions.kmm.versions import NEWEST
from krmfn_functions.rendering import module_checks
from krmfn_functions.upgrades import node_effects
from predictions import Case, cases, predictions, side

from krmfn.results import reference

Row = tuple[int, str, str, dict[str, Any]]
"""The phase, the node, the Module, and what is predicted of the two."""
OF_SPOKES = {hub_lints.KMM087.id}
PLUGINS = ("devicePlugin", "dra")


def changes(case: Case) -> Iterator[Row]:
    """Yield the effect of the last change on each node and Module, as `diff` says it, and what is loaded after it."""
    last = len(case["phases"]) - 1
    old, new = case["phases"][last - 1 :]
    calm: dict[str, Any] = {"effect": "none", **({"atOnce": False} if case["id"].startswith("moves") else {})}
    effects = dict[tuple[str, str], dict[str, Any]]()
    refs = {driver(module).ref: _key(module) for module in (*old["modules"], *new["modules"])}
    for effect in node_effects.of_sides(side(old), side(new)):
        rival = {"atOnce": effect.rival is not None} if "atOnce" in calm else {}
        for part in effect.parts:
            word = {"effect": effect.word, "hedged": not part.is_known, **rival}
            effects |= {(node, refs[effect.ref]): word for node in part.nodes}
    loaded = {(row["node"], row["module"]): row["prediction"] for row in predictions(case) if row["phase"] == last}
    names = ([item["metadata"]["name"] for item in (*old["nodes"], *new["nodes"])], [*old["modules"], *new["modules"]])
    for node, module in sorted(set(product(names[0], (_key(module) for module in names[1])))):
        image = loaded[node, module]["loaded"] if (node, module) in loaded else None
        yield last, node, module, {**effects.get((node, module), calm), "loaded": image}


def plugins(case: Case) -> Iterator[Row]:
    """Yield on which nodes a Module runs, and its plugin."""
    for number, phase in enumerate(case["phases"]):
        drivers = [driver(module) for module in phase["modules"]]
        nodes = [facts.of_manifest(node) for node in phase["nodes"]]
        for module, selected in by_driver(coverage(nodes, drivers, exclusive=False), drivers):
            names = {node.name for group, outcome in selected if outcome.state == "planned" for node in group.nodes}
            has_plugin = any(table(module.module.spec, plugin) for plugin in PLUGINS)
            for node in nodes:
                runs = node.name in names
                yield number, node.name, _name(module.module.ref), {"runs": runs, "pod": runs and has_plugin}


def builds(case: Case) -> Iterator[Row]:
    """Yield the images that are built in the cluster for each Module: those that the registry lacks.

    Of several nodes with one image the first decides whether it is built. A pod that waits for an image which is not
    built goes on waiting, also when there is a recipe by then.
    """
    registry, awaited = set[str](), set[tuple[str, str]]()
    for number, phase in enumerate(case["phases"]):
        drivers = [driver(module) for module in phase["modules"]]
        groups = coverage([facts.of_manifest(node) for node in phase["nodes"]], drivers, exclusive=False)
        recipes = dict[tuple[str, str], str | None]()
        for group in groups:
            for line in images.builds([group], drivers, [()] * len(drivers)):
                recipes.setdefault((str(line["module"]), line["image"]), line["dockerfileConfigMap"])
        missing = {pair for pair in recipes if pair[1] not in registry | {*phase["registry"]}}
        built = {pair for pair in missing - awaited if recipes[pair]}
        awaited |= missing - built
        for module in drivers:
            names = sorted(image for name, image in built if name == str(reference(module.ref)))
            yield number, "", _name(module.module.ref), {"made": names}
        registry |= {image for _, image in built}


def spokes(case: Case) -> Iterator[Row]:
    """Yield whether a hub or its spokes refuse a ManagedClusterModule, and what its nodes load.

    A spoke without a kernel for it refuses the empty list of mappings, before it looks at anything else.
    """
    for number, phase in enumerate(case["phases"]):
        for manifest in phase["mcms"]:
            member = driver(manifest)
            name, findings = _name(member.module.ref), module_checks.of_hub(manifest, member.module, NEWEST)
            # lints (KRM) are ours: no webhook looks at an image
            rules = {finding.rule for finding in findings if finding.severity == "error"}
            errors = {rule for rule in rules if rule.startswith("KMM")}
            kernels = {node["status"]["nodeInfo"]["kernelVersion"] for node in phase["nodes"]}
            resolve = resolver(member.module, through_hub=True)
            has_mappings = any(resolve(kernel).mapping is not None for kernel in kernels)
            refused = bool(errors if has_mappings else errors - OF_SPOKES)
            yield number, "", name, {"refused": refused}
            nodes = [facts.of_manifest(node)._replace(cluster=member.cluster) for node in phase["nodes"]]
            images_of = {
                node.name: outcome.resolution.image
                for group in coverage(nodes, [member], exclusive=False)
                for outcome in group.outcomes
                if outcome.state == "planned" and not refused
                for node in group.nodes
            }
            for node in nodes:
                yield number, node.name, name, {"loaded": images_of.get(node.name)}


def _key(module: Any) -> str:
    return f"{module['metadata']['namespace']}/{module['metadata']['name']}"


def _name(ref: Any) -> str:
    return f"{ref.namespace}/{ref.name}"


SETS = {"history": changes, "moves": changes, "pods": plugins, "builds": builds, "hub": spokes}

if __name__ == "__main__":
    for recorded in cases(Path(sys.argv[1])):
        if predict := SETS.get(recorded["id"].partition("-")[0]):
            for phase, node, module, prediction in predict(recorded):
                row = {"id": recorded["id"], "phase": phase, "node": node, "module": module, "prediction": prediction}
                print(json.dumps(row))  # noqa: T201
