"""No format shows a control character or one that changes the direction of text, whatever names hold."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from krmfn_functions.differences import ABSENT, FieldChange
from krmfn_functions.formats import comment, findings
from krmfn_functions.formats.checked import Checked, dump_baseline
from krmfn_functions.plan import Change, Comparison, Effect, Plan
from krmfn_functions.report import page

from krmfn import Place, Ref, Result
from krmfn.printing import json_text, visible
from krmfn.results import Field
from tests.functions.report.pages import told_of

HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
TEXT = st.text(st.characters() | st.sampled_from('\x1b\x07\x7f\x9b\u202e\u2066\u200f\u061c\ud800\U000e0001#[\\"\n'))


def strings(data: object) -> Iterator[str]:
    """Yield the values of JSON data that are strings."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict | list):
        for child in data.values() if isinstance(data, dict) else data:
            yield from strings(child)


def checked(text: str) -> Checked:
    ref, place = Ref("g/v1", text, text, text), Place(text, 0, 3, 7)
    result = Result(text, "error", "KRM101", ref, Field(text, text, text), place)
    configs = [(ref, Result("", ref=ref, place=place)), (ref._replace(name=f"{text}x"), Result(""))]
    return Checked([result], 1, configs, {"DeviceConfig": 1}, 1, clusters={text: [result]})


def compared(text: str) -> Comparison:
    ref = Ref("g/v1", text, text, text)
    fields = (FieldChange((text,), text, f"{text}\n{text}x"), FieldChange(("a",), ABSENT, {text: text}))
    changes = (Change("changed", ref, {}, {}, fields), Change("created", ref, None, {text: text}))
    return Comparison(text, Plan([], [], changes, 1, (Effect(ref, "lost", (text,), (text,)),)), checked(text).results)


@pytest.mark.parametrize("name", findings.FORMATS)
@given(TEXT)
def test_findings(name: str, text: str) -> None:
    output = findings.FORMATS[name](checked(text), None)
    assert not HIDDEN.search(output)
    if name == "json":
        assert {*strings(json.loads(output))} >= {text}
    elif name in ("sarif", "gitlab"):
        assert any(value.endswith(text) for value in strings(json.loads(output)))
    elif name == "prometheus":
        samples = [line.rpartition(" ")[0] for line in output.splitlines() if not line.startswith("#")]
        assert len({*samples}) == len(samples), "Prometheus refuses the file"
        label = r'\w+="(\\[\\n"]|[^\\"])*"'
        assert all(re.fullmatch(rf"\w+(\{{{label}(,{label})*\}})?", sample) for sample in samples)


@pytest.mark.parametrize("name", comment.FORMATS)
@given(TEXT)
def test_changes(name: str, text: str) -> None:
    output = comment.FORMATS[name]([compared(text)], ())
    assert not HIDDEN.search(output)
    if name == "json":
        assert {*strings(json.loads(output))} >= {text}


@given(TEXT)
def test_json_is_read_back(text: str) -> None:
    for output in (json_text({text: [text]}), json_text({text: [text]}, 2)):
        assert not HIDDEN.search(output)
        assert json.loads(output) == {text: [text]}
    assert not HIDDEN.search(dump_baseline(checked(text).results))
    assert not re.search(r"##\w*\[", json_text(text))


@given(TEXT)
@example("\u034f")
def test_the_page(text: str) -> None:
    """What does not print stands there escaped, as people read it, also where the page's script writes it."""
    data = json.loads(str(page._embed([text])))
    assert data == [visible(text, "".join(map(chr, range(32))))], "a browser shows nothing of the controls of ASCII"


def test_a_whole_page() -> None:
    text = "\x1b\u202e\u2066\ud800"
    output = page.page([], {}, "1.0", told_of([], [compared(text)]), str)
    assert not HIDDEN.search(output)
    assert r"\x1b\u202e" in output
