"""The envelope: the text around the items, and what goes back where."""

from __future__ import annotations

from textwrap import indent
from typing import Any

import pytest

from krmfn.errors import KrmfnError
from krmfn.item import Item
from krmfn.resourcelist import ResourceList
from krmfn.results import error, info
from krmfn.yamltext import load

HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n"
NEW = {"apiVersion": "v1", "kind": "New", "metadata": {"name": "new"}}
A = "apiVersion: v1\n  kind: A\n  metadata:\n    name: a"
NEW_TEXT = "- apiVersion: v1\n  kind: New\n  metadata:\n    name: new\n"


def parsed(text: str) -> ResourceList:
    return ResourceList.parse(text.encode())


def written(resources: ResourceList) -> str:
    out = resources.to_bytes().decode()
    load.read(out.encode())
    return out


def a(**fields: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "A", "metadata": {"name": "a"}, **fields}


@pytest.mark.parametrize(
    "before",
    [
        "items: []\n",
        "items: [ ] # c\n",
        "items:\n",
        "items: null # [c]\n",
        "items: ~\n# end\n",
        "items:\n# c\nfunctionConfig: {}\n",
        "items:",
    ],
)
def test_no_items(before: str) -> None:
    assert written(parsed(HEAD + before)) == HEAD + before
    reported = parsed(HEAD + before)
    reported.report([info("m")])
    end = "" if before.endswith("\n") else "\n"
    assert written(reported) == f"{HEAD}{before}{end}results:\n- message: m\n  severity: info\n"
    added = parsed(HEAD + before)
    added.upsert([NEW])
    assert load.read(added.to_bytes())["items"] == [NEW]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("items:\n- a: 1\n", f"items:\n- a: 1\n{NEW_TEXT}"),
        ("items:\n- a: 1", f"items:\n- a: 1\n{NEW_TEXT}"),
        ("items:\n- a: 1\n# of the end\n", f"items:\n- a: 1\n# of the end\n{NEW_TEXT}"),
        ("items:\n- a: 1\nx: y\n", f"items:\n- a: 1\n{NEW_TEXT}x: y\n"),
        ("items:\n  # c\n  - a: 1\n", "items:\n  # c\n  - a: 1\n" + indent(NEW_TEXT, "  ")),
        ("items:\r\n- a: 1\r\n", f"items:\r\n- a: 1\r\n{NEW_TEXT}"),
        ("items:\n- a: 1\n...\n", f"items:\n- a: 1\n{NEW_TEXT}...\n"),
    ],
)
def test_a_new_item_at_the_end(before: str, after: str) -> None:
    resources = parsed(HEAD + before)
    resources.upsert([NEW])
    assert written(resources) == HEAD + after


def test_a_byte_order_mark_stays() -> None:
    resources = ResourceList.parse(b"\xef\xbb\xbf" + f"{HEAD}items:\n- a: 1\n".encode())
    assert resources.to_bytes().startswith(b"\xef\xbb\xbfapi")
    resources.upsert([NEW])
    assert resources.to_bytes() == b"\xef\xbb\xbf" + f"{HEAD}items:\n- a: 1\n{NEW_TEXT}".encode()


@pytest.mark.parametrize("gone", ["a", "b", "c", "ab", "bc", "ac", "abc"])
@pytest.mark.parametrize("is_extended", [True, False])
def test_comments_behind_removed_items_stay_once(gone: str, is_extended: bool) -> None:
    parts = {name: f"- kind: {name}\n  # inside {name}\n# behind {name}\n" for name in "abc"}
    resources = parsed(f"{HEAD}items:\n# above\n{''.join(parts.values())}x: y\n")
    resources.items = [item for item in resources.items if item.kind not in gone]
    if is_extended:
        resources.upsert([NEW])
    kept = "".join(f"# behind {name}\n" if name in gone else parts[name] for name in "abc")
    out = written(resources)
    assert all(out.count(f"# behind {name}\n") == 1 for name in "abc")
    if gone == "abc" and not is_extended:
        assert out == f"{HEAD}items: []\n{kept}x: y\n"
    elif not is_extended:
        assert out == f"{HEAD}items:\n# above\n{kept}x: y\n"


def test_an_edited_last_item_without_an_end_of_line() -> None:
    resources = parsed(f"{HEAD}items:\n- {A}\n  x: 1")
    resources.upsert([a(x=2), NEW])
    assert written(resources) == f"{HEAD}items:\n- {A}\n  x: 2\n{NEW_TEXT}"


def test_an_edited_item_takes_its_old_place_in_any_order() -> None:
    resources = parsed(f"{HEAD}items:\n- {A}\n  x: 1\n# behind A\n- kind: B\n# behind B\n")
    resources.upsert([a(x=2)])
    assert written(resources) == f"{HEAD}items:\n- {A}\n  x: 2\n# behind A\n- kind: B\n# behind B\n"
    resources.items.reverse()
    assert written(resources) == f"{HEAD}items:\n- kind: B\n# behind B\n- {A}\n  x: 2\n# behind A\n"


