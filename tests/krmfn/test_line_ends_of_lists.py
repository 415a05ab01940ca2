"""What is new in a list or file ends its lines as the others do: no output has two kinds of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from krmfn import Item, KrmfnError, ResourceList, error, parse_all, run
from tests.krmfn.test_folder import run as run_folder

HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:"
ITEM = "\n- apiVersion: v1\n  kind: Owner\n  metadata: {name: a} # of a\n  t: |\n    one\n    two\n"
TEXT = "# above\napiVersion: v1\nkind: B\nmetadata:\n  name: b # why\ndata: |\n  one\n  two\n"
PLAIN = TEXT.replace(" # why", "").replace("# above\n", "")
DATA = {"apiVersion": "v1", "kind": "B", "metadata": {"name": "b"}, "data": "one\ntwo\n"}
LISTS = {
    "a list": HEAD + ITEM,
    "a list without a line end": HEAD + ITEM[:-1],
    "an indented list": HEAD + ITEM.replace("\n", "\n  ").rstrip(" "),
    "an empty list": f"{HEAD} []\n",
    "a list in brackets": f"{HEAD} [\n  {{apiVersion: v1, kind: Owner, metadata: {{name: a}}}},\n  ]\n",
    "JSON": '{"apiVersion": "config.kubernetes.io/v1",\n"kind": "ResourceList",\n"items": [\n]}\n',
}


def windows(text: str) -> bytes:
    return text.replace("\n", "\r\n").encode()


def own(resources: ResourceList) -> None:
    for item in resources.where(kind="Owner"):
        resources.own(owner=item, manifests=DATA)


def own_all(resources: ResourceList) -> None:
    owners = resources.where(kind="Owner")
    resources.own_all(dict.fromkeys(owners, DATA), kind="Owner", group="")


def remove_all(resources: ResourceList) -> None:
    for item in resources:
        resources.remove(item)
    resources.append(DATA)


CHANGES: dict[str, Callable[[ResourceList], object]] = {
    "append a text": lambda resources: resources.append(PLAIN),
    "append a text of Windows": lambda resources: resources.append(windows(PLAIN)),
    "append data": lambda resources: resources.append(DATA),
    "append data of a text": lambda resources: resources.append(parse_all(PLAIN)[0]),
    "append an item": lambda resources: resources.items.append(Item(windows(PLAIN), 0, len(windows(PLAIN)), -2)),
    "upsert": lambda resources: resources.upsert([DATA, {**DATA, "kind": "C"}]),
    "own": own,
    "own_all": own_all,
    "remove all, and append": remove_all,
    "report": lambda resources: resources.report(error("must not be")),
    "edit": lambda resources: resources.items[0].merge({"metadata": {"name": "b", "t": "o\np\n"}}),
}


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("change", CHANGES)
def test_a_list_keeps_its_line_ends(name: str, change: str) -> None:
    if change == "edit" and name in ("an empty list", "JSON"):
        return
    outs = []
    for data in (LISTS[name].encode(), windows(LISTS[name])):
        resources = ResourceList.parse(data)
        CHANGES[change](resources)
        outs.append(resources.to_bytes())
    assert b"\r" not in outs[0]
    assert outs[1].replace(b"\r\n", b"\n") == outs[0]
    assert outs[1].count(b"\r\n") == outs[1].count(b"\n")


@pytest.mark.parametrize("change", [*CHANGES][:4])
def test_a_new_item_ends_so_before_the_list_is_written(change: str) -> None:
    for text, end in ((LISTS["a list"].encode(), b"\n"), (windows(LISTS["a list"]), b"\r\n")):
        resources = ResourceList.parse(text)
        CHANGES[change](resources)
        for written in (resources.items[1].text, resources.items[1].document):
            assert written.count(b"\r\n") == (written.count(b"\n") if end == b"\r\n" else 0)


def test_a_list_with_two_kinds_keeps_both() -> None:
    data = LISTS["a list"].encode().replace(b"\n", b"\r\n", 2)
    resources = ResourceList.parse(data)
    resources.append(DATA)
    assert resources.to_bytes().startswith(data)


def add(name: str, path: str = "", text: str | bytes = "") -> Callable[[ResourceList], None]:
    def call(resources: ResourceList) -> None:
        if text:
            resources.append(text, path)
        else:
            resources.append({**DATA, "metadata": {"name": name}}, path)

    return call


FILE = "apiVersion: v1\nkind: A\nmetadata: {name: a} # of a\n"


@pytest.mark.parametrize("text", ["", TEXT, windows(TEXT)])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_new_resource_ends_its_lines_as_its_file_does(tmp_path: Path, end: str, text: str | bytes) -> None:
    file = tmp_path / "a.yaml"
    file.write_bytes(FILE.replace("\n", end).encode())
    assert run_folder(add("b", "a.yaml", text), tmp_path) == 0
    after = file.read_bytes()
    assert after.startswith(FILE.replace("\n", end).encode()) and b"kind: B" in after
    assert after.count(b"\r\n") == (after.count(b"\n") if end == "\r\n" else 0)


def test_a_new_file_has_newlines(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(windows(FILE))
    assert run_folder(add("b"), tmp_path) == 0
    assert b"\r" not in (tmp_path / "b_b.yaml").read_bytes()


def test_what_moves_into_another_file_ends_as_that_does(tmp_path: Path) -> None:
    """And in a new file all that comes ends in one way."""
    for target, moved in (("b.yaml", "a"), ("new.yaml", "ab")):
        (tmp_path / "a.yaml").write_bytes(windows(FILE))
        (tmp_path / "b.yaml").write_bytes(FILE.replace(" a}", " b}").encode())

        def move(resources: ResourceList, target: str = target, moved: str = moved) -> None:
            for item in resources:
                item.path = target if item.name in moved else item.path

        assert run_folder(move, tmp_path) == 0
        after = (tmp_path / target).read_bytes()
        assert after.count(b"kind: A") == 2 and b"\r" not in after


def test_after_an_error_the_findings_end_so_too() -> None:
    def refuse(_: ResourceList) -> None:
        raise KrmfnError("must not be")

    output, code = run(refuse, windows(LISTS["a list"]))
    assert code == 1 and output.startswith(windows(LISTS["a list"]))
    assert output.count(b"\r\n") == output.count(b"\n")


@pytest.mark.parametrize("before", ["", "---\n", "# none\n---\n", "\n", "  \n"])
@pytest.mark.parametrize("after", ["", "\n", "n: |+\n  one\n\n", "n: |\n  one\n   \n", "n: one # of n\u2028m: two\n"])
@pytest.mark.parametrize("ended", [str.encode, windows])
def test_a_text_is_indented_as_the_list_is_and_keeps_its_comments(before: str, after: str, ended: object) -> None:
    """Its dash came to the column of the first line, were that blank; blanks at its end took its comments away."""
    assert callable(ended)
    resources = ResourceList.parse(ended(LISTS["an indented list"]))
    (item,) = resources.append(before + TEXT + after)
    out = resources.to_bytes()
    assert ResourceList.parse(out).items[1].manifest == item.manifest
    assert b"name: b # why" in out
    assert b"\n  - # above" in out
