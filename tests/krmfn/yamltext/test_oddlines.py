"""A text with odd lines that is read by its lines holds what a parser finds in it, and an edit of it is the exact one.

KRMFN_FUZZ sets the number of documents (a quarter of it here), KRMFN_FUZZ_SEED the seed.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from krmfn import KrmfnError, ResourceList
from krmfn.yamltext import load, oddlines, pieces, positions, simple, split
from tests.call_counts import call_count
from tests.krmfn import documents
from tests.krmfn.yamltext.test_one_reading import COUNT, REFUSED, SEED, Writer, full, same

HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
ODD = (
    "{pad}k{n}: &a{m}\n{pad}  x{n}: 1\n{pad}  y: 2\n",
    "{pad}k{n}: &a{m}\n{pad}- a\n{pad}- b: c\n",
    "{pad}k{n}: &a{m} # c\n\n{pad}  # d\n{pad}  x: *s{m}\n",
    "{pad}k{n}: &a{m} {{a: b}}\n",
    "{pad}k{n}: &s{m} x\n",
    "{pad}k{n}: *s{m}\n",
    "{pad}k{n}: *a{m}\n",
    "{pad}k{n}: *a{m} # c\n{pad}j{n}: x\n",
    "{pad}- k{n}: *a{m}\n",
    "{pad}- *a{m}\n",
    "{pad}- <<: *a{m}\n{pad}  z: 1\n",
    "{pad}<<: *a{m}\n",
    "{pad}k{n}: [\n{pad}  &s{m} x, *s{m}\n{pad}]\n",
    "{pad}k{n}: [a,\n{pad}  b]\n",
    "{pad}k{n}: {{\n{pad}  a: 1,\n{pad}}}\n",
    "{pad}k{n}: a\n{pad}  b\n\n{pad}  c\n",
    '{pad}k{n}: "a\n\n{pad}  b"\n',
    '{pad}k{n}: "\n{pad}a"\n',
    '{pad}k{n}: "a\\tb"\n',
    '{pad}-   k{n}: "a\\nb"\n{pad}    j: 2\n',
    "{pad}k{n}: 'it''s'\n",
    "{pad}k{n}: '# no\n{pad}  # yes'\n",
    "{pad}k{n}: !!str 1\n",
    "{pad}on: yes\n",
    "{pad}'q{n}': x\n",
    "{pad}k{n}: 2001-01-01\n",
    "{pad}? k{n}\n{pad}: v\n",
    "{pad}k{n}:\n{pad}- - a\n{pad}  - b\n",
    "{pad}k{n}: >2\n{pad}   t\n{pad}  u\n",
    "{pad}k{n}: >\n\n{pad}  a\n{pad}   b\n{pad}  c\n",
    "{pad}k{n}: |+\n{pad}  a\n\n",
    "{pad}k{n}: |2\n{pad}   t\n",
    '{pad}"k{n}": |\n{pad}  # t\n{pad} # c\n',
    "{pad}k{n}: a # c\n{pad}  # d\n",
    "{pad}k{n}: a\\b\n",
    "\n# c\n",
)
SPOILERS = ("\t", " ", "\r", "&", "*", "#", "'", '"', "- ", "\n", ":", "\ufeff")


def odd_item(rng: random.Random, name: str = "a") -> str:
    """An item of a list with some odd lines in it; most are YAML."""
    rows = documents.item(rng, name).split("\n")
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(4, len(rows))
        beside = rows[max(at - 1, 0)] if rng.random() < 0.7 else rng.choice(rows)
        column = len(beside) - len(beside.lstrip(" ")) + rng.choice([0, 0, 0, 2, -2])
        odd = rng.choice(ODD).format(pad=" " * max(column, 0), n=rng.randint(0, 99), m=rng.randint(0, 1))
        rows[at:at] = odd.removesuffix("\n").split("\n")
    return "\n".join(rows)


def in_order(value: Any) -> Any:
    """The data with the order of its keys."""
    if isinstance(value, dict):
        return [(key, in_order(part)) for key, part in value.items()]
    return [*map(in_order, value)] if isinstance(value, list) else repr(value)


def check(text: str, seen: Counter[str]) -> None:
    known = oddlines.read(text)
    if known is None:
        return
    seen["sure"] += 1
    seen["odd"] += simple.read(text) is None
    data = full(text.encode())
    assert same(known, data), (text, known, None if data is REFUSED else data)
    assert in_order(known) == in_order(data), text
    assert not positions.duplicate_keys(load.compose(text.encode())), text


def test_it_reads_what_a_parser_reads_or_is_not_sure() -> None:
    writer, seen = Writer(SEED), Counter[str]()
    for seed in range(COUNT // 4):
        check(writer.document(), seen)
        rng = random.Random(seed + 1_000_003 * SEED)
        text = odd_item(rng)
        check(text, seen)
        if rng.random() < 0.2:
            at = rng.randrange(len(text))
            check(text[:at] + rng.choice(SPOILERS) + text[at + rng.randint(0, 1) :], seen)
    assert seen["odd"] > COUNT // 4 // 10, seen


@pytest.mark.parametrize(
    "text",
    [
        "a: &m\n  b: c\nd: *m\n",
        "a: &m\n  b: c\nd:\n  <<: *m\n  e: f\n",
        "a: &m\n- b: c\nd: *m\n",
        "a: [\n  b,\n  c,\n]\nd: {\n}\n",
        'a: "b\\tc"\nd: "e\n  f"\n',
        "a: b\n  c\nd: e\n",
        "a: !!str 1\non: off\n",
    ],
)
def test_it_is_sure(text: str) -> None:
    assert simple.read(text) is None
    assert in_order(oddlines.read(text)) == in_order(load.read(text.encode()))


@pytest.mark.parametrize(
    "text",
    [
        "a: &m\n  b: c\nd: *m\n- e\n",  # what follows an alias would belong to its lines
        "a: &m\n- b\nd: *m\n- e\n",
        "a: &m\n  b: *m\n",
        'y: a\n"y": b\n',  # two keys to Kubernetes, one key twice to go-yaml v3
        "'0x1': a\n0x1: b\n",
        "a: &m\n  b: &n c\nd: &m e\nf: *m\n",
        "a: &m\n  b: c\n<<: *m\nb: d\n",
        "a: [\nb]\n",  # what runs over lines ends left of its key
        'a: "b\nc"\n',
        "? a\n: b\n",
        "a: 'it''s'\na: b\n",
        "a: {b: on, b: off}\n",
        "a: ['&m', &m b]\nc: *m\n",
        "\ufeffa: 'it''s'\n",
    ],
)
def test_it_is_not_sure(text: str) -> None:
    assert oddlines.read(text) is None


def test_what_ends_alone_takes_nothing_of_the_next_entry() -> None:
    """Entries that are cut off at random, too: what is open at its end would take what follows."""
    seen = Counter[str]()
    for seed in range(COUNT):
        rng = random.Random(seed + 1_000_003 * SEED)
        text = odd_item(rng)
        if rng.random() < 0.5:
            text = text[: text.index("\n", rng.randrange(len(text) - 1)) + 1]
        if rng.random() < 0.2:
            at = rng.randrange(len(text))
            text = text[:at] + rng.choice(SPOILERS) + text[at:]
        begins = [text.encode().count(b"\n", 0, at) for at in split.runs_on(text.encode())]
        if not begins or "\n-" in text or split.quick((HEAD + text).encode()) is None:
            continue
        is_alone = oddlines.ends_alone(text, begins)
        seen[f"alone: {is_alone}"] += 1
        for end in ("- z: 1\n", "]\n", "}\n", '"\n', "'\n"):  # an entry, and what would close what is open
            try:
                root: Any = load.compose(f"{text}{end}".encode())
            except KrmfnError:
                continue
            seen["read"] += is_alone
            assert not is_alone or (end[0] == "-" and len(root.value) == 2), text
    assert seen["read"] > COUNT // 50, seen


def edited(text: str, seed: int) -> bytes | str:
    """The list with scalars written by path, at random; or what was refused."""
    rng = random.Random(seed)
    try:
        resources = ResourceList.parse((HEAD + text).encode())
        item = resources.items[0]
        for _ in range(rng.randint(1, 4)):
            fields = [field for field in item.each("**") if isinstance(field.value, dict) and field.parts]
            parts = rng.choice(fields).parts if fields else ("metadata",)
            at = item.at((*parts, rng.choice(["new", "x1", *(item.at(parts).value or ())])))
            if not isinstance(at.value, (dict, list)):
                at.value = rng.choice(["new", 7, None, "it's", "yes", "two\nlines"])
        return resources.to_bytes()
    except (KrmfnError, IndexError) as failure:  # no YAML, or no item
        return str(failure)


def test_an_edit_of_some_lines_is_the_edit_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Counter[str]()
    span = pieces.span

    def noted(*args: Any) -> tuple[int, int] | None:
        answer = span(*args)
        seen["in part"] += answer is not None
        return answer

    for seed in range(600):
        rng = random.Random(seed)
        text = odd_item(rng) if seed % 2 else documents.item(rng, "a")
        monkeypatch.setattr(pieces, "span", noted)
        in_part = edited(text, seed)
        monkeypatch.setattr(pieces, "span", lambda *_: None)
        monkeypatch.setattr(oddlines, "read", lambda _: None)
        whole = edited(text, seed)
        monkeypatch.undo()
        assert in_part == whole, text
    assert seen["in part"] > 30, seen


ITEM = """\
- apiVersion: apps/v1
  kind: Deployment
  metadata:
    name: app
    labels:
      app: app # its name
  spec:
    selector: &all
      matchLabels:
        app: app
    template:
      metadata:
        labels:
          app: app
    limits:
      cpu: 1
