"""`--fail-on uncovered` of a change: a node that keeps a version while an ordered upgrade goes on has a driver."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import process
from tests.functions.comparing.test_base import commit, repository

from .test_verdict import Cluster

COMMANDS = (("ci", "--out", "../out"), ("diff",))


def sides(label: str, *names: str) -> tuple[dict[str, str], dict[str, str]]:
    """Both sides of an ordered upgrade from 1 to 2 of some clusters, with the label of their nodes."""
    cluster = Cluster(ordered=True)
    config = "clusters:\n" + "".join(f"  {name}: [{name}]\n" for name in names)
    old, new = {".krmfn.yaml": config}, {".krmfn.yaml": config}
    for name in names:
        for side, is_new in ((old, False), (new, True)):
            side |= cluster.files(name, is_new)
            nodes = side[f"{name}/nodes.yaml"]
            side[f"{name}/nodes.yaml"] = nodes.replace('gpu: "1"', f'gpu: "{label}"')
    return old, new


@pytest.mark.parametrize("command", COMMANDS, ids=["ci", "diff"])
@pytest.mark.parametrize("names", [("lab",), ("lab", "prod")], ids=["one cluster", "two"])
def test_nodes_that_keep_their_version_are_covered(
    command: tuple[str, ...], names: tuple[str, ...], tmp_path: Path
) -> None:
    old, new = sides("1", *names)
    repo = repository(tmp_path / "repo", old)
    commit(repo, new)
    args = (*command, "--base", "main", "--fail-on", "uncovered")
    process("krmfn", *args, cwd=repo).ended(0)
    check = process("krmfn", "check", "--fail-on", "uncovered", cwd=repo).ended(1)
    assert "assumed, not known" in check.text, "without a base nobody knows what they have"


@pytest.mark.parametrize("command", COMMANDS, ids=["ci", "diff"])
@pytest.mark.parametrize(
    ("label", "moves"), [("0", True), ("1", False), ("3", True)], ids=["assumed before", "no change", "a wrong label"]
)
def test_what_was_only_assumed_before_is_not_known(
    command: tuple[str, ...], label: str, moves: bool, tmp_path: Path
) -> None:
    old, new = sides(label, "lab")
    if not moves:  # the upgrade is in the base
        old["lab/all.yaml"] = new["lab/all.yaml"]
        new["lab/more.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: kmm}\n"
    repo = repository(tmp_path / "repo", old)
    commit(repo, new)
    done = process("krmfn", *command, "--base", "main", "--fail-on", "uncovered", cwd=repo).ended(1)
    assert "assumed, not known" in done.text + done.err


@pytest.mark.parametrize("command", COMMANDS, ids=["ci", "diff"])
def test_a_node_without_a_mapping_fails_beside_those_that_keep(command: tuple[str, ...], tmp_path: Path) -> None:
    old, new = sides("1", "lab")
    for side in (old, new):
        row = next(line for line in side["lab/nodes.yaml"].splitlines() if "lab-0" in line)
        side["lab/nodes.yaml"] = side["lab/nodes.yaml"].replace(row, row.split("lab-0")[0] + "lab-0 4.18.0-1.x86_64")
    repo = repository(tmp_path / "repo", old)
    commit(repo, new)
    done = process("krmfn", *command, "--base", "main", "--fail-on", "uncovered", cwd=repo).ended(1)
    said = done.text + done.err
    assert "lab-0" in said
    assert "assumed" not in said
