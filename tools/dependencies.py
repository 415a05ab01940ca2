"""Print what the two distributions need, for `make lock`: all but the SDK, which comes from this repository."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROJECTS = (ROOT / "pyproject.toml", ROOT / "sdk" / "pyproject.toml")
_LIST = re.compile(r"^dependencies = \[\n(.*?)^\]", re.MULTILINE | re.DOTALL)
_REQUIREMENT = re.compile(r'^ *"([^"]+)"', re.MULTILINE)


def needed() -> list[str]:
    """Return the requirements of both projects, sorted. Raises ValueError for a project without a list of them."""
    requirements: set[str] = set()
    for project in PROJECTS:
        listed = _LIST.search(project.read_text(encoding="utf-8"))
        if listed is None:
            raise ValueError(f"{project} has no list `dependencies`")
        requirements.update(_REQUIREMENT.findall(listed[1]))
    return sorted(name for name in requirements if not name.startswith("krmfn-sdk=="))


if __name__ == "__main__":
    sys.stdout.write("".join(f"{requirement}\n" for requirement in needed()))
