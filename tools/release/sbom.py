"""Bills of materials in CycloneDX: of an installed wheel by cyclonedx-py."""

from __future__ import annotations

import sys
from pathlib import Path

from .process import environment, output
from .source import Source


def of_wheel(source: Source, tree: Path, wheel: Path, scratch: Path, out: Path) -> Path:
    """Install the wheel with what it needs, by hash, and write what is there; return the path."""
    env, venv = environment(source.epoch), scratch / "installed"
    output(sys.executable, "-I", "-m", "venv", "--without-pip", venv, env=env)
    pip = (sys.executable, "-I", "-m", "pip", "--python", venv / "bin" / "python", "install", "--quiet")
    locked = ("--require-hashes", "--only-binary", ":all:", "-r", tree / "requirements" / "run.txt")
    output(*pip, *locked, env=env)
    output(*pip, "--no-deps", "--no-index", "--find-links", wheel.parent, f"krmfn=={source.version}", env=env)
    command = (sys.executable, "-I", "-m", "cyclonedx_py", "environment", "--output-reproducible", "--of", "JSON")
    project = ("--pyproject", tree / "pyproject.toml", "--mc-type", "application")
    path = out / f"krmfn-{source.version}.cdx.json"
    path.write_bytes(output(*command, *project, venv / "bin" / "python", cwd=scratch, env=env))
    return path
