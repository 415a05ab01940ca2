"""No code of ours takes a sentence of ours apart: a message is made of facts once, and whoever prints it takes parts.

The words of others, such as the kubelet or RE2, have no parts: `OTHERS` has the files that read these.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
from lines import REPO, files

_NAMES = "doubt hint law message predicate problem reason remedy sentence subject where"
SENTENCES = frozenset(_NAMES.split())
"""What values with sentences of ours are called."""
_METHODS = "startswith endswith removeprefix removesuffix partition rpartition split rsplit replace"
CUTS = frozenset(_METHODS.split())
OTHERS = {
    "functions/chain/words.py": "the kubelet's, a runtime's and a registry's",
    "functions/formats/rules.py": "a rule's sentence as a title, with a capital unless a name begins it",
    "functions/kmm/regexps.py": "RE2's",
}


def cuts(text: str) -> Iterator[str]:
    """Yield the calls that read or cut a sentence."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CUTS:
            holder = node.func.value
            name = holder.attr if isinstance(holder, ast.Attribute) else getattr(holder, "id", "")
            if name in SENTENCES:
                yield ast.unparse(node)


@pytest.mark.parametrize("room", ["krmfn", "functions"])
def test_no_sentence_of_ours_is_cut(room: str) -> None:
    texts = {str(path.relative_to(REPO)): path.read_text() for path in files(room)}
    assert texts
    assert {path: [*cuts(text)] for path, text in texts.items() if path not in OTHERS and any(cuts(text))} == {}


def test_a_cut_is_seen() -> None:
    source = "a = note.reason.partition(': ')[0]\nif message.startswith('its '):\n    b = path.split('/')\n"
    assert sorted(cuts(source)) == ["message.startswith('its ')", "note.reason.partition(': ')"]
