"""Ports of the servers that e2e tests start: two runs at once never get the same one."""

from __future__ import annotations

import subprocess
import sys

from tests.commands import ROOT

GIVEN = """\
import itertools
from tests.e2e import control_plane
control_plane.port_numbers = itertools.count(0)
print(*(control_plane.free_port() for _ in range(20)), flush=True)
input()
"""


def test_runs_at_once_get_different_ports() -> None:
    """Each begins at the same number, and none of them listens on what it was given yet."""
    runs = [
        subprocess.Popen([sys.executable, "-c", GIVEN], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for _ in range(3)
    ]
    ports: list[bytes] = []
    for run in runs:
        assert run.stdout
        ports += run.stdout.readline().split()
    for run in runs:
        run.communicate(b"\n")
    assert len(ports) == len({*ports}) == 60
