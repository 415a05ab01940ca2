"""Configs that a named operator drives take part in node exclusivity, by the path of their selector."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import Done, process
from tests.trees import plant

CONFIG = """\
apiVersion: krmfn.dev/v1alpha1
kind: RenderDeviceConfigs
metadata: {name: f, annotations: {config.kubernetes.io/local-config: "true"}}
spec: {operators: [{group: amd.com, kind: DeviceConfig, selector: spec.selector}]}
"""


def vendor(name: str, selector: str) -> str:
    head = f"---\napiVersion: amd.com/v1alpha1\nkind: DeviceConfig\nmetadata: {{name: {name}, namespace: amd}}\n"
    return f"{head}spec: {{selector: {selector}}}\n"


A, B, TYPE = vendor("a", '{gpu: "a"}'), vendor("b", '{gpu: "b"}'), vendor("c", "{type: big}")


def check(folder: Path, text: str, *options: str) -> Done:
    plant(folder, {"x.yaml": text})
    return process("krmfn", "check", ".", *options, cwd=folder)


def test_two_configs_of_an_operator_that_can_meet_are_a_conflict(tmp_path: Path) -> None:
    done = check(tmp_path, CONFIG + TYPE + A)
    assert "can select the same node, for example one with the labels gpu=a and type=big" in done.ended(1).text
    assert "[KRM302]" in done.text


@pytest.mark.parametrize(
    "text",
    [
        CONFIG + A + B,
        CONFIG.replace(", selector: spec.selector", "") + A + TYPE,
        CONFIG.replace("kind: DeviceConfig,", "kind: Other,") + A + TYPE.replace("amd.com", "nvidia.com"),
    ],
    ids=["apart", "no selector is named", "another kind"],
)
def test_no_conflict_is_made_up(text: str, tmp_path: Path) -> None:
    assert "KRM302" not in check(tmp_path, text).text


def test_nodes_decide_where_they_are_known(tmp_path: Path) -> None:
    node = "---\napiVersion: v1\nkind: Node\nmetadata: {name: w1, labels: {LABELS}}\n"
    done = check(tmp_path, CONFIG + A + TYPE + node.replace("LABELS", "gpu: a, type: big"))
    assert "node w1 is selected by DeviceConfig amd/a" in done.ended(1).text
    check(tmp_path, CONFIG + A + TYPE + node.replace("LABELS", "gpu: a")).ended(0)


def test_two_roots_of_a_cluster_are_compared(tmp_path: Path) -> None:
    package = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: p}\n"
    files = {"one/Kptfile": package, "two/Kptfile": package, "one/a.yaml": A, "two/c.yaml": TYPE, "f.yaml": CONFIG}
    plant(tmp_path, {".krmfn.yaml": "clusters: {lab: [one, two, f.yaml]}\n", **files})
    done = process("krmfn", "check", ".", cwd=tmp_path)
    assert "can select the same node" in done.ended(1).text


def test_a_selector_that_is_elsewhere_is_said(tmp_path: Path) -> None:
    done = check(tmp_path, CONFIG.replace("spec.selector", "spec.nodeSelector") + A).ended(0)
    assert "has no labels at spec.nodeSelector" in done.text
    assert "[KRM535]" in done.text


def test_an_inventory_for_a_folder_holds_the_labels_of_these_selectors(tmp_path: Path) -> None:
    """Else the remedy for a label that it lacks would not help."""
    plant(tmp_path, {"x.yaml": CONFIG + A + B})
    nodes = b'{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "labels": {"gpu": "a", "rack": "1"}}}'
    done = process("krmfn", "inventory", "--for", ".", "--", stdin=nodes, cwd=tmp_path)
    assert "labelKeys:\n  - gpu\n" in done.ended(0).text
