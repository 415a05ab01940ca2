"""No regular expression takes long over a text of somebody else's, whatever it is."""

from __future__ import annotations

import re

from krmfn.yamltext import documents
from tests import patterns, pumps
from tests.pumps import Use

SLOW = (
    Use(rb"(?:\s|#[^\n]*|^%[^\n]*)*\Z", re.MULTILINE, "match"),  # krmfn once took this for "only comments"
    Use(r"(a+)+$", 0, "match"),
    Use(r"(?:[a-z]|[b-d]x?)*!", 0, "fullmatch"),
    Use(r"\s*,?\s*x", 0, "match"),
    Use(r"<!--.*?-->", re.DOTALL, "finditer"),
    Use(r'E\d{4} [^"]*"command failed" err=("(?:[^"\\]|\\["\\n])*")', 0, "finditer"),  # once over kustomize's messages
)
QUICK = (
    Use(r"(?:a|b)*$", 0, "fullmatch"),
    Use(r'"(?![^"]*;)', 0, "finditer"),
    Use(r"x[a-z]{3,20}y", 0, "search"),
)


def test_a_slow_pattern_is_found() -> None:
    assert [*pumps.hanging((*SLOW, *QUICK))] == [*range(len(SLOW))]


def test_no_pattern_is_slow() -> None:
    places = patterns.uses()
    uses = [*places]
    slow = {places[uses[at]]: (uses[at], text) for at, text in pumps.hanging(uses).items()}
    assert slow == {}


def test_each_pattern_is_known_with_its_methods() -> None:
    uses = {(use.pattern, use.method): place.partition(":")[0] for use, place in patterns.uses().items()}
    constant = documents._SOMETHING.pattern
    assert uses[constant, "search"] == "krmfn/yamltext/documents.py"
    assert (constant, "finditer") not in uses
    assert uses[rb"\n  (?=[^ \n#-])", "finditer"] == "krmfn/yamltext/peek.py"  # made by a function, with a column
    assert uses[r"(^|[-.])a\-b\.c($|[-.])", "search"] == "functions/deviceconfig/extra_rules.py"  # of a name
    # all have it, and the last one is kept
    readers = {"functions/kmm/crd/values.py", "functions/pods/shapes.py", "krmfn/program.py"}
    assert uses[patterns.CRD_RULES[0][1:-1], "fullmatch"] in readers


def test_what_else_reads_patterns_is_known() -> None:
    assert patterns.other_engines() == patterns.OTHER_ENGINES
