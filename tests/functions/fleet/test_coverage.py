"""Which node gets what: the engine agrees with every Module tried on every node, and every mapping on every kernel."""

from __future__ import annotations

import os
import re
from typing import Any, NamedTuple

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings
from krmfn_functions.exclusivity.node import Node, Taint
from krmfn_functions.fleet import coverage, facts
from krmfn_functions.fleet.drivers import Driver, driver

from krmfn import KrmfnError, Manifest, Ref
from tests.builders import edited, manifest
from tests.functions.fleet import strategies

REGEXPS = ("^.+$", r"el9", r"^5\.14\.0-427", "test$", r"^6\.1$")
"""They mean the same to Python and to Go."""
TOLERATIONS = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "key": st.sampled_from(("k", "l", "")),
            "operator": st.sampled_from(("Exists", "Equal", "")),
            "value": st.sampled_from(("", "v")),
            "effect": st.sampled_from(("", "NoSchedule", "NoExecute")),
        },
    ),
    max_size=2,
)
MAPPINGS = st.lists(
    st.sampled_from([{"literal": kernel} for kernel in strategies.KERNELS if kernel])
    | st.builds(lambda regexp: {"regexp": regexp}, st.sampled_from(REGEXPS)),
    min_size=1,
    max_size=3,
)
EXAMPLES = int(os.environ.get("KRMFN_FLEET_EXAMPLES", "100"))
"""How many fleets the oracle is held against, in parts that run side by side; CI sets 3,000."""
PARTS = 4


@st.composite
def module(draw: st.DrawFn, name: str) -> Manifest:
    """A Module, or a ManagedClusterModule, written in KMM's terms."""
    spec: dict[str, Any] = {"selector": draw(strategies.LABELS), "tolerations": draw(TOLERATIONS)}
    mappings = [
        {**match, "containerImage": f"r/{name}:{at}-$KERNEL_FULL_VERSION"} for at, match in enumerate(draw(MAPPINGS))
    ]
    if draw(st.integers(0, 5)):
        modprobe = {"moduleName": draw(st.sampled_from("mn"))}
        container: dict[str, Any] = {"kernelMappings": mappings, "modprobe": modprobe}
        if draw(st.booleans()):
            container["version"] = draw(st.sampled_from("12"))
        spec["moduleLoader"] = {"container": container}
    if draw(st.integers(0, 3)):
        return {**manifest("kmm.sigs.x-k8s.io/v1beta1", "Module", name, "ns"), "spec": spec}
    hub = {"spokeNamespace": "ns", "selector": draw(strategies.LABELS), "moduleSpec": spec}
    return {**manifest("hub.kmm.sigs.x-k8s.io/v1beta1", "ManagedClusterModule", name, ""), "spec": hub}


@st.composite
def fleets(draw: st.DrawFn) -> tuple[list[Node], list[Driver]]:
    drivers = []
    for number in range(draw(st.integers(0, 6))):
        config = Ref("krmfn.dev/v1alpha1", "DeviceConfig", "ns", draw(st.sampled_from("cde")))
        written = draw(module(f"m{number}"))
        domain = f"profile of {config.name in 'cd'}"
        claim = driver(written).claim._replace(ref=config, domain=domain, pool=f"pool{number}")
        if not draw(st.integers(0, 7)):
            written = edited(written, ("metadata.deletionTimestamp", "2026-11-24T00:00:00Z"))
        drivers.append(driver(written, draw(st.sampled_from([None, claim]))))
    nodes = []
    clusters = st.none() | strategies.LABELS.map(lambda labels: tuple(labels.items()))
    for node in map(facts.of_manifest, draw(strategies.nodes())):
        versions = {
            f"kmm.node.kubernetes.io/version-module.ns.m{number}": draw(st.sampled_from("12"))
            for number in draw(st.sets(st.integers(0, 5)))
        }
        states = draw(st.sampled_from([(), (), (Taint("node.kubernetes.io/unschedulable"),)]))
        taints = tuple(sorted((*node.taints, *states)))
        nodes.append(node._replace(labels={**node.labels, **versions}, cluster=draw(clusters), taints=taints))
    return nodes, drivers


class Fate(NamedTuple):
    """What the oracle says of one Module on one node."""

    state: str
    mapping: int | None = None
    image: str | None = None


def selects(driver: Driver, node: Node) -> bool:
    def has(labels: dict[str, str], pairs: Any) -> bool:
        return all(key in labels and labels[key] == value for key, value in pairs)

    if (driver.cluster is None) != (node.cluster is None):
        return False
    return has(dict(node.cluster or ()), driver.cluster or ()) and has(dict(node.labels), driver.selector.items())


def exclude(driver: Driver, other: Driver) -> bool:
    """Whether two Modules may not share a node: of one profile, of one config, or with a kernel module in common."""
    claim, rival = driver.claim, other.claim
    shares_domain = claim.domain is not None and claim.domain == rival.domain
    shares = claim.ref == rival.ref or shares_domain or bool(claim.kernel_modules & rival.kernel_modules)
    return driver is not other and shares


def tolerated(driver: Driver, taint: Taint) -> bool:
    for entry in driver.tolerations:
        key, operator, effect = (entry.get(field, "") for field in ("key", "operator", "effect"))
        is_of_taint = (not effect or effect == taint.effect) and (not key or key == taint.key)
        if is_of_taint and (operator == "Exists" or entry.get("value", "") == taint.value):
            return True
    return False


