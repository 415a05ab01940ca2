"""`ci` finds what `check` finds: in roots that cannot be built, beside what concerns nobody, and with a baseline."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.commands import process
from tests.functions.cluster.test_blocked import BLOCKED, KSOPS, REMOTE, RIGHT, WRONG
from tests.functions.cluster.test_one_result import FUNCTION, config, node
from tests.functions.comparing.test_base import repository
from tests.trees import config_map, plant

APP = (
    "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: lab, namespace: argocd}\nspec:\n"
    "  source: {repoURL: 'https://git.example.com/fleet.git', path: lab}\n"
    "  destination: {name: lab, namespace: kmm}\n"
)
PARTS = {
    "right": {"cards/right.yaml": RIGHT},
    "wrong": {"cards/wrong.yaml": WRONG},
    "a conflict": {"cards/a.yaml": config("a", "card: a"), "cards/b.yaml": config("b", "pool: b")},
    "a node of both": {"cards/nodes.yaml": node("gpu-1", card="a", pool="b")},
    "remote, right": {"one/kustomization.yaml": BLOCKED["remote"], "one/gpu.yaml": RIGHT},
    "remote, wrong": {"two/kustomization.yaml": BLOCKED["remote"], "two/gpu.yaml": WRONG},
    "a chart, wrong": {"three/kustomization.yaml": BLOCKED["chart"], "three/gpu.yaml": WRONG},
    "a generator": {"four/kustomization.yaml": BLOCKED["generator"], "four/gpu.yaml": RIGHT, "four/ksops.yaml": KSOPS},
    "remote, of others": {"five/kustomization.yaml": f"resources:\n{REMOTE}"},
    "twice, of others": {"shop/a.yaml": config_map("a"), "shop/b.yaml": config_map("a")},
    "functionConfigs": {"six/a.yaml": FUNCTION, "six/b.yaml": FUNCTION.replace("name: config", "name: b")},
    "no YAML, of others": {"seven/a.yaml": "kind: ConfigMap\nmetadata: {name: a\n"},
    "no YAML, of ours": {"eight/a.yaml": RIGHT + "  moduleName: {\n"},
    "an Application": {"apps/lab.yaml": APP, "lab/gpu.yaml": config("lab", "card: z")},
    "clusters": {".krmfn.yaml": "clusters: {site: [cards, one]}\n"},
}


def answers(folder: Path, *args: str) -> tuple[list[tuple[int, list[str]]], list[str]]:
    """Return the exit code and the findings of `check` and of `ci`, and the clusters that only one of them has."""
    checked = process("krmfn", "check", "--format", "json", *args, cwd=folder)
    done = process("krmfn", "ci", "--out", "../out", *args, cwd=folder)
    file = folder / "../out/result.json"
    if not file.exists():  # nothing can be done: they say why, and nothing else
        assert (checked.text, checked.err) == ("", done.err) != ("", "")
        return [(checked.code, []), (done.code, [])], []
    result = json.loads(file.read_text())
    shutil.rmtree(file.parent)
    by_check, by_ci = json.loads(checked.text), result["check"]
    found = [sorted(finding["id"] for finding in answer["findings"]) for answer in (by_check, by_ci)]
    others = {*by_check["clusters"]} ^ {*by_ci["clusters"]}
    return [(checked.code, found[0]), (done.code, found[1])], sorted(others)


def planted(folder: Path, names: frozenset[str]) -> Path:
    files: Mapping[str, str] = {path: text for name in PARTS if name in names for path, text in PARTS[name].items()}
    plant(folder / "repo", {**files, "README.md": "a repository\n"})
    (folder / "repo" / ".git").mkdir()
    return folder / "repo"


@pytest.mark.parametrize("name", PARTS)
def test_each_part_is_judged_by_both(name: str, tmp_path: Path) -> None:
    (checked, by_ci), others = answers(planted(tmp_path, frozenset({name})))
    assert (by_ci, others) == (checked, [])


@given(st.frozensets(st.sampled_from(sorted(PARTS)), min_size=2), st.frozensets(st.sampled_from(sorted(PARTS))))
@example(frozenset({"remote, right", "right"}), frozenset({"remote, right"}))
@example(frozenset({"a conflict", "functionConfigs"}), frozenset())
@settings(max_examples=int(os.environ.get("KRMFN_EXAMPLES", "12")), deadline=None)
def test_any_repository_is_judged_alike(names: frozenset[str], known: frozenset[str]) -> None:
    with TemporaryDirectory() as folder:
        repo = planted(Path(folder), names)
        (checked, by_ci), others = answers(repo)
        assert (by_ci, others) == (checked, [])
        former = planted(Path(folder) / "former", names & known or names)
        if process("krmfn", "check", "--write-baseline", "../../known.json", cwd=former).code == 0:
            (checked, by_ci), _ = answers(repo, "--baseline", "../known.json")
            assert by_ci == checked


def test_a_baseline_helps_where_a_root_cannot_be_built(tmp_path: Path) -> None:
    repo = planted(tmp_path, frozenset({"remote, right"}))
    process("krmfn", "check", "--write-baseline", "../known.json", cwd=repo).ended(0)
    assert [code for code, _ in answers(repo, "--baseline", "../known.json")[0]] == [0, 0]
    plant(repo, {"one/gpu.yaml": WRONG})
    assert [code for code, _ in answers(repo, "--baseline", "../known.json")[0]] == [1, 1]


def test_what_does_not_concern_krmfn_is_compared_and_not_judged(tmp_path: Path) -> None:
    """It was deleted for `ci`, which judged it as well: a repository of others was exit code 2."""
    twice, remote = PARTS["twice, of others"], PARTS["remote, of others"]
    repo = repository(tmp_path / "repo", {**twice, **remote, "shop2/c.yaml": config_map("c"), "cards/gpu.yaml": RIGHT})
    plant(repo, {"shop2/d.yaml": config_map("d")})
    done = process("krmfn", "ci", "--base", "HEAD", "--out", "../out", cwd=repo).ended(0)
    comment = (tmp_path / "out/comment.md").read_text()
    assert "| created | ConfigMap d |" in comment, comment + done.text
    assert "deleted" not in comment


def test_what_no_cluster_lists_is_compared_as_it_is_checked(tmp_path: Path) -> None:
    """The Applications of a repository whose .krmfn.yaml has the clusters are in none of them."""
    files = {
        **PARTS["an Application"],
        "apps/lab.yaml": APP.replace("path: lab", "path: lab, plugin: {name: krmfn}"),
        ".krmfn.yaml": "clusters: {lab: [lab]}\n",
        "lab/gpu.yaml": config("lab", "card: z"),
    }
    repo = repository(tmp_path / "repo", files)
    plant(repo, {"lab/gpu.yaml": config("lab", "card: b")})
    process("krmfn", "ci", "--base", "HEAD", "--out", "../out", cwd=repo).ended(0)
    assert "Module kmm/lab" in (tmp_path / "out/comment.md").read_text()
