"""The comment of what leaves brackets goes with it, or the edit is refused: none is lost."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from krmfn import KrmfnError, ResourceList

HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
ITEM = "- kind: A\n  metadata: {{name: {}}}\n"
Data = Any


def after(edit: Callable[..., object], *bodies: str) -> str:
    """What is in the items behind their names, after an edit of their data."""
    items = [
        ITEM.format(f"a{number}") + "".join(f"  {line}\n" for line in body.splitlines())
        for number, body in enumerate(bodies)
    ]
    resources = ResourceList.parse((HEAD + "".join(items)).encode())
    edit(*(item.manifest for item in resources.items))
    out = re.split(r"- kind: A\n.*\n", resources.to_bytes().decode())[1:]
    return "---\n".join(re.sub("^  ", "", part, flags=re.MULTILINE) for part in out)


def out_of_what_goes(data: Data) -> None:
    data["v"] = data["s"].pop("k").pop()


def out_of_another_kind(data: Data) -> None:
    value = data["s"]["k"].pop()
    data["s"]["k"] = "new"
    data["s"]["m"] = value


@pytest.mark.parametrize("value", ["vvv", "{a: b}"])
def test_what_leaves_brackets_that_go_takes_its_comment_along(value: str) -> None:
    body = f"s: {{k: [\n  {value} # C\n  ], z: 1}}"
    assert after(out_of_what_goes, body) == f"s: {{z: 1}}\nv: {value} # C\n"
    with pytest.raises(KrmfnError, match=r"s cannot be written: the comment '# C' would be lost in brackets"):
        after(out_of_another_kind, body)


SOURCES = {
    "behind": ("s: [\n  {}, # A\n  b]\n", "", " # A"),
    "behind the comma": ("s: [\n  {}\n  , # A\n  b]\n", "", " # A"),
    "above": ("s: [\n  # A\n  # B\n  {},\n  b]\n", "# A\n# B\n", ""),
    "both": ("s: [\n  # A\n  {}, # B\n  b]\n", "# A\n", " # B"),
    "lines": ("s:\n# A\n- {} # B\n- b\n", "# A\n", " # B"),
}
"""A list whose first entry has comments, and these as they stand above a value and behind it, over lines."""


def onto_the_first(data: Data) -> None:
    data["t"][0] = data["s"].pop(0)


def instead_of_the_first(data: Data) -> None:
    del data["t"][0]
    data["t"].append(data["s"].pop(0))


def as_the_only_one(data: Data) -> None:
    data["t"] = [data["s"].pop(0)]


def before_the_first(data: Data) -> None:
    data["t"].insert(0, data["s"].pop(0))


def under_a_key(data: Data) -> None:
    data["v"] = data["s"].pop(0)


def as_all_goes(data: Data) -> None:
    data["v"] = data.pop("s")[0]


def as_all_of_it(data: Data) -> None:
    data["s"] = data["s"][0]


T, REST = "t:\n# HX\n- x # X\n", "t:\n{above}- {value}{behind}\n"
PLACES: dict[Callable[[Data], None], str] = {
    onto_the_first: "{s}" + REST,
    instead_of_the_first: "{s}" + REST,
    as_the_only_one: "{s}" + REST,
    before_the_first: "{s}" + REST + T[3:],
    under_a_key: "{s}" + T + "{above}v: {value}{behind}\n",
    as_all_goes: T + "{above}v: {value}{behind}\n",
    as_all_of_it: "{above}s: {value}{behind}\n" + T,
}


@pytest.mark.parametrize("value", ["aaa", "'aaa'", "{a: b}", "[a]"])
@pytest.mark.parametrize("edit", PLACES, ids=lambda edit: edit.__name__)
@pytest.mark.parametrize("source", SOURCES)
def test_its_comments_go_with_it_and_no_other_ones(source: str, edit: Callable[[Data], None], value: str) -> None:
    """Those of an entry in whose place it stands go with that."""
    body, above, behind = SOURCES[source]
    rest = "s:\n- b\n" if source == "lines" else "s: [\n  b]\n"
    expected = PLACES[edit].format(s=rest, above=above, value=value, behind=behind)
    assert after(edit, body.format(value) + T) == expected


def gone(data: Data) -> None:
    del data["s"]["k"]


def written_over(data: Data) -> None:
    data["s"]["k"] = "new"


@pytest.mark.parametrize(("edit", "expected"), [(gone, "s: {z: 1}\n"), (written_over, "s: {k: new, z: 1}\n")])
def test_what_moves_nowhere_goes_with_its_comments(edit: Callable[..., object], expected: str) -> None:
    assert after(edit, "s: {k: [\n  vvv # C\n  ], z: 1}") == expected


def first_to_other(one: Data, other: Data) -> None:
    other["u"]["w"] = one["s"].pop(0)


def key_to_other(one: Data, other: Data) -> None:
    other["u"]["w"] = one["s"].pop("a")


@pytest.mark.parametrize(
    ("edit", "body", "rest", "moved"),
    [
        (first_to_other, "s: [\n  # A\n  aaaa,\n  b]", "s: [\n  b]\n", "  # A\n  w: aaaa\n"),
        (first_to_other, "s: [\n  # A\n  {a: 1},\n  b]", "s: [\n  b]\n", "  # A\n  w: {a: 1}\n"),
        (first_to_other, "s: [\n  aaaa\n  , # A\n  b]", "s: [\n  b]\n", "  w: aaaa # A\n"),
        (first_to_other, "s: [\n  {a: 1}\n  , # A\n  b]", "s: [\n  b]\n", "  w: {a: 1} # A\n"),
        (key_to_other, "s: {a: # A\n    aaaa, c: 1}", "s: {c: 1}\n", "  w: aaaa # A\n"),
        (key_to_other, "s: {a: # A\n    {k: 1}, c: 1}", "s: {c: 1}\n", "  w: {k: 1} # A\n"),
    ],
)
def test_a_comment_beside_it_goes_to_another_item(
    edit: Callable[..., object], body: str, rest: str, moved: str
) -> None:
    assert after(edit, body, "u:\n  v: 1") == f"{rest}---\nu:\n  v: 1\n{moved}"


@pytest.mark.parametrize("value", ["aaaa", "{a: 1}"])
def test_other_brackets_have_no_line_for_it(value: str) -> None:
    with pytest.raises(KrmfnError, match=r"the comment '# A'.* would be lost"):
        after(first_to_other, f"s: [\n  # A\n  {value},\n  b]", "u: {v: 1}")


def first_copied(one: Data, other: Data) -> None:
    other["u"]["w"] = one["s"][0]


def test_a_copy_leaves_it_where_it_is() -> None:
    body = "s: [\n  # A\n  {a: 1},\n  b]\n"
    assert after(first_copied, body, "u: {v: 1}") == f"{body}---\nu: {{v: 1, w: {{a: 1}}}}\n"


def out_of_what_moves(one: Data, other: Data) -> None:
    moving = other["s"].pop("k")
    one["l"].append(moving.pop("j"))
    other["b"].append(moving)


def test_what_leaves_a_value_that_moves_takes_its_comment_along() -> None:
    out = after(out_of_what_moves, "l:\n- q", "s: {k: {\n  i: 1,\n  j: vvv, # C\n  }}\nb:\n- u")
    assert out == "l:\n- q\n- vvv # C\n---\ns: {}\nb:\n- u\n- {\n  i: 1,\n  }\n"


@pytest.mark.parametrize("is_rebuilt", [True, False], ids=["replace", "in place"])
def test_what_is_edited_in_what_moved_keeps_the_comment_behind_its_bracket(is_rebuilt: bool) -> None:
    """The entry behind the new one is known by what it shares with the one that was there, and so is `b` in it."""
    body = "  l:\n  - n: # N\n      o: 1\n  - k:\n    - a: 1 # A\n      b: {x: 'v', y: 2} # B\n"
    text = HEAD + ITEM.format("a").replace("kind", "apiVersion: v1\n  kind", 1) + body
    resources = ResourceList.parse(text.encode())
    (item,) = resources.items
    manifest = copy.deepcopy(item.manifest) if is_rebuilt else item.manifest
    manifest["l"].insert(1, manifest["l"][1]["k"][0]["b"].pop("x"))
    if is_rebuilt:
        resources.replace(item, json.loads(json.dumps(manifest)))
    assert resources.to_bytes().decode() == text.replace("x: 'v', ", "").replace("  - k", "  - 'v'\n  - k")


def onto_an_equal_one(data: Data) -> None:
    data["t"] = data.pop("s")


@pytest.mark.parametrize("value", ["\n  a: b # B\n", " {a: b} # B\n", " [\n  a, # A\n  b]\n", "\n- a # A\n- b\n"])
def test_what_comes_onto_equal_data_has_its_comments(value: str) -> None:
    old = " {a: b}\n" if ":" in value else " [a, b]\n"
    assert after(onto_an_equal_one, f"s:{value}t:{old}") == f"t:{value}"


def into_its_own_part(data: Data) -> None:
    outer = data["s"].pop("outer")
    inner = outer.pop("inner")
    inner["moved"] = outer
    data["s"]["inner"] = inner


def test_a_value_goes_into_what_was_in_it() -> None:
    body = "s:\n  outer:\n    a: 1 # of a\n    inner:\n      b: 2 # of b\n  c: 3"
    out = after(into_its_own_part, body)
    assert out == "s:\n  c: 3\n  inner:\n    b: 2 # of b\n    moved:\n      a: 1 # of a\n"


def into_brackets(data: Data) -> None:
    data["f"]["v"] = data["s"].pop(0)


def one_of_two(data: Data) -> None:
    data["v"] = data["s"].pop(0)
    data["s"].clear()


@pytest.mark.parametrize(
    ("edit", "body", "field", "expected"),
    [
        (into_brackets, "s: [\n  aaa, # A\n  b]\nf: {e: 1}\n", "comment", "s: [\n  b]\nf: {e: 1, v: aaa}\n"),
        (into_brackets, "s: [\n  # A\n  aaa,\n  b]\nf: {e: 1}\n", "head_comment", "s: [\n  b]\nf: {e: 1, v: aaa}\n"),
        (into_brackets, "s: [{k: v\n  # A\n  , i: j},\n  b]\nf: {e: 1}\n", "", ""),
        (into_brackets, "s:\n- aaa # A\n- b\nf: {e: 1}\n", "comment", "s:\n- b\nf: {e: 1, v: aaa}\n"),
        (one_of_two, "s: [\n  1, # A\n  1\n  ]\n", "comment", "s: []\nv: 1\n"),
        (one_of_two, "s: [\n  # A\n  1,\n  1]\n", "head_comment", "s: []\nv: 1\n"),
    ],
)
def test_what_a_refusal_advises_works(edit: Callable[[Data], None], body: str, field: str, expected: str) -> None:
    """The comment is cleared, or the brackets are written over lines."""
    with pytest.raises(KrmfnError, match=r"comment '# A'.*(over lines|by `field.comment`)"):
        after(edit, body)
    lines = body.replace("f: {e: 1}", "f:\n  e: 1")
    assert edit is one_of_two or "# A\n" in after(edit, lines)
    if field:
        resources = ResourceList.parse((HEAD + ITEM.format("a") + re.sub("(?m)^", "  ", body.rstrip()) + "\n").encode())
        (item,) = resources.items
        setattr(item.at("s[0]"), field, "")
        assert getattr(item.at("s[0]"), field) == ""
        edit(item.manifest)
        assert resources.to_bytes().decode() == HEAD + ITEM.format("a") + re.sub("(?m)^(?=.)", "  ", expected)


FIELDS = """\
s: [ # of s
  # above one
  # again
  one, # of one
  {k: # of k
    v, l: [
      x # of x
      ]}, two
  , # of two
  *x,# of the alias
  'three' # of three
  # of nobody
  ]
