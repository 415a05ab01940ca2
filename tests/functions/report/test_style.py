"""The colours of the page: text can be read on everything that it stands on (WCAG 2, level AA), in both schemes."""

from __future__ import annotations

import re

import pytest
from krmfn_functions.report import states

from tests.commands import ROOT

STYLE = (ROOT / "functions" / "report" / "page.css").read_text()
SCHEMES = dict(zip(("light", "dark"), re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL), strict=False))
TEXT = ("ink", "soft", "error", "warning", "info", "open", "fine")
GROUNDS = ("card", "paper", "wash")
SHAPES = ("conflict", "failure", "hole", "unknown", "taint", "waits", "other", "runs", "idle", "fine", "bad", "open")


def colours(scheme: str) -> dict[str, str]:
    """The colours of a scheme by their names."""
    return dict(re.findall(r"--([a-z]+): (#[0-9a-f]{6})", SCHEMES[scheme]))


def luminance(colour: str) -> float:
    """Source: WCAG 2.2, relative luminance."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str, second: str) -> float:
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def test_the_contrast_is_computed_as_the_standard_says() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read(scheme: str) -> None:
    known = colours(scheme)
    pairs = [(text, ground) for text in TEXT for ground in GROUNDS]
    assert [pair for pair in pairs if contrast(known[pair[0]], known[pair[1]]) < 4.5] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_shapes_can_be_seen(scheme: str) -> None:
    known = colours(scheme)
    assert [shape for shape in SHAPES if contrast(known[shape], known["card"]) < 3] == []


def test_nothing_is_wider_than_a_phone() -> None:
    """A column has the width of its card at most; what stands in the navigation is scrolled to, and not broken."""
    columns = re.findall(r"minmax\((.*?), 1fr\)", STYLE)
    assert columns, "the page has grids"
    assert [column for column in columns if not column.startswith("min(100%, ")] == []
    assert "white-space: nowrap" in re.findall(r"^nav a \{(.*)\}$", STYLE, re.MULTILINE)[0]


def test_every_state_has_a_shape_of_its_own() -> None:
    """Who does not tell red from green, or prints in grey, sees which nodes have no driver."""
    assert {state.key for state in states.STATES} == {*states.SHAPES}
    assert len({*states.SHAPES.values()}) == len(states.SHAPES)
    clipped = dict(re.findall(r"^\.(s-[a-z-]+) i, i\.\1 \{ clip-path: (.*); \}$", STYLE, re.MULTILINE))
    assert {*clipped} == {state.style for state in states.STATES if states.SHAPES[state.key] != states.SQUARE}
    assert len({*clipped.values()}) == len(clipped)
