"""The documentation of a bare function as kpt's Go SDK prints it for `--doc`: one JSON object, from its own files.

Source: the catalogue's README template (mdtogo markers) and metadata-schema.json, 2026.
"""

from __future__ import annotations

import json
import re
from importlib.resources import files
from typing import Any

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

    folder = files("krmfn_functions") / name
    readme, metadata = ((folder / file).read_text(encoding="utf-8") for file in ("README.md", "metadata.yaml"))
    sections = {match["name"].lower(): match["text"] for match in _SECTION.finditer(readme)}
    known: dict[str, Any] = yaml.safe_load(metadata)
    shown = {key: sections[key] for key in ("short", "long", "examples")}
    return json.dumps({**shown, **_OF_CATALOGUE, **known}, indent=2, ensure_ascii=False) + "\n"
