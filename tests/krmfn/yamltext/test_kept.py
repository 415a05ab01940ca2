"""Whichever way an item is edited, a comment stays with what it is about, or the edit is refused."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krmfn import KrmfnError, ResourceList
from krmfn.resource import same
from krmfn.yamltext import load

HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
META = "- apiVersion: example.com/v1\n  kind: Example\n  metadata:\n    name: a\n"


def by_item(resources: ResourceList, path: list[str | int], value: Any) -> None:
    resources.items[0].at(written(path)).value = value


def by_manifest(resources: ResourceList, path: list[str | int], value: Any) -> None:
    put(resources.items[0].manifest, path, value)


def by_replace(resources: ResourceList, path: list[str | int], value: Any) -> None:
    manifest = json.loads(json.dumps(resources.items[0].manifest))
    put(manifest, path, value)
    resources.replace(resources.items[0], manifest)


def by_upsert(resources: ResourceList, path: list[str | int], value: Any) -> None:
    manifest = json.loads(json.dumps(resources.items[0].manifest))
    put(manifest, path, value)
    resources.upsert([manifest])


def put(data: Any, path: list[str | int], value: Any) -> None:
    for part in path[:-1]:
        data = data[part]
    data[path[-1]] = value


def written(path: list[str | int]) -> str:
    return "".join(f"[{part}]" for part in path) if path else ""


Way = Callable[[ResourceList, list[str | int], Any], None]
WAYS: dict[str, Way] = {"item": by_item, "manifest": by_manifest, "replace": by_replace, "upsert": by_upsert}
KEPT: dict[str, tuple[str, list[str | int], Any, str, str]] = {
    "an alias in the list": ("x: &x {b: c}\nl:\n- *x # alias\n- d: 1 # d\n", ["l", 1, "d"], 2, "d: 1", "d: 2"),
    "an alias in the list is written": ("x: &x 1\nl:\n- *x # alias\n- 2 # d\n", ["l", 0], 3, "- *x #", "- 3 #"),
    "a list in a list": ("l:\n- - a # A\n  # above\n  - b # B\n", ["l", 0, 0], "c", "a # A", "c # A"),
    "an entry more in a list in a list": (
        "l:\n- - a # A\n  - b # B\n",
        ["l", 0],
        ["a", "b", "c"],
        "# B\n",
        "# B\n    - c\n",
    ),
    "a swap in a list in a list": (
        "l:\n- - a # A\n  - b # B\n",
        ["l", 0],
        ["b", "a"],
        "a # A\n    - b # B",
        "b # B\n    - a # A",
    ),
    "brackets over lines": ("l: [\n  a, # A\n  b, # B\n]\n", ["l", 1], "c", "b, # B", "c, # B"),
    "brackets over lines of which one goes": (
        "l: [\n  a, # A\n  b, # B\n]\n",
        ["l"],
        ["a"],
        "# A\n b, # B\n",
        "# A\n",
    ),
    "the first line of a block": ("l:\n- | # B\n  one\n\n- c # C\n", ["l", 0], "d\ne\n", "one\n", "d\n e\n"),
    "a block that is no block any more": (
        "b: |- # B\n  a\n  b\nc: d\n",
        ["b"],
        "d",
        "|- # B\n    a\n    b\n",
        "d # B\n",
    ),
    "a folded block": ("b: >- # B\n  a\n  b\nc: d\n", ["b"], "a\nb\n", ">- # B", "| # B"),
    "an anchor of nobody": ("p: &p 1 # P\nq: 2\n", ["p"], 3, "&p 1", "&p 3"),
    "beside <<": ("x: &x {a: 1, b: 1}\nz:\n  c: 1 # keep\n  <<: *x\n", ["z", "c"], 2, "c: 1 #", "c: 2 #"),
    "a plain y": ("y: 3 # third\n'n': 4 # N\n", ["true"], 5, "y: 3", "y: 5"),
    "a key with a long value": ("on: {a: 1} # On\n", ["true"], [1], "on: {a: 1} # On", "on: [1] # On"),
}


def listed(spec: str) -> str:
    return HEAD + META + "  spec:\n" + "".join(f"    {line}\n" if line else "\n" for line in spec.splitlines())


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("name", KEPT)
def test_a_comment_is_kept(name: str, way: Way) -> None:
    spec, path, value, old, new = copy.deepcopy(KEPT[name])  # one that stands in another text brings its lines along
    text = listed(spec)
    resources = ResourceList.parse(text.encode())
    way(resources, ["spec", *path], value)
    out = resources.to_bytes().decode()
    assert flat(old) in flat(text)
    assert flat(out) == flat(text).replace(flat(old), flat(new), 1)


def flat(text: str) -> str:
    return re.sub(r"\s+", " ", text)


REFUSED: dict[str, tuple[str, list[str | int], Any, str]] = {
    "the anchor": ("p: &p 1 # P\nq: *p\n", ["p"], 2, r"spec.p cannot be changed: the anchor &p is there, and an alias"),
    "the anchor in brackets": ("l: [&p 1, 2]\nq: *p\n", ["l", 0], 2, r"spec.l\[0\] cannot be changed: the anchor &p"),
    "a list with the anchor": ("l: [&p 1, 2]\nq: *p\n", ["l"], 2, r"spec.l cannot be changed: the anchor &p"),
    "what << brings": (
        "x: &x {a: 1}\nz:\n  c: 1 # C\n  <<: *x\n",
        ["z"],
        {"c": 1},
        r"spec.z.a cannot be deleted: `<<`",
    ),
    "a ? key": ("? k # K\n: - a\n", ["k"], {"b": 1}, r"spec cannot be written: the comment '# K' would be lost"),
}


@pytest.mark.parametrize("way", [by_manifest, by_replace, by_upsert])
@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_kept_is_refused(name: str, way: Way) -> None:
    spec, path, value, message = REFUSED[name]
    resources = ResourceList.parse(listed(spec).encode())
    way(resources, ["spec", *path], value)
    with pytest.raises(KrmfnError, match=f"^Example a: {message}"):
        resources.to_bytes()


# Generated documents: each scalar is a word of its own, and its comments say that word.

KINDS = ("mapping", "list", "brackets", "lines", "block", "list in list")


class Writer:
    """Writes a document of numbered words, each with a comment of its line, and some with one above."""

    def __init__(self, draw: Any) -> None:
        self.draw, self.number = draw, 0

    def word(self) -> str:
        self.number += 1
        return f"w{self.number}"

    def rows(self, pad: str, depth: int, lead: str) -> Iterator[str]:
        """Yield the lines of a value that stands behind `lead`, a key or a dash."""
        kind = self.draw(st.sampled_from(KINDS if depth else ("word",)))
        word = self.word()
        if self.draw(st.booleans()) and not lead.strip(" ").startswith("- -"):
            yield f"{' ' * (len(lead) - len(lead.lstrip(' ')))}# above {word}"
        if kind == "mapping" and not lead.endswith("- "):
            yield f"{lead} # of {word}"
            for at in range(self.draw(st.integers(1, 3))):
                yield from self.rows(pad + "  ", depth - 1, f"{pad}  k{at}{word}:")
        elif kind in ("list", "list in list") and not lead.endswith("- "):
            yield f"{lead} # of {word}"
            nested = "- " if kind == "list in list" else ""
            for at in range(self.draw(st.integers(1, 3))):
                yield from self.rows(pad + "    ", 0, f"{pad}  {nested if not at else '  ' if nested else ''}- ")
        elif kind == "brackets":
            yield f"{lead} [{word}, {{a: {self.word()}}}] # of {word}"
        elif kind == "lines":
            yield f"{lead} ["
            yield from (f"{pad}    {name}, # of {name}" for name in (word, self.word()))
            yield f"{pad}  ]"
        elif kind == "block":
            yield f"{lead} |{self.draw(st.sampled_from(['', '-', '+']))} # of {word}"
            yield from (f"{pad}      {word}", f"{pad}      # no comment")
        else:
            yield f"{lead} {word} # of {word}"


def document(draw: Any) -> str:
    writer = Writer(draw)
    rows = [row for at in range(draw(st.integers(1, 4))) for row in writer.rows("    ", 2, f"    k{at}:")]
    return HEAD + META + "  spec:\n" + "".join(f"{row}\n" for row in rows)


def places(value: Any) -> Iterator[Any]:
    if isinstance(value, (dict, list)):
        yield value
        for part in value.values() if isinstance(value, dict) else value:
            yield from places(part)


def words(value: Any) -> set[str]:
    return set(re.findall(r"\bw[0-9]+\b", json.dumps(value)))


def edit(spec: Any, draw: Any) -> None:
    """Change the data in a few places: other scalars, entries that come, go and move."""
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.sampled_from([*places(spec)]))
        if isinstance(place, dict) and place:
            key = draw(st.sampled_from([*place]))
            action = draw(st.sampled_from(["set", "add", "remove"]))
            if action == "remove":
                del place[key]
            else:
                place[key if action == "set" else "added"] = draw(st.sampled_from(["x", 1, "a\nb\n", [], {"n": ["m"]}]))
        elif isinstance(place, list) and place:
            action = draw(st.sampled_from(["set", "insert", "remove", "reverse"]))
            at = draw(st.integers(0, len(place) - 1))
            if action == "reverse":
                place.reverse()
            elif action == "remove":
                del place[at]
            elif action == "set":
                place[at] = "x"
            else:
                place.insert(at, "y z")


@pytest.mark.parametrize("way", ["manifest", "replace", "upsert"])
@given(choice=st.data())
def test_every_comment_of_what_stays_is_kept_or_the_edit_is_refused(way: str, choice: st.DataObject) -> None:
    text = document(choice.draw)
    resources = ResourceList.parse(text.encode())
    before = copy.deepcopy(resources.items[0].manifest)
    manifest = resources.items[0].manifest if way == "manifest" else copy.deepcopy(before)
    edit(manifest["spec"], choice.draw)
    after = copy.deepcopy(manifest)
    if way == "replace":
        resources.replace(resources.items[0], manifest)
    elif way == "upsert":
        resources.upsert([manifest])
    try:
        out = resources.to_bytes().decode()
    except KrmfnError as failure:
        assert re.match(r"Example a: \S+ cannot be written: the comment '# \w+ w[0-9]+' would be lost; ", str(failure))
        return
    assert same(load.read(out.encode())["items"][0], after)
    for word in words(before) & words(after):
        for comment in (f"# of {word}\n", f"# above {word}\n"):
            assert out.count(comment) == text.count(comment), (comment, text, out)


@given(choice=st.data())
def test_every_comment_goes_along_with_what_moves(choice: st.DataObject) -> None:
    """Mappings and lists are put under another key, into another list, or wrapped."""
    text = document(choice.draw)
    if re.search(r"[\[{]\n", text):  # known: a list in brackets over lines that is edited where it goes loses comments
        return
    resources = ResourceList.parse(text.encode())
    item = resources.items[0]
    spec = item.manifest["spec"]
    before = copy.deepcopy(spec)
    for number in range(choice.draw(st.integers(1, 2))):
        parents = [(place, key) for place in places(spec) for key, _ in parts(place)]
        if not parents:
            return
        parent, key = choice.draw(st.sampled_from(parents))
        value = parent.pop(key)
        inner = {id(place) for place in places(value)}
        targets = [place for place in places(spec) if id(place) not in inner]
        target = choice.draw(st.sampled_from(targets))
        value = {"wrapped": value} if choice.draw(st.booleans()) else value
        if isinstance(target, dict):
            target[f"moved{number}"] = value
        else:
            target.append(value)
    after = copy.deepcopy(item.manifest)
    try:
        out = resources.to_bytes().decode()
    except KrmfnError as failure:
        assert re.match(
            r"Example a: .*(the comment '# \w+ w[0-9]+' would be lost[ ;]|comments or spellings)", str(failure)
        )
        return
    assert same(load.read(out.encode())["items"][0], after)
    for word in words(list(before.values())) & words(list(after["spec"].values())):
        for comment in (f"# of {word}\n", f"# above {word}\n"):
            assert out.count(comment) == text.count(comment), (comment, text, out)


def test_what_comes_with_its_own_text_takes_nobody_s_place() -> None:
    """A list goes from another one as a third comes: neither has the comment of the other afterwards."""
    resources = ResourceList.parse(listed("k0: # of k0\n- - w2 # of w2\nk1: [w3, {a: w4}] # of w3").encode())
    spec = resources.items[0].manifest["spec"]
    spec["k0"].append(spec.pop("k1"))
    spec["moved"] = spec["k0"].pop(0)
    out = resources.to_bytes().decode()
    assert re.search(r"\[w3, \{a: w4\}\] # of w3\n +moved:\n +- +w2 # of w2\n", out), out


def parts(value: Any) -> list[tuple[Any, Any]]:
    """The mappings and lists that one of them holds, by their keys or indexes."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    return [(key, part) for key, part in pairs if isinstance(part, (dict, list))]