"""
BESIDE = {
    "s": ("of s", "", 0),
    "s[0]": ("of one", "above one\nagain", 3),
    "s[1]": ("", "", 0),
    "s[1].k": ("of k", "", 1),
    "s[1].l[0]": ("of x", "", 1),
    "s[2]": ("of two", "", 1),
    "s[3]": ("of the alias", "", 1),
    "s[4]": ("of three", "", 1),
}


def test_comments_in_brackets_are_read_and_cleared_and_none_is_written() -> None:
    for path, (comment, head, number) in BESIDE.items():
        text = HEAD + ITEM.format("a") + re.sub("(?m)^(?=.)", "  ", "x: &x 1\n" + FIELDS)
        resources = ResourceList.parse(text.encode())
        (item,) = resources.items
        field = item.at(path)
        assert (field.comment if path != "s" else "of s", field.head_comment) == (comment, head)
        if path != "s":
            with pytest.raises(KrmfnError, match="it has no line of its own"):
                field.comment = "new"
            with pytest.raises(KrmfnError, match="it has no line of its own"):
                field.head_comment = "new"
            field.comment = field.head_comment = ""
            assert (field.comment, field.head_comment) == ("", "")
        out = resources.to_bytes().decode()
        assert out.count("#") == text.count("#") - number
        assert ResourceList.parse(out.encode()).items[0].manifest == ResourceList.parse(text.encode()).items[0].manifest
