"""The documentation agrees with the code: commands, options, fields, rooms, layers, targets, and the tests it names."""

from __future__ import annotations

import json
import re
import subprocess
from argparse import ArgumentParser, _SubParsersAction
from collections.abc import Mapping
from typing import Any

import fields
import incidents
import owners_picture
import pytest
from krmfn_functions.cluster import config_schema
from krmfn_functions.command_line.main import parser
from krmfn_functions.deviceconfig.keyed import ATOMIC, KEYS
from krmfn_functions.deviceconfig.merging import EITHER, SWITCHES
from krmfn_functions.formats import comment, findings

from tests.commands import ROOT, process
from tests.pages import pages

_TEST = re.compile(r"^def (test_\w+)", re.MULTILINE)
_REFERENCE = ROOT / "docs" / "reference"
_INTERNALS = ROOT / "docs" / "internals"
_CONTRACTS = _REFERENCE / "contracts.md"

_PATH = re.compile(r"(?<![\w/.-])(?:krmfn|functions|tools|tests|schemas|docs|gitops|benchmark)/[\w./-]*\w")


@pytest.mark.parametrize("name", ["docs/internals/architecture.md", "docs/internals/design.md", "CONTRIBUTING.md"])
def test_files_that_are_named_exist(name: str) -> None:
    named = set(_PATH.findall(re.sub(r"```diff.*?```", "", (ROOT / name).read_text(), flags=re.DOTALL)))
    assert named or name == "docs/internals/design.md"
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


def test_the_map_has_every_room() -> None:
    text = (_INTERNALS / "architecture.md").read_text().partition("## The map")[2].partition("\n## ")[0]
    rooms = set(re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE))
    inits = [path for top in ("krmfn", "functions") for path in (ROOT / top).rglob("__init__.py")]
    packages = {str(path.parent.relative_to(ROOT)) for path in inits}
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    folders = {name.partition("/")[0] for name in tracked.splitlines() if "/" in name and not name.startswith(".")}
    assert rooms >= packages
    assert [room for room in sorted(rooms) if not (ROOT / room).is_dir()] == []
    assert {room for room in rooms if "/" not in room} == folders


def test_the_picture_of_the_owners_is_as_it_is_drawn() -> None:
    assert owners_picture.TARGET.read_text() == owners_picture.picture()
    assert f"]({owners_picture.TARGET.name})" in (owners_picture.TARGET.parent / "adopt.md").read_text()


def test_contributing_names_every_make_target_and_no_page_another() -> None:
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert len(targets) > 8
    named = {page: set(re.findall(r"(?m)(?:^|`)make ([a-z0-9-]+)", page.read_text())) for page in pages()}
    assert set().union(*named.values()) <= targets
    assert named[ROOT / "CONTRIBUTING.md"] == targets


def test_each_promise_names_tests_that_exist() -> None:
    """The table in contracts.md: every row names at least one test, and each is defined just once."""
    rows = [line for line in _CONTRACTS.read_text().splitlines() if line.startswith("| ")][1:]
    defined = [name for path in ROOT.glob("tests/**/test_*.py") for name in _TEST.findall(path.read_text())]
    assert len(rows) > 10
    for row in rows:
        named = re.findall(r"`(test_\w+)`", row.rsplit("|", 2)[1])
        assert named, row
        assert [name for name in named if defined.count(name) != 1] == [], row


def test_the_tests_that_superset_names_exist() -> None:
    named = set(re.findall(r"`(test_\w+)`", (_INTERNALS / "superset.md").read_text()))
    assert len(named) > 3
    assert named <= {path.stem for path in ROOT.glob("tests/**/test_*.py")}


def test_the_tests_that_algorithms_names_exist() -> None:
    named = set(re.findall(r"`(test_\w+)`", (_INTERNALS / "algorithms.md").read_text()))
    assert len(named) > 3
    assert named <= {name for path in ROOT.glob("tests/**/test_*.py") for name in _TEST.findall(path.read_text())}


def test_the_pages_name_every_command_and_option_and_no_other() -> None:
    page = "".join(path.read_text() for path in (_REFERENCE / "commands").glob("*.md"))
    (commands,) = (action for action in parser()._actions if isinstance(action, _SubParsersAction))
    for name, command in commands.choices.items():
        assert f"`{name}" in page, f"krmfn {name}"
        for option in options(command):
            assert f"`{option}" in page, f"krmfn {name} {option}"
    known = {option for command in commands.choices.values() for option in options(command)} | {"--version"}
    assert set(re.findall(r"`(--[a-z-]+)", page)) - known == set()


def test_security_md_names_all_that_a_pull_request_can_configure() -> None:
    page = (_REFERENCE / "security.md").read_text().replace(". It cannot", ".\nIt cannot")
    (keys,) = re.findall(r"^`\.krmfn\.yaml` can name .*?\.$", page, re.MULTILINE)
    properties: Any = config_schema.SCHEMA["properties"]
    assert {*re.findall(r"`([a-z]+)`", keys)} == {*properties}


@pytest.mark.parametrize("formats", [findings.FORMATS, comment.FORMATS], ids=["check", "diff"])
def test_the_pages_name_every_format(formats: Mapping[str, Any]) -> None:
    pages_of_commands = "".join(path.read_text() for path in (_REFERENCE / "commands").glob("*.md"))
    rows = re.findall(r"^\| `--format .*", pages_of_commands, re.MULTILINE)
    assert any(formats.keys() <= {*re.findall(r"\w+", row)} for row in rows), f"a row names {', '.join(formats)}"


def options(command: ArgumentParser) -> list[str]:
    """The long names of a command's options, but for --help."""
    return [name for action in command._actions for name in action.option_strings if name[:2] == "--"][1:]


def test_incident_md_is_not_stale() -> None:
    assert (ROOT / "docs" / "operate" / "incident.md").read_text() == incidents.page(), (
        "stale: run `python tools/incidents.py`"
    )


def test_fields_md_is_not_stale() -> None:
    assert (_REFERENCE / "fields.md").read_text() == fields.page(), "stale: run `python tools/fields.py`"


@pytest.mark.parametrize("kind", ["DeviceConfig", "RenderDeviceConfigs"])
def test_deviceconfig_md_names_every_field(kind: str) -> None:
    page = (_REFERENCE / "deviceconfig.md").read_text()
    spec = json.loads(process("krmfn", "schema", kind).out)["properties"]["spec"]["properties"]
    assert len(spec) > 5
    assert [field for field in spec if not re.search(rf"`{field}[.`:\[]", page)] == []


def test_deviceconfig_md_has_the_table_by_which_layers_merge() -> None:
    text = (_REFERENCE / "deviceconfig.md").read_text().partition("| of two layers |")[2].partition("```yaml")[0]
    _, _, mappings, replaced, keyed, pools, others, either, _, switched = text.split("\n")[:10]
    assert not set(re.findall(r"`(\w+)`", mappings)) & (ATOMIC | KEYS.keys())
    assert set(re.findall(r"`(\w+)`", replaced)) == ATOMIC
    assert set(re.findall(r"`(\w+)\[\]`", keyed)) == set(KEYS)
    assert set(re.findall(r"`(\w+)`", pools)) == {"nodeSelector", "nodePools"}
    assert not set(re.findall(r"`(\w+)`", others)) & KEYS.keys()
    assert set(re.findall(r"`(\w+)`", either)) == {name for pair in EITHER for name in pair}
    assert set(re.findall(r"`(\w+)`", switched)) == set(SWITCHES)
