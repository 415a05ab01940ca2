"""Random edits of whole items: the data is that of the same edit on plain dicts, and comments follow their entries."""

from __future__ import annotations

import copy
import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.scalarstring import FoldedScalarString, LiteralScalarString

from krmfn.errors import KrmfnError
from krmfn.fields import ItemField
from krmfn.resource import same
from krmfn.resourcelist import ResourceList
from krmfn.yamltext import edit, load
from tests.test_corpus import ACCEPTED

BLOCK = """\
- apiVersion: apps/v1 # the version
  kind: Deployment
  # of metadata
  metadata: # who
    name: "web" # its name
    labels: {team: shop, tier: 'web'} # in brackets
  spec: # what
    replicas: 3 # three
    # of the containers
    containers: # all
      # the first
      - name: app # app
        image: app:1 # kpt-set: app
        args: [a, "b", c] # args
        # of the ports
        ports:
        - containerPort: 80 # http
          protocol: TCP # tcp
        - containerPort: 443 # https
      # the second
      - name: side # side
        image: 'side:1' # kpt-set: side
        script: | # a script
          # no comment
          echo
        nothing: # nothing
      - name: last # last
        image: last:1 # kpt-set: last
        folded: >-
          a
          b
    words: # words
    - one # of one
    # above two
    - two # of two
    - three # of three
    - {a: b} # of a
  last: true # the last
"""
TEXTS = [
    BLOCK,
    BLOCK.replace("{team: shop, tier: 'web'} # in brackets", "x").replace("{a: b} # of a", "four # of four"),
    BLOCK.replace("name: app # app", "name: &n app # app").replace("nothing: # nothing", "alias: *n # alias"),
]
HEAD = b"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
UNPLACED = "would be lost in brackets|nothing says which|or one of them would be lost"
"""Of what moved, or may have: a null that went and one that came are the same."""
LOST = r"comments or spellings|an alias elsewhere needs it|`<<` brings it|comment '.*' would be lost|or `<<` would be"
LOST += "|nothing says which|or one of them would be lost|its comments would be lost, since"
LOST += "|entries change places, and one has the comment|would become another one, which nobody edited"
"""Why an edit may be refused."""
WORDS = st.sampled_from(["x", "yes", "", "a: b", "# c", "two", "app:2", "1", "a\nb\n", "ä", "{a}", "a,b"])
LEAVES = st.one_of(WORDS, st.integers(-3, 3), st.booleans(), st.none(), st.just([]), st.just({}), st.just({"a": ["b"]}))


def corpus() -> list[str]:
    texts = []
    for path in ACCEPTED:
        try:
            resources = ResourceList.parse(path.read_bytes())
            texts += [item.text.decode() for item in resources.items if item.manifest and item.indent == 0]
        except KrmfnError:
            continue
    return texts


def spots(value: Any) -> Iterator[Any]:
    """Every mapping and list in it."""
    if isinstance(value, (dict, list)) and value:
        yield value
        for child in value.values() if isinstance(value, dict) else value:
            yield from spots(child)


def edited(data: Any, draw: Any) -> Any:
    """A copy with some edits: scalars set, keys and entries added, removed, moved."""
    data = copy.deepcopy(data)
    for _ in range(draw(st.integers(1, 3))):
        places = [*spots(data)]
        place = draw(st.sampled_from(places)) if places else None
        if isinstance(place, dict):
            key = draw(st.sampled_from([key for key in (*place, "added") if key not in ("name", "containerPort")]))
            action = draw(st.sampled_from(["set", "remove", "set"]))
            if action == "remove" and key in place and len(place) > 1:
                del place[key]
            else:
                place[key] = copy.deepcopy(draw(LEAVES))
        elif isinstance(place, list):
            at = draw(st.integers(0, len(place) - 1))
            action = draw(st.sampled_from(["insert", "remove", "swap", "reverse", "append", "shuffle"]))
            if action in ("insert", "append"):
                fresh = {"name": "new", "image": "new:1"} if isinstance(place[0], dict) else copy.deepcopy(draw(LEAVES))
                place.insert(at if action == "insert" else len(place), fresh)
            elif action == "remove" and len(place) > 1:
                del place[at]
            elif action == "swap":
                place[0], place[at] = place[at], place[0]
            elif action == "reverse":
                place.reverse()
            elif action == "shuffle":
                place[:] = draw(st.permutations(place))
    return data


def remarks(text: str) -> dict[tuple[str, ...], tuple[str, str]]:
    """The value and the comment of every scalar in a mapping, as ruamel.yaml reads it; entries by their names."""
    comments: dict[tuple[str, ...], tuple[str, str]] = {}

    def visit(tree: Any, path: tuple[str, ...]) -> None:
        if isinstance(tree, CommentedMap):
            for key, value in tree.items():
                spot = (*path, str(key))
                tokens = tree.ca.items.get(key)
                words = tokens[2].value.split("\n")[0].strip() if tokens and len(tokens) > 2 and tokens[2] else ""
                if isinstance(value, (dict, list, FoldedScalarString, LiteralScalarString)):
                    comments[spot] = ("", "")  # its comment is on another token
                else:
                    comments[spot] = (repr(value), words)
                visit(value, (*path, str(key)))
        elif isinstance(tree, CommentedSeq):
            for at, value in enumerate(tree):
                name = value.get("name", value.get("containerPort")) if isinstance(value, dict) else value
                visit(value, (*path, f"{name or at}"))

    visit(YAML().load(text), ())
    return comments


