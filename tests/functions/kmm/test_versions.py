"""The KMM versions are named once: what lists them is made from there, or agrees with it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import version_lists
from krmfn_functions.kmm.versions import DEFAULT, TARGETS
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
