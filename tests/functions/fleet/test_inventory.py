"""A NodeInventory holds what the Node objects say, in lines that are compared in Git."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given
from krmfn_functions.fleet import collecting, nodes, readings
from krmfn_functions.paths import manifests
from krmfn_functions.rendering.kinds import schema as published

from krmfn import KrmfnError, Manifest, schema
from krmfn.yamltext import emit
from tests.commands import process
from tests.functions.fleet import strategies

EL9 = "5.14.0-503.el9.x86_64"


def node(name: str, kernel: str = EL9, labels: dict[str, Any] | None = None, **spec: Any) -> Manifest:
    info = {"kernelVersion": kernel, "architecture": "amd64", "osImage": "RHEL 9.5"}
    metadata = {"name": name, "labels": labels or {}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec, "status": {"nodeInfo": info}}


def text_of(*manifests: Manifest, keys: list[str] | None = None) -> str:
    return emit.dump(collecting.manifest(collecting.collect(manifests, keys), "lab", keys, {}))


def read(text: str) -> nodes.Fleet:
    return nodes.read(manifests.read("-", text.encode()))


@given(
    strategies.nodes().filter(bool), st.none() | st.lists(st.sampled_from(strategies.KEYS), unique=True), st.randoms()
)
def test_what_is_read_back_is_what_the_nodes_say(nodes: list[Manifest], keys: list[str] | None, random: Random) -> None:
    inventory = collecting.manifest(collecting.collect(nodes, keys), "lab", keys, {"validUntil": "2026-12-31"})
    assert schema.check(inventory, published("nodeinventory")) == []
    fleet = read(emit.dump(inventory))
    direct = read(json.dumps({"apiVersion": "v1", "kind": "List", "items": nodes}))
    assert (fleet.findings, direct.findings) == ((), ())
    assert fleet.label_keys == (None if keys is None else frozenset(keys))
    kept = strategies.KEYS if keys is None else keys
    expected = {
        node.name: node._replace(labels={key: value for key, value in node.labels.items() if key in kept})
        for node in direct.nodes
    }
    assert (len(fleet.nodes), {node.name: node for node in fleet.nodes}) == (len(direct.nodes), expected)
    random.shuffle(nodes)
    assert collecting.manifest(collecting.collect(nodes, keys), "lab", keys, {"validUntil": "2026-12-31"}) == inventory


@pytest.mark.parametrize("is_shared", [True, False], ids=["a pool's labels", "labels of their own"])
def test_a_fleet_of_many_pools_is_a_file_that_is_read(is_shared: bool) -> None:
    """A group for each of 2,000 pools, with 40 labels each, was more than a reader takes of one resource."""
    random, pools = Random(7), list[dict[str, str]]()
    for number in range(2_000):
        values = {f"example.com/label-{key}": f"v{random.randrange(3)}" for key in range(39 if is_shared else 12)}
        pools.append({**values, "example.com/pool": f"pool-{number}"})
    fleet = [node(f"n{number:05}", labels=pools[number % 2_000]) for number in range(8_000)]
    text = text_of(*fleet)
    known = read(text)
    assert known.findings == ()
    labels = {item["metadata"]["name"]: item["metadata"]["labels"] for item in fleet}
    assert {machine.name: machine.labels for machine in known.nodes} == labels
    largest = max(len(line) for line in text.splitlines())
    assert largest < 4_096


def test_the_text_is_one_line_a_node_below_what_a_group_shares() -> None:
    tainted = [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]
    pool = [node(f"gpu-{number}", labels={"zone": "a", "rack": f"r{number}"}, taints=tainted) for number in range(4)]
    assert (
        text_of(*pool, node("cpu-1", "", {"zone": "b"}))
        == f"""\
apiVersion: krmfn.dev/v1alpha1
kind: NodeInventory
metadata:
  name: lab
  annotations:
    config.kubernetes.io/local-config: "true"
spec:
  nodeCount: 5
  labelKeys:
  - '*'
  groups:
  - architecture: amd64
    osImage: RHEL 9.5
    labels:
      zone: b
    nodes: |
      cpu-1 -
  - architecture: amd64
    osImage: RHEL 9.5
    labels:
      zone: a
    taints:
    - key: gpu
      value: "yes"
      effect: NoSchedule
    nodes: |
      gpu-0 {EL9} rack=r0
      gpu-1 {EL9} rack=r1
      gpu-2 {EL9} rack=r2
      gpu-3 {EL9} rack=r3
