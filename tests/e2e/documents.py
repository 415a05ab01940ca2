"""Documents that YAML readers stumble over, from a seed: resources in every style, whole ones and damaged ones."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

_WORDS = """
yes No on OFF y N true True TRUE tRUE false null Null ~ NULL 012 0o12 0x1F -0x1f 0b11 08 1_000 1__0 _1 1e3 1E-3 +1 -0
.5 5. . .. .inf -.INF .nan .NaN inf 1.10 1.0 1:30 190:20:30 2001-01-01 2001-1-1 2001-01-01T00:00:00Z 2001-01-01t1:2:3
= << v1 a-b a/b:c 18446744073709551615 18446744073709551616 9223372036854775808 123456789012345678901234567890 1e999 0x
0b 0o8 -- - -x ?x :x x: a#b a:b http://x/y?a=b&c=d @x `x %x !x *x &x |x >x é 😀 a'b a"b [x ]x {x }x ,x 10.0.0.1
4.18.0-553.el8_10.x86_64 sha256:0a1b $A ${A}
"""
_PLAIN = (
    "", "a b", "a  b", "a # b", "a #b", "a b: c", "- a", "a\n  b", "a\n\n    b", "null # c", "'a' b", "1 2", "a,b",
    "a, b", "\ta",
)  # fmt: skip
_TEXT = (
    " a", "a ", "a\n", "a\n\n", "\na", "a\n b\n", " a\nb", "a\n \n", "a\n   \nb", "\n", "\n\n", " ", "a\tb\n", "\ta\n",
    "a \nb", "a\x85b", "a\u2028b", "\ufeffa", "a\u00a0b", "a\\b", "a\\/b", "\\u0041", "#\n#a\n", "---\na\n", "...\n",
    "a\r\nb", "- a\n- b\n", "a: b\nc: d\n",
)  # fmt: skip
_KEYS = """
a b c-d e.f/g a a kind name yes no 012 1e3 1.10 1 ~ null true 0x1F 2001-01-01 'a' "a" 'yes' "1" "a\\x2fb" << !!str yes
!x a é a:b a#b - ? * & " -a .a _a $a 3d
"""
_TAGS = "!!str !!int !!float !!bool !!null !!binary !!timestamp !custom ! !<tag:yaml.org,2002:int> !!map !!seq !a!b"
PLAIN, KEYS, TAGS = [*_WORDS.split(), *_PLAIN], _KEYS.split(), _TAGS.split()
TEXT = [*PLAIN, *_TEXT]
ALPHABET = "ab k:-#'\"[]{}|>&*!?%,~\\\t\n\r0é\x85\u2028\ufeff/_.+"


def documents(seed: int, count: int, folder: Path) -> Iterator[bytes]:
    """Yield `count` documents, the same for the same seed, some of them from the files below `folder`.

    Each has a seed of its own, so that a new file below `folder` does not change the documents that are not from there.
    """
    files = (path.read_bytes() for path in sorted(folder.rglob("*.yaml")) if path.stat().st_size < 4_000)
    texts = [text.decode(errors="replace") for text in files]
    for number in range(count):
        rng = random.Random(f"{seed} {number}")
        text = rng.choice(texts) if rng.random() < 0.1 else Writer(rng).resource()
        for _ in range(rng.choice((0, 0, 0, 1, 1, 2))):
            text = damaged(rng, text)
        yield text.encode(errors="replace")


def damaged(rng: random.Random, text: str) -> str:
    """Return `text` with a character or line put in, taken out, doubled or moved sideways, or without its end."""
    lines = text.split("\n")
    at, line = rng.randrange(len(text) + 1), rng.randrange(len(lines))
    kind = rng.choice(("insert", "cut", "drop", "double", "in", "out", "end", "crlf"))
    if kind == "insert":
        return text[:at] + rng.choice(ALPHABET) + text[at:]
    if kind == "cut":
        return text[:at] + text[at + 1 :]
    if kind in ("end", "crlf"):
        return text.rstrip("\n") if kind == "end" else text.replace("\n", "\r\n")
    changed = {
        "drop": [],
        "double": [lines[line]] * 2,
        "in": [" " + lines[line]],
        "out": [lines[line].removeprefix(" ")],
    }
    return "\n".join([*lines[:line], *changed[kind], *lines[line + 1 :]])


class Writer:
    """Writes one resource, its anchors remembered."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.anchors: list[str] = []

    def resource(self) -> str:
        """Return a resource, mostly with what makes it one."""
        rng = self.rng
        maps = [f"\n  {name}:{self.mapping(4, 3)}" for name in ("labels", "annotations") if rng.random() < 0.5]
        head = ["apiVersion: v1", "kind: A", f"metadata:{self.mapping(2, 1)}{''.join(maps)}"]
        parts = [part for part in head if rng.random() < 0.9] + [self.pair(0, 0) for _ in range(rng.randrange(4))]
        rng.shuffle(parts)
        return "\n".join(parts) + rng.choice(("\n", "\n", "\n", "", "\n\n", "\n# end\n", "\n   \n"))

    def pair(self, column: int, depth: int) -> str:
        """Return `key: value`, where the lines of the value stand deeper than `column`."""
        key = self.rng.choice(KEYS)
        return f"{key}:{self.value(column, depth)}"

    def value(self, column: int, depth: int) -> str:
        """Return a value and what stands before it: a space, a line end, an anchor, a tag."""
        rng = self.rng
        lead = ""
        if rng.random() < 0.06:
            lead += f" {rng.choice(TAGS)}"
        if rng.random() < 0.06:
            self.anchors.append(rng.choice("xyz"))
            lead += f" &{self.anchors[-1]}"
        if rng.random() < 0.05:
            return f" *{rng.choice(self.anchors) if self.anchors and rng.random() < 0.9 else 'x'}"
        if depth < 3 and rng.random() < 0.35:
            return lead + rng.choice((self.mapping, self.sequence, self.flow))(
                column + rng.choice((2, 2, 2, 1, 4)), depth + 1
            )
        return lead + self.scalar(column)

    def mapping(self, column: int, depth: int) -> str:
        pad = " " * column
        return "".join(f"\n{pad}{self.pair(column, depth)}" for _ in range(self.rng.randrange(4)))

    def sequence(self, column: int, depth: int) -> str:
        pad = " " * (column - self.rng.choice((0, 2)) if column >= 2 else column)
        return "".join(f"\n{pad}-{self.value(len(pad), depth)}" for _ in range(self.rng.randrange(4)))

    def flow(self, column: int, depth: int) -> str:
        rng = self.rng
        values = [
            rng.choice((json_text(rng.choice(TEXT)), rng.choice(PLAIN), "[a, b]", "{a: b}", '{"a":b}'))
            for _ in range(rng.randrange(4))
        ]
        between = rng.choice((", ", ",", ",\n" + " " * (column + 1)))
        if rng.random() < 0.5:
            return f" [{between.join(values)}]"
        return f" {{{between.join(f'{rng.choice(KEYS)}: {value}' for value in values)}}}"

    def scalar(self, column: int) -> str:
        rng = self.rng
        style = rng.choice(("plain", "plain", "'", '"', "|", "|", ">"))
        text = rng.choice(TEXT)
        if style == "plain":
            return f" {rng.choice(PLAIN)}{rng.choice(('', '', '', ' # why', '  '))}"
        if style == "'":
            return " '" + text.replace("'", "''").replace("\n", f"\n{' ' * column} ") + "'"
        if style == '"':
            return (
                f" {json_text(text)}"
                if rng.random() < 0.7
                else ' "' + text.replace('"', "").replace("\n", "\\\n  ") + '"'
            )
        pad = " " * (column + rng.choice((1, 2, 2, 4)))
        header = style + rng.choice(("", "", "-", "+", "2", "+1", " # c"))
        return f" {header}\n" + "\n".join(
            f"{pad}{line}" if line else rng.choice(("", "", pad, pad + "  ")) for line in text.split("\n")
        )


def json_text(text: str) -> str:
    """Return `text` in double quotes, in escapes that YAML and JSON share."""
    escapes = {
        "\n": "\\n",
        "\t": "\\t",
        "\r": "\\r",
        '"': '\\"',
        "\\": "\\\\",
        "\x85": "\\u0085",
        "\u2028": "\\u2028",
        "\ufeff": "\\uFEFF",
    }
    return '"' + "".join(escapes.get(char, char) for char in text) + '"'
