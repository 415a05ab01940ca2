"""Imports point down only, as .importlinter says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.commands import ROOT


def test_imports_point_down() -> None:
    command = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([command, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
