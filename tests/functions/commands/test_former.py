"""What the base has, too, is told last and folded: that is known, since the base is judged, and never guessed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.commands import process
from tests.examples import EXAMPLES
from tests.functions.comparing.test_base import commit, repository, run_git

from .test_verdict import CLUSTERS, TRIED, Cluster, outputs

FOLD = re.compile(r"<details><summary>The base has these, too: (.*?)</summary>\n\n(.*?)\n</details>", re.DOTALL)


def folded(comment: str) -> list[str]:
    """The folded lines."""
    match = FOLD.search(comment)
    return match[2].splitlines() if match else []


@given(st.lists(CLUSTERS, min_size=1, max_size=3))
@example([Cluster(idle=True), Cluster(idle=True, moves=False)])
@example([Cluster(idle=True, moves=False), Cluster(idle=True, rival=True)])
@settings(max_examples=max(1, EXAMPLES // 100), deadline=None, derandomize=True, database=None, phases=TRIED)
def test_what_is_folded_is_what_a_check_of_the_base_tells(fleet: list[Cluster]) -> None:
    """Of what fails nothing and is not about the change: all of it that both sides have, and nothing else."""
    told = outputs(fleet)
    repo = told.out.parent / "repo"
    result = json.loads((told.out / "result.json").read_text())
    run_git(repo, "checkout", "-q", "--detach", "main")
    base = json.loads(process("krmfn", "check", "--format", "json", cwd=repo).out)
    former = {(finding["id"], finding["message"], *(finding.get("clusters") or ())) for finding in base["findings"]}
    about = {(note["severity"], note["id"]) for note in result["diff"]["notes"]}
    due = [
        finding
        for finding in result["check"]["findings"]
        if finding["severity"] != "error" and (finding["severity"], finding["id"]) not in about
        if (finding["id"], finding["message"], *(finding.get("clusters") or ())) in former
    ]
    lines = folded((told.out / "comment.md").read_text())
    assert len(lines) == len(due)
    assert all(any(finding["rule"] in line for line in lines) for finding in due)


def test_the_example_has_something_to_fold() -> None:
    comment = (outputs([Cluster(idle=True, moves=False), Cluster(idle=True)]).out / "comment.md").read_text()
    *_, line = lines = folded(comment)
    assert "is not used for any kernel" in line
    match = FOLD.search(comment)
    assert match is not None
    assert sum(map(int, re.findall(r"\d+", match[1]))) == len(lines)
    assert comment.index("**warning**") < comment.index("| changed |") < comment.index(line), "last"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ([Cluster(idle=False)], [Cluster(idle=True)]),
        ([Cluster(3, idle=True)], [Cluster(4, idle=True)]),
        ([Cluster(idle=True), Cluster(idle=False)], [Cluster(idle=True), Cluster(idle=True)]),
        ([Cluster(idle=True, broken=True)], [Cluster(idle=True)]),
    ],
    ids=["new", "of more nodes", "of more clusters", "a base that nobody can read"],
)
def test_what_the_base_has_otherwise_is_not_folded(old: list[Cluster], new: list[Cluster], tmp_path: Path) -> None:
    names = [f"c{at}" for at in range(len(old))]
    config = "clusters:\n" + "".join(f"  {name}: [{name}]\n" for name in names)
    sides = [
        {
            path: text
            for name, cluster in zip(names, fleet, strict=True)
            for path, text in cluster.files(name, at).items()
        }
        for at, fleet in ((False, old), (True, new))
    ]
    repo = repository(tmp_path / "repo", {".krmfn.yaml": config, **sides[0]})
    commit(repo, sides[1])
    process("krmfn", "ci", "--base", "main", "--out", "../out", cwd=repo)
    comment = (tmp_path / "out/comment.md").read_text()
    assert "is not used for any kernel" in comment
    assert [line for line in folded(comment) if "is not used for any kernel" in line] == []
