"""Two readers of one text: the quick one says what the full one says, or that it is not sure.

KRMFN_FUZZ sets the number of documents (5,000; with CI set 100,000), KRMFN_FUZZ_SEED the seed.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from typing import Any

from krmfn_functions.paths import division

from krmfn.errors import KrmfnError
from krmfn.itemtext import mentions
from krmfn.yamltext import load, peek, simple, split, split_exact
from tests.tables import table

COUNT = int(os.environ.get("KRMFN_FUZZ", "100000" if os.environ.get("CI") else "5000"))
SEED = int(os.environ.get("KRMFN_FUZZ_SEED", "9"))
REFUSED: Any = object()
_WORDS = """
y Y yes Yes YES n N no No NO on On ON off Off OFF oFF true True TRUE false False FALSE tRUE null Null NULL ~ nuLL = << -
0 1 -1 +1 007 0777 08 0o17 0O17 0x1F -0x1f 0b11 1_000 _1 1_ 1. .5 1.0 1.10 1e3 1E-3 .inf -.INF .nan .NaN 1e999 0x 12:30
190:20:30 2001-01-01 2001-1-1 2001-13-01 2001-01-01T00:00:00Z 2001-01-01t1:2:3 18446744073709551615 18446744073709551616
9223372036854775808 123456789012345678901234567890 10.0.0.1 v1 v1/v2 a a a b name app.kubernetes.io/name a-b -a .a _a
$a é http://x/y a#b a:b a'b a"b @x `x %x &x *x !x |x >x [x {x ,x ?x :x --- ...
"""
WORDS = _WORDS.split()
MORE = table(__file__, "texts.yaml")
TEXTS = [*WORDS, *WORDS, *MORE]
BETWEEN = (":",) * 3 + (": ",) * 30 + (" : ", ":\t", ":  ", ":\n      ", ": # c\n")
ENDS = ("\n",) * 40 + (
    "\n\n",
    " \n",
    " # c\n",
    "\n# c\n",
    "\t\n",
    "\r\n",
    "\n  # c\n",
    "\n      more\n",
    "\n\n      more\n",
)
LINES = (
    *("  namespace: b\n",) * 3,
    "  name: c\n",
    "  'name': c\n",
    "  annotations: {}\n",
    "  annotations:\n    labels: a\n",
    "  annotations: {labels: a}\n",
    '  "labels": {b1: c}\n',
    '  "l\\x61bels": {b1: c}\n',
    "  annotations: &a labels\n  *a : {b1: c}\n",
    "  !!binary bGFiZWxz: {b1: c}\n",
    "  labels : {b1: c}\n",
    "",
)
SAFE = [word for word in WORDS if word[0] not in "@`%&*!|>[{,?:-" and word not in ("<<", "...")] + ["'y'", '"1"', "a b"]
CALM = ("a", "1", "1.0", "0x1F", "true", "null", "a:b", "12:30", "'y'", '"on"', "a b", "[]", "{}", ".nan", "a # y")
SPOILERS = ("\ufeff", "\r", "\t", "\0", "\x85", "\u2028", "y: a\n", "---\n", " ", "")
LONG = "".join(f"    key-{number}: value\n" for number in range(150))


class Writer:
    """Writes small resources, most of them with a word or two that readers stumble over, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.rng, self.calm = random.Random(seed), 0.0

    def pair(self, pad: str) -> str:
        """A line `key: value`, and seldom more than one line."""
        rng, chance = self.rng, self.rng.random()
        if chance < self.calm:
            return f"{pad}{rng.choice('abcd')}{rng.randrange(9)}: {rng.choice(CALM)}\n"
        if chance < 0.6:
            return f"{pad}{rng.choice('abcd')}{rng.randrange(9)}: {rng.choice(SAFE)}\n"
        if chance < 0.8:
            return f"{pad}{rng.choice(SAFE)}: {rng.choice(SAFE)}\n"
        return f"{pad}{rng.choice(TEXTS)}{rng.choice(BETWEEN)}{rng.choice(TEXTS)}{rng.choice(ENDS)}"

    def pairs(self, pad: str) -> str:
        return "".join(self.pair(pad) for _ in range(self.rng.randrange(1, 4)))

    def document(self) -> str:
        rng = self.rng
        self.calm = rng.choice((0.2, 0.5, 0.9))
        kind, name = ("A", "m") if rng.random() < 0.9 else (rng.choice(TEXTS), rng.choice(TEXTS))
        long = LONG if rng.random() < 0.01 else ""
        text = f"apiVersion: v1\nkind: {kind}\nmetadata:\n  name: {name}\n{rng.choice(LINES)}  labels:\n"
        text += f"{long}{self.pairs('    ')}"
        text += rng.choice(LINES) if rng.random() < 0.2 else ""
        if rng.random() < 0.3:
            text += f"spec:\n{self.pairs('  ')}"
        if rng.random() < 0.05:
            at = rng.randrange(len(text))
            text = text[:at] + rng.choice(SPOILERS) + text[at + 1 :]
        return text.replace("\n", "\r\n") if rng.random() < 0.01 else text


def full(text: bytes) -> Any:
    """What the full reader makes of a text; REFUSED when it makes nothing of it."""
    try:
        return load.read(text)
    except KrmfnError:
        return REFUSED


def same(first: Any, second: Any) -> bool:
    """True for equal data of equal types: a date is no string, and true is not 1."""
    if type(first) is not type(second):
        return False
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(same(value, second[key]) for key, value in first.items())
    if isinstance(first, list):
        return len(first) == len(second) and all(map(same, first, second))
    return bool(first == second or first != first)


