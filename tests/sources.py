"""What the two distributions are made of, copied to where a test builds or installs them."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.commands import ROOT

SOURCES = [
    *("LICENSE", "MANIFEST.in", "README.md", "pyproject.toml", "docs/sdk.md"),
    *("functions", "krmfn", "schemas", "sdk", "examples/vendor-profiles", "gitops/ci"),
]
"""The files and folders that `pip install ./sdk .` reads."""


def copied(folder: Path, *more: str) -> Path:
    """Return a folder with a copy of the sources, and of `more`, as they stand in the working tree."""
    ignore = shutil.ignore_patterns("__pycache__", "build", "*.egg-info")
    for name in (*SOURCES, *more):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=ignore, symlinks=True)
        else:
            shutil.copy(ROOT / name, folder / name)
    return folder
