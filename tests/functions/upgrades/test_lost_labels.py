"""A node that loses its driver by a label of its own: the error stands where the label does."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import example, given, settings

from tests.commands import process
from tests.examples import EXAMPLES
from tests.functions.comparing.test_base import commit, repository
from tests.trees import plant

CONFIG = """\
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata: {name: gpu, namespace: kmm}
spec:
  driverImage: registry.example.com/gpu
  driverVersion: "1"
  moduleName: gpu
  nodeSelector: {example.com/gpu: "true"}
"""
GROUPS = """\
apiVersion: krmfn.dev/v1alpha1
kind: NodeInventory
metadata: {name: nodes}
spec:
  labelKeys: [example.com/gpu]
  groups:
  - labels:
      example.com/gpu: "true"
    nodes: |
      a 6.1.0-test
  - labels:
      example.com/gpu: "true"
    nodes: |
      b 6.1.0-test
"""
LINES = """\
apiVersion: krmfn.dev/v1alpha1
kind: NodeInventory
metadata: {name: nodes}
spec:
  labelKeys: [example.com/gpu]
  groups:
  - nodes: |
      a 6.1.0-test example.com/gpu=true
      b 6.1.0-test example.com/gpu=true
"""
QUOTED = LINES.replace("|\n      a", '"a').replace("=true\n      b", "=true\\n      b").replace("\\n      ", "\\n")
QUOTED = QUOTED.rstrip("\n") + '\\n"\n'
OBJECTS = """\
apiVersion: v1
kind: Node
metadata: {name: a, labels: {example.com/gpu: "true"}}
status: {nodeInfo: {kernelVersion: 6.1.0-test}}
---
apiVersion: v1
kind: Node
metadata:
  name: b
  labels: {example.com/gpu: "true"}
status: {nodeInfo: {kernelVersion: 6.1.0-test}}
"""
AGAIN = "give it example.com/gpu=true again, or change the selector"


def _last(text: str, old: str, new: str) -> str:
    head, _, tail = text.rpartition(old)
    return head + new + tail


@pytest.mark.parametrize(
    ("nodes", "old", "new", "place", "found"),
    [
        (GROUPS, '"true"', '"yes"', "12:7", "has example.com/gpu=yes"),
        (LINES, "=true", "=yes", "9:1", "has example.com/gpu=yes"),
        (LINES, " example.com/gpu=true", "", "9:1", "lacks example.com/gpu"),
        (QUOTED, "=true", "=yes", "7:5", "has example.com/gpu=yes"),
        (OBJECTS, 'gpu: "true"', 'gpu: "yes"', "10:3", "has example.com/gpu=yes"),
    ],
)
def test_the_error_stands_at_the_label(tmp_path: Path, nodes: str, old: str, new: str, place: str, found: str) -> None:
    plant(tmp_path, {"old/gpu.yaml": CONFIG, "old/nodes.yaml": nodes})
    plant(tmp_path, {"new/gpu.yaml": CONFIG, "new/nodes.yaml": _last(nodes, old, new)})
    done = process("krmfn", "diff", "old", "new", "--fail-on", "lost", cwd=tmp_path).ended(1)
    assert f"new/nodes.yaml:{place}: error: Module kmm/gpu: lost by 1 node (b): no longer selected" in done.text
    assert f"b {found} now: {AGAIN}" in done.text


def test_a_selector_that_has_changed_is_the_cause(tmp_path: Path) -> None:
    plant(tmp_path, {"old/gpu.yaml": CONFIG, "old/nodes.yaml": LINES})
    plant(tmp_path, {"new/gpu.yaml": CONFIG.replace('"true"', '"yes"'), "new/nodes.yaml": LINES})
    done = process("krmfn", "diff", "old", "new", "--fail-on", "lost", cwd=tmp_path).ended(1)
    assert "nodes.yaml" not in done.text
    assert "new/gpu.yaml:8:" in done.text
    assert AGAIN not in done.text


VALUES = st.sampled_from(["true", "yes", None])


def _inventory(labels: list[str | None]) -> str:
    rows = [f"      n{at} 6.1.0-test{f' example.com/gpu={value}' if value else ''}" for at, value in enumerate(labels)]
    return LINES.partition("      a ")[0] + "\n".join(rows) + "\n"


@given(
    st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=4),
    st.tuples(st.sampled_from(["true", "yes"]), st.sampled_from(["true", "true", "yes"])),
)
@example([("true", "yes"), ("true", "true")], ("true", "true"))
@example([("true", "yes"), ("true", "true")], ("true", "yes"))
@settings(max_examples=max(1, EXAMPLES // 20), deadline=None, derandomize=True, database=None)
def test_what_is_told_points_at_what_has_changed(
    labels: list[tuple[str | None, str | None]], selectors: tuple[str, str]
) -> None:
    """Labels, the selector or both: where the selector stays, it is the line of the first node that is lost."""
    folder = Path(tempfile.mkdtemp())
    for side, at in (("old", 0), ("new", 1)):
        config = CONFIG.replace('"true"', f'"{selectors[at]}"')
        plant(folder, {f"{side}/gpu.yaml": config, f"{side}/nodes.yaml": _inventory([pair[at] for pair in labels])})
    lost = [at for at, (old, new) in enumerate(labels) if old == selectors[0] and new != selectors[1]]
    is_label = bool(lost) and selectors[0] == selectors[1]
    expected = [f"new/nodes.yaml:{8 + lost[0]}"] if is_label else []
    data = json.loads(process("krmfn", "diff", "old", "new", "--format", "json", cwd=folder).text)
    notes = [note for note in data["notes"] if note["rule"] == "KRM409"]
    assert [f"{note['file']}:{note['line']}" for note in notes] == expected
    assert all(f"n{lost[0]} " in note["remedy"] and "lost by" in note["message"] for note in notes)
    failing = process("krmfn", "diff", "old", "new", "--fail-on", "lost", cwd=folder)
    lines = [line for line in failing.text.splitlines() if "(--fail-on lost)" in line]
    errors = [line for line in lines if "as long as they have their former labels" not in line]
    assert len(errors) == bool(lost)
    assert all(line.startswith(expected[0] if is_label else "new/gpu.yaml:") for line in errors), errors


def test_every_output_of_a_run_has_the_place(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo", {"gpu.yaml": CONFIG, "nodes.yaml": LINES})
    commit(repo, {"nodes.yaml": _last(LINES, "=true", "=yes")})
    process("krmfn", "ci", "--base", "main", "--out", "../out", cwd=repo).ended(0)
    for name in ("comment.md", "report.html", "annotations.txt", "findings.sarif", "codequality.json", "result.json"):
        text = (tmp_path / "out" / name).read_text()
        assert "nodes.yaml" in text, name
        assert "again, or change the selector" in text, name