"""
    )


def test_a_new_kernel_is_one_changed_line() -> None:
    before = text_of(*(node(f"n{number}") for number in range(9))).splitlines()
    after = text_of(*(node(f"n{number}", "6.1.0" if number == 4 else EL9) for number in range(9))).splitlines()
    assert [line for line in after if line not in before] == ["      n4 6.1.0"]
    assert len(after) == len(before)


def test_labels_that_few_nodes_share_do_not_divide_them() -> None:
    """Every combination of 10 switches: groups of their own would repeat each label for each node."""
    labels = [{f"f{bit}": str(number >> bit & 1) for bit in range(10)} for number in range(1024)]
    fleet = [node(f"n{number}", labels=switches) for number, switches in enumerate(labels)]
    text, direct = text_of(*fleet), json.dumps({"kind": "List", "apiVersion": "v1", "items": fleet})
    assert len(text) < len(str(labels))
    assert sorted(read(text).nodes) == sorted(read(direct).nodes)


CHOSEN, READY = "kmm.node.kubernetes.io/version-module.kmm.gpu", "kmm.node.kubernetes.io/kmm.gpu.ready"
LABELLED = node("n", labels={CHOSEN: "1.0", READY: "", f"beta.{CHOSEN}": "1.0", "zone": "a"})


def test_versions_that_were_chosen_are_kept_and_what_kmm_sets_is_not() -> None:
    """The one is history, which a prediction needs; the other is stale the day after."""
    for keys, kept in ((None, {CHOSEN, "zone"}), (["rack"], {CHOSEN})):
        fleet = read(text_of(LABELLED, node("m", labels={"zone": "b"}), keys=keys))
        assert fleet.findings == ()
        assert [set(node.labels) for node in fleet.nodes if node.name == "n"] == [kept]
        assert fleet.label_keys == (None if keys is None else {"rack", CHOSEN})


def test_a_label_that_kmm_sets_cannot_be_asked_for() -> None:
    done = process("krmfn", "inventory", "-", "--labels", READY, stdin=json.dumps(LABELLED))
    reason = f"KMM sets and removes {READY} by itself, so an inventory does not hold it"
    assert done.refused() == f"error: --labels: {reason}\n"


def test_taints_of_the_moment_are_left_out() -> None:
    passing = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
    assert text_of(node("n", taints=[passing])) == text_of(node("n"))


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([], "it contains no Node"),
        ([{"apiVersion": "v1", "kind": "Node", "metadata": {}}], "item 1: this Node has no metadata.name"),
        ([node("n"), node("m"), node("n")], "Node n appears twice"),
        ([node("n", labels={"a": True})], "item 1 (Node n): its label a is True, not a string; put it in quotes"),
        ([node("n") | {"metadata": {"name": "n", "labels": ["a"]}}], "item 1 (Node n): its labels are not a mapping"),
        ([node("n", labels={"a b": "c"})], "item 1 (Node n): its label a b: 'c' is not valid"),
        ([node("n", labels={"a": "b c"})], "item 1 (Node n): its label a: 'b c' is not valid"),
        ([node("N n")], "item 1 (Node N n): 'N n' is not a valid name"),
        ([node("n", "5.14 0")], "its kernel version '5.14 0' is not one word"),
        ([node("n", taints=[{"effect": "NoSchedule"}])], "its taint spec.taints[0] has no key"),
        ([node("n", taints=[{"key": "a", "effect": "Often"}])], "none of the effects NoSchedule"),
        ([node("n", taints={"key": "a"})], "its taints are not a list"),
        (
            [node("n", taints=[{"key": "a", "value": "b c", "effect": "NoSchedule"}])],
            "its taint a=b c:NoSchedule is not valid",
        ),
        ([node("n") | {"kind": "Pod"}], "item 1 (Pod n): is a Pod (v1), not a Node"),
        (
            [node("n") | {"status": {"nodeInfo": {"osImage": "a\nb"}}}],
            "status.nodeInfo.osImage 'a\\nb' is not one line",
        ),
    ],
)
def test_what_is_no_node_is_a_sentence(nodes: list[Manifest], message: str) -> None:
    with pytest.raises(KrmfnError) as failure:
        collecting.collect(nodes, None)
    assert message in str(failure.value)


def test_of_many_problems_the_first_are_named_and_the_rest_counted() -> None:
    with pytest.raises(KrmfnError) as failure:
        collecting.collect([node("") for _ in range(30)], None)
    assert len(failure.value.args) == collecting.SHOWN + 1
    assert failure.value.args[-1] == "and 10 more"


HEAD = "apiVersion: krmfn.dev/v1alpha1\nkind: NodeInventory\nmetadata: {name: lab}\n"
SPEC = HEAD + "spec:\n  labelKeys: [zone, rack]\n  groups:\n  - labels: {zone: a}\n    nodes: |\n      "
UNQUOTED = SPEC.replace("labelKeys", "validUntil: 2026-12-31\n  labelKeys")


@pytest.mark.parametrize(
    ("text", "rule", "field", "message"),
    [
        (SPEC + "n1", "KRM601", "spec.groups[0].nodes", "line 1 ('n1'): expected `<name> <kernel, or -> "),
        (SPEC + "n1 -\n      N2 -", "KRM601", "spec.groups[0].nodes", "line 2 ('N2 -'): 'N2' is not a valid node name"),
        (SPEC + "n1  -", "KRM601", "spec.groups[0].nodes", "separate words by one space"),
        (SPEC + "n1 - \n", "KRM601", "spec.groups[0].nodes", "separate words by one space"),
        (SPEC + "n1 rack=r1", "KRM601", "spec.groups[0].nodes", "'rack=r1' is not a kernel version"),
        (SPEC + "n1 - r1", "KRM601", "spec.groups[0].nodes", "'r1' is not a label"),
        (SPEC + "n1 5.14\n      n2 - 5.14", "KRM601", "spec.groups[0].nodes", "'5.14' is not a label"),
        (SPEC + "n1 - rack=r=1", "KRM601", "spec.groups[0].nodes", "'rack=r=1' is not a label"),
        (SPEC + "n1 - rack=1 rack=2", "KRM601", "spec.groups[0].nodes", "a label appears twice"),
        (SPEC + "n1 - zone=b", "KRM601", "spec.groups[0].nodes", "the label zone is already in the group"),
        (SPEC + "n1 - row=b", "KRM601", "spec.groups[0].nodes", "the label row is not in spec.labelKeys"),
        (SPEC + "n1 -\n      n1 -", "KRM601", "spec.groups[0].nodes", "node n1 appears twice; remove one"),
        (SPEC.replace("[zone, ", "[") + "n1 -", "KRM601", "spec.groups[0].labels", "zone is not in spec.label"),
        (SPEC.replace("1alpha1", "2"), "KRM601", "apiVersion", "this version of krmfn reads krmfn.dev/v1alpha1"),
        (SPEC.replace("labelKeys", "labels") + "n1 -", "KRM101", "spec.labelKeys", ""),
        (HEAD + "spec: {labelKeys: [], groups: []}", "KRM101", "spec.groups", ""),
        (HEAD, "KRM101", "spec", ""),
        (UNQUOTED + "n1 -", "KRM101", "spec.validUntil", "quotes"),
        ("apiVersion: v1\nkind: Node\nmetadata: {name: m, labels: {a: true}}", "KRM601", "", "its label a is True"),
        ("apiVersion: v1\nkind: Node\nmetadata: {labels: {a: b}}", "KRM601", "", "this Node has no metadata.name"),
    ],
)
def test_what_is_wrong_with_the_nodes_of_an_input_is_an_error(text: str, rule: str, field: str, message: str) -> None:
    (finding,) = read(text).findings[:1]
    assert (finding.severity, finding.rule, finding.field.path if finding.field else "") == ("error", rule, field)
    assert message in finding.text


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (SPEC + "n1 -\n      n2 -\n      n1 -\n      N3 -\n      n1 -\n", [12, 13, 14]),
        (SPEC + "n1 -\n  - nodes: |\n\n      n1 -\n", [12, 13]),
        (SPEC.replace("|\n      ", '"') + 'n1 -\\nn1 -"\n', [9]),
    ],
)
def test_what_is_wrong_with_a_line_is_said_at_that_line(tmp_path: Path, text: str, lines: list[int]) -> None:
    (tmp_path / "a.yaml").write_text("# a comment\n" + text)
    findings = nodes.read(manifests.read(str(tmp_path))).findings
    assert sorted(finding.place.line for finding in findings if finding.place) == lines


def test_a_node_that_stands_in_two_sources_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(text_of(node("n1"), node("n2")))
    (tmp_path / "b.yaml").write_text(json.dumps(node("n2")))
    fleet = nodes.read(manifests.read(str(tmp_path)))
    assert [finding.text for finding in fleet.findings] == [
        f"node n2 is also in Node n2, {tmp_path}/b.yaml; remove it from one of them"
    ]


@given(strategies.nodes(), st.lists(st.sampled_from(strategies.KEYS), unique=True))
def test_names_and_labels_alone_are_the_same_ones(drawn: list[Manifest], keys: list[str]) -> None:
    """What node exclusivity reads, for speed, of Node objects in block YAML."""
    text = "---\n".join(map(emit.dump, drawn))
    resources = manifests.read("-", text.encode())
    quick, full = (
        [(node.name, {key: node.labels[key] for key in keys if key in node.labels}) for node in fleet.nodes]
        for fleet in (nodes.read(resources, keys), nodes.read(manifests.read("-", text.encode())))
    )
    assert quick == full


def test_under_kustomize_a_node_has_the_name_in_its_file() -> None:
    wire = {"kustomize.config.k8s.io/id": "1", readings.PREVIOUS_NAMES: "n1,dev-n1"}
    renamed = node("prod-dev-n1") | {"metadata": {"name": "prod-dev-n1", "annotations": wire}}
    assert [node.name for node in read(json.dumps(renamed)).nodes] == ["n1"]
