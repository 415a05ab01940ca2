"""Lists match_entries by entry: a comment follows the entry that it stands beside or above."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krmfn.yamltext import edit, load
from krmfn.yamltext.align import match_entries

A = "    - name: a\n      image: a:1 # kpt-set: a\n"
B = "    # about b\n    - name: b\n      image: b:1 # kpt-set: b\n"
C = "    - name: c # c\n      image: c:1\n      args:\n      - one # 1\n      - two # 2\n"
HEAD, TAIL = "- kind: A\n  spec: # top\n    containers:\n", "    # the end\n    last: x # end\n# of the next item\n"
NEW = '    - name: "n"\n      image: n:1\n'


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda entries: entries.insert(0, {"name": "n", "image": "n:1"}), NEW + A + B + C),
        (lambda entries: entries.insert(2, {"name": "n", "image": "n:1"}), A + B + NEW + C),
        (lambda entries: entries.append({"name": "n", "image": "n:1"}), A + B + C + NEW),
        (lambda entries: entries.pop(0), B + C),
        (lambda entries: entries.pop(1), A + C),
        (lambda entries: entries.pop(2), A + B),
        (lambda entries: entries.reverse(), C + B + A),
        (lambda entries: entries[1].update(name="d"), A + B.replace("name: b", "name: d") + C),
        (lambda entries: (entries.reverse(), entries[1].update(image="b:2")), C + B.replace("b:1", "b:2") + A),
        (lambda entries: entries[2]["args"].pop(0), A + B + C.replace("      - one # 1\n", "")),
        (
            lambda entries: entries[2]["args"].reverse(),
            A + B + C.replace("      - one # 1\n      - two # 2\n", "      - two # 2\n      - one # 1\n"),
        ),
        (
            lambda entries: (entries.pop(0), entries[1]["args"].insert(0, "zero")),
            B + C.replace("      - one", "      - zero\n      - one"),
        ),
        (lambda entries: entries[2]["args"].__setitem__(0, "uno"), A + B + C.replace("- one", "- uno")),
        (
            lambda entries: (
                entries[1].update(image="b:2"),
                [entries.insert(0, {"name": "n", "image": "n:1"}) for _ in "12"],
            ),
            NEW + NEW + A + B.replace("b:1", "b:2") + C,
        ),
        (  # a copy of an entry comes before it, changed: the comments are those of the one that is equal
            lambda entries: (entries.insert(0, {"name": "b", "image": "n:1"}), entries[1].update(image="a:2")),
            NEW.replace('"n"', "b") + A.replace("a:1", "a:2") + B + C,
        ),
    ],
)
def test_comments_follow_their_entries(change: Callable[[Any], object], text: str) -> None:
    before = (HEAD + A + B + C + TAIL).encode()
    data = load.read(before)[0]
    change(data["spec"]["containers"])
    assert edit.updated(before, data, 0).decode() == HEAD + text + TAIL


WORDS = st.lists(st.sampled_from("abcdefgh"), max_size=6)


@given(
    st.lists(st.sampled_from("abcdefgh"), min_size=1, unique=True), st.lists(st.sampled_from("abcdefgh"), min_size=1)
)
def test_a_scalar_s_comment_follows_its_value(old: list[str], new: list[str]) -> None:
    old, new = [f"v{word}" for word in old], [f"v{word}" for word in new]
    text = "- list:\n" + "".join(f"  - {word} # {word}\n" for word in old) + "  end: 1\n"
    lines = edit.updated(text.encode(), {"list": new, "end": 1}, 0).decode().splitlines()[1:-1]
    assert [line.split()[1] for line in lines] == new
    kept = [line for line in lines if "#" in line and line.split()[1] == line.split()[3]]
    assert len(kept) == len({*old} & {*new})
    assert len({line.split("#")[1] for line in lines if "#" in line}) == sum("#" in line for line in lines)


@given(WORDS, WORDS)
def test_every_old_entry_is_one_new_entry_at_most(old: list[str], new: list[str]) -> None:
    matches = match_entries(old, new)
    known = [match for match in matches if match is not None]
    assert (len(matches), len({*known})) == (len(new), len(known))
    assert sum(old[match] == value for match, value in zip(matches, new, strict=True) if match is not None) == sum(
        min(old.count(word), new.count(word)) for word in {*old}
    )
