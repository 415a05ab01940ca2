"""The KMM versions are named once: what lists them is made from there, or agrees with it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import version_lists
from krmfn_functions.kmm.crd import facts
from krmfn_functions.kmm.versions import DEFAULT, NEWEST, TARGETS
from krmfn_functions.options import SETTINGS
from krmfn_functions.rendering.function_config import FunctionConfig
from krmfn_functions.rendering.kinds import schema

from tests.commands import ROOT


def test_the_option_the_schema_and_the_default_agree() -> None:
    assert SETTINGS["kmm-version"].endswith(f"{', '.join(TARGETS)} (default {DEFAULT})")
    spec = schema("renderdeviceconfigs")["properties"]["spec"]["properties"]
    assert spec["kmm"]["properties"]["version"]["enum"] == list(TARGETS)
    assert FunctionConfig().kmm_version == DEFAULT in TARGETS


@pytest.mark.parametrize("page", version_lists.PAGES, ids=lambda page: page.name)
def test_the_pages_list_them(page: Path) -> None:
    text = page.read_text()
    assert text == version_lists.written(text), "stale: run `python tools/version_lists.py`"


@pytest.mark.parametrize("version", TARGETS)
def test_the_newest_has_every_field(version: str) -> None:
    """`explain` judges its examples by it: a field that it lacks needs another NEWEST."""
    fields, newest = (_paths(facts.module_facts(TARGETS[name].structure)) for name in (version, NEWEST))
    assert fields <= newest


def _paths(fact: facts.Fact, path: str = "") -> set[str]:
    below = {**(fact.fields or {}), **({"[]": fact.item} if fact.item else {})}
    return {path}.union(*(_paths(child, f"{path}.{name}") for name, child in below.items()))


def test_each_table_has_a_row_with_its_source() -> None:
    rows = (ROOT / "functions" / "kmm" / "crd" / "README.md").read_text()
    for kmm in TARGETS.values():
        assert f"| `{kmm.structure}` |" in rows and f"`{kmm.source}`" in rows, kmm


def test_nothing_else_of_the_product_names_one() -> None:
    """Rules say since when they hold, which a new version does not change; `openshift` is also a field's name."""
    names = "|".join(re.escape(name) for name in TARGETS if name != "openshift")
    sources = [path for path in (ROOT / "functions").rglob("*.py") if path.name != "versions.py"]
    named = {
        str(path.relative_to(ROOT)): literals
        for path in [*sources, *(ROOT / "tools").glob("*.py")]
        if (literals := re.findall(rf"[\"'](?:v?{names})[\"']", path.read_text()))
    }
    assert named == {}