"""
LINES = {
    "brackets": ("limits:\n      cpu: 1", "limits: {cpu: 1}"),
    "brackets over lines": ("limits:\n      cpu: 1", "limits: {\n      cpu: 1\n    }"),
    "folded": ("cpu: 1", "cpu: >-\n        1\n        2"),
    "anchor": ("selector:", "selector: &all"),
    "alias": ("template:", "again: *all\n    template:"),
    "merge": ("      cpu: 1", "      <<: *all\n      cpu: 1"),
    "escape": ("cpu: 1", 'cpu: "\\t"'),
}


@pytest.mark.parametrize("name", LINES)
def test_an_odd_line_in_each_item_is_no_other_work(name: str) -> None:
    """In calls of functions; `benchmark/` measures the time."""

    def label(data: bytes) -> bytes:
        resources = ResourceList.parse(data)
        for item in resources:
            item.labels["team"] = "a"
        return resources.to_bytes()

    def calls(item: str) -> int:
        data = (HEAD + item * 100).encode()
        return call_count(lambda: label(data))[1]

    plain = ITEM.replace(" &all", "")
    item = ITEM if name in ("alias", "merge") else plain
    calls(plain)  # what is loaded once counts for none
    assert calls(item.replace(*LINES[name])) < 1.4 * calls(plain)


SHARED = """\
- a: &m # shared by d
    b:
      c: 1
  d: *m
  e:
    <<: *m
    f:
      g: 1
  h:
  - i: {j: 1}
  k:
  - l: *m
    m: {n: 1}
  o: # apart
    p:
      q: 1
