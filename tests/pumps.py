"""Texts that a regular expression may take long over, from its own parse tree; and the search for one that does.

Around each repeat stand: what leads to it, its body over and over, and what then fits no more. Each text is first
short; the slowest are made longer, by eight each time, and it is the growth that judges: eight times the text, eight
times the work. So neither a slow machine nor a busy one changes anything. Only where a short text is not done with in
the CPU time of many thousands the process is ended.
"""

from __future__ import annotations

import itertools
import os
import pickle
import random
import re
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any, NamedTuple

from tests.commands import ROOT
from tests.examples import IS_EACH

parser: Any = import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")
c: Any = import_module("re._constants" if sys.version_info >= (3, 11) else "sre_constants")

SHORT, LONG, MANY = 1_000, 120_000 if IS_EACH else 15_000, 3_000
ONE = 1.0
"""The CPU time that one short text may take, where 0.00003 seconds are usual and 0.002 the most."""
SECONDS = 10
"""The CPU time that one pattern may take on all of its short texts, where some 0.1 seconds are usual."""
GUARD = 300
"""The CPU time that ends one whose work on long texts grows, but not by much at any step."""
STEP = 8
GROWTH = 27
"""How much more work eight times the text may be: 8 is usual, 64 is a look at all of the text for each letter of it."""
FLOOR = 0.005
"""Work, in seconds, below which its growth says nothing."""
KEEPS_MEMORY = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "4000000000"}
"""Memory that is given back and fetched anew made the work on a long text five times as much as on one half as long."""
SLOWEST = 3
SURE = 3
"""How often in a row the work has to grow: on a machine with much else to do one measurement may be off."""
LEAST_OF = 9
"""How often a short text is tried: other programs can only make it seem slower, and then a slow pattern seems quick."""
PLAIN = (*map(ord, "a1 -/.:#\n"), *range(33, 127), *range(33), *range(127, 256), 0x3B1, 0x2028, 0x1F600)
"""Characters, the plainest first."""
REPEATS = {c.MAX_REPEAT, c.MIN_REPEAT, getattr(c, "POSSESSIVE_REPEAT", None)}
CATEGORIES: dict[Any, Callable[[str], bool]] = {
    c.CATEGORY_DIGIT: str.isdigit,
    c.CATEGORY_SPACE: str.isspace,
    c.CATEGORY_WORD: lambda text: text.isalnum() or text == "_",
    c.CATEGORY_NOT_DIGIT: lambda text: not text.isdigit(),
    c.CATEGORY_NOT_SPACE: lambda text: not text.isspace(),
    c.CATEGORY_NOT_WORD: lambda text: not (text.isalnum() or text == "_"),
}
Nodes = Sequence[tuple[Any, Any]]


class Use(NamedTuple):
    """A pattern, and by which of `re`'s methods it meets a text."""

    pattern: str | bytes
    flags: int
    method: str
    longest: int = LONG
    """The size of the longest text that it meets."""


class Style(NamedTuple):
    """How to write an example: which character where several fit, how often what may repeat, which alternative."""

    prefer: int
    times: int = 0
    branch: int = 0


def is_member(op: Any, value: Any, char: int) -> bool | None:
    """Return True when a node that is one character may be this one; None for a node that is more."""
    if op is c.LITERAL:
        return bool(char == value)
    if op is c.NOT_LITERAL:
        return bool(char != value)
    if op is c.ANY:
        return char != 10
    if op is c.RANGE:
        return bool(value[0] <= char <= value[1])
    if op is c.CATEGORY:
        return CATEGORIES[value](chr(char))
    if op is c.IN:
        negated = value[0][0] is c.NEGATE
        return negated != any(is_member(op, part, char) for op, part in value[negated:])
    return None


def inner(op: Any, value: Any) -> list[Nodes]:
    """Return the sequences inside of a node."""
    if op is c.BRANCH:
        return list(value[1])
    if op in REPEATS:
        return [value[2]]
    if op in (c.SUBPATTERN, c.ASSERT, c.ASSERT_NOT):
        return [value[-1]]
    if op is getattr(c, "ATOMIC_GROUP", None):
        return [value]
    assert op in (c.AT, c.GROUPREF) or is_member(op, value, 0) is not None, op
    return []


