"""Bills of materials in CycloneDX: of an installed wheel by cyclonedx-py, of an image by syft."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from .process import environment, output
from .source import Source


def of_wheel(source: Source, tree: Path, wheel: Path, scratch: Path, out: Path) -> Path:
    """Install the wheel, the SDK beside it, and by hash what both need, and write what is there; return the path."""
    env, venv = environment(source.epoch), scratch / "installed"
    output(sys.executable, "-I", "-m", "venv", "--without-pip", venv, env=env)
    pip = (sys.executable, "-I", "-m", "pip", "--python", venv / "bin" / "python", "install", "--quiet")
    locked = ("--require-hashes", "--only-binary", ":all:", "-r", tree / "requirements" / "run.txt")
    output(*pip, *locked, env=env)
    ours = (f"krmfn-sdk=={source.version}", f"krmfn=={source.version}")
    output(*pip, "--no-deps", "--no-index", "--find-links", wheel.parent, *ours, env=env)
    command = (sys.executable, "-I", "-m", "cyclonedx_py", "environment", "--output-reproducible", "--of", "JSON")
    project = ("--pyproject", tree / "pyproject.toml", "--mc-type", "application")
    path = out / f"krmfn-{source.version}.cdx.json"
    path.write_bytes(output(*command, *project, venv / "bin" / "python", cwd=scratch, env=env))
    return path


def of_image(source: Source, layout: Path, out: Path) -> Path:
    """Write what is in an image (Debian packages, Python's, a Go program's modules); return the path."""
    env = environment(source.epoch) | {"SYFT_CHECK_FOR_APP_UPDATE": "false"}
    syft = Path(sys.executable).parent / "syft"
    name = ("--source-name", layout.name, "--source-version", source.version)
    command = (syft, "scan", f"oci-dir:{layout}", "--output", "cyclonedx-json", "--quiet", *name)
    bill: dict[str, Any] = json.loads(output(*command, env=env))
    del bill["serialNumber"], bill["metadata"]["timestamp"]  # they differ from run to run
    path = out / f"{layout.name}.cdx.json"
    path.write_text(json.dumps(bill, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    return path
