"""Items in brackets: what stands between them stays, comments too, or the edit is refused with its place."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from krmfn import KrmfnError, ResourceList, info, parse_all, run
from krmfn.item import Item
from krmfn.yamltext import load

HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n"
A, B = (f"{{apiVersion: v1, kind: A, metadata: {{name: {name}}}}}" for name in "ab")
NEW = {"apiVersion": "v1", "kind": "New", "metadata": {"name": "new"}}
NEW_TEXT = '{"apiVersion": "v1", "kind": "New", "metadata": {"name": "new"}}'
LISTED = f"{HEAD}items: [ # of the list\n  # of a\n  {A}, # a\n  {B} # b\n  # end\n] # behind\n# of x\nx: y # X\n"
ROOT_HEAD = '{ # root\n"apiVersion": config.kubernetes.io/v1, # v\n"kind": ResourceList,\n'
ROOT = f'{ROOT_HEAD}"items": [\n  {A}, # a\n  {B}, # b\n] # end\n}} # last\n'
PLAIN = f"{HEAD}items: [{A},\n  {B}]\n"
JSON = f'{{"apiVersion": "config.kubernetes.io/v1",\n"kind": "ResourceList", "items": [{A}, {B}]}}\n'
lists = pytest.mark.parametrize("text", [LISTED, ROOT, PLAIN, JSON], ids=["listed", "root", "plain", "JSON"])
commented = pytest.mark.parametrize("text", [LISTED, ROOT], ids=["listed", "root"])


def parsed(text: str) -> ResourceList:
    return ResourceList.parse(text.encode())


def written(resources: ResourceList) -> str:
    out = resources.to_bytes()
    load.read(out)
    return out.decode()


def comments(text: str) -> list[str]:
    return re.findall("#.*", text)


@lists
def test_an_untouched_list_keeps_its_bytes(text: str) -> None:
    resources = parsed(text)
    assert all(item.manifest for item in resources)
    assert written(resources) == text


@lists
@pytest.mark.parametrize("name", ["a", "b"])
def test_an_edit_changes_its_item_alone(text: str, name: str) -> None:
    resources = parsed(text)
    [item] = resources.where(name=name)
    item["data.x"] = "1"
    assert written(resources) == text.replace(f"name: {name}}}}}", f'name: {name}}}, data: {{x: "1"}}}}')


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (LISTED, "b\n  # end\n]", f"b\n  # end\n  {NEW_TEXT}\n]"),
        (ROOT, "# b\n]", f"# b\n  {NEW_TEXT}\n]"),
        (ROOT.replace("}, # b\n]", "} # b\n,]"), "} # b\n,]", f"}}, # b\n  {NEW_TEXT}\n]"),
        (PLAIN, "]", f",\n  {NEW_TEXT}]"),
        (JSON, "]", f",\n  {NEW_TEXT}]"),
        (PLAIN.replace("}]", "},\n]"), ",\n]", f",\n  {NEW_TEXT}\n]"),
        (HEAD + "items: [\n# none\n]\n", " [\n# none\n]", f"\n# none\n- {NEW_TEXT}"),
        (HEAD + "items: [] # none\n", " [] # none", f" # none\n- {NEW_TEXT}"),
        (HEAD + "items: null # none\n# yet\n", " null # none\n# yet", f" # none\n# yet\n- {NEW_TEXT}"),
        (HEAD + "items: # none\n  # yet\n", " # none\n  # yet", f" # none\n  # yet\n- {NEW_TEXT}"),
        (
            '{"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": [ # c\n]}\n',
            "]",
            f"  {NEW_TEXT}\n]",
        ),
        ('{"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": null}\n', "null", f"[{NEW_TEXT}]"),
    ],
)
def test_a_new_item_stands_behind_the_last_and_its_comments(text: str, old: str, new: str) -> None:
    resources = parsed(text)
    resources.append(NEW)
    block = "apiVersion: v1\n  kind: New\n  metadata:\n    name: new"
    expected = text.replace(f"{B} # b", f"{B}, # b") if text == LISTED else text
    assert written(resources) == expected.replace(old, new.replace(f"- {NEW_TEXT}", f"- {block}"))


@commented
@pytest.mark.parametrize(
    "change", [lambda r: r.remove(r.items[0]), lambda r: r.items.reverse(), lambda r: r.items.clear()]
)
def test_where_a_comment_would_lose_its_item_the_edit_is_refused(
    text: str, change: Callable[[ResourceList], None]
) -> None:
    resources = parsed(text)
    change(resources)
    comment, line = ("# of the list", 3) if text == LISTED else ("# a", 5)
    message = (
        f"line {line}: the comment '{comment}' beside items in brackets would be lost: write each item with a dash"
    )
    with pytest.raises(KrmfnError, match=f"^{re.escape(message)}$"):
        resources.to_bytes()
    output, code = run(change, text.encode())
    assert code == 1 and output.decode().count(A) == 1
    assert comments(text) == comments(output.decode().replace(f"'{comment}'", "''"))


@pytest.mark.parametrize("text", [PLAIN, JSON])
def test_without_comments_items_go_and_change_places(text: str) -> None:
    resources = parsed(text)
    resources.remove(resources.items[0])
    assert written(resources) == text.replace(A, "").replace(",\n  {", "{").replace("[, ", "[")
    resources.append(NEW)
    assert [item["metadata.name"] for item in parsed(written(resources))] == ["b", "new"]
    resources.items.clear()
    assert "[]" in written(resources) and not parsed(written(resources)).items


@lists
def test_a_finding_changes_nothing_else(text: str) -> None:
    resources = parsed(text)
    resources.report(info("m"))
    out = written(resources)
    assert load.read(out.encode()) == {**load.read(text.encode()), "results": [{"message": "m", "severity": "info"}]}
    assert out.replace(text, "").count("\n") <= text.count("\n") + 3
    assert comments(out) == comments(text) and A in out and B in out
    again = parsed(out)
    again.report(info("n"))
    assert comments(written(again)) == comments(text) and "message" in written(again)


TEXT = "apiVersion: v1\nkind: New\nmetadata:\n  name: new # N\n"


def in_lines(resources: ResourceList) -> None:
    resources.items[0].manifest["l"] = [{"k": "v" * 100, "t": "\n"}]


def moved(resources: ResourceList) -> None:
    resources.append({**NEW, "spec": resources.items[0].manifest.pop("spec")})


def of_another_list(resources: ResourceList) -> None:
    text = "- " + TEXT.replace("\n", "\n  ").rstrip(" ")
    resources.items += parsed(f"{HEAD}items:\n{text}").items


@pytest.mark.parametrize("text", [PLAIN, JSON])
@pytest.mark.parametrize(
    ("change", "comment"),
    [
        (lambda r: r.append(TEXT), "N"),
        (lambda r: r.append(parse_all(TEXT)[0]), "N"),
        (lambda r: r.upsert(parse_all(TEXT)), "N"),
        (lambda r: r.append("{apiVersion: v1, kind: New, metadata: {name: new}} # N"), "N"),
        (lambda r: r.append(TEXT)[0].labels.update(a="b"), "N"),
        (of_another_list, "N"),
    ],
)
def test_a_comment_of_a_new_item_has_no_place_in_brackets(
    text: str, change: Callable[[ResourceList], object], comment: str
) -> None:
    resources = parsed(text)
    change(resources)
    message = f"New new cannot stand in brackets: its comment '# {comment}' would be lost; clear it first"
    with pytest.raises(KrmfnError, match=f"^{re.escape(message)}$"):
        resources.to_bytes()


@pytest.mark.parametrize("text", [PLAIN, JSON])
def test_what_moves_into_a_new_item_in_brackets_loses_no_comment(text: str) -> None:
    data = text.replace("name: a}}", "name: a}, spec: {k: v # K\n}}")
    resources = parsed(data)
    moved(resources)
    with pytest.raises(KrmfnError, match=r"^New new.* would be lost"):
        resources.to_bytes()
    plain = parsed(data.replace(" # K", ""))
    moved(plain)
    assert plain.items[-1].manifest["spec"] == {"k": "v"} == parsed(written(plain)).items[-1].manifest["spec"]


@pytest.mark.parametrize("text", [PLAIN, JSON])
def test_without_a_comment_it_is_written_into_them(text: str) -> None:
    resources = parsed(text)
    resources.append(TEXT.replace(" # N", "\n  # a\n").replace("\n  # a\n", ""))
    resources.items.append(Item(b"kind: C\ntext: 'a # b'\n", 0, 22, -2))
    in_lines(resources)
    out = parsed(written(resources))
    assert [item.kind for item in out] == ["A", "A", "New", "C"] and out.items[0]["l[0].t"] == "\n"


def test_the_comment_behind_items_stays_when_all_of_them_go() -> None:
    resources = parsed(f"{HEAD}items: # of the list\n- {A}\n# end\n")
    resources.remove(resources.items[0])
    assert written(resources) == f"{HEAD}items: [] # of the list\n# end\n"
    resources.append(NEW)
    assert "items: # of the list\n- " in written(resources) and "# end\n" in written(resources)


@pytest.mark.parametrize("line_end", ["\x85", "\r"])
def test_a_comment_that_another_break_ends_is_not_guessed_at(line_end: str) -> None:
    resources = parsed(LISTED.replace("# end\n", f"# end{line_end}"))
    resources.append(NEW)
    with pytest.raises(KrmfnError, match=r"^line [67]: the comment '# .*would be lost"):
        resources.to_bytes()
