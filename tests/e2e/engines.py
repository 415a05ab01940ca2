"""The real engines as plain processes: where they are, how they are run, and what a missing one means."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any, NoReturn

import pytest
import yaml

from tests.commands import COMMANDS, FLEET, HANGS, REFUSED_EXAMPLES, ROOT, Done, execute

EXAMPLES = ROOT / "examples"
RENDERED = sorted(
    {folder.name for folder in EXAMPLES.iterdir() if folder.is_dir()} - {*REFUSED_EXAMPLES, FLEET, "catalog"}
)
"""The examples that `render` takes, each as one folder."""
TOOLS = ROOT / ".tools" / "bin"
KUSTOMIZE = "v5.8."
EXEC = ("--enable-alpha-plugins", "--enable-exec")
"""The flags with which kustomize runs functions that are programs."""


def run(
    *command: str | Path,
    cwd: Path | None = None,
    env: dict[str, str] | None = None,
    stdin: bytes = b"",
    timeout: float = HANGS,
) -> Done:
    """Run a command to its end, within bounds; without `env` the commands under test and the tools are on its PATH."""
    return execute(*command, stdin=stdin, cwd=cwd, env=env or path_of(), timeout=timeout)


def must(
    *command: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None, timeout: float = HANGS
) -> bytes:
    """Run a command that has to succeed, and hand back its stdout."""
    done = run(*command, cwd=cwd, env=env, timeout=timeout)
    assert done.code == 0, f"{' '.join(map(str, command))}: exit {done.code}\n{done.err}\n{done.out.decode()[-2000:]}"
    return done.out


def path_of(*first: Path) -> dict[str, str]:
    """The environment with these directories, the commands under test and the tools at the head of PATH."""
    head = [*first, COMMANDS, TOOLS]
    return os.environ | {"PATH": os.pathsep.join([*map(str, head), os.environ["PATH"], "/usr/sbin", "/sbin"])}


def allowed() -> dict[str, str]:
    """Return the engines that may be missing, and why, as engines.txt lists them."""
    lines = (Path(__file__).parent / "engines.txt").read_text().splitlines()
    parts = [line.partition(" ") for line in lines if line and not line.startswith("#")]
    return {name: reason.strip() for name, _, reason in parts}


missing: dict[str, str] = {}
"""The engines that a test asked for in vain, for the closing report."""


def absent(engine: str, remedy: str) -> NoReturn:
    """Skip the test when engines.txt lists the engine, and fail it otherwise."""
    reason = allowed().get(engine)
    missing[engine] = reason or remedy
    if reason is None:
        pytest.fail(f"{engine} is missing, and tests/e2e/engines.txt does not list it: {remedy}", pytrace=False)
    pytest.skip(f"no {engine} here: {reason}")


def find(engine: str, remedy: str) -> str:
    """The engine's place on PATH."""
    return shutil.which(engine, path=path_of()["PATH"]) or absent(engine, remedy)


def tree(folder: Path) -> dict[str, bytes]:
    """Every file of a folder by its relative path."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def copy_of(example: str, folder: Path) -> Path:
    """A private copy of an example, safe to change."""
    return Path(shutil.copytree(EXAMPLES / example, folder / example))


def documents(stream: bytes | str) -> list[Any]:
    """Return the objects of a YAML stream."""
    return [document for document in yaml.load_all(stream, yaml.CSafeLoader) if document]
