"""The health scripts for Argo CD and their cases, in the layout of Argo CD's own resource customizations."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tests.commands import ROOT

ARGOCD = ROOT / "gitops" / "argocd"
STRICT, LENIENT = ARGOCD / "resource_customizations", ARGOCD / "lenient"
OBJECTS = ROOT / "tests" / "gitops" / "argocd_health"
"""The cases of each script, in the same folders: what users copy has no test data."""
SCRIPTS = sorted([*STRICT.glob("*/*/health.lua"), *LENIENT.glob("*/*/health.lua")])


class Case(NamedTuple):
    """An object, and what a script says of it."""

    script: Path
    name: str
    manifest: dict[str, Any]
    status: dict[str, str]

    def __str__(self) -> str:
        return f"{self.script.relative_to(ARGOCD).parts[0]}-{self.script.parent.name}-{self.name}"


def cases() -> Iterator[Case]:
    """Yield the cases that each health_test.yaml lists."""
    for script in SCRIPTS:
        folder = OBJECTS / script.parent.relative_to(ARGOCD)
        for test in yaml.safe_load((folder / "health_test.yaml").read_text())["tests"]:
            path = folder / test["inputPath"]
            yield Case(script, path.stem, yaml.safe_load(path.read_text()), test["healthStatus"])


CASES = list(cases())
