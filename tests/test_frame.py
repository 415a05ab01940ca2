"""The text around the items: what goes back where."""

from __future__ import annotations

from typing import Any

import pytest

from krmfn.errors import KrmfnError
from krmfn.resourcelist import ResourceList
from krmfn.results import error, info
from krmfn.yamltext import load

HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n"
NEW = {"apiVersion": "v1", "kind": "New", "metadata": {"name": "new"}}
NEW_TEXT = "- apiVersion: v1\n  kind: New\n  metadata:\n    name: new\n"


def parsed(text: str) -> ResourceList:
    return ResourceList.parse(text.encode())


def written(resources: ResourceList) -> str:
    out = resources.to_bytes().decode()
    load.read(out.encode())
    return out


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("items: []\n", "items: []\n"),
        ("items: [ ] # c\n", "items: [ ] # c\n"),
        ("items:\n", "items: []\n"),
        ("items: null # [c]\n", "items: []\n"),
        ("", "items: []\n"),
        ("# end\n", "# end\nitems: []\n"),
        ("items:\nfunctionConfig: {}\n", "items: []\nfunctionConfig: {}\n"),
    ],
)
def test_no_items(before: str, after: str) -> None:
    assert written(parsed(HEAD + before)) == HEAD + after
    added = parsed(HEAD + before)
    added.upsert([NEW])
    assert load.read(added.to_bytes())["items"] == [NEW]
    assert written(parsed(HEAD + after)) == HEAD + after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("items:\n- a: 1\n", f"items:\n- a: 1\n{NEW_TEXT}"),
        ("items:\n- a: 1", f"items:\n- a: 1\n{NEW_TEXT}"),
        ("items:\n- a: 1\n# of the end\n", f"items:\n- a: 1\n# of the end\n{NEW_TEXT}"),
        ("items:\n- a: 1\nx: y\n", f"items:\n- a: 1\n{NEW_TEXT}x: y\n"),
        (
            "items:\n  # c\n  - a: 1\n",
            "items:\n  # c\n  - a: 1\n" + "".join(f"  {line}\n" for line in NEW_TEXT.splitlines()),
        ),
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
@pytest.mark.parametrize("more", [True, False])
def test_comments_behind_removed_items_stay_once(gone: str, more: bool) -> None:
    parts = {name: f"- kind: {name}\n  # inside {name}\n# behind {name}\n" for name in "abc"}
    resources = parsed(f"{HEAD}items:\n# above\n{''.join(parts.values())}x: y\n")
    resources.items = [item for item in resources.items if item.kind not in gone]
    if more:
        resources.upsert([NEW])
    kept = "".join(f"# behind {name}\n" if name in gone else parts[name] for name in "abc")
    out = written(resources)
    assert all(out.count(f"# behind {name}\n") == 1 for name in "abc")
    if gone == "abc" and not more:
        assert out == f"{HEAD}items: []\n{kept}x: y\n"
    elif not more:
        assert out == f"{HEAD}items:\n# above\n{kept}x: y\n"


def test_an_edited_last_item_without_an_end_of_line() -> None:
    resources = parsed(f"{HEAD}items:\n- kind: A\n  x: 1")
    resources.upsert([{"kind": "A", "x": 2}, NEW])
    assert written(resources) == f"{HEAD}items:\n- kind: A\n  x: 2\n{NEW_TEXT}"


def test_an_edited_item_takes_its_old_place_in_any_order() -> None:
    resources = parsed(f"{HEAD}items:\n- kind: A\n  x: 1\n# behind A\n- kind: B\n# behind B\n")
    resources.upsert([{"kind": "A", "x": 2}])
    assert written(resources) == f"{HEAD}items:\n- kind: A\n  x: 2\n# behind A\n- kind: B\n# behind B\n"
    resources.items.reverse()
    assert written(resources) == f"{HEAD}items:\n- kind: B\n# behind B\n- kind: A\n  x: 2\n# behind A\n"


@pytest.mark.parametrize(
    "text",
    [
        '{"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": [{"kind": "A"}], "x": {"y": "é"}}',
        f"{HEAD}items: [{{kind: A}}, # c\n {{kind: B}}]\nx: y\n",
        "--- {apiVersion: config.kubernetes.io/v1, kind: ResourceList, items: [ ]}\n",
    ],
)
def test_lists_in_flow_style(text: str) -> None:
    before = load.read(text.encode())
    resources = parsed(text)
    assert resources.to_bytes() == text.encode()
    resources.upsert([NEW, {"kind": "A", "text": "a\x7f\u2028b"}])
    resources.report([info("m")])
    changed = [{"kind": "A", "text": "a\x7f\u2028b"}]
    items = changed + before["items"][1:] + [NEW] if before["items"] else [NEW, *changed]
    assert load.read(resources.to_bytes()) == {
        **before,
        "items": items,
        "results": [{"message": "m", "severity": "info"}],
    }


KNOWN = "results:\n- message: known # from before\n  severity: info\n"


@pytest.mark.parametrize("tail", ["", "x: y\n"])
def test_findings_stand_behind_those_that_are_there(tail: str) -> None:
    text = f"{HEAD}items: []\n{KNOWN}{tail}"
    again = parsed(text)
    again.report([info("known")])
    assert written(again) == text
    more = parsed(text)
    more.report([info("known"), info("new"), info("new")])
    plain = KNOWN.replace(" # from before", "")
    assert written(more) == f"{HEAD}items: []\n{plain}- message: new\n  severity: info\n{tail}"


@pytest.mark.parametrize("known", ["results: []\n", "results:\n", "results:\n  items: []\n", ""])
def test_no_findings_from_before(known: str) -> None:
    resources = parsed(f"{HEAD}items: []\n{known}")
    resources.report([error("m")])
    assert written(resources) == f"{HEAD}items: []\nresults:\n- message: m\n  severity: error\n"


def test_results_that_are_none() -> None:
    resources = parsed(f"{HEAD}items: []\nresults: x\n")
    assert written(resources).endswith("results: x\n")
    resources.report([error("m")])
    with pytest.raises(KrmfnError, match=r"^`results` of the ResourceList is no list$"):
        resources.to_bytes()


@pytest.mark.parametrize(
    ("config", "value"),
    [
        ("", None),
        ("functionConfig:\n", None),
        ("functionConfig:\n  kind: A\n  data: {b: |\n", KrmfnError),
        ("functionConfig: [1]\n", KrmfnError),
        ("functionConfig:\n  kind: A # c\n  data:\n    b: |\n      c\n# d\n", {"kind": "A", "data": {"b": "c\n"}}),
        ("functionConfig: {kind: A}\n", {"kind": "A"}),
    ],
)
def test_the_function_config(config: str, value: Any) -> None:
    resources = parsed(f"{HEAD}items:\n- a: 1\n{config}") if value is not KrmfnError else None
    if resources:
        assert resources.function_config == value
    else:
        with pytest.raises(KrmfnError):
            _ = parsed(f"{HEAD}items:\n- a: 1\n{config}").function_config


def test_complaints_about_a_section_count_lines_from_the_start() -> None:
    resources = parsed(f"{HEAD}items:\n- a: 1\nfunctionConfig:\n  a: b: c\n")
    with pytest.raises(KrmfnError, match=r"^line 6: mapping values"):
        _ = resources.function_config
