"""The tool that counts lines of code."""

from __future__ import annotations

from pathlib import Path

import lines
import pytest
from lines import Size

from tests.trees import plant

MODULE = '''\
"""Say what it is for.

At length.
"""

A = (  # a bracket
    1,

    # a comment
    2,
)
R = Rule(
    "KRM001",
    good="a",
)


class C:
    a: str
    """What it is."""

    def f(self) -> str:
        """Return it."""
        return """
in two lines"""

    def g(self) -> str:
        return ""
'''


def test_a_line_of_code_holds_a_token() -> None:
    code = ["A = (  # a bracket", "    1,", "    2,", ")", "R = Rule(", "class C:", "    a: str"]
    code += ["    def f(self) -> str:", '        return """', 'in two lines"""', "    def g(self) -> str:"]
    code += ['        return ""']
    written = [line for line in MODULE.split("\n") if line]
    expected = Size(len(code), len("".join(code)), len(written), len("".join(written)), functions=2, docstrings=1)
    assert lines.size(MODULE) == expected
    assert lines.together([expected, Size(), expected]) == tuple(2 * number for number in expected)


def test_a_file_that_is_too_long_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "REPO", tmp_path)
    plant(tmp_path, {"krmfn/short.py": "\n" * 250, "krmfn/sub/long.py": "\n" * 251})
    assert lines.too_long(lines.files("krmfn")) == ["krmfn/sub/long.py: 251 lines"]
