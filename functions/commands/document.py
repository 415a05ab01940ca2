"""The documentation of a bare function as kpt's Go SDK prints it for `--help` and `--doc`, from its own files.

Source: the SDK's go/fn of 2026 (layout, JSON fields), the catalogue's README template (markers), metadata-schema.json.
"""

from __future__ import annotations

import re
from importlib.resources import files

from krmfn.results import json_text
from krmfn.typed import Any

_SECTION = re.compile(r"<!--mdtogo:(?P<name>Short|Long|Examples)-->\n(?P<text>.*?)\n<!--mdtogo(?::End)?-->", re.DOTALL)
_OF_CATALOGUE = {
    "image": "",
    "description": "",
    "tags": [],
    "sourceURL": "",
    "examplePackageURLs": [],
    "license": "",
    "hidden": False,
}
"""What metadata.yaml says, with what stands for a field that it leaves out."""


def document(name: str) -> str:
    """Return the documentation of a function as JSON, from the README.md and the metadata.yaml in its folder."""
    import yaml

    known: dict[str, Any] = yaml.safe_load(_file(name, "metadata.yaml"))
    return json_text({**_sections(name), **_OF_CATALOGUE, **known}, 2) + "\n"


def help_of(name: str) -> str:
    """Return the documentation of a function for people, laid out as the Go SDK does for `--help`."""
    shown = _sections(name)
    return f"{shown['short']}\n\n{shown['long']}\n\nExamples:\n{shown['examples']}\n"


def _sections(name: str) -> dict[str, str]:
    sections = {match["name"].lower(): match["text"] for match in _SECTION.finditer(_file(name, "README.md"))}
    return {key: sections[key] for key in ("short", "long", "examples")}


def _file(name: str, file: str) -> str:
    return (files("krmfn_functions") / name / file).read_text(encoding="utf-8")
