"""The command `ci`: the same answers as `check`, `diff` and `report`, in files, each cluster built once per side."""

from __future__ import annotations

import json
import shutil
import xml.etree.ElementTree as xml
from pathlib import Path
from typing import Any

import pytest
from krmfn_functions.commands.ci import FILES

from tests.commands import ROOT, Done, process
from tests.examples import pairs_of
from tests.functions.comparing.test_base import commit, repository, run_git
from tests.functions.formats.test_ci import entries, sound
from tests.gitops.pull_requests import CHANGES, base, harmless, inert, propose
from tests.trees import altered, config_map, plant

PARTIAL = {"annotations.txt", "junit.xml", "comment.md", "result.json"}
"""What is written when something could not be read."""


def ci(folder: Path, *args: str, **env: str) -> Done:
    return process("krmfn", "ci", "--out", "out", *args, cwd=folder, **env)


def result(folder: Path) -> Any:
    return json.loads((folder / "out" / "result.json").read_text())


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    """A repository whose main has the fleet of the examples, and a branch."""
    folder = tmp_path / "repo"
    shutil.copytree(ROOT / "examples" / "one-cluster", folder / "fleet")
    return repository(folder, {})


@pytest.mark.parametrize("name", CHANGES)
def test_the_answers_are_those_of_check_and_diff(name: str, tmp_path: Path) -> None:
    change, repo = CHANGES[name], base(tmp_path / "repo")
    propose(repo, change)
    run_git(repo, "checkout", "--quiet", "next")
    done = process("krmfn", "ci", "--out", str(tmp_path / "out"), "--base", "main", "--fail-on", "lost", cwd=repo)
    assert bool(done.code) != change.passes
    answer = result(tmp_path)
    assert "\ncheck: " in f"\n{done.text}", "what is counted are the findings; what changes stands in the files"
    compared = process("krmfn", "diff", "--base", "main", "--format", "json", cwd=repo)
    check = json.loads(process("krmfn", "check", "--format", "json", cwd=repo).out)
    ours = {key: answer["check"][key] for key in ("findings", "summary", "notJudged")}
    assert answer["check"] == {**check, **ours}
    gaps = [gap["subject"] for gap in ours["notJudged"] if gap not in check["notJudged"]]
    assert all("change" in what for what in gaps), "only what is not known of the change"
    assert len(ours["notJudged"]) == len(check["notJudged"]) + len(gaps)
    known = {finding["id"] for finding in check["findings"]}  # a conflict stands at the change, and says it from there
    additions = [finding["message"] for finding in ours["findings"] if finding["id"] not in known]
    said = {(finding["id"], finding["message"]) for finding in check["findings"]}
    moved = [f for f in ours["findings"] if f["id"] in known and (f["id"], f["message"]) not in said]
    assert [finding["message"] for finding in moved if not finding["related"]] == []
    notes = [note["message"] for note in answer["diff"]["notes"]]
    assert [text for text in additions if text not in notes and not text.endswith("(--fail-on lost)")] == []
    assert answer["diff"] == json.loads(compared.out)
    assert answer["exit"] == done.code
    assert answer["changes"] is bool(change.comment)
    assert {path.name for path in (tmp_path / "out").iterdir()} == (PARTIAL if done.code == 2 else {*FILES})
    text = (tmp_path / "out" / "comment.md").read_text()
    assert change.comment in text
    assert len(text) < 65_536
    inert(text)
    harmless((tmp_path / "out" / "annotations.txt").read_text(), repo)


@pytest.mark.parametrize("name", ["clean", "hostile error"])
def test_each_file_is_sound(name: str, tmp_path: Path) -> None:
    repo = base(tmp_path / "repo")
    propose(repo, CHANGES[name])
    run_git(repo, "checkout", "--quiet", "next")
    ci(repo, "--base", "main")
    findings = result(repo)["check"]["findings"]
    sound((repo / "out" / "findings.sarif").read_text(), len(findings))
    assert len(entries((repo / "out" / "codequality.json").read_text())) == len(findings)
    suite = xml.parse(repo / "out" / "junit.xml").getroot()
    assert int(suite.attrib["failures"]) == sum(finding["severity"] == "error" for finding in findings)
    assert "<h1" in (repo / "out" / "report.html").read_text()


