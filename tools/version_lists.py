"""Write the list of KMM versions into the pages that have one: `python tools/version_lists.py`."""

from __future__ import annotations

import re
from pathlib import Path

from krmfn_functions.kmm.versions import DEFAULT, TARGETS

PAGES = [
    Path(__file__).parent.parent / "docs" / "reference" / name for name in ("commands/options.md", "deviceconfig.md")
]
_NAME = r"`[^`]+`(?: \(default\))?"
_LIST = re.compile(rf"(?<=the KMM of the cluster: ){_NAME}(?:, {_NAME})+")


def written(text: str) -> str:
    """Return a page with the list as it is now. Raises ValueError for one that has none."""
    listed = ", ".join(f"`{name}` (default)" if name == DEFAULT else f"`{name}`" for name in TARGETS)
    text, count = _LIST.subn(listed, text)
    if not count:
        raise ValueError("nothing is listed behind `the KMM of the cluster: `")
    return text


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(written(page.read_text(encoding="utf-8")), encoding="utf-8")
