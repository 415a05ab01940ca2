"""The target `edits`: what an edit writes is read by Kubernetes and by kustomize (go-yaml v3) as it was meant.

An input is `{"text": DOCUMENT, "within": [KEY, ...], "way": WAY, "key": KEY, "value": VALUE}`: one edit of one mapping
of a document, which may be an entry of a list, or a move into another document. Whatever reader reads the document
before the edit reads it after the edit, with that one key changed.
"""

from __future__ import annotations

import copy
import json
import random
import re
from typing import Any, NamedTuple

from krmfn import KrmfnError, ResourceList
from krmfn.item import Item

from .findings import Finding, Refused, alike, watched
from .readers import Readers, Reading

HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
OTHER = "apiVersion: example.com/v1\nkind: Dashboard\nmetadata:\n  name: other\nspec:\n  old: 1 # of old\n"
"""The item behind the one that is edited, into which values go."""
ITEM = "apiVersion: example.com/v1\nkind: Dashboard\nmetadata:\n  name: d\nspec:\n"
KEYS = ("y", "Y", "n", "on", "OFF", "yes", "No", "true", "a", "b", "0x10", "1", "1e3", "~", "inner")
SCALARS = (
    *("3", "on", "'y'", "no", "a", "0o17", "012", "1_000", "1:30", "2001-01-01", "null", "~"),
    '"\\u00e9\\n"',
    "a # of it",
)
BRACKETS = (
    *("{y: 1}", "{'n': 2, on: b}", "[yes, 'no']", "[{a: on}, []]", "{}", "&x {a: 1}", "[&x a, *x]"),
    *('{"a":"on","n":[1]}', "{n: 1,\n      b: yes}", "[&x on, # of it\n      *x,\n      1e3,\n      ]"),
    *("{a: &x {n: no}, y: *x}", "[a, b: on]", "&x\n      - on\n      - a: 2001-01-01"),
)


class Words(NamedTuple):
    """What the lines of a text are made of."""

    keys: tuple[str, ...]
    scalars: tuple[str, ...]
    brackets: tuple[str, ...]
    word: str
    has_quotes: bool


ODD = Words(KEYS, SCALARS, BRACKETS, "on", has_quotes=True)
USUAL = Words(
    ("a", "b", "inner", "c-d", "e"),
    ("3", "a", "'y'", "1.5", "null", "a # of it", '"b c"', "", "'012'"),
    ("{a: 1}", "['no', b]", "[]", "{}"),
    "f",
    has_quotes=False,
)
"""What krmfn reads by lines."""
ANCHORED = ("3", "a", "'y'", "on", "c d # of it", "012", "{a: 1}", "\n    a: 1", "|\n    a")
NEW: tuple[Any, ...] = (
    "new",
    "y",
    "on",
    "012",
    "1:30",
    "a: b",
    "a #b",
    "",
    "x\ny\n",
    7,
    True,
    None,
    {"y": 1},
    ["on", 2],
    {"a": [{}]},
)
WAYS = ("field", "manifest", "replace", "delete", "rename", "move", "across", "append")
TARGET = "moved"
"""The name of what is renamed or moved."""


class Edit(NamedTuple):
    """One edit of the mapping that `within` leads to."""

    text: str
    within: tuple[str, ...]
    way: str
    key: str
    value: Any


def run(text: bytes, readers: Readers) -> None:
    """Hold the edit of an input against both readers."""
    edit = parsed(text)
    before = readers.stream(f"{edit.text}---\n{OTHER}".encode())
    with watched():
        written = edited(edit)
    for name, old, new in zip(("kubernetes", "kustomize"), before, readers.stream(written), strict=True):
        if not old.error:
            _compare(name, edit, old, new)


def parsed(text: bytes) -> Edit:
    """Return the edit of an input; raises Refused for a text that holds none."""
    try:
        data = json.loads(text)
        edit = Edit(data["text"], tuple(data["within"]), data["way"], data["key"], data["value"])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise Refused("no edit") from None
    names = (edit.text, edit.key, *edit.within)
    if edit.way not in WAYS or not all(isinstance(name, str) and name.isprintable() for name in names[1:]):
        raise Refused("no edit")
    if not isinstance(edit.text, str) or not edit.text.isascii() or not edit.text.endswith("\n"):
        raise Refused("no document")
    return edit