def test_a_second_run_leaves_nothing_of_the_first(fleet: Path) -> None:
    assert ci(fleet, "--base", "main").code == 0
    plant(fleet, {"fleet/gpu.yaml": "apiVersion: ["})
    assert ci(fleet, "--base", "main").code == 2
    assert {path.name for path in (fleet / "out").iterdir()} == PARTIAL
    (fleet / "fleet" / "gpu.yaml").unlink()
    assert ci(fleet, "--base", "nowhere").code == 2
    assert list((fleet / "out").iterdir()) == [], "what changes is not known, so nothing says so"


def test_what_ci_has_written_is_not_read(fleet: Path) -> None:
    assert ci(fleet).code == 0
    first = result(fleet)
    assert ci(fleet).code == 0
    assert result(fleet) == first


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"out/mine.txt": ""}, "out holds mine.txt, which `krmfn ci` has not written"),
        ({"out/report.html": "by hand"}, "out holds report.html, which"),
        ({"out/result.json": '{"format": "another"}'}, "out holds result.json, which"),
        ({"out/result.json/x": ""}, "out holds result.json, which"),
        ({"out/result.json": '{"format": "krmfn.dev/ci/v1"}', "out/comment.md": "-> ../fleet/gpu.yaml"}, "comment.md"),
        ({"out/result.json": '{"format": "krmfn.dev/ci/v1"}', "out/a.yaml": ""}, "out holds a.yaml"),
        ({"real/x": "", "out": "-> real"}, "/out is a link; pass "),
        ({"out": "text"}, "--out out: Not a directory"),
    ],
)
def test_a_folder_that_is_not_ours_stays_as_it_is(files: dict[str, str], says: str, fleet: Path) -> None:
    plant(fleet, files)
    before = {path: path.is_file() and path.read_bytes() for path in sorted(fleet.rglob("*"))}
    assert says in ci(fleet).refused()
    assert {path: path.is_file() and path.read_bytes() for path in sorted(fleet.rglob("*"))} == before


def test_a_link_above_the_folder_is_refused(fleet: Path) -> None:
    plant(fleet, {"real/x": "", "link": "-> real"})
    done = process("krmfn", "ci", "--out", "link/new", cwd=fleet).ended(2)
    assert f"{fleet}/link is a link; pass {fleet}/real/new if that is meant" in done.err
    assert not (fleet / "real" / "new").exists()


def test_a_cluster_that_is_gone_is_told(fleet: Path) -> None:
    shutil.rmtree(fleet / "fleet")
    commit(fleet)
    assert ci(fleet, "--base", "main", "fleet").code == 0
    assert "| deleted | Module kmm/gpu |" in (fleet / "out" / "comment.md").read_text()
    assert ci(fleet, "--base", "main", "fleet", "--fail-on", "lost").code == 1
    first = "**Look at this first**\n\n* 4 nodes lose a driver\n"
    assert first in (fleet / "out" / "comment.md").read_text()


def test_an_error_about_a_node_does_not_hide_what_changes(fleet: Path) -> None:
    """`diff` tells it, and `ci` reads what `check` has judged: only findings about single nodes may differ."""
    gpu = fleet / "fleet" / "gpu.yaml"
    gpu.write_text("".join(line for line in gpu.read_text().splitlines(True) if "el9_6" not in line))
    assert ci(fleet, "--base", "main").code == 1
    answer = result(fleet)
    assert [entry["rule"] for entry in answer["check"]["findings"]] == ["KRM604", "KRM409"]
    assert [entry["effect"] for entry in answer["diff"]["effects"]] == ["lost"]


def test_a_baseline_counts(fleet: Path) -> None:
    plant(fleet, {"fleet/gpu.yaml": (fleet / "fleet" / "gpu.yaml").read_text() + "  moduelName: b\n"})
    assert process("krmfn", "check", "--write-baseline", "known.json", cwd=fleet).code == 0
    assert ci(fleet).code == 1
    assert ci(fleet, "--baseline", "known.json").code == 0
    assert result(fleet)["check"]["summary"]["baseline"] == 1


SELECTOR, MAPPING = "example.com/card: gpu", "el9_6"
EDITS = {
    "nothing": ("", ""),
    "a selector that moves": (SELECTOR, f"{SELECTOR}\n    example.com/pool: main"),
    "another version": ('"2.4"', '"2.5"'),
    "a mapping less": (MAPPING, "el9_7"),
    "a label": ("  name: gpu\n", "  name: gpu\n  labels: {a: b}\n"),
}
FAILING = {
    "nothing": set[str](),
    "a selector that moves": {"change", "lost"},
    "another version": {"change", "reload"},
    "a mapping less": {"error", "warning", "uncovered", "change", "reload", "lost", "blocked"},
    "a label": set[str](),
}


