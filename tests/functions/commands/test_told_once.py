"""What `diff` tells, it tells once: not on stdout and on stderr, not first and again below, and at its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import Done, process
from tests.functions.comparing.test_base import commit, repository

from .test_verdict import Cluster

LOST = "lost by 1 node (lab-0): no kernel mapping matches"
FOLDERS = "folders of the cluster change (now more)"


def diff(folder: Path, old: dict[str, str], new: dict[str, str], *args: str) -> Done:
    repo = repository(folder / "repo", old)
    commit(repo, new)
    return process("krmfn", "diff", "--base", "main", *args, cwd=repo)


def lab(cluster: Cluster) -> tuple[dict[str, str], dict[str, str]]:
    return cluster.files("lab", False), cluster.files("lab", True)


@pytest.mark.parametrize(("words", "severity"), [((), "warning"), (("--fail-on", "lost"), "error")])
def test_a_loss_is_told_once(words: tuple[str, ...], severity: str, tmp_path: Path) -> None:
    done = diff(tmp_path, *lab(Cluster(lost=1)), *words).ended(1)
    lines = [line for line in (done.text + done.err).splitlines() if LOST in line]
    assert len(lines) == 1, lines
    assert f": {severity}: Module kmm/gpu: {LOST}" in lines[0]
    assert lines[0] in done.text, "where the change is told"


def test_an_effect_that_fails_is_told_once(tmp_path: Path) -> None:
    """Nobody notes that a deleted Module is lost."""
    old, _ = lab(Cluster())
    new = {"lab/all.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: kmm}\n"}
    done = diff(tmp_path, old, new, "--fail-on", "lost").ended(1)
    assert (done.text + done.err).count("it is deleted") == 1, done.text + done.err


def test_what_a_program_reads_is_on_stderr_for_people(tmp_path: Path) -> None:
    done = diff(tmp_path, *lab(Cluster(lost=1)), "--fail-on", "lost", "--format", "json").ended(1)
    assert f"{LOST} (--fail-on lost)" in done.err


@pytest.mark.parametrize("words", [(), ("--fail-on", "lost")])
def test_folders_that_change_are_told_once(words: tuple[str, ...], tmp_path: Path) -> None:
    files = {"more/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: kmm}\n"}
    files |= lab(Cluster(moves=False))[0] | {".krmfn.yaml": "clusters: {dev: [lab]}\n"}
    done = diff(tmp_path, files, {".krmfn.yaml": "clusters: {dev: [lab, more]}\n"}, *words).ended(1)
    assert done.text.startswith(f"! {'error' if words else 'warning'}: {FOLDERS}")
    assert (done.text + done.err).count(FOLDERS) == 1, done.text + done.err


@pytest.mark.parametrize("is_mended", [False, True], ids=["here", "before"])
def test_what_is_not_known_has_a_place(is_mended: bool, tmp_path: Path) -> None:
    old, new = lab(Cluster())
    good = old["lab/nodes.yaml"]
    bad = good.replace("lab-1", "lab-0")
    old, new = old | {"lab/nodes.yaml": bad}, new | {"lab/nodes.yaml": good if is_mended else bad}
    for words, severity in (((), "warning"), (("--fail-on", "lost"), "error")):
        (tmp_path / severity).mkdir()
        done = diff(tmp_path / severity, old, new, *words).ended(1)
        (line,) = (line for line in (done.text + done.err).splitlines() if "what happens on the nodes" in line)
        assert "lab/nodes.yaml:11:1: " in line, line
        assert f": {severity}: what happens on the nodes is not known" in line
        assert line.startswith("lab/") != is_mended, "a line of the base has its commit"
