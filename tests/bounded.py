"""Python in a process of its own that has only so many seconds of CPU: what hangs is ended, whatever the machine."""

from __future__ import annotations

import resource
import subprocess
import sys

from tests.commands import ROOT


def python(code: str, seconds: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run code with some seconds of CPU; a negative code comes back where they did not do."""
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1)),
    )
