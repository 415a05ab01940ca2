"""The sdist and the wheel."""

from __future__ import annotations

import sys
from pathlib import Path

from . import archives
from .process import environment, output
from .source import Source


def build(source: Source, tree: Path, scratch: Path, out: Path) -> tuple[Path, Path]:
    """Build the sdist from a tree, and the wheel from the sdist; return their paths."""
    env = environment(source.epoch)
    command = [sys.executable, "-I", "-m", "build", "--no-isolation", "--outdir"]
    output(*command, scratch, "--sdist", tree, env=env)
    [built] = scratch.glob("*.tar.gz")
    sdist = out / built.name
    archives.write(sdist, archives.read(built), source.epoch)
    unpacked = scratch / "sdist"
    output("tar", "-xzf", sdist, "--one-top-level=" + str(unpacked), "--strip-components=1", "--no-same-owner")
    output(*command, out, "--wheel", unpacked, env=env)
    [wheel] = out.glob("*.whl")
    return sdist, wheel
