"""How the image, the recipes and the hook start Python: nothing of the folder that is checked is taken for a module."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
import yaml

from tests.builders import CONFIG
from tests.commands import COMMANDS, ROOT, environment, execute
from tests.trees import plant

MODULES = ("yaml", "typing", "encodings/__init__", "krmfn_functions/__init__", "venv", "pip/__main__", "json/__init__")
EVIL = "import os; os.close(os.open(os.environ['TRACE'], os.O_CREAT)); raise SystemExit(0)\n"
CODE = {
    "Dockerfile": (ROOT / "Dockerfile").read_text(),
    "github": (ROOT / "gitops/ci/github/actions/krmfn/action.yaml").read_text(),
    "gitlab": (ROOT / "gitops/ci/gitlab/.gitlab-ci.yml").read_text(),
}


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return plant(tmp_path / "repo", {"a.yaml": CONFIG, **{f"{name}.py": EVIL for name in MODULES}})


def start(command: list[str], repo: Path, pythonpath: str = f"{os.pathsep}/nowhere") -> tuple[int, str, bool]:
    """Start a command in the repository; exit code, stderr, and whether a module of it has run."""
    trace = repo.parent / "trace"
    env = environment(PYTHONPATH=pythonpath, TRACE=str(trace))
    done = execute(*command, cwd=repo, env=env)
    return done.code, done.err, trace.exists()


def console_script(folder: Path, options: str) -> str:
    """Return a console script of ours with options in its first line."""
    lines = (COMMANDS / "krmfn").read_text().splitlines(keepends=True)
    plant(folder, {"krmfn": "".join([lines[0].rstrip() + options + "\n", *lines[1:]])})
    return str(folder / "krmfn")


def test_the_image(repo: Path, tmp_path: Path) -> None:
    options = re.findall(r"sed -i '1s/\$/(.*)/' ((?:/opt/krmfn/bin/\w+ ?)+)", CODE["Dockerfile"])
    assert [(option, len(names.split())) for option, names in options] == [(" -IB", 3)]
    assert start([console_script(tmp_path, options[0][0]), "check", "."], repo) == (0, "", False)


def test_the_recipes(repo: Path, tmp_path: Path) -> None:
    for name in ("github", "gitlab"):
        calls = re.findall(r"(?:python3?\"?) (?!>)(.*)", CODE[name].replace('"%s"', "python"))
        assert len(calls) >= 3
        assert all(call.startswith("-I ") for call in calls if not call.startswith(("is", "and"))), calls
        launcher = re.search(r"printf '(#!/bin/sh.*)'", CODE[name])
        assert launcher
        script = launcher[1].replace("\\n", "\n") % (COMMANDS / "python")
        assert start(["sh", "-c", script, "krmfn", "check", "."], repo) == (0, "", False)


def test_the_hook(repo: Path) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    program, *args = hook["entry"].split()
    assert start([str(COMMANDS / program), *args, "."], repo) == (0, "", False)


@pytest.mark.parametrize("pythonpath", ["/nowhere:", ":/nowhere", "/a::/b", ".", "lib"])
def test_the_command_itself_says_what_is_wrong(pythonpath: str, tmp_path: Path) -> None:
    plant(tmp_path, {"repo/yaml.py": EVIL, "repo/jsonschema.py": EVIL, "repo/a.yaml": CONFIG})
    code, err, is_run = start([str(COMMANDS / "krmfn"), "check", "."], tmp_path / "repo", pythonpath)
    assert (code, is_run) == (2, False)
    assert f"PYTHONPATH is '{pythonpath}', which has an empty or relative element" in err
    assert start([str(COMMANDS / "deviceconfig")], tmp_path / "repo", pythonpath)[::2] == (1, False)


def test_the_trap_is_one(repo: Path) -> None:
    """Without -I a module of the repository runs, before anything of krmfn's does."""
    assert start([str(COMMANDS / "krmfn"), "check", "."], repo)[2]
