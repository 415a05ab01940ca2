"""The kernel's bounds for kustomize: a program in its place tries what it may not do."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from krmfn_functions.kustomization import landlock, sandbox
from krmfn_functions.kustomization.confinement import SYSTEM
from krmfn_functions.kustomization.landlock import Bounds

from krmfn import KrmfnError
from tests.commands import process
from tests.trees import config_map, plant

confined = pytest.mark.skipif(landlock.version() == 0, reason=f"kustomize is {sandbox.status()}")


def printed(command: str, read: tuple[str | Path, ...] = (), written: tuple[str | Path, ...] = ()) -> str:
    """Return what a shell prints that is bound."""
    bounds = Bounds(
        frozenset((*SYSTEM, sys.base_prefix, *map(str, read))), frozenset(("/dev/null", *map(str, written)))
    )

    def start() -> subprocess.Popen[str]:
        return subprocess.Popen(["/bin/sh", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    with sandbox.start_confined(bounds, start) as running:
        return running.communicate()[0]


@confined
def test_what_is_not_allowed_is_denied(tmp_path: Path) -> None:
    plant(tmp_path, {"own/a": "own\n", "read/a": "read\n", "other/a": "other\n"})
    reads = "; ".join(f"cat {tmp_path}/{name}/a" for name in ("own", "read", "other"))
    writes = "; ".join(f"echo x > {tmp_path}/{name}/b && echo wrote {name}" for name in ("own", "read", "other"))
    lines = printed(f"{reads}; {writes}; echo x > /dev/null; mv {tmp_path}/own/a {tmp_path}/own/c && echo moved",
                 (tmp_path / "read",), (tmp_path / "own",)).splitlines()  # fmt: skip
    assert [line for line in lines if "denied" not in line] == ["own", "read", "wrote own", "moved"]
    assert len(lines) == 7
    assert (tmp_path / "own/c").read_text() == "own\n"


@confined
def test_no_program_outside_is_run(tmp_path: Path) -> None:
    program = plant(tmp_path, {"planted": "#!/bin/sh\necho ran\n"}) / "planted"
    assert "denied" in printed(str(program))
    assert printed(str(program), (tmp_path,)) == "ran\n"


@confined
def test_the_environment_of_other_processes_is_not_read() -> None:
    assert "denied" in printed(f"cat /proc/{os.getpid()}/environ")


@pytest.mark.skipif(landlock.version() < 4, reason=f"kustomize is {sandbox.status()}")
def test_nothing_is_connected_to() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        code = f"import socket; socket.create_connection(('127.0.0.1', {server.getsockname()[1]}))"
        assert "PermissionError" in printed(f'{sys.executable} -I -c "{code}"', (sys.prefix,))


@confined
def test_krmfn_itself_is_not_bound(tmp_path: Path) -> None:
    printed("true")
    assert subprocess.run(["cat", plant(tmp_path, {"a": "b"}) / "a"], capture_output=True, check=True).stdout == b"b"


@confined
def test_what_cannot_be_started_is_said_as_without(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        sandbox.start_confined(Bounds(frozenset(), frozenset()), lambda: subprocess.Popen([tmp_path / "nothing"]))


@confined
def test_a_kernel_that_refuses_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landlock, "_RESTRICT", 100_000)
    with pytest.raises(KrmfnError, match=r"cannot be confined \(restrict: .*KRMFN_CONFINE=off"):
        printed("true")


READS = '/bin/cat "{secret}" >&2; echo x > "{secret}"; printf "apiVersion: v1\\nkind: A\\nmetadata: {{name: a}}\\n"\n'


@pytest.mark.parametrize("is_off", [False, True])
def test_a_build_reaches_neither_the_repository_nor_home(tmp_path: Path, is_off: bool) -> None:
    secret = plant(tmp_path, {"home/secret": "secret\n"}) / "home/secret"
    plant(tmp_path, {"app/kustomization.yaml": "resources: [a.yaml]\n", "app/a.yaml": config_map("a")})
    programs = plant(tmp_path / "bin", {"kustomize": f"#!/bin/sh\n{READS.format(secret=secret)}"})
    path = f"{programs}:/usr/bin:/bin"
    done = process("krmfn", "check", str(tmp_path / "app"), PATH=path, KRMFN_CONFINE="off" if is_off else "")
    is_open = is_off or not landlock.version()
    assert ("kustomize: secret" in done.text, secret.read_text() == "x\n") == (is_open, is_open)


def test_hardened_builds_nothing_without(tmp_path: Path) -> None:
    app = plant(tmp_path, {"kustomization.yaml": "resources: [a.yaml]\n", "a.yaml": config_map("a")})
    err = process("krmfn", "check", "--hardened", str(app), KRMFN_CONFINE="off").refused()
    assert "--hardened: kustomize is not confined: KRMFN_CONFINE=off" in err