FAIL_ON = ("error", "warning", "uncovered", "change", "reload", "lost", "blocked")


@pytest.mark.parametrize("edit", EDITS)
def test_fail_on_means_the_same_everywhere(edit: str, fleet: Path) -> None:
    """`ci` fails as `diff` does for words about a change, and as `check` and `nodes` do for words about a state."""
    altered(fleet / "fleet" / "gpu.yaml", *EDITS[edit])
    for word in (word for name, word in pairs_of(EDITS, FAIL_ON) if name == edit):
        code = int(word in FAILING[edit])
        args = ("fleet", "--fail-on", word)
        codes = {"ci": ci(fleet, "--base", "main", *args).code}
        if word not in ("error", "warning", "uncovered") and "error" not in FAILING[edit]:
            codes["diff"] = process("krmfn", "diff", "--base", "main", *args, cwd=fleet).code
        if word in ("error", "uncovered"):
            codes["check"] = process("krmfn", "check", *args, cwd=fleet).code
        if word == "uncovered":
            codes["nodes"] = process("krmfn", "nodes", *args, cwd=fleet).code
        assert dict.fromkeys(codes, code) == codes, (word, codes)


def test_what_is_not_known_fails(fleet: Path) -> None:
    """Without nodes nobody knows whether a node loses its driver, or has one."""
    (fleet / "fleet" / "nodes.yaml").unlink()
    commit(fleet)
    run_git(fleet, "branch", "--force", "main", "HEAD")
    assert ci(fleet, "--base", "main", "--fail-on", "lost").code == 0, "nothing changes"
    altered(fleet / "fleet" / "gpu.yaml", SELECTOR, "example.com/card: other")
    assert ci(fleet, "--base", "main").code == 0
    for command in (("ci", "--out", "out"), ("diff",)):
        done = process("krmfn", *command, "--base", "main", "fleet", "--fail-on", "lost", cwd=fleet).ended(1)
        assert "what happens on the nodes is not known (--fail-on lost); add a NodeInventory" in done.text + done.err
    for command in (("ci", "--out", "out"), ("check",)):
        done = process("krmfn", *command, "fleet", "--fail-on", "uncovered", cwd=fleet).ended(1)
        assert "which nodes of fleet get no driver is not known: no node is known" in done.text
    plant(fleet, {"other/a.yaml": config_map("a")})
    assert "no Module is in other" in process("krmfn", "check", "other", "--fail-on", "uncovered", cwd=fleet).text


def test_words_about_a_change_need_one() -> None:
    for command in ("check", "nodes"):
        assert "invalid choice: 'lost' (choose from" in process("krmfn", command, "--fail-on", "lost").ended(2).err


def test_a_warning_about_the_change_is_told_whatever_fails(fleet: Path) -> None:
    """Exit codes are what `--fail-on` is about; a reader of annotations never sees less than one of the comment."""
    gpu = fleet / "fleet" / "gpu.yaml"
    gpu.write_text(gpu.read_text() + "  devicePlugin: {image: registry.example.com/gpu/plugin:1}\n")
    shutil.copytree(fleet / "fleet", fleet / "other")
    commit(fleet)
    run_git(fleet, "branch", "--force", "main", "HEAD")
    for path in (gpu, fleet / "other" / "gpu.yaml"):
        path.write_text(path.read_text().replace('"2.4"', '"2.5"'))
    done = ci(fleet, "--base", "main", "fleet", "other", "--cluster", "b=other", "--cluster", "a=fleet")
    assert (done.code, done.text.count("KRM401"), "1 warning" in done.text) == (0, 2, True)
    annotations = (fleet / "out" / "annotations.txt").read_text()
    place = " file=other/gpu.yaml,line=9,col=3,title=KRM401"
    assert annotations.count(f"::warning{place}") == annotations.count("::warning") == 1
    assert "(all 2 clusters)" in annotations
    assert '"ruleId": "KRM401"' in (fleet / "out" / "findings.sarif").read_text()
    quiet = ci(fleet, "--base", "main", "fleet", "other", "--cluster", "b=other", "--cluster", "a=fleet", "--quiet")
    assert (quiet.code, "KRM401" in quiet.text, quiet.text.count("not shown: 1 warning")) == (0, False, 1)
    assert (fleet / "out" / "annotations.txt").read_text() == annotations, "the files have all"
    assert ci(fleet, "--base", "main", "fleet", "--fail-on", "warning").code == 1
