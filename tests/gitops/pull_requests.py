"""Repositories with a base and a head, as the CI recipes meet them."""

from __future__ import annotations

import html
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from tests.functions.cluster.test_one_result import config as device_config
from tests.functions.comparing.test_base import commit, repository, run_git
from tests.sources import copied
from tests.trees import config_map, plant

from .ci_server import Service

MARK = "<!-- krmfn diff -->\n"
TEXT = "@team `touch pwned` $(touch pwned) ]]> ::set-output name=a::b ##[error]x <b> |"
"""A text that each of the programs on its way could take for something else."""
FILE = "::set-output name=x::y]]>$(touch pwned)`touch pwned`@team;touch pwned.yaml"
BRANCH = "$(touch${IFS}pwned)`touch${IFS}pwned`;@team/#1"


def config(name: str = "gaudi", version: str = "1", label: str = "a") -> str:
    return device_config(name, f"gpu: {label}", name).replace('"1"', f'"{version}"')


class Change(NamedTuple):
    """What a pull request does to the files (None: removes), and what is to come of it."""

    files: Mapping[str, str | None]
    passes: bool
    comment: str
    """What the first comment says; "" for no comment."""
    finding: str
    """The rule of an error, `krmfn` for one without; "" for none."""


NAMED = config_map(f"'{TEXT}'").replace("a: b", f"'{TEXT}': '{TEXT}'")
NODES = """\
apiVersion: krmfn.dev/v1alpha1
kind: NodeInventory
metadata: {name: lab}
spec:
  labelKeys: [gpu]
  groups:
  - nodes: |
      gaudi-1 5.14.0-503.11.1.el9_5.x86_64 gpu=a
      nic-1 5.14.0-503.11.1.el9_5.x86_64 gpu=b
"""
BASE = {
    "lab/gaudi.yaml": config(),
    "lab/nic.yaml": config("nic", label="b"),
    "lab/nodes.yaml": NODES,
    "README.md": "fleet\n",
}
CHANGES = {
    "clean": Change({"lab/gaudi.yaml": config(version="2")}, True, "**1 changed", ""),
    "error": Change({"lab/gaudi.yaml": config() + "  moduelName: b\n"}, False, "cannot be rendered", "KRM101"),
    "conflict": Change({"lab/other.yaml": config("other")}, False, "cannot be rendered", "KRM301"),
    "nothing": Change({"README.md": "other\n"}, True, "", ""),
    "removed": Change({"lab/nic.yaml": None}, False, "| deleted | Module kmm/nic |", "krmfn"),
    "unreadable": Change({"lab/gaudi.yaml": "apiVersion: ["}, False, "cannot be rendered", "KRM523"),
    "hostile": Change({f"lab/{FILE}": NAMED}, True, "| created | ConfigMap ", ""),
    "hostile error": Change(
        {f"lab/{FILE}": NAMED, f"lab/{FILE}.more.yaml": config("other").replace("name: other,", f"name: '{TEXT}',")},
        False,
        "cannot be rendered",
        "KRM101",
    ),
}


def base(folder: Path, *recipes: Path) -> Path:
    """A repository whose `main` has the configs and, as a person copies them, the recipes."""
    repo = repository(folder, BASE)
    run_git(repo, "checkout", "--quiet", "main")
    for recipe in recipes:
        shutil.copytree(recipe, repo, dirs_exist_ok=True)
    commit(repo)
    return repo


def propose(repo: Path, change: Change, branch: str = "next") -> tuple[str, str]:
    """Commit a change on a branch that leaves main before main goes on; the commit, and its merge with main."""
    run_git(repo, "checkout", "--quiet", "-B", branch, "main")
    for name, text in change.files.items():
        if text is None:
            (repo / name).unlink()
        else:
            plant(repo, {name: text})
    head = commit(repo)
    run_git(repo, "checkout", "--quiet", "main")
    commit(repo, {"prod/later.yaml": config("later", label="c")})
    run_git(repo, "checkout", "--quiet", "--detach")
    run_git(repo, "merge", "--quiet", "--no-ff", "--no-edit", "-m", "merge", head)
    merged = run_git(repo, "rev-parse", "HEAD")
    run_git(repo, "update-ref", "refs/pull/7/merge", merged)
    run_git(repo, "update-ref", "refs/pull/7/head", head)
    run_git(repo, "checkout", "--quiet", "main")
    return head, merged


def snapshot(folder: Path) -> Path:
    """A repository with the files of this one as they stand, which may be no repository itself."""
    copied(folder, "requirements")
    run_git(folder, "init", "--quiet", "--initial-branch", "main")
    commit(folder)
    return folder


def check_comments(service: Service, change: Change) -> None:
    """Assert that a change has its one comment or none, and that the comment is inert."""
    bodies = [comment["body"] for comment in service.comments]
    assert len(bodies) == bool(change.comment)
    for body in bodies:
        assert body.startswith(MARK)
        assert change.comment in body
        inert(body)


def check_updates(service: Service, propose: Callable[[Change], object]) -> int:
    """Assert that several runs for one pull request write one comment and leave those of others; return its number."""
    service.add(f"{MARK}not ours", "somebody", 1)
    service.add("first", "somebody", 1)
    service.add("of the same user, about something else")
    propose(CHANGES["clean"])
    *others, ours = [dict(comment) for comment in service.comments]
    for name in ("removed", "unreadable", "nothing"):
        propose(CHANGES[name])
    assert service.comments[:3] == others
    assert "**nothing changes" in service.comments[3]["body"]
    return int(ours["id"])


def inert(comment: str) -> None:
    """Assert that a comment mentions nobody, orders nothing, and is no markup but ours outside of its fences."""
    outside = re.sub(r"^(`{3,})(?:diff|yaml)\n.*?^\1$", "", comment, flags=re.MULTILINE | re.DOTALL)
    # in a code span nothing is a mention, a link or a tag
    outside = re.sub(r"(?<!`)(`+)(?!`)[^\n]+?(?<!`)\1(?!`)", "code", outside)
    text = html.unescape(outside)
    assert not re.search(r"(?<!\w)@\w", text), text
    assert not re.search(r"(?<![\w&])#\d", outside), outside
    assert not re.search(r"^/", comment, re.MULTILINE)
    tags = set(re.findall(r"<[^>\n]*>", outside)) - {MARK.strip()}
    assert tags <= {"<details>", "</details>", "<summary>", "</summary>"}, tags


def harmless(log: str, folder: Path) -> None:
    """Assert that a runner's log orders nothing but annotations, and that no name in it was run as a command."""
    for line in log.splitlines():
        assert not line.lstrip().startswith("::") or re.match(r"::(error|warning|notice)( |::)", line), line
        assert "##[" not in line, line
    assert not list(folder.rglob("pwned*")), "a name was run as a command"