def edited(edit: Edit) -> bytes:
    """Return the document after the edit; raises Refused where krmfn refuses it, or there is nothing to edit."""
    try:
        resources, item = _item(edit)
        _ = _mapping(item.manifest, edit.within)
        _EDITS[edit.way](resources, item, edit)
        out = resources.to_bytes().decode().removeprefix(HEAD).replace("\n- ", "\n  ---\n- ")
    except KrmfnError as failure:
        raise Refused(str(failure)) from None
    except ValueError:
        raise Refused("more than one document") from None
    return "".join(line[2:] if line.strip() else line for line in out.splitlines(keepends=True)).encode()


def _item(edit: Edit) -> tuple[ResourceList, Item]:
    """Return the document as the first of two items of a list, with the list."""
    items = ("- " + "  ".join(text.splitlines(keepends=True)) for text in (edit.text, OTHER))
    resources = ResourceList.parse((HEAD + "".join(items)).encode())
    item, _ = resources.items
    return resources, item


def _mapping(data: Any, within: tuple[str, ...]) -> dict[str, Any]:
    for name in within:
        is_entry = isinstance(data, list) and name.isdecimal() and int(name) < len(data)
        data = data[int(name)] if is_entry else data.get(name) if isinstance(data, dict) else None
    if not isinstance(data, dict):
        raise Refused("no mapping there")
    return data


def _set_field(_: ResourceList, item: Item, edit: Edit) -> None:
    item.at((*edit.within, edit.key)).value = edit.value


def _set_in_manifest(_: ResourceList, item: Item, edit: Edit) -> None:
    _mapping(item.manifest, edit.within)[edit.key] = edit.value


def _replace(resources: ResourceList, item: Item, edit: Edit) -> None:
    manifest = copy.deepcopy(item.manifest)
    _mapping(manifest, edit.within)[edit.key] = edit.value
    resources.replace(item, manifest)


def _delete(_: ResourceList, item: Item, edit: Edit) -> None:
    mapping = _mapping(item.manifest, edit.within)
    if edit.key not in mapping:
        raise Refused("nothing to delete")
    del mapping[edit.key]


def _rename(_: ResourceList, item: Item, edit: Edit) -> None:
    item.at((*edit.within, edit.key)).rename(TARGET)


def _move(_: ResourceList, item: Item, edit: Edit) -> None:
    mapping = _mapping(item.manifest, edit.within)
    if edit.key not in mapping:
        raise Refused("nothing to move")
    mapping[TARGET] = mapping.pop(edit.key)


def _across(resources: ResourceList, item: Item, edit: Edit) -> None:
    mapping = _mapping(item.manifest, edit.within)
    if edit.key not in mapping:
        raise Refused("nothing to move")
    resources.items[1].manifest["spec"][TARGET] = mapping.pop(edit.key)


def _append(_: ResourceList, item: Item, edit: Edit) -> None:
    mapping = _mapping(item.manifest, edit.within)
    if not isinstance(mapping.get(edit.key), list):
        raise Refused("no list there")
    mapping[edit.key].append(edit.value)


_EDITS = {
    "field": _set_field,
    "manifest": _set_in_manifest,
    "replace": _replace,
    "delete": _delete,
    "rename": _rename,
    "move": _move,
    "across": _across,
    "append": _append,
}


def _compare(name: str, edit: Edit, old: Reading, new: Reading) -> None:
    """Raise Finding where a reader sees anything but the one change."""
    seen = {"reader": name, "edit": edit, "before": old.objects, "after": new.error or new.objects}
    if new.error or len(old.objects) != 2 or len(new.objects) != 2:
        raise Finding("what is edited is read as before", **seen)
    before, after = (copy.deepcopy(reading.objects[0]) for reading in (old, new))
    taken = copy.deepcopy(new.objects[1])
    arrived = {TARGET: taken["spec"].pop(TARGET)} if edit.way == "across" and TARGET in taken.get("spec", ()) else {}
    if not alike(old.objects[1], taken):
        raise Finding("an edit changes nothing beside it", **seen)
    first, second = (_mapping(data, edit.within) for data in (before, after))
    gone = {key: first[key] for key in first if key not in second}
    come = {key: second[key] for key in second if key not in first}
    changed = {key: second[key] for key in second if key in first and not alike(first[key], second[key])}
    if edit.way == "append":
        changed = {key: _last(first.get(key), value) for key, value in changed.items()}
    first.clear()
    second.clear()
    if not alike(before, after):
        raise Finding("an edit changes nothing beside it", **seen)
    if not _is_meant(edit, gone, come | arrived, changed):
        raise Finding("an edit is read as it was meant", **seen)


