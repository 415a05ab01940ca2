"""Whether a pull request changes the configuration file: what cannot be read is never taken for unchanged."""

from pathlib import Path

import pytest
from krmfn_functions.comparing.base import Base
from krmfn_functions.comparing.unchanged import edits_config

from tests.trees import plant

NAME = ".krmfn.yaml"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({}, {}, False),
        ({NAME: "paths: [a]\n"}, {NAME: "paths: [a]\n"}, False),
        ({NAME: "paths: [a]\n"}, {NAME: "paths: [b]\n"}, True),
        ({NAME: "paths: [a]\n"}, {}, True),
        ({f"{NAME}/a": ""}, {f"{NAME}/a": ""}, True),
        ({f"{NAME}/a": ""}, {}, True),
    ],
    ids=["neither", "same", "edited", "gone", "folder-on-both-sides", "folder-in-the-base"],
)
def test_configuration_is_edited(tmp_path: Path, old: dict[str, str], new: dict[str, str], expected: bool) -> None:
    for side, tree in (("old", old), ("new", new)):
        (tmp_path / side).mkdir()
        plant(tmp_path / side, tree)
    base = Base("origin/main", str(tmp_path / "new"), str(tmp_path / "old"), {})
    assert edits_config(base) is expected
