"""docs/internals/engines.md against what it speaks of: pinned versions, tests."""

from __future__ import annotations

import re

import pytest

from tests.commands import ROOT

PAGE = ROOT / "docs" / "internals" / "engines.md"
E2E = ROOT / "tests" / "e2e"
PINS = "\n".join(path.read_text() for path in (E2E / "install", *sorted(E2E.glob("*/go.mod"))))
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.read_text().partition("What may be missing")[0].splitlines()
    if line.startswith("| ")
][1:]
DEBIAN = {"podman, runc", "gh", "chromium", "zsh, fish"}
"""Engines that Debian pins and not we."""
DOCS = ROOT / "docs"
RECIPES = [*(DOCS / "engines").glob("[a-z]*.md"), DOCS / "operate" / "inventory.md", DOCS / "ci.md"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_version_is_the_one_that_is_pinned(row: list[str]) -> None:
    engine, versions, _, tests = row
    for version in re.findall(r"\d+\.\d+\.\d+(?!\S)|\d+\.\d+\.\d+(?=,)", versions):
        assert f"v{version}" in PINS or engine.startswith("kpt"), version
    assert re.search(r"\d+\.\d+\.\d+", versions) or engine in DEBIAN
    for name in re.findall(r"`(\w+)`", tests):
        assert (E2E / f"{name}.py").exists(), name


def test_every_test_that_a_page_of_gitops_names_exists() -> None:
    defined = {path.stem for path in ROOT.glob("tests/**/test_*.py")}
    for page in (*RECIPES, PAGE):
        named = set(re.findall(r"\b(test_\w+)(?:\.py)?\b", page.read_text()))
        assert named <= defined, page


def test_every_test_with_a_real_engine_is_on_the_page() -> None:
    """But for those of the repository itself, and those whose engine is only a reader or a schema."""
    without = {"test_control_plane", "test_inventory", "test_many_files", "test_recipes", "test_repository"}
    without |= {
        "test_control_plane",
        "test_edits_read_back",
        "test_kubernetes_reader",
        "test_sarif",
        "test_places_generated",
    }
    present = {path.stem for path in E2E.glob("test_*.py")}
    named = set(re.findall(r"`(test_\w+)`", PAGE.read_text()))
    assert present - named == without