def _last(old: Any, new: Any) -> Any:
    """Return what a list has at its end more than an old one; the list itself where it has something else more."""
    is_longer = isinstance(old, list) and isinstance(new, list) and alike(old, new[:-1])
    return new[-1] if is_longer and new else new


def _is_meant(edit: Edit, gone: dict[str, Any], come: dict[str, Any], changed: dict[str, Any]) -> bool:
    """Return True when what has gone, come and changed is what the edit says; a reader may call the key otherwise.

    A plain `on` that moves is what it was to the reader, or `true` to both: so Kubernetes and krmfn read it.
    """
    if edit.way == "delete":
        return len(gone) == 1 and not come and not changed
    if edit.way in ("rename", "move", "across"):
        read, meant = [*gone.values()], _mapping(_item(edit)[1].manifest, edit.within).get(edit.key)
        is_whole = len(read) == 1 and list(come) == [TARGET] and not changed
        return is_whole and any(alike(value, come[TARGET]) for value in (*read, meant))
    values = [*come.values(), *changed.values()]
    return not gone and len(values) <= 1 and all(alike(value, edit.value) for value in values)


def new(rng: random.Random) -> bytes:
    """Return an input from nothing: a document with an edit of its spec, or of a mapping in it."""
    words = rng.choice((ODD, USUAL))
    rows = _rows(rng, "  ", words)
    is_inner = rng.random() < 0.4
    if is_inner:
        mappings = [value for value in words.brackets if re.match(r"(?:&x )?\{.", value)]
        inner = (
            [f"  inner: {rng.choice(mappings)}\n"] if rng.random() < 0.5 else ["  inner:\n", *_rows(rng, "    ", words)]
        )
        rows = [row for row in rows if "inner" not in row.split(":")[0]] + inner
    within: tuple[str, ...] = ("spec", "inner") if is_inner and rng.random() < 0.7 else ("spec",)
    if rng.random() < 0.3:
        rows += ["  list:\n", *_entries(rng, words)]
        within = ("spec", "list", rng.choice("01"))
    if rng.random() < 0.3:
        rows = [f"  anchored: &s {rng.choice(ANCHORED)}\n", *(_with_alias(rng, row) for row in rows)]
    key = rng.choice((*words.keys, "anchored", "y"))
    return _dumped(Edit(ITEM + "".join(rows), within, rng.choice(WAYS), key, rng.choice(NEW)))


def changed(rng: random.Random, text: bytes) -> bytes:
    """Return an input with another edit of the same document."""
    try:
        edit = parsed(text)
    except Refused:
        return new(rng)
    return _dumped(edit._replace(way=rng.choice(WAYS), key=rng.choice(KEYS), value=rng.choice(NEW)))


def _dumped(edit: Edit) -> bytes:
    return (json.dumps(edit._asdict(), indent=1) + "\n").encode()


def _rows(rng: random.Random, indent: str, words: Words) -> list[str]:
    """Return the lines of a mapping: keys with and without quotes, comments, brackets, blocks and lists."""
    rows = []
    for key in rng.sample(words.keys, rng.randint(1, 4)):
        spelled = rng.choice((key, json.dumps(key))) if words.has_quotes else key
        kind = rng.choice("sssbtlc")
        values = {
            "s": f" {rng.choice(words.scalars)}",
            "b": f" {rng.choice(words.brackets)}",
            "t": f" |\n{indent}  a",
            "l": f"\n{indent}- {rng.choice(words.scalars)}\n{indent}- b: {words.word}",
            "c": f"\n{indent}  c: {words.word} # in it",
        }
        rows.append(f"{indent}# above\n" if rng.random() < 0.2 else "")
        rows.append(f"{indent}{spelled}:{values[kind]}\n")
    return rows


def _with_alias(rng: random.Random, row: str) -> str:
    """Return a line, perhaps with an alias for its scalar."""
    return re.sub(r"([:-]) [a-z0-9]+( # .*)?\n\Z", r"\1 *s\2\n", row) if rng.random() < 0.5 else row


def _entries(rng: random.Random, words: Words) -> list[str]:
    """Return the lines of a list of two mappings."""
    rows = []
    for _ in range(2):
        first, *others = "".join(_rows(rng, "    ", words)).splitlines(keepends=True)
        rows += ["  - " + first.removeprefix("    "), *others]
    return rows


def work(text: bytes) -> None:
    """Edit the document of an input, by krmfn alone."""
    edited(parsed(text))
