"""A folder of 100,000 files is read within seconds, and what is wrong in one of them is said."""

from __future__ import annotations

from pathlib import Path

from tests.commands import process
from tests.trees import config_map, plant


def test_100_000_files_are_read(tmp_path: Path) -> None:
    files = {f"{folder}/{at}.yaml": config_map(f"a{folder}-{at}") for folder in range(100) for at in range(1000)}
    plant(tmp_path, files | {"7/wrong.yaml": "apiVersion: v1\nkind: [\n"})
    done = process("krmfn", "check", ".", cwd=tmp_path).ended(2)
    assert done.text.startswith("7/wrong.yaml")
    assert "1 error" in done.text
    assert "100,000 resources" in done.text
