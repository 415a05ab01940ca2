"""Words that Kubernetes and kustomize read differently move as they are written, with their comments.

A plain `yes` is true to Kubernetes and a string to kustomize; a plain date is another string to each reader.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from krmfn import KrmfnError, ResourceList
from tests.krmfn.test_moves_anywhere import HEAD
from tests.krmfn.test_moves_of_equals import item

WORDS = ["yes", "Off", "n", "2001-01-01", "2001-01-01T10:00:00Z", "0x10", "012", "1_000", "true"]
LENT, REBUILT = "in place", "replace"
Edit = Callable[[Any], None]


def after(text: str, edit: Edit, way: str = LENT) -> str:
    """The fields of a spec after an edit of it, of what was lent or of a copy in plain data."""
    resources = ResourceList.parse((HEAD + item("a", text)).encode())
    (first,) = resources.items
    manifest = first.manifest if way == LENT else json.loads(json.dumps(first.manifest))
    edit(manifest["spec"])
    if way != LENT:
        resources.replace(first, manifest)
    wanted = json.loads(json.dumps(manifest))
    out = resources.to_bytes()
    assert json.loads(json.dumps(ResourceList.parse(out).items[0].manifest)) == wanted
    return out.decode().partition("  spec:\n")[2].replace("\n    ", "\n").strip()


def to_another_key(spec: Any) -> None:
    spec["b"] = spec.pop("a")


def into_a_new_list(spec: Any) -> None:
    spec["l"] = [spec.pop("a")]


def into_a_list(spec: Any) -> None:
    spec["t"].append(spec.pop("a"))


def into_a_mapping(spec: Any) -> None:
    spec["m"] = {"in": {"b": spec.pop("a")}}


def onto_another(spec: Any) -> None:
    spec["z"] = spec.pop("a")


def onto_an_entry(spec: Any) -> None:
    spec["t"][0] = spec.pop("a")


TEXT = "# H\na: {} # A\nt:\n- q\nz: 5"
MOVES: dict[Edit, str] = {
    to_another_key: "t:\n- q\nz: 5\n# H\nb: {} # A",
    into_a_new_list: "t:\n- q\nz: 5\nl:\n# H\n- {} # A",
    into_a_list: "t:\n- q\n# H\n- {} # A\nz: 5",
    into_a_mapping: "t:\n- q\nz: 5\nm:\n  in:\n    # H\n    b: {} # A",
    onto_another: "t:\n- q\n# H\nz: {} # A",
    onto_an_entry: "t:\n# H\n- {} # A\nz: 5",
}


@pytest.mark.parametrize("way", [LENT, REBUILT])
@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("edit", MOVES, ids=lambda edit: edit.__name__)
def test_it_moves_as_it_is_written_with_its_comments(edit: Edit, word: str, way: str) -> None:
    """A date that was built anew is the string that JSON has: it is written as that."""
    written = f'"{word}"' if word.startswith("2001") and way == REBUILT else word
    assert after(TEXT.format(word), edit, way) == MOVES[edit].format(written)


@pytest.mark.parametrize("way", [LENT, REBUILT])
@pytest.mark.parametrize("source", ["a:\n- {} # A\n- c", "a: [\n  {}, # A\n  c]"], ids=["lines", "brackets"])
@pytest.mark.parametrize("word", WORDS)
def test_an_entry_moves_as_it_is_written_with_its_comment(word: str, source: str, way: str) -> None:
    def pop(spec: Any) -> None:
        spec["b"] = spec["a"].pop(0)

    written = f'"{word}"' if word.startswith("2001") and way == REBUILT else word
    rest = "a:\n- c" if "- " in source else "a: [\n  c]"
    assert after(source.format(word), pop, way) == f"{rest}\nb: {written} # A"


@pytest.mark.parametrize("way", [LENT, REBUILT])
def test_what_holds_such_words_keeps_its_comments(way: str) -> None:
    """A copy in plain data is known by what it holds."""

    def move(spec: Any) -> None:
        spec["b"] = {"in": spec.pop("a")}

    out = after("a: # A\n  # Y\n  x: yes # X\n  no: 1 # N\n  d: 1_0\nz: 1", move, way)
    assert out == "z: 1\nb:\n  in: # A\n    # Y\n    x: yes # X\n    no: 1 # N\n    d: 1_0"


@pytest.mark.parametrize("way", [LENT, REBUILT])
def test_a_date_in_what_was_built_anew_is_the_string_that_json_has(way: str) -> None:
    date = "2001-01-01" if way == LENT else '"2001-01-01"'
    out = after("a:\n  x: 2001-01-01 # X\n  y: 1 # Y\nz: 1", to_another_key, way)
    assert out == f"z: 1\nb:\n  x: {date} # X\n  y: 1 # Y"


def test_into_brackets_it_is_refused_until_the_comment_is_cleared() -> None:
    def move(spec: Any) -> None:
        spec["f"]["b"] = spec.pop("a")

    with pytest.raises(KrmfnError, match=r"spec.f cannot be written: the comment '# A' would be lost in brackets"):
        after("a: yes # A\nf: {c: 1}", move)
    assert after("a: yes\nf: {c: 1}", move) == "f: {c: 1, b: true}"


def unwrap(spec: Any) -> None:
    spec["a"] = spec["a"]["w"]


def set_another(spec: Any) -> None:
    del spec["a"]
    spec["z"] = True


@pytest.mark.parametrize("edit", [unwrap, set_another])
def test_where_all_around_it_went_nobody_knows_whether_it_is_meant(edit: Edit) -> None:
    cause = r"nothing says which value is the word yes that went with the comment '# W'; clear that first"
    with pytest.raises(KrmfnError, match=rf"spec\.[az] cannot be written: {cause}"):
        after("a:\n  w: yes # W\n  v: x\nz: 5", edit)
    assert after("a:\n  w: yes\n  v: x\nz: 5", edit).endswith(": true" if edit is set_another else "z: 5")


def test_of_equal_ones_it_is_the_one_under_its_old_key() -> None:
    def move(spec: Any) -> None:
        spec["m"] = {"x": True, "w": spec.pop("a")["w"]}

    assert after("a:\n  w: yes # W\n  v: x\nz: 5", move) == "z: 5\nm:\n  w: yes # W\n  x: true"


@pytest.mark.parametrize("others", ["b: true # B", "b: yes # B", "b: on # A"])
def test_of_equal_values_that_went_nobody_guesses(others: str) -> None:
    def move(spec: Any) -> None:
        del spec["b"]
        spec["c"] = spec.pop("a")

    text = f"a: yes # A\n{others}\nz: 5"
    if others.endswith("# A"):  # with the same comment, each has that
        assert after(text, move) == "z: 5\nc: yes # A"
        return
    with pytest.raises(KrmfnError, match="2 equal values went, and nothing says which has the comment '# A'"):
        after(text, move)


def test_of_words_without_comments_none_is_taken_for_another() -> None:
    def move(spec: Any) -> None:
        del spec["b"]
        spec["c"] = spec.pop("a")

    assert after("a: yes\nz: 5\nb: true", move) == "z: 5\nc: true"
    assert after("a: yes\nz: 5\nb: 6", move) == "z: 5\nc: yes"


@pytest.mark.parametrize("way", ["new", "onto"])
@pytest.mark.parametrize("word", [word for word in WORDS if not word.startswith(("0", "1"))])
def test_it_goes_to_another_item_as_it_is_written(word: str, way: str) -> None:
    """A number is written as a number."""
    resources = ResourceList.parse((HEAD + item("a", f"# H\na: {word} # A\nz: 1") + item("b", "z: 6\ny: 1")).encode())
    first, second = (entry.manifest["spec"] for entry in resources)
    second["z" if way == "onto" else "b"] = first.pop("a")
    rest = f"# H\nz: {word} # A\ny: 1" if way == "onto" else f"z: 6\ny: 1\n# H\nb: {word} # A"
    assert resources.to_bytes().decode() == HEAD + item("a", "z: 1") + item("b", rest)


def test_a_date_that_json_made_a_string_at_its_place_is_no_move() -> None:
    """An equal date went from a list, with another comment."""

    def write_over(spec: Any) -> None:
        spec["l"] = "new"

    out = after("a: 2001-01-01 # A\nl:\n- 2001-01-01 # L\nm:\n  x: 2001-01-01 # M", write_over, REBUILT)
    assert out == 'a: "2001-01-01" # A\nl: new\nm:\n  x: "2001-01-01" # M'


@pytest.mark.parametrize("value", ["80", "yes", "true"])
def test_what_went_from_another_item_is_not_taken_for_what_was_there(value: str) -> None:
    """An equal one is in what it is put onto, so nobody knows which of them it is."""
    texts = item("a", f"a: {value} # A\nz: 1"), item("b", f"l:\n- {value} # L\n- x")
    resources = ResourceList.parse((HEAD + "".join(texts)).encode())
    first, second = (entry.manifest["spec"] for entry in resources)
    second["l"] = first.pop("a")
    with pytest.raises(KrmfnError, match=r"nothing says which|moves with its value onto"):
        resources.to_bytes()
