"""Links from the page to the files that findings are about."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import quote

_NUMBERS = re.compile(r"(?::\d+){0,2}\Z")
"""Line and column at the end of a place."""


def link(path: str) -> str:
    """Return a relative path as a link; "" stays. Whatever a file is called, it is a path and no scheme or host."""
    return f"./{quote(path.encode(errors='surrogateescape'))}" if path else ""


def linked(where: str, link_of: Callable[[str], str]) -> str:
    """Return the link for a place such as `lab/a.yaml:3:7`; "" where there is none."""
    return link_of(_NUMBERS.sub("", where)) if where else ""
