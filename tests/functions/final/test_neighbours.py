"""Modules of one cluster that disturb each other, wherever in the cluster's input they stand."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.finding import fact

from krmfn import Manifest
from tests.builders import SPEC, device_config, edited, manifest, module, node
from tests.commands import process
from tests.trees import plant

from .lists import judged


def ordered(namespace: str, name: str, selector: dict[str, str] | None = None, version: str | None = "1") -> Manifest:
    modprobe = {"moduleName": f"{name}_of_{namespace}"}
    return module(name=name, namespace=namespace, selector=selector, version=version, modprobe=modprobe)


def on_hub(namespace: str, name: str, clusters: dict[str, str]) -> Manifest:
    spec = {"moduleSpec": ordered(namespace, name)["spec"], "spokeNamespace": namespace, "selector": clusters}
    return {**manifest("hub.kmm.sigs.x-k8s.io/v1beta1", "ManagedClusterModule", name, ""), "spec": spec}


def mixed(*manifests: Manifest, inputs: tuple[Manifest, ...] = ()) -> list[tuple[str, str]]:
    """Return severity and message of each finding about version labels that KMM mixes."""
    found = [finding for finding in judged(*manifests, inputs=inputs) if finding.rule == "KMM080"]
    return [(finding.severity, f"{finding.ref} {finding.text}") for finding in found]


TWO = (ordered("lab", "a-gpu"), ordered("lab-a", "gpu"))


def test_the_version_labels_of_two_modules_are_those_of_one_to_kmm() -> None:
    text = "Module lab/a-gpu is lab-a-gpu to KMM, as is Module lab-a/gpu: it mixes their version labels and loads none"
    assert mixed(*TWO) == [("error", f"{text} of them on a node that they select; rename one")]
    on_node = mixed(*TWO, inputs=(node("n1", a="b"), node("n2")))
    assert on_node == [("error", f"{text} of them on n1; rename one")]
    assert [severity for severity, _ in mixed(*TWO, inputs=(node("n2"),))] == ["warning"]


@pytest.mark.parametrize(
    "others",
    [
        [ordered("lab-a", "gpu", version=None)],
        [ordered("lab-a", "gpu", {"a": "c"})],
        [ordered("lab", "gpu")],
        [on_hub("lab-a", "gpu", {})],
        [],
    ],
    ids=["not ordered", "other nodes", "another text", "on other clusters", "alone"],
)
def test_modules_that_kmm_tells_apart(others: list[Manifest]) -> None:
    assert mixed(TWO[0], *others) == []


def test_modules_that_a_hub_brings_to_one_cluster() -> None:
    pair = on_hub("lab", "a-gpu", {"site": "oslo"}), on_hub("lab-a", "gpu", {"tier": "edge"})
    assert [severity for severity, _ in mixed(*pair, inputs=(node("n1"),))] == ["error"], "spokes are not known"
    assert mixed(pair[0], on_hub("lab-a", "gpu", {"site": "bergen"})) == []


def test_dots_in_a_name() -> None:
    """KMM takes the last two parts of the label's key for namespace and name."""
    assert len(mixed(ordered("x", "lab-a.gpu"), TWO[0])) == 1


MODULES = st.lists(
    st.tuples(
        st.sampled_from(["a", "a-b", "a-b-c"]),
        st.sampled_from(["d", "c-d", "b-c-d", "c"]),
        st.sampled_from(["1", None]),
        st.dictionaries(st.sampled_from("pq"), st.sampled_from("12"), max_size=2),
    ),
    max_size=6,
    unique_by=lambda row: row[:2],
)
NODES = st.lists(st.dictionaries(st.sampled_from("pq"), st.sampled_from("12"), max_size=2), max_size=3)


@given(MODULES, NODES)
def test_as_brute_force_finds_them(
    rows: list[tuple[str, str, str | None, dict[str, str]]], labels: list[dict[str, str]]
) -> None:
    """Each pair is compared on each node, and by each node that could be."""
    possible = labels or [{"p": p, "q": q} for p in "12" for q in "12"]
    meeting, seen = set[str](), set[str]()
    for one, two in combinations(rows, 2):
        if one[2] and two[2] and "-".join(one[:2]) == "-".join(two[:2]):
            names = {f"Module {row[0]}/{row[1]}" for row in (one, two)}
            if all(two[3].get(key, value) == value for key, value in one[3].items()):
                meeting |= names
            if any(row.items() >= {**one[3], **two[3]}.items() for row in possible) and names <= meeting:
                seen |= names
    inputs = tuple(node(f"n{at}", **row) for at, row in enumerate(labels))
    modules = [ordered(namespace, name, selector, version) for namespace, name, version, selector in rows]
    found = [finding for finding in judged(*modules, inputs=inputs) if finding.rule == "KMM080"]
    named = {severity: set[str]() for severity in ("error", "warning")}
    for finding in found:
        others = fact(finding, "modules")
        assert isinstance(others, tuple)
        named[finding.severity] |= {str(finding.ref), *map(str, others)}
    assert named["error"] | named["warning"] == meeting
    assert named["error"] == seen


REMOVER = edited(
    module(name="nic", modprobe={"moduleName": "nic"}, inTreeModulesToRemove=["simple"]), ("metadata.namespace", "net")
)


@pytest.mark.parametrize(
    ("rule", "pair"), [("KMM080", TWO), ("KRM231", (REMOVER, module()))], ids=["version labels", "removed"]
)
def test_in_one_file_in_two_roots_from_elsewhere_and_from_a_config(
    rule: str, pair: tuple[Manifest, Manifest], tmp_path: Path
) -> None:
    texts = [yaml.safe_dump(resource) for resource in pair]
    plant(tmp_path, {"one/a.yaml": "---\n".join(texts), "x/a.yaml": texts[0], "y/a.yaml": texts[1]})

    def told(*args: str) -> list[str]:
        done = process("krmfn", "check", *args, "--root", ".", cwd=tmp_path)
        return [line for line in done.text.splitlines() if f"[{rule}]" in line]

    for args in (["one"], ["--cluster", "lab=x,y"]):
        (line,) = told(*args)
        assert "a.yaml:" in line, "it has a place"
    (line,) = told("x", "--against", "y")
    assert f"{pair[1]['metadata']['name']} from --against" in line
    assert told("x") == told("y") == []


def test_of_a_module_that_is_generated(tmp_path: Path) -> None:
    config = device_config({**SPEC, "upgrade": {"ordered": True}}, name="a-gpu", namespace="lab")
    plant(tmp_path, {"a.yaml": yaml.safe_dump(config), "b.yaml": yaml.safe_dump(ordered("lab-a", "gpu", {"p": "1"}))})
    done = process("krmfn", "check", ".", "--root", ".", cwd=tmp_path).ended(1)
    assert "a.yaml:" in done.text and "[KMM080]" in done.text


@pytest.mark.parametrize("nodes", [[], [node("n1", a="b")]], ids=["an error", "a warning"])
def test_it_is_turned_off_with_a_reason(nodes: list[Manifest], tmp_path: Path) -> None:
    note = ("metadata.annotations", {"krmfn.dev/ignore": "KMM080: no node will have both labels"})
    pair = (edited(TWO[0], note), edited(TWO[1], ("spec.selector", {"other": "label"})))
    plant(tmp_path, {"a.yaml": "---\n".join(yaml.safe_dump(resource) for resource in (*pair, *nodes))})
    printed = process("krmfn", "check", ".", "--root", ".", cwd=tmp_path).ended(0).text
    assert "1 finding turned off" in printed
    assert "KRM139" not in printed
