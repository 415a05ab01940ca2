"""KRM401 against what KMM's controllers did: said where a change of a Module unloads, and of no other change."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import predictions
import pytest
from krmfn_functions.paths import manifests
from krmfn_functions.plan import plan
from krmfn_functions.upgrades import node_effects
from krmfn_functions.upgrades.notes import notes

from krmfn import ResourceList

FLEETS = os.environ.get("KRMFN_KMM_FLEETS", "")
Case = dict[str, Any]


def by_name(phase: Case, kind: str) -> dict[str, Any]:
    metadata = ((item, item["metadata"]) for item in phase[kind])
    return {"/".join(filter(None, (data.get("namespace"), data["name"]))): item for item, data in metadata}


def reloaded(case: Case) -> tuple[set[str], set[str]]:
    """The changed Modules of which only what is loaded changes; those that KMM unloads on an unchanged node."""
    old, new = case["phases"]
    (before, after), (nodes, later) = ([by_name(phase, kind) for phase in (old, new)] for kind in ("modules", "nodes"))
    events = (case.get("v2.6.0") or case["main"])[1]["events"]
    unloads = (event for event in events if event["action"] == "Unload")
    unloaded = {event["module"] for event in unloads if _same(nodes, later, event["node"])}

    def rest(module: Any) -> Any:
        spec = module["spec"]
        version = spec.get("moduleLoader", {}).get("container", {}).get("version")
        return spec.get("selector"), spec.get("tolerations"), version

    changed = {name for name in before.keys() & after.keys() if before[name] != after[name]}
    changed = {name for name in changed if rest(before[name]) == rest(after[name])}
    return changed, changed & unloaded


def _same(nodes: dict[str, Any], later: dict[str, Any], name: str) -> bool:
    return nodes.get(name) == later.get(name)


def modules_with_note(case: Case, with_nodes: bool) -> set[str]:
    lists = []
    for phase in case["phases"]:
        items = [*phase["modules"], *(phase["nodes"] if with_nodes else ())]
        lists.append(manifests.read("-", json.dumps({"apiVersion": "v1", "kind": "List", "items": items}).encode()))
    old, new = lists
    effects, unknown = node_effects.effects(old, new)
    planned = plan(*(phase["modules"] for phase in case["phases"]))._replace(effects=tuple(effects))
    reported = notes(planned, new if with_nodes else ResourceList(), with_nodes and not unknown)
    return {f"{note.ref.namespace}/{note.ref.name}" for note in reported if note.rule == "KRM401" and note.ref}


@pytest.mark.skipif(not FLEETS, reason="KRMFN_KMM_FLEETS names no folder")
def test_a_reload_is_said_and_no_other_change() -> None:
    times = 0
    for case in predictions.cases(Path(FLEETS)):
        if len(case["phases"]) == 2:
            changed, unloaded = reloaded(case)
            assert modules_with_note(case, with_nodes=True) & changed == unloaded, case["id"]
            assert modules_with_note(case, with_nodes=False) >= unloaded, case["id"]
            times += len(unloaded)
    assert times > 10