"""


def paths(value: Any, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The path of each field, and of a new one in each mapping."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in parts:
        yield (*above, str(name))
        yield from paths(part, (*above, str(name)))
    if isinstance(value, dict):
        yield (*above, "new")


def test_what_is_apart_is_not_shared() -> None:
    seen = Counter[str]()
    for seed in range(COUNT):
        text = odd_item(random.Random(seed + 1_000_003 * SEED))
        data = oddlines.read(text) if "&" in text and simple.read(text) is None else None
        if data is None or len(data) != 1:
            continue
        root: Any = load.compose(text.encode())
        shared = positions.shared_paths(root.value[0])
        for path in paths(data[0]):
            above = {path[:at] for at in range(len(path))}
            is_apart = pieces.is_apart(text, data[0], path, 2)
            seen[f"{is_apart}, shared: {bool(above & shared)}"] += 1
            assert not (is_apart and above & shared), (text, path)
    assert seen["True, shared: False"] and seen["False, shared: True"], seen


@pytest.mark.parametrize("path", ["a.new", "a.b.c", "d.new", "d.b.c", "e.b.c", "k[0].l.new"])
def test_what_an_anchor_shares_is_not_changed(path: str) -> None:
    item = ResourceList.parse((HEAD + SHARED).encode()).items[0]
    assert oddlines.read(SHARED) is not None
    with pytest.raises(KrmfnError, match="is shared by an anchor and its aliases"):
        item[path] = 2


@pytest.mark.parametrize("path", ["e.new", "e.f.g", "h[0].i.j", "k[0].m.n", "o.p.q", "o.new.new", "new"])
def test_what_stands_beside_an_anchor_is_changed(path: str) -> None:
    resources = ResourceList.parse((HEAD + SHARED).encode())
    resources.items[0][path] = 2
    assert ResourceList.parse(resources.to_bytes()).items[0][path] == 2