def at(data: Any, *path: str) -> Any:
    """The value at a path of keys; MISSING where there is none."""
    for key in path:
        data = data.get(key, peek.MISSING) if isinstance(data, dict) else peek.MISSING
    return data


def check_lines(text: str, data: Any, seen: Counter[str]) -> None:
    """The reader by lines."""
    quick = simple.read(text)
    if quick is not None:
        seen["lines"] += 1
        assert same(quick, data), (text, quick, data)


def check_fields(raw: bytes, data: Any, seen: Counter[str]) -> None:
    """Looks at single fields. What is no YAML is for others: a file's syntax is checked apart."""
    root = peek.root(raw, 0, len(raw), -2) if split.is_simple(raw) else peek.UNSURE
    if not isinstance(root, peek.Mapping):
        return
    for path in ("kind", "metadata/name", "metadata/namespace", "spec/a1", "metadata/labels/true"):
        field = root.scalar(*(key.encode() for key in path.split("/")))
        if field is not peek.UNSURE and data is not REFUSED:
            seen["field"] += 1
            assert same(field, at(data, *path.split("/"))), (raw, path, field)
    labels = root.mapping(b"metadata", b"labels")
    if not isinstance(labels, peek.Mapping):
        return
    block = raw[labels.start - labels.column : labels.end]
    expected = full(block) if data is REFUSED else at(data, "metadata", "labels")
    for quick in labels.strings(), labels.data():
        if quick is not peek.UNSURE:
            seen["mapping"] += 1
            assert same(quick, expected), (block, quick, expected)


def check_blocks(raw: bytes, data: Any, seen: Counter[str]) -> None:
    """The mapping at two keys, looked for where it is known where each line in column 0 begins; all or some fields."""
    spans = division.divide(raw) if division.is_usual(raw) and split.is_simple(raw) else []
    if len(spans) != 1 or data is REFUSED or spans[0].is_counted:
        return
    root = peek.root(raw, spans[0].start, spans[0].end, -2, spans[0].keys)
    for path in (("metadata", "labels"), ("spec", "a")):
        block = root.mapping(*(key.encode() for key in path)) if isinstance(root, peek.Mapping) else peek.UNSURE
        expected = at(data, *path)
        if not isinstance(block, peek.Mapping):
            assert block is peek.UNSURE or expected in (peek.MISSING, None), (raw, path, expected)
            continue
        seen["block"] += 1
        assert block.strings() is peek.UNSURE or same(block.strings(), expected), (raw, path, expected)
        expected = expected if isinstance(expected, dict) else {}  # a word on a line of its own has no fields
        keys = [key for key in ("example.com/a", *expected) if key[:1].isalpha() and key not in simple.WORDS][:3]
        some = block.strings(tuple(key.encode() for key in keys))
        if isinstance(some, dict):
            seen["some"] += 1
            assert same({**some}, {key: value for key, value in expected.items() if key.startswith(tuple(keys))}), raw


def check_heads(raw: bytes, data: Any, seen: Counter[str]) -> None:
    """The heads of documents, divided in one pass."""
    if not division.is_usual(raw):
        return
    spans = division.divide(raw)
    head = division.head(raw, spans[0]) if len(spans) == 1 and not division.dubious(raw, spans) else None
    if head is not None and data is not REFUSED:
        seen["head"] += 1
        names = [at(data, "metadata", key) for key in ("namespace", "name")]
        named = [data["apiVersion"], data["kind"], *("" if name is peek.MISSING else name for name in names)]
        assert same([*head], named), (raw, head)


def check_items(raw: bytes, seen: Counter[str]) -> None:
    """The quick cut of a list with the document as an item, and the words that the item may hold."""
    item = raw.replace(b"\n", b"\n  ")
    text = b"apiVersion: v1\nkind: ResourceList\nitems:\n- " + item + b"\n- b: c\n"
    cut = split.quick(text)
    if cut is not None:
        try:
            exact = split_exact.exact(text)
        except KrmfnError:
            return
        seen["cut"] += 1
        assert (cut.items, cut.sections) == (exact.items, exact.sections), text


def check_words(raw: bytes, data: Any, seen: Counter[str]) -> None:
    """A word is in the data only where the search has found it."""
    if data is not REFUSED:
        seen["word"] += 1
        for word in ("example", "name", "on"):
            assert mentions(raw, 0, len(raw), word.encode()) or word not in strings_of(data), (raw, word)


def strings_of(data: Any) -> str:
    """Every key and string of the data, one behind the other."""
    if isinstance(data, dict):
        return "\0".join(f"{key}\0{strings_of(value)}" for key, value in data.items())
    return "\0".join(map(strings_of, data)) if isinstance(data, list) else data if isinstance(data, str) else ""


def test_a_quick_reader_says_what_the_full_one_says_or_that_it_is_not_sure() -> None:
    """Keys and values, wherever readers of YAML part: words, numbers, dates, line breaks, long keys, tags, merges."""
    writer, seen = Writer(SEED), Counter[str]()
    for number in range(COUNT):
        text = writer.document()
        raw = text.encode()
        data = full(raw)
        seen["refused"] += data is REFUSED
        check_lines(text, data, seen)
        check_fields(raw, data, seen)
        check_blocks(raw, data, seen)
        check_heads(raw, data, seen)
        if number % 10 == 0:
            check_items(raw, seen)
            check_words(raw, data, seen)
    for name, part in (
        ("lines", 0.05),
        ("field", 1),
        ("mapping", 0.2),
        ("block", 0.2),
        ("some", 0.05),
        ("head", 0.2),
        ("cut", 0.02),
    ):
        assert seen[name] > part * COUNT, seen
    assert seen["refused"] < COUNT / 2, seen
