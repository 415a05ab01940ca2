"""Roots that cannot be built: `diff` and `ci` compare what they list, and say what of others is not known."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.commands import process
from tests.functions.cluster.test_blocked import REMOTE, RIGHT, WRONG
from tests.functions.cluster.test_one_result import config
from tests.functions.comparing.test_base import repository
from tests.trees import config_map, plant

FILES = ("gpu.yaml", "a.yaml", "b.yaml", "part/c.yaml")
CHART = "helmCharts: [{name: app, repo: 'https://charts.example.com', version: 1.0.0}]\n"
BLOCKING = {"remote": "", "chart": CHART}


def root(contents: Mapping[str, str], blocking: str | None) -> dict[str, str]:
    """Return the files of a root `lab` that lists some, and is blocked by something."""
    names = [name for name in contents if "/" not in name]
    parts = [name for name in contents if "/" in name]
    listed = "".join(f"- {name}\n" for name in (*names, *(["part"] if parts else [])))
    remote = REMOTE if blocking == "remote" else ""
    files = {f"lab/{name}": text for name, text in contents.items()}
    files["lab/kustomization.yaml"] = f"resources:\n{remote}{listed}{BLOCKING.get(blocking or '', '')}"
    if parts:
        files["lab/part/kustomization.yaml"] = f"resources: [{', '.join(name[5:] for name in parts)}]\n"
    return files


def change(folder: Path, old: Mapping[str, str], new: Mapping[str, str], blocking: str | None) -> Any:
    """Return what `diff --format json` says of a change, and its exit code."""
    repo = repository(folder, root(old, blocking))
    for name in old.keys() - new.keys():
        (repo / "lab" / name).unlink()
    if any("/" in name for name in old) and not any("/" in name for name in new):
        (repo / "lab/part/kustomization.yaml").unlink()
    plant(repo, root(new, blocking))
    done = process("krmfn", "diff", "--base", "HEAD", "--format", "json", cwd=repo)
    return done.code, json.loads(done.text)["changes"] if done.text else done.err


contents = st.dictionaries(st.sampled_from(FILES[1:]), st.sampled_from("pqr"), max_size=3)


@given(contents, contents, st.sampled_from("12"), st.sampled_from(sorted(BLOCKING)))
@settings(max_examples=int(os.environ.get("KRMFN_EXAMPLES", "4")), deadline=None)
def test_what_changes_is_what_would_change_without_the_part_that_blocks(
    old: dict[str, str], new: dict[str, str], version: str, blocking: str
) -> None:
    def texts(names: dict[str, str], number: str) -> dict[str, str]:
        maps = {name: config_map(name[-6]).replace("a: b", f"a: {value}") for name, value in sorted(names.items())}
        return {"gpu.yaml": RIGHT.replace('"1"', f'"{number}"'), **maps}

    with TemporaryDirectory() as folder:
        sides = texts(old, "1"), texts(new, version)
        blocked = change(Path(folder, "blocked"), *sides, blocking)
        assert blocked == change(Path(folder, "built"), *sides, None)


def test_a_config_that_becomes_wrong_is_not_compared(tmp_path: Path) -> None:
    code, _ = change(tmp_path, {"gpu.yaml": RIGHT}, {"gpu.yaml": WRONG}, "remote")
    assert code == 2


def test_where_the_base_is_wrong_what_changes_is_not_known(tmp_path: Path) -> None:
    code, changes = change(tmp_path, {"gpu.yaml": WRONG}, {"gpu.yaml": RIGHT}, "remote")
    assert (code, {entry["change"] for entry in changes}) == (1, {"unknown"})


def test_a_baseline_helps_with_a_pull_request(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo", root({"gpu.yaml": RIGHT}, "remote"))
    process("krmfn", "check", "--write-baseline", "../known.json", cwd=repo).ended(0)
    plant(repo, {"lab/gpu.yaml": RIGHT.replace('"1"', '"2"')})
    words = ("--base", "HEAD", "--baseline", "../known.json", "--out", "../out")
    process("krmfn", "ci", *words, cwd=repo).ended(0)
    assert "Module kmm/gpu" in (tmp_path / "out/comment.md").read_text()
    second = {"gpu.yaml": RIGHT, "b.yaml": config("second", "card: x")}  # on the nodes of the first
    plant(repo, root(second, "remote"))
    done = process("krmfn", "ci", *words, cwd=repo).ended(1)
    assert "KRM302" in done.text, done.text


OTHERS = {"infra/kustomization.yaml": f"resources:\n{REMOTE}", "cards/gpu.yaml": RIGHT}
OURS = OTHERS | {"infra/kustomization.yaml": f"resources:\n{REMOTE}- more.yaml\n", "infra/more.yaml": RIGHT}


@pytest.mark.parametrize(("files", "codes"), [(OTHERS, (0, 0)), (OURS, (2, 2))], ids=["of others", "of ours"])
def test_what_changes_in_a_root_of_others_fails_nothing(
    files: dict[str, str], codes: tuple[int, int], tmp_path: Path
) -> None:
    """A new version of a remote base that has nothing to do with us was exit code 2, and an error in `ci`."""
    repo = repository(tmp_path / "repo", files)
    text = files["infra/kustomization.yaml"].replace("v1.2.3", "v1.2.4")
    plant(repo, {"infra/kustomization.yaml": text})
    done = process("krmfn", "diff", "--base", "HEAD", "--fail-on", "error", cwd=repo)
    by_ci = process("krmfn", "ci", "--base", "HEAD", "--out", "../out", cwd=repo)
    assert (done.code, by_ci.code) == codes, done.text + by_ci.text
    if codes == (0, 0):
        assert "what changes in infra is not known" in done.text
        assert "what changes in roots of others (not built: infra)" in by_ci.text
    else:
        assert "KRM509" in done.text


WEB = {"web/kustomization.yaml": "resources: [a.yaml]\n", "web/a.yaml": config_map("a"), "cards/gpu.yaml": RIGHT}
BROKEN = {"web/kustomization.yaml": "resources: [a.yaml, gone.yaml]\n"}


@pytest.mark.parametrize(("old", "new"), [(WEB, BROKEN), (WEB | BROKEN, WEB)], ids=["breaks", "is mended"])
def test_a_root_of_others_that_breaks_fails_nothing(old: dict[str, str], new: dict[str, str], tmp_path: Path) -> None:
    """`check` does not look into it; others have checks of their own."""
    repo = repository(tmp_path / "repo", old)
    plant(repo, new)
    done = process("krmfn", "diff", "--base", "HEAD", "--fail-on", "error", cwd=repo).ended(0)
    by_ci = process("krmfn", "ci", "--base", "HEAD", "--out", "../out", cwd=repo).ended(0)
    assert "web cannot be read, and holds nothing of krmfn's: what changes is not known" in done.text
    assert "what changes in roots of others (not built: web)" in by_ci.text
    unjudged = process("krmfn", "ci", "--base", "HEAD", "--out", "../out", "--fail-on", "unjudged", cwd=repo)
    assert unjudged.code == 1


def test_a_root_with_something_of_ours_that_breaks_is_an_error(tmp_path: Path) -> None:
    ours = WEB | {"web/gpu.yaml": RIGHT, "web/kustomization.yaml": "resources: [a.yaml, gpu.yaml]\n"}
    repo = repository(tmp_path / "repo", ours)
    plant(repo, {"web/kustomization.yaml": "resources: [a.yaml, gpu.yaml, gone.yaml]\n"})
    assert process("krmfn", "diff", "--base", "HEAD", cwd=repo).code in (1, 2)
    assert process("krmfn", "ci", "--base", "HEAD", "--out", "../out", cwd=repo).code in (1, 2)
