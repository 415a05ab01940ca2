"""Streams that readers divide differently: refused on the way in, never written on the way out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.paths import manifests, output
from krmfn_functions.paths.division import is_plain

from krmfn import Item, Manifest
from krmfn.errors import KrmfnError
from krmfn.yamltext import emit, load
from tests.builders import CONFIG
from tests.commands import process
from tests.e2e.documents import TEXT
from tests.trees import config_map, plant

A, B = config_map("a"), config_map("b")
ADMIN = (
    "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: admin}\n"
    "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}\n"
)
FOLLOWED, ENDED = "continues with more than blanks and a comment", "follows a line of `...` alone"
BEFORE, TWO = "a brace after white space other than a blank", "two carriage returns end this line"
ALONE = "a line break that is no newline"
KEPT = "U+0085, U+2028 or U+2029 is in JSON"
MISREAD = {
    f"{ADMIN}---# x: y\n{A}": (5, FOLLOWED),
    f"{ADMIN}---\u00a0# x: y\n{A}": (5, FOLLOWED),
    f"{ADMIN}---\r# x\n{A}": (5, FOLLOWED),
    f"{ADMIN}--- # x\rapiVersion: v1\rkind: A\n": (5, FOLLOWED),
    f"{ADMIN}--- # x\u2028apiVersion: v1\u2028kind: A\n": (5, FOLLOWED),
    f"{A}---x: y\n{B}": (5, FOLLOWED),
    f"{A}\r\n---#\r\n": (6, FOLLOWED),
    f"---# x: y\n{A}": (1, FOLLOWED),
    f"---x: y\n{A}": (1, FOLLOWED),
    f"--- {{apiVersion: v1, kind: A}}\n---\n{B}": (1, FOLLOWED),
    f"{A}--- {{apiVersion: v1, kind: A}}\n": (5, FOLLOWED),
    f'{A}  c: "\n---# "\n': (6, FOLLOWED),
    "\u3000{a: b,\n'apiVersion': v1,\n'kind': A,\nmetadata: b}\n": (1, BEFORE),
    "\n\u00a0{a: b,\n'apiVersion': v1,\n'kind': A,\nmetadata: b}\n": (2, BEFORE),
    '\u3000{"apiVersion":"v1","kind":"A","metadata":{"name":"a"}}\n': (1, BEFORE),
    '\u2003{"kind":"A","items":[{"apiVersion":"v1","kind":"A","metadata":{"name":"a"}}]}\n': (1, BEFORE),
    f"{A}b: |\n  c\r\r\n  d\n": (6, TWO),
    f"---\n#\r---\n{A}": (2, ALONE),
    f'{A}  c: "\r..."\n': (5, ALONE),
    f"---\n\u2029---\n{A}": (2, ALONE),
    f"---\n\u0085---\n{A}": (2, ALONE),
    f"{A}# \u2028...\n": (5, ALONE),
    "\n---#:-:\n  kind: a\n  items: \n": (2, FOLLOWED),
    '{"apiVersion": "v1", "kind": "A",\n"a": "\u0085"}\n': (2, KEPT),
    ' {"kind": "List", "items": [{"apiVersion": "v1", "kind": "A", "a": "b\u2028c"}]}\n': (1, KEPT),
    "kind: List\n---#:\nitems:\n- apiVersion: v1\n  kind: A\n": (2, FOLLOWED),
    f"{A}...\n{ADMIN}": (5, ENDED),
    f"{A}... # c\n\n{ADMIN}": (5, ENDED),
    f"{A}...\r\n{ADMIN}": (5, ENDED),
    f"---\n...\n{ADMIN}": (2, ENDED),
    f"{A}---\n{B}...\n# c\n...\n{ADMIN}---\n{A}": (12, ENDED),
}
FINE = (
    *(f"{A}{line}\n{B}" for line in ("---", "---  ", "--- # Source: a/b.yaml", "--- \r", "---\r", "--- # c\r")),
    *(f"{A}...{rest}---\n{B}" for rest in ("\n", " # c\n", "\n\n  # c\n", "\r\n", "\n...\n")),
    *(f"{head}{A}---\n{B}{tail}" for head, tail in (("---\n", "..."), ("# c\n--- # d\n", "...\n# e\n"), ("\n", "---"))),
    f"{A.replace('{a: b}', '')}  c: |\n    ---# d\n    ...\n    e\n  ---# f: g\n---\n{B}",
)


@pytest.mark.parametrize("text", MISREAD, ids=repr)
def test_what_readers_divide_differently_is_refused_with_its_line(text: str, tmp_path: Path) -> None:
    line, problem = MISREAD[text]
    (tmp_path / "a.yaml").write_bytes(text.encode())
    for path in (tmp_path, "-"):
        with pytest.raises(KrmfnError, match=rf"^\S+: line {line}: .*{re.escape(problem)}") as failure:
            manifests.read(str(path), text.encode())
        assert str(failure.value).count("\n") == 0


@pytest.mark.parametrize("command", ["check", "render", "diff a.yaml", "images", "nodes", "report"])
def test_no_command_prints_anything_of_a_stream_that_hides_a_resource(command: str, tmp_path: Path) -> None:
    plant(tmp_path, {"a.yaml": CONFIG, "b.yaml": f"{ADMIN}---# x: y\n{A}"})
    done = process("krmfn", *command.split(), ".", cwd=tmp_path).ended(2)
    assert re.search(rf"b\.yaml:5: error: .*{FOLLOWED}", done.text + done.err)


@pytest.mark.parametrize("text", FINE, ids=repr)
def test_what_all_readers_divide_alike_is_read(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(text.encode())
    for path in (tmp_path, "-"):
        assert [item.name for item in manifests.read(str(path), text.encode()).items] == ["a", "b"]


@pytest.mark.parametrize("field", ["resources: [a.yaml]", "resources: [b.yaml]\npatches: [{path: a.yaml}]"])
@pytest.mark.parametrize("text", [f"{A}---# x: y\n{ADMIN}", f"{A}...\n{ADMIN}"])
def test_nothing_is_built_of_a_file_that_readers_divide_differently(field: str, text: str, tmp_path: Path) -> None:
    plant(tmp_path, {"kustomization.yaml": field, "a.yaml": text, "b.yaml": config_map("a")})
    refusal = process("krmfn", "render", ".", cwd=tmp_path).refused()
    assert re.search(rf"^a\.yaml:5: error: .*(?:{FOLLOWED}|{ENDED}).*\[KRM517\]$", refusal, re.MULTILINE)


LISTS = {
    "a kind that is no list": f"{A}items:\n" + "- " + ADMIN.replace("\n", "\n  ").rstrip() + "\n",
    "a list with a name": f"{B}---\n{A.replace('ConfigMap', 'WishList')}'it\\x65ms': []\n".replace("'", '"'),
    "flow": "{apiVersion: v1, kind: A, metadata: {name: a}, items: [{}]}\n",
    "JSON": '{"apiVersion": "v1", "kind": "A", "metadata": {"name": "a"}, "\\u0069tems": [{}]}\n',
    "in a list": "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: A\n  items: [{}]\n",
}


@pytest.mark.parametrize("name", LISTS)
def test_what_kubectl_takes_for_a_list_is_no_resource(name: str, tmp_path: Path) -> None:
    """It applies what stands in `items` of any object, and drops the object."""
    (tmp_path / "a.yaml").write_text(LISTS[name])
    line = {"a list with a name": 5, "in a list": 4}.get(name, 1)
    for path in (tmp_path, "-"):
        with pytest.raises(KrmfnError, match=rf": line {line}: this \w+ has `items`, so kubectl and Argo CD treat it"):
            manifests.read(str(path), LISTS[name].encode())
    inner = LISTS[name].replace("items", "spec").replace("it\\x65ms", "spec").replace("\\u0069tems", "spec")
    (item,) = manifests.read(
        "-", f"apiVersion: v1\nkind: A\nspec: {{items: [a]}}\ntext: |\n  {inner!r}\n".encode()
    ).items
    assert item.kind == "A"


def test_a_file_without_a_resource_is_passed_over(tmp_path: Path) -> None:
    plant(tmp_path, {"config.yaml": CONFIG, "ci.yaml": "a: b\n---# c: d\nkind: e\n...\nf: g\n--- {h: i}\n"})
    assert process("krmfn", "check", ".", cwd=tmp_path).code == 0
    done = process("krmfn", "check", "ci.yaml", cwd=tmp_path)
    assert "KRM100" in done.text
    assert FOLLOWED not in done.text + done.err


def divided(stream: bytes) -> list[Manifest]:
    """Return the objects of a stream, divided as kubectl divides it: at each line that begins with `---`."""
    assert not stream.lstrip().decode().lstrip().startswith("{"), "kubectl would read JSON"
    return [load.read(part) for part in re.split(rb"(?m)^---.*\n?", stream) if part.strip()]


def listed(*texts: str) -> bytes:
    """Return a List of lists, each item indented in it."""
    items = ("- " + text.rstrip("\n").replace("\n", "\n  ") + "\n" for text in texts)
    return f"apiVersion: v1\nkind: List\nitems:\n{''.join(items)}".encode()


WISHES = "apiVersion: v1\nkind: WishList\nmetadata: {name: w}\n"
HIDDEN = f"{WISHES}---# x:\n" + "".join(f"  {line}\n" for line in ADMIN.splitlines())


@pytest.mark.parametrize("line_end", ["\r", "\x85", "\u2028"])
def test_an_item_that_is_a_list_keeps_its_levels_behind_every_line_break(line_end: str) -> None:
    """Without the indent of its item the key `b` came to stand below `a`, which is empty."""
    text = f"kind: List\nitems:\n- apiVersion: v1\n  kind: AList\n  a:{line_end}  b: c\n"
    (item,) = manifests.read_stream(text.encode()).items
    assert item.manifest == {"apiVersion": "v1", "kind": "AList", "a": None, "b": "c"}


def test_an_item_of_a_list_hides_nothing_behind_its_indent() -> None:
    """Its own kind ends in List, so that it is read without its indent, and was printed so."""
    for nested in (HIDDEN, f'{WISHES}a: "b\n---# c"\n'):
        items = manifests.read("-", listed(nested)).items
        printed = output.dump(items)
        assert divided(printed) == [load.read(nested.encode())] == [item.manifest for item in items]


ODD = {
    "a lone CR": f"{A}# c\r",
    "two in a block scalar": f"{A}b: |\r\r\n  c\r\r\n  d\r\r\n",
    "NEL": f"# c\u0085{A}",
    "U+2028 in a string": f'{A}b: "c\u2028d"\n',
    "a brace behind U+3000": "\u3000{a: b,\n'apiVersion': v1,\n'kind': A,\nmetadata: b}\n",
}


@pytest.mark.parametrize("name", ODD)
def test_what_readers_could_divide_differently_is_written_anew(name: str) -> None:
    item = Item(text := ODD[name].encode(), 0, len(text), -2)
    printed = output.dump([item])
    assert printed == emit.dump(item.manifest).encode()
    assert divided(printed) == [item.manifest]


def test_kept_lines_without_the_end_of_the_last_get_one() -> None:
    """Before it the spaces at the end were a line of the text, or none, as the reader liked."""
    item = Item(text := f"{A}b:\n ?: |+\n     c\n\n     ".encode(), 0, len(text), -2)
    printed = output.dump([item])
    assert divided(printed) == [item.manifest]
    assert is_plain(printed) and printed.endswith(b"\n")


EVEN = (
    f"# Grüße\u00a0\n{A}b: 'c\u3000d'   # e\n",
    f" # Source: a/b.yaml\n{A}\n  # c\n",
    "apiVersion: v1\nkind: A\na: |\n  ---\n  ---# b\n  ...\nb: &x [c]\nd: *x\n'---': e\n...f: g\n--: h\n",
)


@pytest.mark.parametrize("text", EVEN)
def test_what_all_readers_divide_alike_leaves_as_it_came(text: str) -> None:
    assert output.dump(manifests.read("-", text.encode()).items) == text.encode()


WORDS = st.sampled_from(
    [*TEXT, "---", "--- a", "---# a", "...", "a\n---\nb", "a\n--- # b\n", "\u3000{", "\u00a0", "\r---\r"]
)


@given(st.lists(st.dictionaries(WORDS, WORDS | st.lists(WORDS, max_size=2), max_size=3), min_size=1, max_size=3))
def test_kubectl_divides_what_is_printed_into_what_was_judged(drawn: list[Manifest]) -> None:
    new = [{**fields, "apiVersion": "v1", "kind": "WishList"} for fields in drawn]
    assert divided(output.dump(new)) == new
    items = manifests.read("-", listed(*map(emit.dump, new))).items
    assert divided(output.dump(items)) == [item.manifest for item in items] == new


def test_nothing_is_printed_of_an_item_that_would_be_divided(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(emit, "dump", lambda data: f"# {data['kind']}\n---# b\n")
    items = manifests.read("-", A.encode() + b"---\n" + listed(B)).items
    for write in (lambda: output.dump(items), lambda: output.write_folders({str(tmp_path / "new"): items})):
        with pytest.raises(KrmfnError, match=r"^ConfigMap b cannot be written: a line of it would begin with `---`"):
            write()
    assert not [*tmp_path.iterdir()]
