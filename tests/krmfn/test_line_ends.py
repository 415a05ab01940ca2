"""The last item of a list that has no line end: it gets one, and means what it meant."""

from __future__ import annotations

import pytest
import yaml

from krmfn import ResourceList, error, run
from krmfn.yamltext.edit import parse, with_line_end

ANCHOR = "- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: a}\n  data: &data\n    x: y\n"
LAST = "- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: b}\n  data: *data\n"
HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
TEXTS = {
    "literal": "|\n    one",
    "literal that keeps": "|+\n    one",
    "literal with a blank line": "|+\n    one\n\n    ",
    "literal with spaces at its end": "|\n    one\n     ",
    "literal with its indent": "|2+\n    one",
    "literal with a tag": "!!str |\n    one",
    "folded": ">\n    one\n    two",
    "stripped": "|-\n    one",
    "a bar in quotes": "'|'",
}


def refuse(resources: ResourceList) -> None:
    resources.report(error("must not be", at=resources.items[0]))


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_after_an_error_an_item_with_an_alias_keeps_its_meaning(text: str) -> None:
    data = f"{HEAD}{ANCHOR}{LAST}  text: {text}"
    output, code = run(refuse, data.encode())
    assert code == 1
    before, after = yaml.safe_load(data), yaml.safe_load(output)
    assert after["items"] == before["items"]
    assert [result["message"] for result in after["results"]] == ["must not be"]
    assert output.decode().startswith(HEAD + ANCHOR + LAST)


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("above", ["  a: &a x  # why\n", "  a: !!str 1\n", "  a: x  # why\n", "  a: y\n  a: x\n"])
def test_a_document_with_comments_and_anchors_keeps_every_byte(above: str, name: str) -> None:
    data = (
        f"kind: ConfigMap\n{above}".replace("  a", "a")
        + f"text: {TEXTS[name].replace(chr(10) + '    ', chr(10) + '  ')}"
    )
    ended = with_line_end(data.encode(), -2).decode()
    assert ended.endswith("\n") and parse(ended) == parse(data)
    header = next(number for number, line in enumerate(data.split("\n")) if line.startswith("text:"))
    lines = zip(data.split("\n"), ended.split("\n"), strict=False)  # a last line of spaces alone may go
    changed = [number for number, (before, after) in enumerate(lines) if before.strip() and after != before]
    assert changed in ([], [header]), ended


def test_a_function_config_with_an_alias_keeps_its_meaning() -> None:
    data = f"{HEAD}{ANCHOR}functionConfig:\n  apiVersion: v1\n  kind: ConfigMap\n  data: *data\n  text: |\n    one"
    output, code = run(refuse, data.encode())
    assert code == 1
    assert yaml.safe_load(output)["functionConfig"] == yaml.safe_load(data)["functionConfig"]


def test_an_alias_that_cannot_be_written_is_a_result() -> None:
    output, code = run(
        lambda resources: resources.remove(resources.items[0]), f"{HEAD}{ANCHOR}{LAST}  t: |\n    one".encode()
    )
    assert code == 1
    [result] = yaml.safe_load(output)["results"]
    assert "line 12: this alias (*) does not refer to an earlier anchor (&) of the same resource" in result["message"]


def test_what_is_no_yaml_leaves_with_a_line_end() -> None:
    data = f"{HEAD}{ANCHOR}- kind: ConfigMap\n  a: |\n    one\n  b: @".encode()
    output, code = run(refuse, data)
    assert code == 1
    assert output.startswith(data + b"\nresults:\n")


WINDOWS = (
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a} # of a\ndata: # of data\n  a: b # c\n"
    "  t: |\n    one\n    two\nl: [a, # A\n  b]\nm:\n- x # X\n- k: v\n"
)


@pytest.mark.parametrize(
    "path", ["data.new", "data.a", "data.t", "l[2]", "m[2]", "m[1].more", "metadata.labels.x", "spec"]
)
@pytest.mark.parametrize("value", ["x", "one\ntwo\n"])
def test_what_is_added_ends_as_the_lines_of_the_file_do(path: str, value: str) -> None:
    outs = []
    for line_end in ("\n", "\r\n"):
        items = ("- " + WINDOWS.replace("\n", "\n  ").rstrip(" ")).replace("\n", line_end).encode()
        resources = ResourceList.parse(HEAD.encode() + items)
        resources.items[0].at(path).value = value
        resources.items[0].at("kind").head_comment = "first\nsecond"
        outs.append(resources.items[0].text.decode())
    assert "\n" not in outs[1].replace("\r\n", "")
    assert outs[1].replace("\r\n", "\n") == outs[0]
    assert parse(outs[0])[0]["kind"] == "ConfigMap"