KEYS = st.sampled_from(["y", "n", "On", "NO", "yes", "off", "a", "true", "012"])


@given(choice=st.data())
def test_no_key_stands_twice_to_any_reader(choice: st.DataObject) -> None:
    """To kustomize a plain `y` and "y" are one key; to Kubernetes the first is "true"."""
    keys = choice.draw(st.lists(KEYS, min_size=1, max_size=5, unique=True))
    rows = [f"{json.dumps(key) if choice.draw(st.booleans()) else key}: {at} # of {key}" for at, key in enumerate(keys)]
    resources = ResourceList.parse(listed("\n".join(rows)).encode())
    try:
        data = resources.items[0].manifest["spec"]
    except KrmfnError:
        return  # two are one key to Kubernetes
    key = choice.draw(KEYS)
    if choice.draw(st.booleans()):
        resources.items[0].at(f"spec.{key}").value = "new"
    else:
        data[key] = "new"
    try:
        out = resources.to_bytes().decode()
    except KrmfnError as failure:
        assert f"the key {key} is" in str(failure)
        return
    root = load.compose(out.encode())
    assert root
    spec = dict(root.value)  # the last key of the root is `items`
    names = [re.sub(r'["\s]|:.*', "", row) for row in out.partition("  spec:\n")[2].splitlines()]
    assert len({*names}) == len(names), out
    assert all(f"# of {name}" in out for name in keys), out
    assert spec