@pytest.mark.parametrize(
    "text",
    [
        '{"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": '
        '[{"apiVersion": "v1", "kind": "A", "metadata": {"name": "a"}}], "x": {"y": "é"}}',
        f"{HEAD}items: [{{apiVersion: v1, kind: A, metadata: {{name: a}}}}, # c\n {{kind: B}}]\nx: y\n",
        "--- {apiVersion: config.kubernetes.io/v1, kind: ResourceList, items: [ ]}\n",
    ],
)
def test_lists_in_flow_style(text: str) -> None:
    before = load.read(text.encode())
    resources = parsed(text)
    assert resources.to_bytes() == text.encode()
    changed = [a(text="a\x7f\u2028b")]
    resources.upsert([NEW, *changed])
    resources.report([info("m")])
    items = changed + before["items"][1:] + [NEW] if before["items"] else [NEW, *changed]
    results = [{"message": "m", "severity": "info"}]
    assert load.read(resources.to_bytes()) == {**before, "items": items, "results": results}


KNOWN = "results:\n- message: known # from before\n  severity: info\n"


@pytest.mark.parametrize("tail", ["", "x: y\n"])
def test_findings_stand_behind_those_that_are_there(tail: str) -> None:
    text = f"{HEAD}items: []\n{KNOWN}{tail}"
    again = parsed(text)
    again.report([info("known")])
    assert written(again) == text
    extended = parsed(text)
    extended.report([info("known"), info("new"), info("new")])
    plain = KNOWN.replace(" # from before", "")
    assert written(extended) == f"{HEAD}items: []\n{plain}- message: new\n  severity: info\n{tail}"


@pytest.mark.parametrize("tail", ["# of x\nx: y\n", "\n# of x\n\nx: y\n", "# end\n", "# end"])
def test_the_comments_behind_findings_stay(tail: str) -> None:
    resources = parsed(f"{HEAD}items: []\n{KNOWN}{tail}")
    resources.report([info("new")])
    plain = KNOWN.replace(" # from before", "")
    end = "" if tail.endswith("\n") else "\n"
    assert written(resources) == f"{HEAD}items: []\n{plain}- message: new\n  severity: info\n{tail}{end}"


@pytest.mark.parametrize("known", ["results: []\n", "results:\n", "results:\n  items: []\n", ""])
def test_no_findings_from_before(known: str) -> None:
    resources = parsed(f"{HEAD}items: []\n{known}")
    resources.report([error("m")])
    assert written(resources) == f"{HEAD}items: []\nresults:\n- message: m\n  severity: error\n"


def test_results_that_are_none() -> None:
    resources = parsed(f"{HEAD}items: []\nresults: x\n")
    assert written(resources).endswith("results: x\n")
    resources.report([error("m")])
    with pytest.raises(KrmfnError, match=r"^`results` of the ResourceList is not a list$"):
        resources.to_bytes()


@pytest.mark.parametrize(
    ("config", "value"),
    [
        ("", None),
        ("functionConfig:\n", None),
        ("functionConfig:\n  kind: A # c\n  data:\n    b: |\n      c\n# d\n", {"kind": "A", "data": {"b": "c\n"}}),
        ("functionConfig: {kind: A}\n", {"kind": "A"}),
    ],
)
def test_the_function_config(config: str, value: Any) -> None:
    assert parsed(f"{HEAD}items:\n- a: 1\n{config}").function_config == value


@pytest.mark.parametrize(
    ("config", "complaint"),
    [
        ("\n  kind: A\n  data: {b: |\n", "^line 7: found character that cannot start any token"),
        (" [1]\n", "^functionConfig is not a resource; pass one with apiVersion and kind, or none$"),
        ("\n  a: b: c\n", "^functionConfig: line 6: mapping values"),
    ],
)
def test_a_function_config_that_is_none(config: str, complaint: str) -> None:
    """Its lines are counted from the start of the list."""
    with pytest.raises(KrmfnError, match=complaint):
        _ = parsed(f"{HEAD}items:\n- a: 1\nfunctionConfig:{config}").function_config


def test_null_items_in_flow_style_stay_null() -> None:
    resources = parsed('{"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": null}')
    resources.report([info("m")])
    assert load.read(resources.to_bytes())["items"] is None
    resources.upsert([NEW])
    assert load.read(resources.to_bytes())["items"] == [NEW]


LITERALS = [
    "|\n    x",
    "|+\n    x",
    "|-\n    x",
    ">\n    x",
    "|\n    x\n   ",
    "|+\n    x\n\n\n",
    "|\n    x\n     \n",
    "a|b",
]


@pytest.mark.parametrize("value", LITERALS)
@pytest.mark.parametrize("config", [False, True])
def test_a_scalar_at_the_end_means_the_same_when_something_follows(value: str, config: bool) -> None:
    item = f"{HEAD}items:\n- kind: B\n  a: {value}"
    text = f"{item}\nfunctionConfig:\n  a: {value}" if config else item
    before = load.read(text.encode())
    resources = parsed(text)
    resources.upsert([NEW])
    resources.report([info("m")])
    after = load.read(resources.to_bytes())
    assert after["items"] == [*before["items"], NEW]
    assert after.get("functionConfig") == before.get("functionConfig")


