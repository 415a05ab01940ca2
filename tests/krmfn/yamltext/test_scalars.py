"""Plain scalars as Kubernetes reads them (sigs.k8s.io/yaml on go-yaml v2; reference tables of kustomize and kpt)."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from krmfn.yamltext.emit import is_ambiguous
from krmfn.yamltext.simple import Timestamp
from krmfn.yamltext.simple import scalar as read

READ: dict[str, Any] = {
    **dict.fromkeys(("yes", "Yes", "YES", "y", "Y", "on", "On", "ON", "true", "True", "TRUE"), True),
    **dict.fromkeys(("no", "No", "NO", "n", "N", "off", "Off", "OFF", "false", "False", "FALSE"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    "1.10": 1.1,
    "1.0": 1.0,
    "6.10": 6.1,
    "1e3": 1000.0,
    "1E3": 1000.0,
    "12e45": 12e45,
    "1.5e3": 1500.0,
    "012": 10,
    "0o12": 10,
    "-012": -10,
    "08": 8.0,
    "0x1F": 31,
    "0X1f": 31,
    "-0x1F": -31,
    "0b11": 3,
    "1_000": 1000,
    "1_0.5": 10.5,
    "+1": 1,
    "0": 0,
    "-0": 0,
    ".5": 0.5,
    "-.5": -0.5,
    "5.": 5.0,
    ".inf": math.inf,
    "-.INF": -math.inf,
    "9223372036854775807": (1 << 63) - 1,
    "18446744073709551615": (1 << 64) - 1,
    "-9223372036854775808": -(1 << 63),
    "123456789012345678901234567890": 1.2345678901234568e29,
    "-9223372036854775809": -9.223372036854776e18,
    "0b" + "1" * 64: (1 << 64) - 1,
    "18446744073709551616": 18446744073709551616.0,
    "-0b1" + "0" * 63: -(1 << 63),
    "0xFFFFFFFFFFFFFFFF": (1 << 64) - 1,
}
STRINGS = """
1:30 12:30:45 tRue yEs nULL oN yes! =  << 1.2.3 v1 1a a1 0x 0b 0o 0o8 0b2 0xg 1e 1e+ e3 + - . .. -- 1-2 1/2 1,5 10.0.0.1
0x1FFFFFFFFFFFFFFFFF 1e999 -1e999 .infinity inf nan NaN _1 é 2001-01 20010101T 4.18.0-553.el8_10.x86_64
"""


@pytest.mark.parametrize(("plain", "value"), READ.items())
def test_read(plain: str, value: Any) -> None:
    actual = read(plain)
    assert (type(actual), actual) == (type(value), value)


@pytest.mark.parametrize("plain", STRINGS.split())
def test_everything_else_is_the_string_it_is(plain: str) -> None:
    assert type(read(plain)) is str
    assert read(plain) == plain


@pytest.mark.parametrize("plain", [".nan", ".NaN", ".NAN"])
def test_not_a_number(plain: str) -> None:
    value = read(plain)
    assert isinstance(value, float)
    assert math.isnan(value)


@pytest.mark.parametrize(
    "plain",
    ["2001-01-01", "2001-1-1", "2001-12-14t21:59:43.10-05:00", "2001-12-14 21:59:43.10", "2001-12-14T21:59:43Z"],
)
def test_a_date_is_a_string_that_readers_disagree_about(plain: str) -> None:
    assert isinstance(read(plain), Timestamp)
    assert read(plain) == plain
    assert is_ambiguous(plain)


def test_digits_without_end_are_quick_and_no_crash() -> None:
    digits = "9" * 10_000_000
    assert read(digits) == digits
    assert read("0x" + digits) == "0x" + digits
    assert read("1." + digits) == 2.0


@given(st.integers())
@example(1 << 63)
@example((1 << 64) - 1)
@example(1 << 64)
@example(-(1 << 63))
@example(-(1 << 63) - 1)
def test_integers(number: int) -> None:
    fits = -(1 << 63) <= number < 1 << 64
    assert read(str(number)) == (number if fits else float(number))


@given(st.one_of(st.text("0123456789abefinoxyEN_+-.:~ ", max_size=8), st.text(max_size=10)))
def test_what_is_no_string_is_ambiguous(text: str) -> None:
    assert is_ambiguous(text) or type(read(text)) is str


@pytest.mark.parametrize(
    "text", ["y", "tRUE", "yEs", "1:30", "-1:30:0.5", "0x_", "-_", "1__0", "=", "<<", "", "1_", "."]
)
def test_strings_for_one_reader_and_something_else_for_another_are_ambiguous(text: str) -> None:
    assert is_ambiguous(text)


@pytest.mark.parametrize(
    "text", ["a", "v1", "4.18.0-553.el8_10.x86_64", "amd.com/gpu", "registry:5000/x", "sha256:0a1b"]
)
def test_ordinary_strings_are_not(text: str) -> None:
    assert not is_ambiguous(text)
