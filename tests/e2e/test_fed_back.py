"""Every example, run by the tool it is about: what the function answered, fed back to it, comes out byte for byte."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.builders import folder_text
from tests.commands import COMMANDS
from tests.trees import plant

from .conftest import Env
from .engines import EXAMPLES, EXEC, copy_of, path_of, run

NAMES = sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir())


@pytest.fixture
def recorder(tmp_path: Path) -> tuple[Path, Env]:
    """A folder that fills with what each call of a function got and gave, and the environment that records."""
    folder = tmp_path / "record"
    folder.mkdir()
    for name in ("krmfn", "deviceconfig", "ptemplate"):
        program = (
            f"#!/bin/sh\ncall=$(mktemp -d {folder}/{name}.XXXXXX)\ncat > $call/in\n"
            f'{COMMANDS / name} "$@" < $call/in > $call/out\ncode=$?\ncat $call/out\nexit $code\n'
        )
        plant(tmp_path, {f"bin/{name}": program})
    return folder, path_of(tmp_path / "bin")


def check_fed_back(name: str, sent: bytes) -> bytes:
    """Run a function on a list, and again on its own answer; the answer."""
    first = run(COMMANDS / name, stdin=sent)
    assert first.code in (0, 1), first.err
    assert first.out, first.err
    assert run(COMMANDS / name, stdin=first.out).ended(first.code).out == first.out
    return first.out


@pytest.mark.parametrize("function", ["krmfn", "deviceconfig", "ptemplate"])
@pytest.mark.parametrize("example", NAMES)
def test_an_example_as_one_list(example: str, function: str) -> None:
    check_fed_back(function, folder_text(EXAMPLES / example))


@pytest.mark.parametrize("example", [name for name in NAMES if (EXAMPLES / name / "kustomization.yaml").exists()])
def test_what_kustomize_really_sends(kustomize: str, recorder: tuple[Path, Env], example: str, tmp_path: Path) -> None:
    record, env = recorder
    run(kustomize, "build", *EXEC, copy_of(example, tmp_path), env=env).ended(0)
    check_calls(record)


@pytest.mark.parametrize("example", [name for name in NAMES if (EXAMPLES / name / "Kptfile").exists()])
def test_what_kpt_really_sends(kpt: str, recorder: tuple[Path, Env], example: str, tmp_path: Path) -> None:
    record, env = recorder
    run(kpt, "fn", "render", "--allow-exec", copy_of(example, tmp_path), env=env).ended(0)
    check_calls(record)


def check_calls(record: Path) -> None:
    """Feed every recorded answer back."""
    calls = sorted(record.iterdir())
    assert calls, "no function was called"
    for call in calls:
        answer = check_fed_back(call.name.partition(".")[0], (call / "in").read_bytes())
        assert answer == (call / "out").read_bytes()
    shutil.rmtree(record)
