"""The bounds of kustomize, with a program on PATH in its place that goes beyond them, and what it is told."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from contextlib import suppress
from itertools import chain, repeat
from pathlib import Path
from time import monotonic

import pytest
from krmfn_functions.kustomization import confinement as variables
from krmfn_functions.kustomization import kustomize
from krmfn_functions.kustomization import process as process_
from krmfn_functions.kustomization.calls import Call
from krmfn_functions.kustomization.kustomize import Decision

from krmfn.errors import KrmfnError
from tests.commands import COMMANDS, HANGS, ROOT, Done, environment, execute, process
from tests.trees import plant

from .test_confinement import calls

PATH = "PATH=/usr/bin:/bin"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two kustomizations."""
    kustomization = "resources: []\n"
    return plant(tmp_path / "k", {f"{name}/kustomization.yaml": kustomization for name in ("a", "b")})


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    (tmp_path / "notes").mkdir()
    return tmp_path / "notes"


def fake(tmp_path: Path, script: str) -> str:
    """Put a kustomize on a PATH, which is returned."""
    plant(tmp_path, {"bin/kustomize": f"#!/bin/sh\n{PATH}\n{script}\n"})
    return os.pathsep.join([str(tmp_path / "bin"), os.environ["PATH"]])


def check(folder: Path, *args: str, **variables: str) -> Done:
    return process("krmfn", "check", *args, cwd=folder, KRMFN_CONFINE="off", **variables)


def is_gone(process: Path) -> bool:
    """Wait for the end of a process, whose number is in a file and for which nobody asks: a signal takes its time."""
    status, end = Path(f"/proc/{process.read_text().strip()}/status"), monotonic() + HANGS
    with suppress(OSError):  # it is not there any more
        while "\nState:\tZ" not in status.read_text():
            if monotonic() > end:
                return False
    return True


WITH_A_CHILD = "sleep 600 & echo $! > {0}/child-$$; echo $$ > {0}/.$$; mv {0}/.$$ {0}/$$; wait"
"""Leaves two numbers of processes."""


def test_one_that_takes_too_long_is_ended_with_its_children(
    folder: Path, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is late by a clock that goes on when it says that it has started all."""
    path = fake(tmp_path, WITH_A_CHILD.format(notes).replace("wait", "echo started; wait"))
    monkeypatch.setenv("PATH", path)
    times = chain((0, 0), repeat(2 * HANGS))
    monkeypatch.setattr(process_, "monotonic", lambda: next(times))
    sentence = f"kustomize build a took longer than {HANGS} seconds and was stopped; raise the limit with --timeout SEC"
    with pytest.raises(KrmfnError, match=re.escape(sentence)):
        process_.run(process_.Program(["kustomize"], {"PATH": path}, "kustomize build a", HANGS, str(folder)))
    assert [is_gone(path) for path in notes.iterdir()] == [True, True]


def test_the_end_of_the_run_ends_it_with_its_children(folder: Path, notes: Path, tmp_path: Path) -> None:
    """It sends the signal of krmfn's clock itself."""
    path = fake(tmp_path, WITH_A_CHILD.format(notes).replace("wait", "kill -ALRM $PPID; wait"))
    done = check(folder, "a", "--timeout", "3600", PATH=path, TMPDIR=str(plant(tmp_path / "tmp", {"x": ""}))).ended(2)
    sentence = "the run took longer than 3,600 seconds and was stopped in kustomize build a; raise the limit with"
    assert sentence in done.err
    assert [is_gone(path) for path in notes.iterdir()] == [True, True]
    assert [path.name for path in (tmp_path / "tmp").iterdir()] == ["x"]


def test_the_end_of_the_run_ends_what_each_thread_has_started(folder: Path, notes: Path, tmp_path: Path) -> None:
    both = f"until [ $(ls {notes} | wc -l) = 4 ]; do :; done; mkdir {tmp_path}/one && kill -ALRM $PPID; wait"
    path = fake(tmp_path, WITH_A_CHILD.format(notes).replace("wait", both))
    done = check(folder, "a", "b", "--jobs", "2", PATH=path)
    assert "the run took longer than 600 seconds and was stopped; raise" in done.refused(2)
    assert [is_gone(path) for path in notes.iterdir()] == [True] * 4


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_output_is_bounded_while_it_is_written(stream: str, folder: Path, notes: Path, tmp_path: Path) -> None:
    path = fake(tmp_path, f"yes | head -c 3000000 >&{('stdout', 'stderr').index(stream) + 1}; touch {notes}/done")
    done = check(folder, "a", PATH=path, KRMFN_MAX_BYTES="100000").ended(2)
    most = {"stdout": "100,000", "stderr": "1,048,576"}[stream]
    assert f"kustomize build a wrote more than {most} bytes to {stream} and was stopped; raise the" in done.err
    assert not [*notes.iterdir()], "it wrote all of it"


def test_a_signal_ends_what_each_thread_has_started(folder: Path, notes: Path, tmp_path: Path) -> None:
    """The two are in process groups of their own, so no interrupt of ours reaches them by itself."""
    path = fake(tmp_path, WITH_A_CHILD.format(notes))
    env = environment(PATH=path, KRMFN_CONFINE="off")
    command = [str(COMMANDS / "krmfn"), "check", "a", "b", "--jobs", "2", "--timeout", str(HANGS)]
    with subprocess.Popen(command, cwd=folder, env=env, stderr=subprocess.PIPE) as running:
        while len([path for path in notes.iterdir() if path.name.isdecimal()]) < 2:
            assert running.poll() is None
        running.send_signal(signal.SIGTERM)
        _, err = running.communicate(timeout=HANGS)
    assert (running.returncode, err) == (130, b"interrupted\n")
    assert [is_gone(path) for path in notes.iterdir()] == [True] * 4


LIMITS = 'until [ "$(ulimit -t)" != unlimited ]; do :; done; ulimit -t >&2; ulimit -v >&2; exit 3'
"""Says its limits when it has them: they come when it is started."""


def test_processors_and_memory_are_bounded_and_a_lower_limit_stays(folder: Path, tmp_path: Path) -> None:
    path = fake(tmp_path, LIMITS)
    lines = check(folder, "a", "--timeout", "7", PATH=path).err.splitlines()
    assert lines[1:3] == [str(7 * len(os.sched_getaffinity(0))), str(4 << 20)]
    command = f"ulimit -v 3000000; ulimit -t 5; exec {COMMANDS / 'krmfn'} check a"
    done = execute("sh", "-c", command, cwd=folder, env=environment(PATH=path))
    assert done.err.splitlines()[1:3] == ["5", "3000000"]


SECRETS = ("SECRET_TOKEN", "GITHUB_TOKEN", "KRMFN_TOKEN", "PYTHONPATH", "GODEBUG", "BASH_ENV", "ENV", "KUBECONFIG")
"""Variables that no list names."""
LISTS = (variables.CLOSED, variables.OPEN, variables.HELM)
CLOSED, OPEN, HELM = ({name.replace(".*", "X") for name in names.split("|")} for names in LISTS)
GIVEN = {"": CLOSED, "--enable-helm": CLOSED | OPEN | HELM, "--allow-remote": CLOSED | OPEN}
EVERY = dict.fromkeys(GIVEN["--enable-helm"], "x") | {"TMPDIR": "/tmp"}


def environ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: list[str], decision: Decision) -> dict[str, str]:
    """Return the environment of a kustomize, where every variable is set that could be asked for."""
    for name in os.environ:
        monkeypatch.delenv(name)
    for name in (*EVERY, *SECRETS):
        monkeypatch.setenv(name, EVERY.get(name, "secret"))
    monkeypatch.setenv("KRMFN_MAX_BYTES", "100000")
    monkeypatch.setenv("PATH", fake(tmp_path, "/usr/bin/env").partition(os.pathsep)[0])
    text = kustomize.build(kustomize.BuildCall(str(tmp_path), None, flags, decision)).stream.decode()
    return dict(line.split("=", 1) for line in text.splitlines())


