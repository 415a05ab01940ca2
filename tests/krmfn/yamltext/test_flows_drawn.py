"""Edits in brackets of drawn documents: every character of the other entries stays, or the edit is refused.

Both readers find what was meant: Kubernetes, and kustomize, to which a plain `yes` is a string. Each
word of a document is another one, or an odd one, and each comment says where it stands.
"""

from __future__ import annotations

import copy
import json
import re
from typing import Any

from hypothesis import event, given
from hypothesis import strategies as st

from krmfn import KrmfnError
from krmfn.resource import same
from krmfn.yamltext import edit, load, positions, simple
from krmfn.yamltext.simple import PLAIN

META = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
ODD = ("yes", "n", "on", "OFF", "0o17", "1e3", "1_000", "2001-01-01", "1.10", "null", "~", "''", '"y"', "'a, b'", "a b")
KEYS = ("n", "yes", "on", "a", "b-c", '"q"', "'r'", '"0o17"', "d.e/f")
NEW = ("new", "yes", "a, b", 7, None, {"k": "new"}, ["new"])
REFUSALS = r"anchor &w\d+ is there|\(\*\)|in quotes first|to Kubernetes and|change places|its comments would be lost"
REFUSALS += r"|would be lost in brackets"  # a null that was in what went may be the one that comes


class Writer:
    """Writes values in brackets: nested, over lines, with comments, anchors and aliases."""

    def __init__(self, draw: st.DrawFn, is_json: bool) -> None:
        self.draw, self.is_json, self.number, self.anchors = draw, is_json, 0, list[str]()

    def value(self, depth: int, pad: str) -> str:
        kinds = ("list", "mapping") if depth == 3 else ("word", "word", "odd", "list", "mapping")
        kind = self.draw(st.sampled_from(kinds if depth else ("word", "odd")))
        self.number += 1
        word = f"w{self.number}"
        if kind in ("list", "mapping"):
            has_anchor = not self.is_json and self.draw(st.sampled_from((0, 0, 0, 1)))
            text = (f"&{word} " if has_anchor else "") + self.brackets(kind, depth, pad)
            self.anchors += [word] if has_anchor else []
            return text
        if self.is_json:
            return self.draw(st.sampled_from((f'"{word}"', "1.10", "1e3", "null", '"yes"', "true")))
        if self.anchors and self.draw(st.sampled_from((0, 0, 1))):
            return f"*{self.draw(st.sampled_from(self.anchors))}"
        if kind == "word" and self.draw(st.sampled_from((0, 0, 1))):
            self.anchors.append(word)
            return f"&{word} {word}"
        return self.draw(st.sampled_from(ODD)) if kind == "odd" else word

    def brackets(self, kind: str, depth: int, pad: str) -> str:
        keys = self.draw(st.lists(st.sampled_from(KEYS), max_size=3, unique=True))
        keys = [json.dumps(key.strip("\"'")) for key in keys] if self.is_json else keys
        layout = self.draw(st.sampled_from(("line", "lines", "mixed", "line" if self.is_json else "comments")))
        gap, colon = self.draw(st.sampled_from((" ", ""))), self.draw(st.sampled_from((": ", ":")))
        colon = colon if self.is_json else ": "
        body = ""
        for at, key in enumerate(keys):
            body += ("" if kind == "list" else key + colon) + self.value(depth - 1, pad + "  ")
            body += self.behind(layout, gap, pad, at == len(keys) - 1)
        first = f"\n{pad}" if layout in ("lines", "comments") and keys else ""
        return f"[{first}{body}]" if kind == "list" else f"{{{first}{body}}}"

    def behind(self, layout: str, gap: str, pad: str, is_last: bool) -> str:
        comma = "" if is_last and (self.is_json or self.draw(st.booleans())) else ","
        if layout == "line" or (layout == "mixed" and self.draw(st.booleans())):
            return comma + gap * (not is_last)
        comment = f" # c{self.number}" if layout == "comments" else ""
        return f"{comma}{comment}\n{pad[:-1] if is_last else pad}"


@st.composite
def documents(draw: st.DrawFn) -> str:
    """A document whose `v` is in brackets; in JSON all of it is."""
    is_json = draw(st.sampled_from((False, False, True)))
    value = Writer(draw, is_json).value(3, "    ")
    text = f"{META}v: {value}\nw: 1\n"
    if is_json:
        text = f'{{"apiVersion": "v1", "kind": "A", "metadata": {{"name": "a"}},\n "v": {value}}}\n'
    return text.replace("\n", draw(st.sampled_from(("\n", "\n", "\n", "\r\n"))))


