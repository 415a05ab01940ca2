"""The KMM versions are named once: what lists them is made from there, or agrees with it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import version_lists
from krmfn_functions.kmm.crd import facts
from krmfn_functions.kmm.version_facts import BRANCHES, FACTS
from krmfn_functions.kmm.versions import DEFAULT, NEWEST, TARGETS, Target, is_newer, target
from krmfn_functions.options import SETTINGS
from krmfn_functions.rendering.function_config import FunctionConfig
from krmfn_functions.rendering.kinds import schema

from krmfn import KrmfnError
from krmfn.yamltext import emit
from tests.builders import function_config, module
from tests.commands import ROOT, process

FILES = ("versions.py", "version_facts.py")
"""The only files that name versions."""


def test_the_option_the_schema_and_the_default_agree() -> None:
    assert SETTINGS["kmm-version"].endswith(f"{', '.join(TARGETS)} (default {DEFAULT})")
    spec = schema("renderdeviceconfigs")["properties"]["spec"]["properties"]
    version = spec["kmm"]["properties"]["version"]
    assert ", ".join(TARGETS) in version["description"]
    assert [name for name in TARGETS if not re.search(version["pattern"], name)] == []
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


@pytest.mark.parametrize("version", TARGETS)
def test_each_fact_says_where_it_is_from(version: str) -> None:
    """None is a default, and one that is not from the version's own branch is what the named version's branch says."""
    facts_of = FACTS[version]
    assert [fact.name for fact in facts_of] == [*Target._fields[2:]]
    for fact in facts_of:
        assert re.match(r"(?:[a-z][\w./-]*\.(?:go|yaml)|go\.mod)(?: \(.+\))?$", fact.file), fact
        if fact.of:
            twin = next(one for one in FACTS[fact.of] if one.name == fact.name)
            assert (twin.value, twin.file, twin.of) == (fact.value, fact.file, ""), fact
    assert BRANCHES.keys() == FACTS.keys()


def test_the_version_that_is_loaded_is_a_label_since_2_5() -> None:
    """Source: KMM v2.5.0, internal/controllers/nmc_reconciler.go, UpdateNodeLabels; v2.4.0 has none."""
    assert [name for name, kmm in TARGETS.items() if not kmm.labels_versions] == ["2.4", "openshift-2.4"]


def test_nothing_else_of_the_product_names_one() -> None:
    """Rules say since when they hold, which a new version does not change; `openshift` is also a field's name."""
    names = "|".join(re.escape(name) for name in TARGETS if name != "openshift")
    sources = [path for path in (ROOT / "functions").rglob("*.py") if path.name not in FILES]
    named = {
        str(path.relative_to(ROOT)): literals
        for path in [*sources, *(ROOT / "tools").glob("*.py")]
        if (literals := re.findall(rf"[\"'](?:v?{names})[\"']", path.read_text()))
    }
    assert named == {}


@pytest.mark.parametrize(
    ("version", "name", "newer"),
    [
        ("v2.6", "2.6", False),
        ("2.6.3", "2.6", False),
        ("2.06", "2.6", False),
        ("openshift-2.5.1", "openshift-2.5", False),
        ("openshift-v2.7.0", "openshift-2.7", False),
        ("99.0", "main", True),
        ("v3.0.0-rc.1", "main", True),
        ("openshift-2.99", "openshift", True),
        ("openshift-10.0.1", "openshift", True),
        ("main", "main", False),
        ("openshift", "openshift", False),
    ],
)
def test_a_version_is_found_or_is_newer(version: str, name: str, newer: bool) -> None:
    assert (target(version).name, is_newer(version)) == (name, newer)


@pytest.mark.parametrize(
    "version", ["2.3", "0.1", "openshift-2.3", "latest", "openshift-", "openshift-main", "", "2", "2.x"]
)
def test_an_older_version_is_refused(version: str) -> None:
    with pytest.raises(KrmfnError, match="is not known; write one of"):
        target(version)
    assert not is_newer(version)


def test_a_newer_version_is_a_warning_at_its_line(tmp_path: Path) -> None:
    """It is judged as the newest that is known, whether a functionConfig or an option names it."""
    path = tmp_path / "all.yaml"
    path.write_text("---\n".join(map(emit.dump, (function_config(kmm={"version": "99.1"}), module()))))
    written = process("krmfn", "check", str(tmp_path))
    assert written.code == 0
    assert re.search(
        r"all\.yaml:\d+:\d+: warning: .*KMM 99\.1 is newer than this krmfn knows, .* KMM main \[KMM085\]", written.text
    )
    path.write_text(emit.dump(module()))
    option = process("krmfn", "check", str(tmp_path), "--kmm-version", "openshift-99.1")
    assert (option.code, option.text.count("is judged as KMM openshift [KMM085]")) == (0, 1)


def test_an_older_version_is_an_error_at_its_line(tmp_path: Path) -> None:
    (tmp_path / "all.yaml").write_text(
        "---\n".join(map(emit.dump, (function_config(kmm={"version": "2.3"}), module())))
    )
    done = process("krmfn", "check", str(tmp_path))
    assert done.code == 1
    assert re.search(r"all\.yaml:\d+:\d+: error: .*spec\.kmm\.version: kmm version '2\.3' is not known", done.text)
