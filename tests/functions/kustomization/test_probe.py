"""What a child in kustomize's place is refused: all that the probe tries, in a build as in `--version --verbose`."""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path

import pytest
from krmfn_functions.kustomization import landlock, probe, probe_actions, sandbox, seccomp
from krmfn_functions.kustomization.probe_actions import CALLS, FILES, OTHERS, Targets
from krmfn_functions.kustomization.syscalls import REFUSED

from tests.commands import process
from tests.trees import config_map, plant

whole = pytest.mark.skipif(bool(sandbox.gap()) or landlock.version() < 6, reason=f"kustomize is {sandbox.status()}")


def test_sixty_actions_are_tried() -> None:
    assert len(FILES) + len(OTHERS) + len(CALLS) >= 60
    numbers = {refused.name: (refused.x86_64, refused.aarch64) for refused in REFUSED}
    assert [name for name in CALLS if None in numbers[name]] == []


@whole
def test_a_child_is_refused_everything() -> None:
    outcome = probe.try_all()
    assert outcome.allowed == []
    assert outcome.tried == len(FILES) + len(OTHERS) + len(CALLS)


@whole
def test_a_child_of_many_is_refused_everything() -> None:
    with sandbox.many():
        assert [probe.try_all().allowed for _ in range(2)] == [[], []]
    assert sandbox._starters == []


@whole
@pytest.mark.parametrize(
    ("room", "attribute", "answer", "allowed"),
    [(seccomp, "is_available", False, {"change a mode", "connect to a socket's path", "clone3", "unshare"}),
     (landlock, "version", 0, {"read a file", "run a program", "read krmfn's environment"})],
)  # fmt: skip
def test_what_is_left_is_named(
    monkeypatch: pytest.MonkeyPatch, room: object, attribute: str, answer: object, allowed: set[str]
) -> None:
    monkeypatch.setattr(room, attribute, lambda: answer)
    outcome = probe.try_all()
    assert allowed <= {*outcome.allowed}
    assert f"; allowed: {', '.join(outcome.allowed)}" in probe.status()


@whole
def test_a_program_in_kustomizes_place_is_refused_everything(tmp_path: Path) -> None:
    """It is started by a shell, which kustomize's own script may be, and so is a child's child."""
    plant(tmp_path, {"app/kustomization.yaml": "resources: [a.yaml]\n", "app/a.yaml": config_map("a")})
    with probe._targets() as targets:
        arguments = json.dumps(targets._asdict()).replace('"inside": ""', '"inside": "\'"$TMPDIR"\'"')
        code = shlex.quote(probe._CODE.format(paths=sys.path))
        lines = f"#!/bin/sh\ntouch \"$TMPDIR/file\"\n{sys.executable} -I -c {code} '{arguments}' >&2\nexit 1\n"
        programs = plant(tmp_path / "bin", {"kustomize": lines})
        path = os.pathsep.join([str(programs), "/usr/bin", "/bin", sys.prefix, sys.base_prefix, *sys.path])
        done = process("krmfn", "check", str(tmp_path / "app"), PATH=path)
    assert '"allowed": []' in done.text + done.err


def test_a_failed_start_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "")
    assert probe.status().startswith("no child could be started in kustomize's place: ")


def test_version_says_what_holds() -> None:
    for state, setting in ((sandbox.status(), ""), ("not confined: KRMFN_CONFINE=off", "off")):
        lines = process("krmfn", "--version", "--verbose", KRMFN_CONFINE=setting).text.splitlines()
        assert lines[1] == f"kustomize: {state}"
        assert lines[2].startswith("probe: ") and " actions refused in kustomize's place" in lines[2]
        assert ("; allowed: " in lines[2]) == (setting == "off" or bool(sandbox.gap()))


def test_targets_are_gone_afterwards() -> None:
    with probe._targets() as targets:
        assert isinstance(targets, Targets) and Path(targets.outside, "program").exists()
    assert not Path(targets.outside).exists()


def test_no_action_of_the_table_is_unknown() -> None:
    assert {*CALLS} <= {refused.name for refused in REFUSED}
    assert probe_actions.FILES.keys().isdisjoint(OTHERS)
