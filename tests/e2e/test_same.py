"""`diff --base` neither builds nor compares a root whose inputs are those of the base, and misses no change by it."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from krmfn_functions.command_line import main
from krmfn_functions.comparing import base, base_files
from krmfn_functions.paths.git import Entry

from tests.examples import EXAMPLES
from tests.functions.comparing.test_base import commit, run_git
from tests.trees import plant

from .conftest import Env
from .engines import path_of, run
from .kustomizations import repositories
from .test_once import CONFIG, counting, overlays

tried = settings(max_examples=max(15, EXAMPLES // 8), derandomize=True, database=None)


def repository(folder: Path, files: dict[str, str]) -> Path:
    """Plant files and commit them."""
    folder.mkdir(parents=True, exist_ok=True)
    run_git(folder, "init", "--quiet", "--initial-branch", "main")
    commit(plant(folder, files))
    return folder


def diff_of(repo: Path, *flags: str, env: Env | None = None) -> tuple[int, dict[str, Any]]:
    """Return the exit code and what `diff` says of the repository against its last commit."""
    done = run("krmfn", "diff", "--base", "HEAD", "--format", "json", *flags, cwd=repo, env=env)
    return done.code, json.loads(done.out) if done.out else {}


BASE = "base/config.yaml"
INVENTORY = "apiVersion: v1\nkind: Node\nmetadata: {name: a, labels: {a: b}}\n"
FILES = overlays(4) | {
    BASE: CONFIG.replace(", fualt: 1", ""),
    "o1/kustomization.yaml": "resources: [../base]\npatches: [{path: p.yaml}]\nconfigMapGenerator:\n"
    "- {name: a, namespace: b, files: [text]}\n",
    "o1/p.yaml": "apiVersion: krmfn.dev/v1alpha1\nkind: DeviceConfig\nmetadata: {name: gpu, namespace: kmm}\n"
    "spec: {driverVersion: '2'}\n",
    "o1/text": "a",
    "o2/nodes.yaml": INVENTORY,
    "o3/kustomization.yaml": "resources: [../linked]\n",
    "linked": "-> base",
}
CHANGES = {
    "nothing": ({}, 4),
    "a base": ({BASE: FILES[BASE].replace('"1"', '"3"')}, 0),
    "a patch": ({"o1/p.yaml": FILES["o1/p.yaml"].replace("'2'", "'3'")}, 3),
    "a file of a generator": ({"o1/text": "b"}, 3),
    "a kustomization": ({"o0/kustomization.yaml": "resources: [../base]\nnamePrefix: other-\n"}, 3),
    "an inventory": ({"o2/nodes.yaml": INVENTORY.replace("a: b", "a: c")}, 3),
    "a new inventory": ({"o1/nodes.yaml": INVENTORY}, 3),
    "the configuration file": ({".krmfn.yaml": "clusters: {all: [o0, o1]}\n"}, 0),
    "a broken file elsewhere": ({"aside/a.yaml": "apiVersion: [\n"}, 4),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_is_the_same_is_not_built(kustomize: str, tmp_path: Path, name: str) -> None:
    files, same = CHANGES[name]
    counted, notes = counting(tmp_path, kustomize)
    repo = plant(repository(tmp_path / "repo", FILES), files)
    code, document = diff_of(repo, env=counted)
    assert document["summary"].get("same", 0) == same
    assert (code == 0) == (name in ("nothing", "a new inventory", "a broken file elsewhere"))
    if 0 < same < 4:
        assert len(notes.read_text().splitlines()) == 2 * (4 - same)
    elif same == 4:
        assert notes.read_text() == ""


def test_a_link_that_leads_elsewhere_is_a_change(kustomize: str, tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo", FILES)
    (repo / "linked").unlink()
    plant(repo, {"linked": "-> other", "other/kustomization.yaml": "resources: [a]\n", "other/a": FILES["o1/p.yaml"]})
    assert diff_of(repo)[1]["summary"]["same"] == 3


def generates(name: str, file: str = "text") -> str:
    return f"- {{name: {name}, namespace: a, files: [a={file}]}}\n"


GENERATED = "configMapGenerator:\n"
LINKS = {
    "files": {
        "top/kustomization.yaml": GENERATED + generates("a", "x") + generates("b", "y"),
        "top/x": "-> v/1",
        "top/y": "-> v/2",
        "top/v/1": "1",
        "top/v/2": "2",
    },
    "folders": {
        "top/kustomization.yaml": "resources: [p, q]\n",
        **{f"top/{name}/kustomization.yaml": f"namePrefix: {name}-\nresources: [../../{name}]\n" for name in "pq"},
        **{f"{at}/text": at for at in "12"},
        **{f"{at}/kustomization.yaml": GENERATED + generates("a") for at in "12"},
        "p": "-> 1",
        "q": "-> 2",
    },
}


@pytest.mark.parametrize("name", LINKS)
def test_links_that_change_places_are_a_change(kustomize: str, tmp_path: Path, name: str) -> None:
    """The files that are read are the same, and who reads which is not."""
    repo = repository(tmp_path / "repo", LINKS[name])
    links = [path for path, text in LINKS[name].items() if text.startswith("->")]
    targets = [(repo / path).readlink() for path in links]
    for path, target in zip(links, reversed(targets), strict=True):
        (repo / path).unlink()
        (repo / path).symlink_to(target)
    assert diff_of(repo, "top")[1]["changes"]


@tried
@given(repositories(), st.data())
def test_both_ways_say_the_same(kustomize: str, files: dict[str, str], data: st.DataObject) -> None:
    """With --allow-remote no list of inputs is closed, so all is built."""
    changed = data.draw(st.sampled_from(sorted(files)))
    text = data.draw(st.sampled_from([files[changed].replace("patched", "other"), files[changed] + "\n", ""]))
    with tempfile.TemporaryDirectory() as folder:
        repo = plant(repository(Path(folder), files), {changed: text})
        complete_code, complete = diff_of(repo, "--allow-remote")
        code, document = diff_of(repo)
        if complete_code == 2:
            return  # it cannot be built: the same on both sides is no change then
        assert code == complete_code
        for key in ("changes", "effects", "notes"):
            assert document[key] == complete[key]


def forked(folder: str, chosen: object) -> tuple[int, str, str]:
    """Return what `diff --base HEAD` says of a folder, with another choice of what the base needs."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = os.fork()
        if process == 0:
            code = 3
            try:
                setattr(base, "needed_entries", chosen)  # noqa: B010
                os.dup2(out.fileno(), 1)
                os.dup2(err.fileno(), 2)
                sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
                code = main.main(["diff", "--base", "HEAD", "--format", "json", folder])
            finally:
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        out.seek(0)
        err.seek(0)
        return code, out.read(), err.read()


@tried
@given(repositories(), st.data())
def test_a_part_of_the_commit_says_what_the_whole_says(
    kustomize: str, files: dict[str, str], data: st.DataObject
) -> None:
    """`diff --base` of each folder, read from what it needs of the commit and from all of it."""
    changed = data.draw(st.sampled_from(sorted(files)))
    text = data.draw(st.sampled_from([files[changed].replace("patched", "other"), files[changed] + "\n", ""]))
    folders = sorted({name.partition("/")[0] for name in files if "/" in name})
    with tempfile.TemporaryDirectory() as temporary, pytest.MonkeyPatch.context() as patch:
        repo = plant(repository(Path(temporary), files), {changed: text})
        patch.chdir(repo)
        patch.setenv("PATH", path_of()["PATH"])
        for folder in folders:
            part, complete = (forked(folder, chosen) for chosen in (base_files.needed_entries, _all))
            assert part == complete, folder
            assert part[0] == 2 or part[1], folder


def _all(listing: list[Entry], paths: object, read: object) -> list[Entry]:
    return list(listing)
