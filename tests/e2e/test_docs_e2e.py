"""The console blocks that need kustomize, kpt or a container, as a reader would type them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.console import check
from tests.pages import ENGINES, Block, sessions

from .engines import find

REMEDY = {"kustomize": "tests/e2e/install makes it with go", "kpt": "put it on PATH"}


@pytest.mark.parametrize("block", sessions(e2e=True), ids=lambda block: block.id)
def test_a_console_block_shows_what_happens(block: Block, tmp_path: Path) -> None:
    for engine in {match for command in block.commands for match in ENGINES.findall(command)}:
        find(engine, REMEDY.get(engine, "put it on PATH"))
    check(block, tmp_path)
