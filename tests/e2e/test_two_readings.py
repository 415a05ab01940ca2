"""The table behind KRM174: what Kubernetes and kustomize read, said by their own readers, scalar by scalar."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from krmfn import KrmfnError
from krmfn.yamltext import load, positions, simple

from .engines import find, run

REFUSED = "refused"
_WORDS = "y n yes no on off true false null nil none inf nan t f enable ~ .inf .nan infinity = x yy noon oh"
WORDS = _WORDS.split()
_NUMBERS = """
0 1 7 9 10 00 007 0777 0778 08 0o7 0o777 0O17 0o8 0x1F 0X1f 0x 0xg 0b1 0b11 0B1 0b2 1_000 _1 1_ 1__0 0_7 0x_f 0b_1 1.5
1. .5 1.0 1.10 1e3 1E3 1e+3 1e-3 1.e3 .5e3 1e 1e400 1_0.5 1._5 12:30 1:2:3 190:20:30 190:20:30.15 12:30:45.6 60:00 0:0
.inf .INF .Inf .iNf .nan .NaN 0x1p3 0x1.8p1 1p3 Inf NaN 9223372036854775807 9223372036854775808 18446744073709551615
0.1e-400 18446744073709551616 123456789012345678901234567890 0xffffffffffffffff 0x10000000000000000
01777777777777777777777 1e20 1.2.3 1.2e3.4 010.5 0e0 08.5 09e1 1e10 1e21 1e22 0.000000001 1e-7 20010101 1.30-rc1
"""
NUMBERS = _NUMBERS.split()
_DATES = """
2001-01-01 2001-1-1 2001-01-1 2001-1-01 2001-13-01 2001-02-30 2001-01-32 2001-01-01T00:00:00Z 2001-01-01t00:00:00z
2001-01-01T00:00:00 2001-01-01t1:2:3 2001-01-01T1:2:3Z 2001-01-01T00:00:00+01:00 2001-01-01T00:00:00.123Z 2001-01
2001-01-01T00:00:00.123456789012Z 2001-01-01T00:00 2001-001 0000-00-00 0001-01-01 99999-01-01 999-01-01 2001-01-01x
2001-01-01T25:00:00Z 2001-01-01T00:00:60Z 2001-01-01- 2001-01-01T 2001-01-01T00:00:00-0100 2001-01-01T00:00:00+1
"""
DATES = [
    *_DATES.split(),
    *("2001-01-01 00:00:00", "2001-01-01 1:2:3 Z", "2001-01-01 00:00:00 +01:00", "2001-1-1  1:2:3", "2001-01-01 00:00"),
]
SCALARS = sorted(
    {
        *("".join(letters) for word in WORDS for letters in itertools.product(*({c.lower(), c.upper()} for c in word))),
        *(sign + number for sign in ("", "+", "-") for number in NUMBERS),
        *DATES,
    }
)


def read(texts: list[bytes], *reader: str) -> list[Any]:
    """What yamlreader reads under `labels` of each text; REFUSED where it does not."""
    done = run(
        find("yamlreader", "tests/e2e/install makes it with go"),
        *reader,
        stdin=b"".join(b"%d\n%s" % (len(text), text) for text in texts),
    ).ended(0)
    lines = done.out.decode().split("\n")[:-1]
    return [json.loads(line[1:])["metadata"]["labels"] if line[0] == "=" else REFUSED for line in lines]


def ours(text: bytes) -> Any:
    """What KRM174 says about the text; REFUSED where the full reader reads nothing."""
    try:
        load.read(text)
    except KrmfnError:
        return REFUSED
    return list(positions.ambiguous(load.compose(text)))


@pytest.mark.parametrize("line", ["    a: {}", "    {}: a"], ids=["a value", "a key"])
def test_what_two_readers_read_differently_is_refused_and_nothing_else(line: str) -> None:
    """But for dates: kustomize prints some as they were, in others it finds no date; all are refused."""
    head = b"apiVersion: v1\nkind: A\nmetadata:\n  name: a\n  labels:\n"
    texts = [head + line.format(scalar).encode() + b"\n" for scalar in SCALARS]
    differ = 0
    for scalar, text, parsed, printed in zip(SCALARS, texts, read(texts), read(texts, "kustomize"), strict=True):
        messages = ours(text)
        if messages is REFUSED:
            continue
        differs = json.dumps(parsed) != json.dumps(printed)
        differ += differs
        is_date = type(simple.scalar(scalar)) is simple.Timestamp
        assert bool(messages) == differs or (messages and is_date), (scalar, parsed, printed, messages)
        if messages and not is_date:
            (value,) = parsed if "{}: a" in line else parsed.values()
            assert f" is {json.dumps(value)} to Kubernetes" in str(messages[0]), messages
            assert ("refused by kustomize" in str(messages[0])) == (printed is REFUSED), messages
        if messages and printed is not REFUSED and not is_date:
            assert f'and "{scalar}" to kustomize' in str(messages[0]), messages
    assert differ > 20


def test_the_table_holds_the_scalars_of_the_issue() -> None:
    """Of a value 0777 both make 511, of 12:30 both make a string."""
    assert {scalar for scalar in SCALARS if simple.differs(scalar)} >= {"y", "on", "NO", "2001-01-01"}
    assert not any(map(simple.differs, ("0777", "12:30", "true", "1.10", "oFF")))