@pytest.mark.parametrize("value", ["x", "x\n\n", "x\n \n", "\n"])
@pytest.mark.parametrize("old", ["b\n\n", "|\n    b\n     \n", "|+\n    b\n\n", "|\n    b\n\n# c\n\n"])
@pytest.mark.parametrize("following", ["", "- kind: B\n"])
def test_an_edit_gains_and_loses_no_empty_line_at_the_end(value: str, old: str, following: str) -> None:
    resources = parsed(f"{HEAD}items:\n- {A}\n  a: {old}{following}")
    resources.upsert([a(a=value)])
    assert load.read(resources.to_bytes())["items"][0] == a(a=value)


def test_comments_behind_a_removed_item_are_no_text_of_the_one_before() -> None:
    resources = parsed(f"{HEAD}items:\n- kind: A\n  a: |+\n    x\n- kind: B\n\n# c\n- kind: C\n")
    resources.items = [item for item in resources.items if item.kind != "B"]
    assert [item["kind"] for item in load.read(resources.to_bytes())["items"]] == ["A", "C"]
    assert load.read(resources.to_bytes())["items"][0]["a"] == "x\n"


SHARED = f"{HEAD}items:\n- {A}\n  x: &x 1\n- kind: B\n  x: *x\n"
NO_ANCHOR = r"^B, in the ResourceList: line 10: this alias \(\*\) does not refer to an earlier anchor"


def test_an_anchor_that_another_item_uses_may_stay() -> None:
    resources = parsed(SHARED)
    resources.upsert([NEW])
    assert written(resources) == SHARED + NEW_TEXT


USES = {
    "edited away": lambda resources: resources.upsert([a(x=2)]),
    "removed": lambda resources: resources.items.pop(0),
    "read": lambda resources: resources.items[1].manifest,
}


@pytest.mark.parametrize("use", USES)
def test_an_alias_has_its_anchor_in_the_same_item(use: str) -> None:
    resources = parsed(SHARED)
    with pytest.raises(KrmfnError, match=NO_ANCHOR):
        USES[use](resources)
        resources.to_bytes()


def test_an_anchor_that_the_function_config_uses_is_not_removed() -> None:
    resources = parsed(f"{HEAD}items:\n- kind: A\n  x: &x 1\nfunctionConfig: {{x: *x}}\n")
    del resources.items[0]
    with pytest.raises(KrmfnError, match=r"^functionConfig: line 6: this alias"):
        resources.to_bytes()


@pytest.mark.parametrize("body", ["&x 1\n  b: *x\n", "&x 1\n  b: &x 2\n", "&x 1\n  b: '*x'\n"])
def test_an_anchor_of_its_own_lets_an_item_pass(body: str) -> None:
    resources = parsed(f"{HEAD}items:\n- {A}\n- kind: B\n  a: {body}")
    resources.upsert([a(b=1)])
    assert resources.to_bytes().decode() == f"{HEAD}items:\n- {A}\n  b: 1\n- kind: B\n  a: {body}"


FOREIGN = [
    b"# c\n" + NEW_TEXT.replace("\n  ", "\n")[2:].encode(),
    b'{"apiVersion": "v1", "kind": "New", "metadata": {"name": "new"}} # c',
]


@pytest.mark.parametrize("text", FOREIGN)
@pytest.mark.parametrize("items", ["items: []\n", "items:\n- a: 1\n", "items:\n  - a: 1\n", "items: [{a: 1}]\n"])
def test_an_item_from_a_file_takes_the_layout_of_the_list(text: bytes, items: str) -> None:
    resources = parsed(HEAD + items)
    before = load.read(resources.to_bytes())["items"]
    text = text.replace(b"# c\n", b"").replace(b" # c", b"") if "[{" in items else text
    resources.items.append(Item(text, 0, len(text), -2))
    resources.items.extend(parsed(f"{HEAD}items:\n- {A}\n").items)
    assert load.read(resources.to_bytes())["items"] == [*before, NEW, a()]


def test_an_item_from_another_list_brings_no_alias_of_it() -> None:
    resources = parsed(f"{HEAD}items: []\n")
    resources.items.append(parsed(SHARED).items[1])
    with pytest.raises(KrmfnError, match=NO_ANCHOR):
        resources.to_bytes()


@pytest.mark.parametrize("line_end", ["\n", "\r", "\x85", "\u2028", "\u2029"])
def test_a_line_at_which_readers_of_the_output_divide_is_refused(line_end: str) -> None:
    """The key `---# x` would be the first thing on a line of what is written, and end the list there for kustomize."""
    with pytest.raises(KrmfnError, match=r"line 2: this line begins with `---`"):
        parsed(f"{HEAD.partition(chr(10))[0]}{line_end}---# x:\nkind: ResourceList\nitems:\n- {A}\n")
    resources = parsed(f"---\n{HEAD}items:\n- {A}\n  text: |\n    ---# x\n")
    assert len(resources.items) == 1
