"""The comment beside an alias stays or goes with it, or the edit that would move its value is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from krmfn import KrmfnError, ResourceList

HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- kind: A\n  x: &x {}\n"
Edit = Callable[[dict[str, Any]], object]


def listed(anchored: str, body: str) -> ResourceList:
    lines = "".join(f"  {line}\n" for line in body.split("\n"))
    return ResourceList.parse((HEAD.replace("{}", anchored) + lines).encode())


MOVES: dict[str, tuple[str, str, Edit]] = {
    "renamed": ("a: *x # A", "a", lambda m: m.update(b=m.pop("a"))),
    "a comment above": ("# A\na: *x", "a", lambda m: m.update(b=m.pop("a"))),
    "into a list": ("a: *x # A\nl:\n- u", "a", lambda m: m["l"].append(m.pop("a"))),
    "into a mapping that is new": ("a: *x # A", "a", lambda m: m.update(b={"c": m.pop("a")})),
    "onto another value": ("a: *x # A\nb: u", "a", lambda m: m.update(b=m.pop("a"))),
    "out of a list": ("l:\n- u\n- *x # A", "l[1]", lambda m: m.update(b=m["l"].pop())),
    "out of brackets": ("s: {a: *x, # A\n  b: u}", "s.a", lambda m: m.update(b=m["s"].pop("a"))),
    "while what held it goes": ("s:\n  a: *x # A\n  c: d", "s.a", lambda m: m.update(b=m.pop("s")["a"])),
    "while its list goes": ("s:\n- a: u\n  c: *x # A", "s[0].c", lambda m: m.update(b=m.pop("s")[0]["c"])),
    "while what held it gets another value": ("s:\n  a: *x # A", "s.a", lambda m: m.update(b=m["s"]["a"], s="u")),
    "deeper": ("s:\n  t:\n  - a: *x # A\n    u: v", "s.t[0].a", lambda m: m.update(b=m["s"]["t"][0].pop("a"))),
}


@pytest.mark.parametrize("anchored", ["word", "5", "true", "{k: v}", "[u, v]"])
@pytest.mark.parametrize("name", MOVES)
def test_the_value_of_an_alias_with_a_comment_does_not_move(name: str, anchored: str) -> None:
    """The comment was lost in silence."""
    body, path, edit = MOVES[name]
    resources = listed(anchored, body)
    edit(resources.items[0].manifest)
    with pytest.raises(
        KrmfnError, match=r"the comment '# A' is beside an alias, which stays; clear it first"
    ) as failure:
        resources.to_bytes()
    assert f" {path} cannot move: " in f" {failure.value}" or f"{path}: " in str(failure.value), failure.value


@pytest.mark.parametrize("name", MOVES)
def test_a_comment_that_a_field_has_can_be_cleared_before(name: str) -> None:
    body, path, edit = MOVES[name]
    resources = listed("word", body)
    field = resources.items[0].at(path)
    field.comment = field.head_comment = ""
    edit(resources.items[0].manifest)
    assert b"# A" not in resources.to_bytes()


KEPT: dict[str, tuple[str, Edit, str]] = {
    "deleted": ("a: *x # A\nz: u", lambda m: m.pop("a"), "z: u"),
    "another value": ("a: *x # A", lambda m: m.update(a="u"), "a: u # A"),
    "what holds it moves": ("a: # B\n  y: *x # A", lambda m: m.update(b=m.pop("a")), "b: # B\n  y: *x # A"),
    "its list is turned": ("l:\n- u\n- *x # A", lambda m: m["l"].reverse(), "l:\n- *x # A\n- u"),
    "it goes, and something else comes": ("a: *x # A", lambda m: (m.pop("a"), m.update(b="u")), "b: u"),
    "all that holds it goes": ("s:\n  a: *x # A\n  c: d", lambda m: (m.pop("s"), m.update(b="u")), "b: u"),
    "all that holds it moves, and an equal one comes": (
        "s:\n  a: *x # A\n  c: d",
        lambda m: m.update(b=m.pop("s"), e="word"),
        "b:\n  a: *x # A\n  c: d\ne: word",
    ),
    "no comment": ("a: *x", lambda m: m.update(b=m.pop("a")), "b: word"),
}


def test_the_first_key_behind_a_dash_goes_though_it_is_an_alias() -> None:
    """The whole entry was taken for the alias, so that was refused."""
    resources = listed("word", "l:\n- a: *x\n  u: v")
    del resources.items[0].manifest["l"][0]["a"]
    assert resources.to_bytes() == listed("word", "l:\n- u: v").to_bytes()


@pytest.mark.parametrize("name", KEPT)
def test_all_else_goes_on(name: str) -> None:
    body, edit, expected = KEPT[name]
    resources = listed("word", body)
    edit(resources.items[0].manifest)
    assert resources.to_bytes() == listed("word", expected).to_bytes()


LISTS = """\
a: *x # A
l:
- u # U
# above
- *x # L
- w # W
s: [*x, # S
  v, # V
  # over
  *x # T
  ]"""


@pytest.mark.parametrize("anchored", ["word # X", "{k: v} # X", "[u, v] # X"])
def test_an_alias_in_a_list_has_its_own_comments(anchored: str) -> None:
    """Those of the entry with the anchor were read and written in their place; in brackets there were none."""
    item = listed("u", "l:\n- &x " + anchored + "\n" + LISTS.partition("l:\n")[2]).items[0]
    comments = {name: item.at(name).comment for name in ("l[0]", "l[1]", "l[2]", "l[3]", "s[0]", "s[1]", "s[2]")}
    wanted = {"l[0]": "X", "l[1]": "U", "l[2]": "L", "l[3]": "W", "s[0]": "S", "s[1]": "V", "s[2]": "T"}
    assert comments == wanted
    assert [item.at(name).head_comment for name in ("l[2]", "s[2]")] == ["above", "over"]
    item.at("l[2]").comment, item.at("l[2]").head_comment = "M", "new"
    item.at("s[0]").comment = item.at("s[2]").comment = ""
    lines = [line.strip() for line in item.text.decode().split("\n")]
    assert "- *x # M" in lines
    assert "# new" in lines
    assert "s: [*x," in lines
    assert "*x" in lines
    assert f"- &x {anchored}" in lines


@pytest.mark.parametrize("name", ["a", "l[1]", "s[2]"])
def test_the_comment_of_an_alias_goes_with_its_word_to_another_item(name: str) -> None:
    other = "- kind: B\n  z: u\n"
    resources = ResourceList.parse(listed("word", LISTS).to_bytes() + other.encode())
    giver, taker = resources.items
    words = giver.at(name).comment
    *_, last = parts = [*giver.at(name).parts]
    holder: Any = giver.manifest if len(parts) == 1 else giver.manifest[parts[0]]
    taker.manifest["z"] = holder.pop(int(last) if isinstance(holder, list) else last)
    out = resources.to_bytes().decode()
    assert f"  z: word # {words}\n" in out
    assert f"*x # {words}" not in out


INTO_OTHER: dict[str, tuple[str, str, Edit]] = {
    "a value": ("a: *x # A", "a", lambda m: m.pop("a")),
    "a comment above": ("# A\na: *x", "a", lambda m: m.pop("a")),
    "an entry": ("l:\n- u\n- *x # A", "l[1]", lambda m: m["l"].pop()),
    "a value in brackets": ("s: {a: *x, # A\n  b: u}", "s.a", lambda m: m["s"].pop("a")),
    "while what held it goes": ("s:\n  a: *x # A\n  c: d", "s.a", lambda m: m.pop("s")["a"]),
    "while its list goes": ("s:\n- a: u\n  c: *x # A", "s[0].c", lambda m: m.pop("s")[0]["c"]),
}


@pytest.mark.parametrize("anchored", ["{k: v}", "[u, v]", "[]"])
@pytest.mark.parametrize("is_read", [True, False])
@pytest.mark.parametrize("name", INTO_OTHER)
def test_nor_does_it_move_to_another_item(name: str, is_read: bool, anchored: str) -> None:
    body, path, edit = INTO_OTHER[name]
    resources = ResourceList.parse(listed(anchored, body).to_bytes() + b"- kind: B\n  z: {}\n")
    giver, taker = resources.items
    value = edit(giver.manifest)
    assert not is_read or giver.text
    taker.manifest["z"]["w"] = value
    with pytest.raises(KrmfnError, match=r"cannot move: the comment '# A' is beside an alias, which stays; clear it"):
        resources.to_bytes()
    resources = ResourceList.parse(listed(anchored, body).to_bytes() + b"- kind: B\n  z: {}\n")
    giver, taker = resources.items
    field = giver.at(path)
    field.comment = field.head_comment = ""
    taker.manifest["z"]["w"] = edit(giver.manifest)
    assert b"# A" not in resources.to_bytes()


@pytest.mark.parametrize("is_removed", [True, False])
@pytest.mark.parametrize(
    "value", ["# A\n      b: c", "\n    # A\n    - b", "\n      # A\n      b: c", "[\n      b # A\n      ]"]
)
def test_what_an_alias_needs_goes_to_no_other_item_without_its_comments(value: str, is_removed: bool) -> None:
    """A copy of it had none, in silence, and with its item they were lost."""
    lines = f"    m: &m {value}\n    o: *m\n".replace("&m \n", "&m\n")
    text = f"{HEAD}- apiVersion: v1\n  kind: A\n  metadata: {{name: a}}\n  spec:\n{lines}"
    text += "- apiVersion: v1\n  kind: A\n  metadata: {name: b}\n  spec: {}\n"
    resources = ResourceList.parse(text.encode())
    giver, taker = resources.items[1:]
    taker.manifest["spec"]["k"] = giver.manifest["spec"]["m"]
    if is_removed:
        resources.remove(giver)
    with pytest.raises(KrmfnError, match=r"its anchor &m stays|would be lost in brackets"):
        resources.to_bytes()
