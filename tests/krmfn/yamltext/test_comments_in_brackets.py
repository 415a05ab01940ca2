"""The comment of what leaves brackets goes with it, or the edit is refused: none is lost."""

from __future__ import annotations

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


@pytest.mark.parametrize("edit", [out_of_what_goes, out_of_another_kind])
@pytest.mark.parametrize("value", ["vvv", "{a: b}"])
def test_what_leaves_brackets_that_go_is_refused(edit: Callable[..., object], value: str) -> None:
    with pytest.raises(KrmfnError, match=r"s\.k\[0\] cannot be written: the comment '# C' in brackets would be lost"):
        after(edit, f"s: {{k: [\n  {value} # C\n  ], z: 1}}")


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
        (first_to_other, "s: [\n  # A\n  {a: 1},\n  b]", "s: [\n  b]\n", "  w: {a: 1} # A\n"),
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


def into_its_own_part(data: Data) -> None:
    outer = data["s"].pop("outer")
    inner = outer.pop("inner")
    inner["moved"] = outer
    data["s"]["inner"] = inner


def test_a_value_goes_into_what_was_in_it() -> None:
    body = "s:\n  outer:\n    a: 1 # of a\n    inner:\n      b: 2 # of b\n  c: 3"
    out = after(into_its_own_part, body)
    assert out == "s:\n  c: 3\n  inner:\n    b: 2 # of b\n    moved:\n      a: 1 # of a\n"