def example(nodes: Nodes, style: Style, groups: dict[int, list[int]]) -> list[int]:
    """Return characters that fit a sequence, what stands around it aside."""
    text: list[int] = []
    for op, value in nodes:
        parts = inner(op, value)
        if op in (c.ASSERT, c.ASSERT_NOT):
            example(parts[0], style, groups)
        elif op in REPEATS:
            for _ in range(min(max(value[0], style.times), int(value[1]))):
                text += example(parts[0], style, groups)
        elif parts:
            part = example(parts[style.branch % len(parts)], style, groups)
            text += part
            if op is c.SUBPATTERN:
                groups[value[0]] = part
        elif op is c.GROUPREF:
            text += groups.get(value, [])
        elif op is c.LITERAL:
            text.append(value)
        elif op is not c.AT:
            chars = itertools.chain((style.prefer,), PLAIN, (value,))
            text.append(next(char for char in chars if is_member(op, value, char)))
    return text


def repeats(nodes: Nodes, before: Nodes, after: Nodes) -> Iterator[tuple[Nodes, Nodes, Nodes]]:
    """Yield what stands before, in and behind each repeat."""
    for at, (op, value) in enumerate(nodes):
        head, tail = [*before, *nodes[:at]], [*nodes[at + 1 :], *after]
        for part in inner(op, value):
            if op in REPEATS and value[1] > value[0] + 9:
                yield head, part, tail
            yield from repeats(part, head, tail)


def single(nodes: Nodes) -> tuple[list[tuple[Any, Any]], int]:
    """Return the nodes in a sequence that are one character, and how many alternatives it has at most."""
    singles: list[tuple[Any, Any]] = []
    branches, rest = 1, list(nodes)
    while rest:
        op, value = rest.pop()
        parts = inner(op, value)
        branches = max(branches, len(parts))
        rest.extend(itertools.chain(*parts))
        if not parts and op not in (c.AT, c.GROUPREF):
            singles.append((op, value))
    return singles, branches


def letters(nodes: Nodes) -> list[int]:
    """Return one character for each way to fit, or not, the characters of a pattern; what fits fewest comes first."""
    singles, _ = single(nodes)
    numbers = Counter(map(repr, singles))
    different = {repr(node): node for node in singles}
    kinds: dict[tuple[int, ...], int] = {}
    for char in dict.fromkeys((*PLAIN, *(value for op, value in different.values() if op is c.LITERAL))):
        fits = tuple(numbers[text] if is_member(*node, char) else 0 for text, node in different.items())
        kinds.setdefault(fits, char)
    return [kinds[fits] for fits in sorted(kinds, key=sum)]


@lru_cache
def shapes(pattern: str | bytes, flags: int) -> list[tuple[str, str, str]]:
    """Return (what stands first, what is repeated, what stands last) of each text for a pattern."""
    if isinstance(pattern, bytes):
        pattern = pattern.decode("latin-1")
    nodes = list(parser.parse(pattern, flags & ~re.DEBUG))
    chars = letters(nodes)
    texts: dict[tuple[str, str, str], None] = {}

    def add(first: list[int], unit: list[int], rest: list[int]) -> None:
        ends = [[], rest, *([*head, char] for head in ([], [10], rest) for char in chars[:3])]
        for end in ends if unit else ():
            texts["".join(map(chr, first)), "".join(map(chr, unit)), "".join(map(chr, end))] = None

    for before, body, after in [*repeats(nodes, [], []), ([], nodes, [])]:
        singles, branches = single(body)
        fitting = [char for char in chars if any(is_member(*node, char) for node in singles)]
        for style in itertools.starmap(Style, itertools.product(fitting, (0, 1), range(branches))):
            groups: dict[int, list[int]] = {}
            first, unit = example(before, style, groups), example(body, style, groups)
            rest = example(after, style._replace(times=0), groups)
            add(first, unit, rest)
            add([], first + unit, [])  # for a search, which begins at each
    return random.Random(1).sample([*texts], min(MANY, len(texts)))


