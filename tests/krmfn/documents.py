"""Documents made at random, in which each scalar is another one and many have a comment."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from itertools import count

SMALL = ("true", "1", "null", "''", "x", "80")
"""Values that say as little as many others do."""

WORDS = ("yes", "on", "No", "2001-01-01", "2002-02-02", "0x10")
"""Words that Kubernetes and kustomize read differently, and one that is written otherwise than it is read."""

MARKS = ["a", ": ", " ", "# ", "[", "]", "{", "}", ", ", "|", "'", '"', "''", "\\", "\n    ", '"x"', "'y'"]
"""What YAML gives a meaning, for texts that are put together from such pieces."""


def item(rng: random.Random, name: str) -> str:
    """An item of a list, its dash in column 0: mappings, lists of both kinds, brackets, blocks, quotes."""
    numbers = (f"{name}{number}" for number in count())
    lines = ["- apiVersion: v1", "  kind: A", "  metadata:", f"    name: {name}", "  spec:"]
    return "\n".join([*lines, *_mapping(rng, numbers, 4, 3), ""])


def with_small(rng: random.Random, text: str) -> str:
    """A text with some of its scalars replaced by small ones."""
    return re.sub(r"(['\"]?)v[ab]\d+\1", lambda match: rng.choice(SMALL) if rng.random() < 0.5 else match[0], text)


def with_words(rng: random.Random, text: str) -> str:
    """A text with some of its scalars replaced by words that readers read differently."""
    return re.sub(r"(['\"]?)v[ab]\d+\1", lambda match: rng.choice(WORDS) if rng.random() < 0.4 else match[0], text)


def over_lines(rng: random.Random, text: str) -> str:
    """A text whose brackets go over lines, with comments in them, and with others in them."""
    return re.sub(
        r"(?m)^( *(?:- )?)(k\w+): ([\[{])(.*)[\]}]( # .*)?$", lambda match: _over_lines(rng, *match.groups("")), text
    )


def _over_lines(rng: random.Random, lead: str, key: str, bracket: str, values: str, comment: str) -> str:
    pad, ends = " " * (len(lead) + 2), {"[": "]", "{": "}"}
    entries = values.split(", ")
    if rng.random() < 0.4:
        inner = rng.choice(
            [f"[w{key}, q{key}]", f"{{y: w{key}, z: 'x{key}'}}", f"[ww{key}, # in {key}\n{pad}  'w{key}']"]
        )
        entries.append(inner if bracket == "[" else f"i{key}: {inner}")
    rows = [f"{lead}{key}: {bracket}"]
    for at, entry in enumerate(entries):
        rows += [f"{pad}# above {key} {at}"] if rng.random() < 0.3 else []
        comma = "," if at < len(entries) - 1 or rng.random() < 0.5 else ""
        comma = f"\n{pad}," if comma and rng.random() < 0.1 else comma
        rows.append(f"{pad}{entry}{comma}{_comment(rng, f'of {key} {at}')}")
    return "\n".join([*rows, f"{pad}{ends[bracket]}{comment}"])


def behind_brackets(rng: random.Random, text: str) -> str:
    """A text with comments behind some of the brackets that go over lines."""
    return re.sub(r"(?m)(k\w+): [\[{]$", lambda match: f"{match[0]}{_comment(rng, f'in {match[1]}')}", text)


def _comment(rng: random.Random, words: str, share: float = 0.6) -> str:
    return f" # {words}" if rng.random() < share else ""


def _scalar(rng: random.Random, numbers: Iterator[str]) -> str:
    return rng.choice(["v{}", "'v{}'", '"v{}"']).format(next(numbers))


def _mapping(rng: random.Random, numbers: Iterator[str], column: int, depth: int) -> list[str]:
    lines = list[str]()
    for _ in range(rng.randint(1, 4)):
        number, pad = next(numbers), " " * column
        lines += [f"{pad}# above {number}"] if rng.random() < 0.4 else []
        kind, key = rng.random(), f"{pad}k{number}:"
        if not depth or kind < 0.4:
            lines.append(f"{key} {_scalar(rng, numbers)}{_comment(rng, f'of {number}')}")
        elif kind < 0.5:
            lines += [f"{key} |{_comment(rng, f'of {number}')}", f"{pad}  {next(numbers)}", f"{pad}  more"]
        elif kind < 0.65:
            one, two = _scalar(rng, numbers), _scalar(rng, numbers)
            value = rng.choice([f"[{one}, {two}]", f"{{x: {one}}}"])
            lines.append(f"{key} {value}{_comment(rng, f'of {number}')}")
        elif kind < 0.8:
            lines += [f"{key}{_comment(rng, f'of {number}')}", *_mapping(rng, numbers, column + 2, depth - 1)]
        else:
            lines += [f"{key}{_comment(rng, f'of {number}')}", *_list(rng, numbers, column + rng.choice([0, 2]), depth)]
    return lines


def _list(rng: random.Random, numbers: Iterator[str], column: int, depth: int) -> list[str]:
    lines, has_mappings = list[str](), rng.random() < 0.6
    for _ in range(rng.randint(1, 3)):
        number, pad = next(numbers), " " * column
        lines += [f"{pad}# above {number}"] if rng.random() < 0.4 else []
        if not has_mappings:
            lines.append(f"{pad}- {_scalar(rng, numbers)}{_comment(rng, f'of {number}')}")
            continue
        first, *others = _mapping(rng, numbers, column + 2, depth - 1)
        lines += [f"{pad}- {first.lstrip()}", *others]
    return lines
