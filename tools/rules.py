"""Write docs/rules.md from the docstrings of the rules: `python tools/rules.py`."""

from __future__ import annotations

from pathlib import Path

from krmfn_functions.commands.catalogue import markdown

PAGE = Path(__file__).parent.parent / "docs" / "rules.md"

if __name__ == "__main__":
    PAGE.write_text(markdown(), encoding="utf-8")