def entries(text: str) -> Counter[tuple[str, str]]:
    """The value and the comment of every scalar in a list over lines, as ruamel.yaml reads it."""

    def visit(tree: Any) -> Iterator[tuple[str, str]]:
        for at, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
            if isinstance(value, (dict, list)):
                yield from visit(value)
            elif isinstance(tree, CommentedSeq):
                token = (tree.ca.items.get(at) or [None])[0]
                yield repr(value), token.value.split("\n")[0].strip() if token else ""

    return Counter(visit(YAML().load(text)))


def check_comments(text: str, new: Any) -> None:
    """Assert that the text edited to `new` means it, and that every comment stands where its value does."""
    try:
        out = edit.updated(text.encode(), new, 0).decode()
    except KrmfnError as failure:
        assert re.search(LOST if "&n" in text else UNPLACED, str(failure)), failure
        return
    assert same(load.read(out.encode()), [new]), out
    if "&n" in text and ("&n" not in out or "*n" not in out):
        return  # what was shared is written out
    before, after = remarks(text), remarks(out)
    for path, (value, words) in after.items():
        if path in before and before[path][0] == value:
            assert before[path][1] == words, f"{path}: {json.dumps(new)}\n{out}"
        elif path not in before and words:  # it is a value that moved: it went from its place with this comment
            gone = [before[old] for old in before if old not in after or after[old][0] != before[old][0]]
            gone += entries(text) - entries(out)
            assert (value, words) in gone, f"{path}: {json.dumps(new)}\n{out}"


@pytest.mark.parametrize("text", TEXTS, ids=["brackets", "simple", "alias"])
@given(choice=st.data())
def test_comments_follow_entries_through_random_edits(text: str, choice: st.DataObject) -> None:
    check_comments(text, edited(load.read(text.encode())[0], choice.draw))


@pytest.mark.parametrize("text", TEXTS, ids=["brackets", "simple", "alias"])
@pytest.mark.parametrize("at", range(3))
@pytest.mark.parametrize("places", [(0, 0), (0, 2), (1, 3), (4, 0)])
def test_two_new_entries_of_one_name_hide_no_other_s(text: str, at: int, places: tuple[int, int]) -> None:
    """A draw of the test above: a container changed, and two of one name beside it."""
    new = load.read(text.encode())[0]
    containers = new["spec"]["containers"]
    containers[at]["image"] = None
    for place in places:
        containers.insert(place, {"name": "new", "image": "new:1"})
    check_comments(text, new)


@given(choice=st.data())
def test_edits_of_the_corpus_mean_what_they_say(choice: st.DataObject) -> None:
    text = choice.draw(st.sampled_from(CORPUS))
    data = load.read(text.encode())
    if not isinstance(data, list) or not isinstance(data[0], dict):
        return
    new = edited(data[0], choice.draw)
    try:
        out = edit.updated(text.encode(), new, 0)
        assert same(load.read(out), [new]), out
        assert same(load.read(edit.updated(out, data[0], 0)), data)
    except KrmfnError as failure:
        assert re.search(LOST, str(failure)), failure


@given(choice=st.data())
def test_a_list_that_is_moved_keeps_every_line(choice: st.DataObject) -> None:
    """Only the order of the lines changes where only the order of entries does."""
    text = choice.draw(st.sampled_from(TEXTS))
    data = load.read(text.encode())[0]
    new = copy.deepcopy(data)
    lists = [place for place in spots(new) if isinstance(place, list)]
    place = choice.draw(st.sampled_from(lists))
    place[:] = choice.draw(st.permutations(place))
    try:
        out = edit.updated(text.encode(), new, 0).decode()
    except KrmfnError as failure:
        assert re.search(LOST if "&n" in text else UNPLACED, str(failure)), failure
        return
    if place and "&n" not in text and not isinstance(place[0], str):
        assert sorted(out.split("\n")) == sorted(text.split("\n"))
    assert same(load.read(out.encode()), [new])


CORPUS = corpus()


def scalars(node: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The values of a text that are no list and no mapping, by their paths."""
    if node.id == "scalar":
        yield path, node
    for at, entry in enumerate(node.value if node.id != "scalar" else ()):
        key, value = entry if isinstance(entry, tuple) else (None, entry)
        yield from scalars(value, (*path, key.value if key else str(at)))


@given(choice=st.data())
def test_all_other_bytes_stay_when_a_scalar_of_the_corpus_is_written(choice: st.DataObject) -> None:
    text = choice.draw(st.sampled_from([*CORPUS, *TEXTS]))
    item = ResourceList.parse(HEAD + text.encode()).items[0]
    node = load.compose(item.text)
    values = dict(scalars(node.value[0])) if node else {}
    places = [path for path in values if path and "<<" not in path and "" not in path]
    if not places or item.content.duplicate_keys:
        return
    path = choice.draw(st.sampled_from(places))
    new = choice.draw(WORDS | st.integers(-3, 3) | st.booleans())
    old = values[path]
    field = ItemField(item, path)
    above = ItemField(item, path[:-1]).value
    if isinstance(above, list) and any(map(same, above, [new] * len(above))):
        return  # a comment follows its value, which is there twice now
    try:
        field.value = new
        out = item.text.decode()
    except KrmfnError as failure:
        assert re.search(f"{LOST}|is shared by an anchor and its aliases|only what JSON has", str(failure)), failure
        return
    assert same(load.read(out.encode()), [item.manifest])
    if old.style in ("|", ">") or (not old.style and not old.value) or text[old.start_mark.index] in "&!":
        return  # a block is written anew with its key, as is a key without a value; what is shared is written out
    before, after = text[: old.start_mark.index], text[old.end_mark.index :]
    assert out.startswith(before), (path, out)
    assert out.endswith(after), (path, out)
