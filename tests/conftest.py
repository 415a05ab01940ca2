"""What holds for every test: no settings of the person who runs them, and how a property is tried."""

from __future__ import annotations

import gc
import itertools
import os
import random
import re
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


gc.disable()  # until all is collected: modules and tests stay to the end, and to walk them takes a second each time


def pytest_collection_finish() -> None:
    """Leave what is collected, some 750,000 objects, out of every later walk of the garbage collector."""
    gc.freeze()
    gc.enable()


_numbers = itertools.count()


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a new folder for a test: pytest's own looks at those of all tests before it for the next number."""
    name = re.sub(r"\W", "_", request.node.name)[:30]
    folder = tmp_path_factory.getbasetemp() / f"{name}{next(_numbers)}"
    folder.mkdir(mode=0o700)
    return folder


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Shuffle the tests when KRMFN_ORDER names a seed: no test may need another one before it."""
    if seed := os.environ.get("KRMFN_ORDER"):
        random.Random(seed).shuffle(items)
