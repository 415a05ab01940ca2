"""Nodes of which a part is missing: nothing is concluded from the rest."""

from __future__ import annotations

from pathlib import Path

import pytest
from krmfn_functions.fleet import nodes
from krmfn_functions.paths import manifests

from krmfn import ResourceList
from krmfn.resource import Place
from tests.commands import process
from tests.tables import table

CASES = table(__file__, "cut_off.yaml")

INVENTORY = """\
apiVersion: krmfn.dev/v1alpha1
kind: NodeInventory
metadata: {name: lab}
spec:
  labelKeys: [zone]
  groups:
  - labels: {zone: a}
    nodes: |
      n1 5.14.0-503.el9.x86_64
"""


@pytest.mark.parametrize("form", ["{}", "# first\n---\n{}", "apiVersion: v1\nkind: List\nitems:\n- {}"])
def test_a_file_that_ends_within_a_line_may_be_cut_off(tmp_path: Path, form: str) -> None:
    """Half a kernel is a kernel, too, and a mapping may have a driver for it."""
    indent = "  " if "- {}" in form else ""
    text = form.format(INVENTORY.replace("\n", f"\n{indent}")).rstrip(" ")
    for lost, is_cut in ((0, False), (1, True), (5, True)):
        (tmp_path / "a.yaml").write_text(text[: len(text) - lost])
        findings = nodes.read(manifests.read(str(tmp_path))).findings
        assert ["the file ends in the middle of this line" in finding.text for finding in findings] == [True] * is_cut


@pytest.mark.parametrize(("lines", "message"), CASES["another_number_of_nodes_than_the_inventory_says_is_an_error"])
def test_another_number_of_nodes_than_the_inventory_says_is_an_error(lines: int, message: str, tmp_path: Path) -> None:
    """A file that ends behind a line is whole YAML, and its fleet was a smaller one."""
    head, _, _ = INVENTORY.rpartition("      n1")
    text = head.replace("spec:", "spec:\n  nodeCount: 2") + "".join(f"      n{at} 5.14.0\n" for at in range(lines))
    (tmp_path / "a.yaml").write_text(text)
    findings = nodes.read(manifests.read(str(tmp_path))).findings
    assert [(finding.text, finding.place and finding.place.line) for finding in findings] == (
        [(message, 5)] if message else []
    )


@pytest.mark.parametrize("day", ["2027-02-31", "2027-2-3", "20270203", "tomorrow"])
def test_a_day_that_there_is_not_is_refused(day: str) -> None:
    done = process("krmfn", "inventory", "-", "--all-labels", "--valid-until", day)
    assert (done.code, done.err) == (2, f"error: --valid-until {day!r} is not a date; write it as 2026-12-31\n")


def test_a_place_without_lines_gets_none() -> None:
    """kpt sends a path and an index; the lines of its list are none of that file."""
    lines = "".join(f"      n{at} -\n" for at in range(2, 14))
    annotated = INVENTORY.replace("lab}", "lab, annotations: {internal.config.kubernetes.io/path: a.yaml}}")
    items = "".join(f"  {line}\n" for line in (annotated + lines + "      n7 -\n").splitlines())
    wire = f"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- {items.lstrip()}"
    (finding,) = nodes.read(ResourceList.parse(wire.encode())).findings
    assert "node n7 appears twice" in finding.text
    assert finding.place == Place("a.yaml", 0)


@pytest.mark.parametrize(("name", "message"), CASES["a_name_that_is_no_string_is_named"])
def test_a_name_that_is_no_string_is_named(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "a.yaml").write_text(f"apiVersion: v1\nkind: Node\nmetadata: {{name: {name}}}\n")
    assert [finding.text for finding in nodes.read(manifests.read(str(tmp_path))).findings] == [message]