def oracle(driver: Driver, node: Node, present: list[Driver]) -> Fate:
    """What becomes of a Module on a node that it selects, as slowly as it can be said."""
    if any(exclude(driver, other) for other in present):
        return Fate("conflict")
    if driver.is_terminating:
        return Fate("terminating")
    untolerated = [taint for taint in node.taints if not tolerated(driver, taint)]
    if any(taint.key in "kl" for taint in untolerated):
        return Fate("taint")
    outcome = on_kernel(driver, node)
    if not untolerated:
        return outcome
    tainted = {"planned": "waiting", "failure": "waiting", "other version": "not labelled"}
    return outcome._replace(state=tainted.get(outcome.state, outcome.state))


def on_kernel(driver: Driver, node: Node) -> Fate:
    """What becomes of a Module on a node without taints."""
    if not driver.loads:
        return Fate("planned")
    if not node.kernel:
        return Fate("kernel unknown")
    kernel = node.kernel[:-1] if node.kernel.endswith("+") else node.kernel
    for at, mapping in enumerate(driver.module.mappings):
        if mapping.get("literal") == kernel or ("regexp" in mapping and re.search(mapping["regexp"], kernel)):
            if len(re.split("[.-]", kernel)) < 3:  # a hub leaves such a kernel out of what it makes for a spoke
                return Fate("failure" if driver.cluster is None else "no mapping")
            image = mapping["containerImage"].replace("$KERNEL_FULL_VERSION", kernel.replace("+", "_"))
            label = node.labels.get(f"kmm.node.kubernetes.io/version-module.ns.{driver.ref.name}")
            if not driver.module.version or label == driver.module.version:
                return Fate("planned", at, image)
            return Fate("other version" if label else "not labelled", at, image)
    return Fate("no mapping")


def fails(driver: Driver, nodes: list[Node], cluster: Any) -> bool:
    """Whether KMM fails with a Module on some node of a cluster; it minds no conflict."""
    beside = [node for node in nodes if node.cluster == cluster and selects(driver, node)]
    return any(oracle(driver, node, []).state == "failure" for node in beside)


@pytest.mark.parametrize("part", range(PARTS))
@settings(max_examples=EXAMPLES // PARTS)
@given(fleet=fleets())
def test_the_engine_agrees_with_the_oracle(part: int, fleet: tuple[list[Node], list[Driver]]) -> None:
    nodes, drivers = fleet
    groups = coverage.coverage(nodes, drivers)
    listed = [node for group in groups for node in group.nodes]
    assert sorted(map(repr, listed)) == sorted(map(repr, nodes))
    for group in groups:
        for node in group.nodes:
            assert (node.kernel, node.taints) == (group.kernel, group.nodes[0].taints)
            present = [item for item in drivers if selects(item, node)]
            actual = {
                outcome.driver: Fate(outcome.state, outcome.resolution.mapping, outcome.resolution.image)
                for outcome in group.outcomes
            }
            expected = {drivers.index(item): oracle(item, node, present) for item in present}
            for at, fate in expected.items():
                if fate.state == "planned" and fails(drivers[at], nodes, node.cluster):
                    expected[at] = fate._replace(state="blocked")
            assert actual == expected
            for outcome in group.outcomes:
                untolerated = [taint for taint in node.taints if not tolerated(drivers[outcome.driver], taint)]
                is_judged = outcome.state not in ("conflict", "terminating")
                assert list(outcome.taints) == (untolerated if is_judged else [])


@given(fleets(), st.randoms())
def test_the_order_of_the_nodes_does_not_matter(fleet: tuple[list[Node], list[Driver]], random: Any) -> None:
    nodes, drivers = fleet
    first = coverage.coverage(nodes, drivers)
    shuffled = list(nodes)
    random.shuffle(shuffled)
    assert coverage.coverage(shuffled, drivers) == first


@given(fleets())
def test_without_exclusivity_nothing_is_in_conflict(fleet: tuple[list[Node], list[Driver]]) -> None:
    groups = coverage.coverage(*fleet, exclusive=False)
    assert "conflict" not in {outcome.state for group in groups for outcome in group.outcomes}


def test_what_cannot_be_decided_is_an_error_and_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coverage, "STEPS", 1)
    nodes = [Node(f"n{number}", {"a": "x", "b": str(number)}, "6.1.0") for number in range(3)]
    selectors = [{"a": "x"}, *({"a": "x", "b": str(number)} for number in range(3))]
    module = manifest("kmm.sigs.x-k8s.io/v1beta1", "Module")
    modules = [driver({**module, "spec": {"selector": selector}}) for selector in selectors]
    with pytest.raises(KrmfnError, match="could not be decided"):
        coverage.coverage(nodes, modules)


@given(fleets(), st.integers(0, 6))
def test_modules_that_stand_elsewhere_take_part_and_stay_apart(
    fleet: tuple[list[Node], list[Driver]], cut: int
) -> None:
    """The same becomes of each as if all stood here."""
    nodes, drivers = fleet
    ours, others = drivers[:cut], drivers[cut:]
    outcomes = {node.name: group.outcomes for group in coverage.coverage(nodes, drivers) for node in group.nodes}
    for group in coverage.coverage(nodes, ours, external=others):
        for node in group.nodes:
            assert (*group.outcomes, *group.external) == outcomes[node.name]
            assert all(outcome.driver < len(ours) for outcome in group.outcomes)
            assert all(outcome.driver >= len(ours) for outcome in group.external)