def places(value: Any, path: tuple[Any, ...] = ("v",)) -> list[tuple[Any, ...]]:
    """The paths of all collections in a value, itself first."""
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    inner = [place for key, part in parts if isinstance(part, (dict, list)) for place in places(part, (*path, key))]
    return [path, *inner]


def at(data: Any, path: tuple[Any, ...], is_view: bool = False) -> Any:
    """What is at a path, in data or in what `as_kustomize` returns."""
    for part in path:
        data = data[part][1] if is_view and isinstance(data, dict) else data[part]
    return data


def change_of(draw: Any, place: Any) -> tuple[str, Any]:
    """One change of a collection: "set", "add" or "remove", and the key or index."""
    if isinstance(place, list):
        number = draw(st.integers(0, len(place)))
        return draw(st.sampled_from(("add", "set", "remove") if number < len(place) else ("add",))), number
    key = draw(st.sampled_from((*place, "added")))
    return draw(st.sampled_from(("set", "remove"))) if key in place else "add", key


def apply(data: Any, change: tuple[str, Any], value: Any) -> None:
    kind, name = change
    if kind == "remove":
        del data[name]
    elif kind == "add" and isinstance(data, list):
        data.insert(name, value)
    else:
        data[name] = value


def as_kustomize(node: Any) -> Any:
    """What kustomize reads in a node tree, each scalar as it is spelled; the keys by their names to Kubernetes."""
    if node.id == "scalar":
        value = "15" if node.tag == PLAIN and node.value == "0o17" else node.value  # to both the same number
        return f"{'plain' if node.tag == PLAIN else 'text'} {value}"
    if node.id == "sequence":
        return [*map(as_kustomize, node.value)]
    return {positions.key_name(key): [key_as_kustomize(key), as_kustomize(value)] for key, value in node.value}


def key_as_kustomize(node: Any) -> Any:
    """The same of a key, to which quotes do not matter where it is text without them: a copy of an alias drops them."""
    if node.id == "scalar" and node.value and type(simple.scalar(node.value)) is str:
        return f"text {node.value}"
    return as_kustomize(node)


@given(choice=st.data())
def test_an_edit_in_brackets_changes_its_entry_and_nothing_else(choice: st.DataObject) -> None:
    text = choice.draw(documents())
    try:
        before = load.read(text.encode())
    except KrmfnError:
        return  # two of the odd keys are one to Kubernetes
    path = choice.draw(st.sampled_from(places(before["v"])))
    change = change_of(choice.draw, at(before, path))
    data = copy.deepcopy(before)
    apply(at(data, path), change, choice.draw(st.sampled_from(NEW)))
    try:
        out = edit.updated(text.encode(), data, -2).decode()
    except KrmfnError as failure:
        event(f"refused: {str(failure)[:30]}")
        assert re.search(REFUSALS, str(failure)), failure
        return
    event(change[0])
    assert same(load.read(out.encode()), data)
    assert not text.startswith("{") or json.loads(out)
    assert out.count("\r\n") == (out.count("\n") if "\r" in text else 0)
    is_part = any(same(at(data, path), at(before, inner)) for inner in places(before["v"]) if inner != path)
    if at(before, path) and at(data, path) and not is_part:  # else all of it may be written anew, or be that part
        check_rest(change[0], text, out)
    if len({*map(repr, at(before, path))}) == len(at(before, path)):  # else of equal ones another may be taken
        check_view(text, out, path, change)


def check_view(text: str, out: str, path: tuple[Any, ...], change: tuple[str, Any]) -> None:
    """Hold what kustomize reads before and after against each other: but for what was written it is the same."""
    views = [as_kustomize(load.compose(part.encode())) for part in (text, out)]
    holders = [at(view, path, is_view=True) for view in views]
    is_mapping = isinstance(holders[0], dict)
    apply(holders[0], change, "new")
    if change[0] != "remove":
        holders[1][change[1]] = "new"
    assert views[0] == views[1]
    assert not is_mapping or [*holders[0]] == [*holders[1]]


def check_rest(kind: str, text: str, out: str) -> None:
    """Hold the texts against each other: but for blanks and commas one piece of each differs at most."""
    old, new = (re.sub(r"[\s,]+", "", part) for part in (text, out))
    pairs = enumerate(zip(old, new, strict=False))
    start = next((at for at, (first, second) in pairs if first != second), min(len(old), len(new)))
    most = min(len(old), len(new)) - start
    end = next((at for at in range(most) if old[-1 - at] != new[-1 - at]), most)
    gone, come = old[start : len(old) - end], new[start : len(new) - end]
    is_written_out = gone.startswith("*")  # an alias, for what is in it
    assert is_written_out or not (gone if kind == "add" else come if kind == "remove" else ""), (gone, come)