MADE = {"PATH", "KUSTOMIZE_PLUGIN_HOME", "XDG_CONFIG_HOME"}
SHELL = {"PWD", "_", "SHLVL", "OLDPWD"}


@pytest.mark.parametrize("flag", GIVEN)
def test_kustomize_is_told_what_is_listed_and_nothing_else(
    flag: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flags = [flag] if "helm" in flag else []
    known = environ(tmp_path, monkeypatch, flags, Decision((), (), is_open=bool(flag)))
    assert known.keys() - SHELL - MADE == GIVEN[flag] - MADE
    assert "krmfn-" in known["KUSTOMIZE_PLUGIN_HOME"]


@pytest.mark.parametrize("is_open", [False, True])
def test_our_functions_are_told_what_is_listed(is_open: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    call: list[Call] = calls(tmp_path, "exec: {path: krmfn}")
    known = environ(tmp_path, monkeypatch, [], Decision((), tuple(call), is_open))
    names = GIVEN["--allow-remote"] if is_open else GIVEN[""]
    assert known.keys() - SHELL - MADE == names - MADE
    assert (known["KRMFN_LOG_FORMAT"], "krmfn-" in known["XDG_CONFIG_HOME"]) == ("json", True)


def test_plugins_of_the_user_are_told_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = environ(tmp_path, monkeypatch, ["--enable-alpha-plugins"], Decision((), (), is_open=True))
    assert known.keys() >= {*EVERY, *SECRETS}


def test_without_a_home_none_is_found_in_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", fake(tmp_path, 'echo "$HOME"'))
    monkeypatch.delenv("HOME")
    assert Path(kustomize.build(kustomize.BuildCall(str(tmp_path))).stream.decode()).is_absolute()


def test_the_page_lists_them() -> None:
    section = (ROOT / "docs" / "reference" / "commands" / "bounds.md").read_text()
    rows = [re.findall("`([A-Za-z_]+[*]?)`", row) for row in section.splitlines() if row.startswith("| ")][1:]
    tables = [{name.replace("*", "X") for name in row} - MADE for row in rows]
    assert tables == [names - MADE for names in (CLOSED, OPEN, HELM)]