def run(use: Use, text: str, size: int) -> None:
    """Let a pattern meet a text."""
    compiled = re.compile(use.pattern, use.flags)
    subject: Any = text[:size].encode("latin-1", "replace") if isinstance(use.pattern, bytes) else text[:size]
    outcome = getattr(compiled, use.method)(subject)
    if use.method == "finditer":
        for _ in outcome:
            pass


def grow(shape: tuple[str, str, str], size: int) -> str:
    """Return a text of about a size."""
    first, unit, last = shape
    return first + unit * (size // len(unit)) + last


def work(use: Use, shape: tuple[str, str, str], size: int, times: int = 1) -> float:
    """Return the seconds of CPU that a pattern takes on a text: the least of several times."""
    seconds: list[float] = []
    for _ in range(times):
        start = time.thread_time()  # the process's own goes by ticks of 4 ms as soon as it has a limit
        run(use, grow(shape, size), 2 * size)
        seconds.append(time.thread_time() - start)
    return min(seconds)


def grows(use: Use, shape: tuple[str, str, str]) -> bool:
    """Return True when the work grows by much more than the text."""
    sizes = lengths(use.longest)
    for size, longer in itertools.pairwise(sizes):
        if work(use, shape, longer) > max(FLOOR, GROWTH * work(use, shape, size, LEAST_OF)):
            return True
    return False


def lengths(longest: int) -> list[int]:
    """Return the sizes of the texts to try, the last of them long, each STEP times the one before."""
    last = SHORT
    while 2 * last <= 2 * longest:
        last *= 2
    return [last // STEP**back for back in range(4) if last // STEP**back >= SHORT][::-1]


def attempt(use: Use) -> None:
    """Try a pattern on all of its texts, then on long ones of those that took longest."""
    limit_cpu(SECONDS)
    times: list[tuple[float, tuple[str, str, str]]] = []
    for shape in shapes(use.pattern, use.flags):
        print(shape, flush=True)
        signal.setitimer(signal.ITIMER_PROF, ONE)  # nothing handles its signal, which ends the process
        times.append((work(use, shape, SHORT), shape))
    signal.setitimer(signal.ITIMER_PROF, 0)
    limit_cpu(GUARD)
    candidates = [shape for _, shape in sorted(times, reverse=True)[: 4 * SLOWEST]]
    for shape in sorted(candidates, key=lambda shape: work(use, shape, SHORT, LEAST_OF), reverse=True)[:SLOWEST]:
        print(shape, flush=True)
        if all(grows(use, shape) for _ in range(SURE)):
            signal.raise_signal(signal.SIGXCPU)


def limit_cpu(seconds: int) -> None:
    """End this process by SIGXCPU when it takes as many more seconds of CPU."""
    limit = int(time.process_time()) + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))


def main() -> None:
    """Try the patterns that stdin has; a slow one ends the process."""
    for number, use in pickle.load(sys.stdin.buffer):
        print(number, flush=True)
        attempt(use)


def hanging(uses: Sequence[Use]) -> dict[int, str]:
    """Return the numbers of those that take too long, each with a text that shows it."""
    slow: dict[int, str] = {}
    rest = list(enumerate(uses))
    while rest:
        child = subprocess.run(
            [sys.executable, "-m", "tests.pumps"],
            input=pickle.dumps(rest),
            cwd=ROOT,
            env={**os.environ, **KEEPS_MEMORY},
            capture_output=True,
            check=False,
        )
        if not child.returncode:
            break
        assert child.returncode < 0, child.stderr.decode()
        lines = child.stdout.decode().splitlines()
        last = next(int(line) for line in reversed(lines) if line.isdigit())
        slow[last] = lines[-1]
        rest = [(number, use) for number, use in rest if number > last]
    return slow


if __name__ == "__main__":
    main()
