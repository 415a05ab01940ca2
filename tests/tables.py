"""Tables of cases in YAML, beside the tests that go through them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml


def table(test: str, name: str) -> Any:
    """Return the rows of the table with this name in the folder of a test's file: a list, or a map by their names."""
    rows = yaml.load((Path(test).parent / name).read_text(encoding="utf-8"), yaml.CSafeLoader)
    assert rows, f"{name} has no rows"
    return rows
