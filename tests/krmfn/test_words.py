"""The SDK says nothing of the product that is written on it: its texts are read by users of other functions."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import ROOT

_COMMANDS = "render|check|diff|nodes|images|report|resolve|inventory|import|rules|explain|schema|crd|completion"
_PRODUCT = re.compile(
    rf"DeviceConfig|Ptemplate|NodeInventory|\bModules?\b|\bKMM\b|KRM\d{{3}}|krmfn ({_COMMANDS})\b"
    rf"|`({_COMMANDS}|exclude)\b|\.krmfn\.yaml"
)


def texts(source: str) -> Iterator[str]:
    """Yield the strings of a module, also the parts of f-strings, without its docstrings."""
    tree = ast.parse(source)
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.value


@pytest.mark.parametrize("path", sorted((ROOT / "krmfn").rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_text_of_the_sdk_names_the_product(path: Path) -> None:
    assert [text for text in texts(path.read_text()) if _PRODUCT.search(text)] == []


@pytest.mark.parametrize("text", ["'(KRM174)'", "f'{a}; use the command `render`'", "f('a DeviceConfig')"])
def test_a_text_that_names_the_product_is_noticed(text: str) -> None:
    assert any(map(_PRODUCT.search, texts(f'"""A docstring."""\nx = {text}\n')))


def test_docstrings_are_no_texts() -> None:
    assert list(texts('"""A Module."""\nx: str = ""\n"""`render` of KRM101."""\n')) == [""]
