"""The nodes of DaemonSets: those that have their labels, KMM's own among them, and no taint that keeps them out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given
from krmfn_functions.exclusivity.node import Node, Taint
from krmfn_functions.fleet import cluster, coverage
from krmfn_functions.fleet import nodes as fleet_nodes
from krmfn_functions.fleet.drivers import Driver
from krmfn_functions.kmm.module import is_set_by_kmm

from krmfn import Manifest
from tests.builders import manifest
from tests.functions.fleet import strategies
from tests.functions.fleet.test_coverage import TOLERATIONS, fleets, tolerated

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
READY = ("ready", "version.ready", "device-plugin-ready")


def daemonset(selector: dict[str, str], tolerations: Any = (), **pod: Any) -> Manifest:
    spec = {"nodeSelector": selector, "tolerations": list(tolerations), "containers": [{"image": "r/a:1"}], **pod}
    return {**manifest("apps/v1", "DaemonSet", "ds", "ns"), "spec": {"template": {"spec": spec}}}


@st.composite
def daemonsets(draw: st.DrawFn) -> Manifest:
    labels = draw(strategies.LABELS)
    for number in draw(st.sets(st.integers(0, 5), max_size=1)):
        suffix = draw(st.sampled_from(READY))
        labels[f"kmm.node.kubernetes.io/ns.m{number}.{suffix}"] = draw(st.sampled_from(("", "1", "2")))
    return daemonset(labels, draw(TOLERATIONS))


def labels_with_kmm(node: Node, group: coverage.Group, drivers: list[Driver]) -> dict[str, str]:
    """A node's labels once KMM has done its work, said one Module after the other."""
    labels = dict(node.labels)
    for outcome in group.outcomes:
        driver, is_other = drivers[outcome.driver], outcome.state == "other version"
        if is_other or (outcome.state in ("planned", "waiting") and driver.loads):
            chosen = f"kmm.node.kubernetes.io/version-module.ns.{driver.ref.name}"
            version = node.labels[chosen] if is_other else driver.module.version
            prefix = f"kmm.node.kubernetes.io/ns.{driver.ref.name}"
            labels |= {f"{prefix}.ready": ""} | ({f"{prefix}.version.ready": version} if version else {})
    return labels


@given(fleets(), st.lists(daemonsets(), max_size=4))
def test_a_daemonset_runs_where_the_scheduler_would_put_it(fleet: Any, manifests: list[Manifest]) -> None:
    nodes, drivers = fleet
    groups = coverage.coverage(nodes, drivers)
    sets = cluster.workloads(manifests)
    for workload, where in placements(sets, groups, drivers):
        if where is None:  # it waits for a Module that is not among these
            known = {key for driver in drivers for key in driver.set_by_kmm}
            assert any(is_set_by_kmm(key) for key in workload.selector.keys() - known)
            continue
        running: list[Any] = []
        repelled: list[Any] = []
        for group in groups:
            for node in group.nodes:
                labels = labels_with_kmm(node, group, drivers)
                if node.cluster is None and workload.selector.items() <= labels.items():
                    taints = [taint for taint in node.taints if taint.key in "kl"]
                    is_tolerant = all(tolerated_by(workload, taint) for taint in taints)
                    (running if is_tolerant else repelled).append(node.name)
        assert sorted(node.name for node in where.nodes) == sorted(running)
        assert sorted(node.name for node, _ in where.repelled) == sorted(repelled)


def test_a_daemonset_that_waits_for_an_unknown_module_is_placed_by_live_nodes_only() -> None:
    """An inventory of all labels has no ready label: that the pods run nowhere is not known."""
    sets = cluster.workloads([daemonset({"kmm.node.kubernetes.io/ns.other.ready": ""})])
    stale = coverage.coverage([Node("n", {"a": "b"})], [])
    assert placements(sets, stale) == [(sets[0], None)]
    live = coverage.coverage([Node("n", {"kmm.node.kubernetes.io/ns.other.ready": ""}), Node("m", {})], [])
    ((_, where),) = placements(sets, live)
    assert where
    assert [node.name for node in where.nodes] == ["n"]


def placements(
    sets: Sequence[cluster.Workload],
    groups: Sequence[coverage.Group],
    drivers: Sequence[Driver] = (),
    held: frozenset[str] | None = None,
) -> list[tuple[cluster.Workload, cluster.Placement | None]]:
    return cluster.placements(cluster.Cluster(fleet_nodes.Fleet([], held), drivers, sets), groups)


def tolerated_by(workload: cluster.Workload, taint: Taint) -> bool:
    class Tolerating:
        tolerations = workload.pod["tolerations"]

    return tolerated(Tolerating, taint)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("manifest", "held"),
    [
        (daemonset({"rack": "r1"}), frozenset({"zone"})),
        (daemonset({}, nodeName="n1"), None),
        (daemonset({}, affinity={"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchFields": []}]}}}), None),
        (daemonset({}) | {"kind": "Deployment"}, None),
    ],
    ids=["unknown label", "node name", "affinity", "no DaemonSet"],
)
def test_where_it_runs_is_not_guessed(manifest: Manifest, held: frozenset[str] | None) -> None:
    sets = cluster.workloads([manifest])
    groups = coverage.coverage([Node("n1", {"zone": "a"}, "6.1.0")], [])
    assert placements(sets, groups, held=held) == [(sets[0], None)]


def test_the_images_of_all_that_makes_pods() -> None:
    pod = {
        "initContainers": [{"name": "i", "image": "r/i:1"}],
        "containers": [{"name": "c", "image": "r/c:1"}],
        "volumes": [{"name": "v", "image": {"reference": "r/v:1"}}],
    }
    kinds: list[tuple[str, str, dict[str, Any]]] = [
        ("v1", "Pod", pod),
        ("v1", "ReplicationController", {"template": {"spec": pod}}),
        *(("apps/v1", f"{kind}Set", {"template": {"spec": pod}}) for kind in ("Daemon", "Replica", "Stateful")),
        ("apps/v1", "Deployment", {"template": {"spec": pod}}),
        ("batch/v1", "Job", {"template": {"spec": pod}}),
        ("batch/v1", "CronJob", {"jobTemplate": {"spec": {"template": {"spec": pod}}}}),
    ]
    by_kind = cluster.workloads({"apiVersion": version, "kind": kind, "spec": spec} for version, kind, spec in kinds)
    assert [workload.ref.kind for workload in by_kind] == [kind for _, kind, _ in kinds]
    expected = {("r/i:1", "init container i"), ("r/c:1", "container c"), ("r/v:1", "volume v")}
    assert all(set(filter(lambda pair: pair[0], workload.images())) == expected for workload in by_kind)
    others: list[Manifest] = [
        {"apiVersion": "acme.io/v1", "kind": "Pod", "spec": pod},
        {"apiVersion": "v1", "kind": "ConfigMap"},
    ]
    assert cluster.workloads(others) == []
