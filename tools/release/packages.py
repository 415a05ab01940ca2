"""The sdist, the wheel of the product, and the wheel of the SDK that it needs."""

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
    [wheel] = out.glob("krmfn-*.whl")
    return sdist, wheel


def build_sdk(source: Source, tree: Path, out: Path) -> Path:
    """Build the wheel of the SDK from a tree (see sdk/pyproject.toml); return its path."""
    command = [sys.executable, "-I", "-m", "build", "--no-isolation", "--outdir"]
    output(*command, out, "--wheel", tree / "sdk", env=environment(source.epoch))
    [wheel] = out.glob("krmfn_sdk-*.whl")
    return wheel
