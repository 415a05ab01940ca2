"""Twice the configs in a change are about twice the work of comparing the two sides, whatever changes in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from krmfn_functions.cluster import cluster_streams
from krmfn_functions.command import Context
from krmfn_functions.commands import change_findings
from krmfn_functions.comparing import pairs
from krmfn_functions.formats import grouped
from krmfn_functions.kmm.module import version_label
from krmfn_functions.options import RunOptions
from krmfn_functions.settings import CHECK
from krmfn_functions.sources import Sources

from krmfn.streams import Log
from krmfn.yamltext import emit
from tests.builders import AGENT, SPEC, device_config, manifest, node
from tests.call_counts import call_count
from tests.examples import pairs_of
from tests.trees import plant

FLUX = {
    **manifest("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "lab", "flux-system"),
    "spec": {"path": "./", "prune": False, "sourceRef": {"kind": "GitRepository", "name": "f"}},
}
ORDERED = {"upgrade": {"ordered": True}}
CHANGES: dict[str, tuple[dict[str, Any], dict[str, Any] | None]] = {
    "an image": ({}, {"driverImage": "registry.example.com/other"}),
    "a version": (ORDERED, {**ORDERED, "driverVersion": "1.1"}),
    "a deleted config": ({}, None),
    "an account": ({}, {"serviceAccountName": "other", "serviceAccount": {"create": True, "openshift": True}}),
    "a build": ({"build": {"dockerfileConfigMap": {"name": "a"}}}, {"build": {"dockerfileConfigMap": {"name": "b"}}}),
}
"""What changes in each config: its fields before and after; None: it goes, with its namespace."""


def cluster(file: Path) -> Any:
    """The cluster of a file, rendered."""
    streams = cluster_streams.render(Context(RunOptions(), CHECK, Log(quiet=True), Sources()), [str(file)])
    (only,) = streams.clusters
    assert not only.final.failed, only.final.results
    return only


def objects(number: int, fields: dict[str, Any] | None, engine: bool) -> str:
    """A file with so many configs, each with a namespace, a node and a kernel module of its own."""
    manifests = [FLUX] if engine else []
    for at in range(number):
        name = f"c{at}"
        labels = {"pool": name, version_label(name, name): "1.0"}
        kernel = {"status": {"nodeInfo": {"kernelVersion": "6.1.0-test"}}}
        manifests.append({**node(f"n{at}", **labels), **kernel})
        if fields is not None:
            spec = {**SPEC, "moduleName": f"drv{at}", "nodeSelector": {"pool": name}, "daemonSets": [AGENT], **fields}
            manifests += [manifest("v1", "Namespace", name, ""), device_config(spec, name, name)]
    return "---\n".join(map(emit.dump, manifests))


def pair_of(number: int, change: str, engine: bool, folder: Path) -> pairs.Pair:
    """Two sides with so many configs."""
    before, after = CHANGES[change]
    plant(folder, {"old.yaml": objects(number, before, engine), "new.yaml": objects(number, after, engine)})
    return pairs.Pair(cluster(folder / "old.yaml"), cluster(folder / "new.yaml"))


def calls(number: int, change: str, engine: bool, folder: Path) -> int:
    """How many functions are called to compare two sides with so many configs."""
    pair = pair_of(number, change, engine, folder)
    comparison, count = call_count(lambda: pairs.compare(pair, "lab"))
    assert len(comparison.plan.changes) >= number
    return count


@pytest.mark.parametrize(("change", "engine"), pairs_of(CHANGES, [False, True]))
def test_twice_the_configs_are_twice_the_work(change: str, engine: bool, tmp_path: Path) -> None:
    calls(2, change, engine, tmp_path)  # what is imported, and read, once
    once, twice = (calls(number, change, engine, tmp_path) for number in (20, 40))
    assert twice < 2.2 * once, (once, twice)


def calls_of_errors(number: int, change: str, folder: Path) -> int:
    """How many functions are called to tell what --fail-on makes of such a comparison, and what no note says."""
    comparison = pairs.compare(pair_of(number, change, False, folder), "lab")

    def told() -> int:
        (failed,) = change_findings.with_failing([comparison], ("lost", "reload", "blocked"))
        return len(failed.notes) + len(grouped.without_note(comparison)) + len(grouped.without_note(failed))

    lines, count = call_count(told)
    assert lines >= number
    return count


@pytest.mark.parametrize("change", ["an image", "a deleted config", "an account"])
def test_twice_the_errors_are_twice_the_work(change: str, tmp_path: Path) -> None:
    """1,000 Modules that are lost took 100 seconds: for each of them all objects of both sides were named anew."""
    calls_of_errors(2, change, tmp_path)  # what is imported, and read, once
    once, twice = (calls_of_errors(number, change, tmp_path) for number in (20, 40))
    assert twice < 2.2 * once, (once, twice)


def labelled(number: int, label: str, in_inventory: bool) -> str:
    """A file with so many configs, each with a node of its own that has its label `pool` or another one."""
    selected = [
        device_config({**SPEC, "moduleName": f"drv{at}", "nodeSelector": {"pool": f"c{at}"}}, f"c{at}")
        for at in range(number)
    ]
    labels = [{label: f"c{at}"} for at in range(number)]
    kernel = {"status": {"nodeInfo": {"kernelVersion": "6.1.0-test"}}}
    nodes = [{**node(f"n{at}", **labels[at]), **kernel} for at in range(number)]
    if in_inventory:
        groups = [{"labels": labels[at], "nodes": f"n{at} 6.1.0-test\n"} for at in range(number)]
        spec = {"labelKeys": ["pool", "other"], "groups": groups}
        nodes = [{"apiVersion": "krmfn.dev/v1alpha1", "kind": "NodeInventory", "metadata": {"name": "n"}, "spec": spec}]
    return "---\n".join(map(emit.dump, [*selected, *nodes]))


@pytest.mark.parametrize("in_inventory", [False, True], ids=["Node objects", "an inventory"])
def test_twice_the_relabelled_nodes_are_twice_the_work(in_inventory: bool, tmp_path: Path) -> None:
    """Each node loses the Module of its own; the note about it has the place of the node's label."""

    def calls_for(number: int) -> int:
        plant(
            tmp_path,
            {"old.yaml": labelled(number, "pool", in_inventory), "new.yaml": labelled(number, "other", in_inventory)},
        )
        pair = pairs.Pair(cluster(tmp_path / "old.yaml"), cluster(tmp_path / "new.yaml"))
        comparison, count = call_count(lambda: pairs.compare(pair, "lab"))
        assert len([note for note in comparison.notes if note.rule == "KRM409" and note.place]) == number
        return count

    calls_for(2)  # what is imported, and read, once
    once, twice = (calls_for(number) for number in (20, 40))
    assert twice < 2.2 * once, (once, twice)
