"""What holds for every test: no settings of the person who runs them, and how a property is tried."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, settings

from tests.examples import EXAMPLES

SHARED = {
    "KRMFN_KMM_CRDS": "kmm",
    "KRMFN_KMM_FLEETS": "kmm-fleets",
    "KRMFN_KMM_HISTORIES": "kmm-histories",
    "KRMFN_KMM_STATUS": "kmm-status",
    "KRMFN_NIGHTS": "nights",
    "KRMFN_OPERATORS": "operators",
}
"""Variables that name folders with recordings, and what these are called in the folder that KRMFN_SHARED names."""
OURS = {
    *("KRMFN_EXAMPLES", "KRMFN_FLEET_EXAMPLES", "KRMFN_FUZZ", "KRMFN_FUZZ_SEED", "KRMFN_UPDATE"),
    *("KRMFN_ORDER", "KRMFN_SHARED"),
    *SHARED,
}
"""Variables that are for the tests; the others are read by the program, and a test sets those that it is about."""

for name in [name for name in os.environ if name.startswith(("ARGOCD_", "KRMFN_")) and name not in OURS]:
    del os.environ[name]

if shared := os.environ.get("KRMFN_SHARED"):
    folders = {name: Path(shared, folder) for name, folder in SHARED.items()}
    os.environ.update({name: str(folder) for name, folder in folders.items() if folder.is_dir()})

# yaml.safe_load and yaml.safe_dump in the tests: libyaml takes a tenth of the time of PyYAML's own Python.
yaml.SafeLoader, yaml.SafeDumper = yaml.CSafeLoader, yaml.CSafeDumper  # type: ignore[misc, assignment]

# A busy machine is no failure: nothing here depends on time.
slow = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile("krmfn", max_examples=EXAMPLES, deadline=None, suppress_health_check=slow)
settings.load_profile("krmfn")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Shuffle the tests when KRMFN_ORDER names a seed: no test may need another one before it."""
    if seed := os.environ.get("KRMFN_ORDER"):
        random.Random(seed).shuffle(items)
