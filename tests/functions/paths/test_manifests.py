"""Files, folders and streams in; streams and folders out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from krmfn_functions.paths import files, manifests, output

from krmfn import Item, KrmfnError, ResourceList
from krmfn.yamltext import documents, load
from tests.builders import CONFIG
from tests.commands import ROOT, process
from tests.trees import plant

EXAMPLES = ROOT / "examples"
ONE = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {}\n"
LISTED = "- " + ONE.replace("\n", "\n  ")
"""The same as an item of a list."""


def names(resources: ResourceList) -> list[str]:
    return [item.ref.name for item in resources.items]


def lines(resources: ResourceList) -> list[int]:
    return [item.place.line for item in resources.items if item.place]


def read(text: str | bytes) -> ResourceList:
    return manifests.read("-", text.encode() if isinstance(text, str) else text)


@pytest.mark.parametrize(
    ("text", "expected", "at"),
    [
        ("", [], []),
        ("# only a comment\n  # and an indented one\n", [], []),
        ("---\n---\n...\n", [], []),
        (ONE.format("a"), ["a"], [1]),
        ("---\n" + ONE.format("a") + "---\n# b\n" + ONE.format("b"), ["a", "b"], [1, 6]),
        (ONE.format("a") + "...\n---\n" + ONE.format("b"), ["a", "b"], [1, 6]),
        ("--- # with a comment\n" + ONE.format("a"), ["a"], [1]),
        (ONE.format("a").replace("\n", "\r\n") + "---\r\n" + ONE.format("b"), ["a", "b"], [1, 5]),
        (ONE.format("a") + "data:\n  b: |\n    x\n    ---\n    y\n", ["a"], [1]),
        ("apiVersion: v1\nkind: List\nitems:\n" + (LISTED + "\n").format("a") + LISTED.format("b"), ["a", "b"], [4, 9]),
        ('{"apiVersion": "v1", "kind": "PodList", "items": []}', [], []),
        ("apiVersion: v1\nkind: WishList\nmetadata:\n  name: mine\n", ["mine"], [1]),
    ],
)
def test_documents_and_their_lines(text: str, expected: list[str], at: list[int]) -> None:
    resources = read(text)
    assert names(resources) == expected
    assert lines(resources) == at
    assert resources.results == []


def test_a_byte_order_mark_is_no_text() -> None:
    assert names(read(b"\xef\xbb\xbf" + ONE.format("a").encode())) == ["a"]


@pytest.mark.parametrize("text", ["a: 1\n", "- a\n", "just text\n", "kind: 1\n"])
def test_what_is_no_resource_is_left_out_with_a_finding(text: str) -> None:
    resources = read(f"---\n{text}---\n{ONE.format('a')}")
    assert names(resources) == ["a"]
    (finding,) = resources.results
    assert (finding.severity, finding.rule) == ("warning", "KRM100")
    assert finding.place is not None


HALF = {
    "kind: ConfigMap\n": "has kind ConfigMap but no apiVersion, so it is not deployed; add the apiVersion, or remove",
    "apiVersion: v1\n": "has apiVersion v1 but no kind, so it is not deployed; add the kind, or remove the document",
    "apiVersion: v1\nkidn: Pod\nmetadata: {name: a}\n": "has apiVersion v1 but no kind",
    "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Node\n  metadata: {name: a}\n": "has apiVersion v1 but no kind",
}


@pytest.mark.parametrize("text", HALF)
def test_half_a_resource_is_an_error(text: str) -> None:
    """Left out, with a misspelt key it would be removed from the cluster, and of a dump cut off no Node would count."""
    resources = read(f"---\n{text}---\n{ONE.format('a')}")
    (finding,) = resources.results
    assert (finding.severity, finding.rule) == ("error", "KRM100")
    assert finding.text.startswith(f"this document {HALF[text]}")
    assert finding.place is not None


def test_a_folder_is_read_in_the_order_of_its_names(tmp_path: Path) -> None:
    for name in ("b.yaml", "a/z.yml", "c.json", "a/a.yaml", ".git/x.yaml", ".x.yaml", "notes.txt", "kustomization.yml"):
        plant(tmp_path, {name: ONE.format(name.replace("/", "-").lstrip("."))})
    resources = manifests.read(str(tmp_path))
    assert names(resources) == ["a-a.yaml", "a-z.yml", "b.yaml", "c.json"]
    paths = [item.place.path for item in resources.items if item.place]
    assert [Path(path).name for path in paths] == ["a.yaml", "z.yml", "b.yaml", "c.json"]


def test_every_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    plant(tmp_path, {"a.yaml": "a: [\n", "b.yaml": ONE.format("b")})
    (tmp_path / "c.yaml").write_bytes(b"a: \xff\n")
    with pytest.raises(KrmfnError) as failure:
        manifests.read(str(tmp_path))
    messages = str(failure.value).splitlines()
    assert [line.partition(": ")[0] for line in messages] == [str(tmp_path / "a.yaml"), str(tmp_path / "c.yaml")]
    assert all("line " in line for line in messages)


@pytest.mark.parametrize("path", ["nowhere", "nowhere/at/all.yaml"])
def test_what_is_not_there_is_named(path: str, tmp_path: Path) -> None:
    with pytest.raises(KrmfnError, match=r"nowhere.*: No such file or directory"):
        manifests.read(str(tmp_path / path))


def test_more_than_the_limit_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KRMFN_MAX_BYTES", "100")
    for name in "abc":
        (tmp_path / f"{name}.yaml").write_text(ONE.format(name))
    with pytest.raises(KrmfnError, match="KRMFN_MAX_BYTES"):
        manifests.read(str(tmp_path))


def test_a_resourcelist_brings_its_function_config() -> None:
    head = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nfunctionConfig: {kind: X}\n"
    resources = read(f"{head}items:\n- {{apiVersion: v1, kind: A, metadata: {{name: a}}}}\n")
    assert resources.function_config == {"kind": "X"}
    assert names(resources) == ["a"]


def test_a_stream_is_what_was_read(tmp_path: Path) -> None:
    text = "# first\n" + ONE.format("a") + "---\n" + ONE.format("b # why") + "---\n" + ONE.format("c")
    assert output.dump(read(text).items) == text.encode()


def test_json_becomes_yaml_between_yaml() -> None:
    text = '{"apiVersion": "v1", "kind": "A", "metadata": {"name": "1e3"}}\n'
    out = output.dump(read(f"{ONE.format('a')}---\n{text}").items)
    assert list(yaml.safe_load_all(out))[1]["metadata"] == {"name": "1e3"}
    assert b"{" not in out


def item(group: str, name: str, kind: str = "Widget") -> Item:
    text = f"apiVersion: {group}/v1\nkind: {kind}\nmetadata:\n  name: {name!r}\n  namespace: ns\n"
    return read(text).items[0]


def write_folder(folder: str, items: list[Item]) -> None:
    output.write_folders({folder: items})


def test_a_folder_has_a_file_per_object_and_lists_them(tmp_path: Path) -> None:
    target = tmp_path / "new" / "out"
    write_folder(str(target), [item("apps", "a"), item("rbac.example.com", "system:b")])
    listed = yaml.safe_load((target / "kustomization.yaml").read_text())["resources"]
    assert listed == ["ns_apps_widget_a.yaml", "ns_rbac_widget_system.b.yaml"]
    assert all((target / name).exists() for name in listed)


def test_two_groups_with_one_first_label_are_two_files(tmp_path: Path) -> None:
    write_folder(str(tmp_path / "out"), [item("example.com", "x"), item("example.org", "x")])
    assert len(list((tmp_path / "out").glob("*widget*"))) == 2


def test_an_object_that_stands_twice_is_not_written_over(tmp_path: Path) -> None:
    with pytest.raises(KrmfnError, match=r"Widget ns/x and Widget ns/x would both be written to the file"):
        write_folder(str(tmp_path / "out"), [item("a.b", "x"), item("a.b", "x")])


@pytest.mark.parametrize("name", ["../../outside", "/etc/passwd", "a/b", "..", "a\\b"])
def test_no_name_leads_out_of_the_folder(name: str, tmp_path: Path) -> None:
    write_folder(str(tmp_path / "out"), [item("a", name, "../../Kind")])
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.parent for path in files} == {tmp_path / "out"}
    assert len(files) == 2


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "stale.yaml").write_text("a: b\n")
    with pytest.raises(KrmfnError, match="is not empty"):
        write_folder(str(tmp_path), [item("a", "x")])
    assert [path.name for path in tmp_path.iterdir()] == ["stale.yaml"]


def test_a_folder_of_nothing_is_a_kustomization_of_nothing(tmp_path: Path) -> None:
    write_folder(str(tmp_path / "out"), [])
    assert yaml.safe_load((tmp_path / "out" / "kustomization.yaml").read_text())["resources"] == []


def kinds(resources: ResourceList) -> list[str]:
    return [item.kind for item in resources.items]


def lists(*items: str, kind: str = "List") -> list[str]:
    """The same list in block style, indented block style, flow style and JSON."""
    data = [load.read(item.encode()) for item in items]
    head = f"apiVersion: v1\nkind: {kind}\nitems:\n"
    block = "".join(f"- {item}\n" for item in items)
    indented = "".join(f"  - {item}\n" for item in items)
    body = json.dumps({"apiVersion": "v1", "kind": kind, "items": data}, indent=1)
    return [head + block, head + indented, f"{head[:-1]} [{', '.join(items)}]\n", body]


GOOD = "{apiVersion: v1, kind: A, metadata: {name: a}}"


@pytest.mark.parametrize("odd", ["null", "~", "text", "1", "[]", "{}", "{a: b}", "[{a: b}]"])
@pytest.mark.parametrize("kind", ["List", "PodList"])
def test_an_item_that_is_no_resource_is_left_out_with_a_finding(odd: str, kind: str) -> None:
    for text in lists(GOOD, odd, GOOD, kind=kind):
        resources = read(text)
        assert names(resources) == ["a", "a"]
        (finding,) = resources.results
        assert (finding.severity, finding.rule) == ("warning", "KRM100")
        assert finding.message == (
            "this item has no apiVersion and kind, so it is not a Kubernetes resource, and is skipped"
        )
        assert finding.place is not None


def test_an_item_without_a_name_is_a_resource_as_a_document_is() -> None:
    for text in lists("{apiVersion: v1, kind: A, metadata: {generateName: a-}}"):
        assert kinds(read(text)) == ["A"]


def test_lists_in_lists_are_what_they_hold() -> None:
    inner = f"{{apiVersion: v1, kind: PodList, items: [{GOOD}, null, {GOOD}]}}"
    for text in lists(GOOD, f"{{apiVersion: v1, kind: List, items: [{inner}]}}", "{apiVersion: v1, kind: B}"):
        resources = read(text)
        assert kinds(resources) == ["A", "A", "A", "B"]
        assert [finding.rule for finding in resources.results] == ["KRM100"]


def test_a_list_in_a_list_in_block_style() -> None:
    item = "- apiVersion: v1\n  kind: A\n  data:\n    x: |+\n      y\n\n"
    inner = "".join(f"  {line}\n" if line else "\n" for line in item.split("\n")[:-1])
    text = f"apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: List\n  items:\n{inner}{inner}{item}"
    resources = read(text)
    assert lines(resources) == [7, 13, 19]
    assert [item.manifest["data"] for item in resources.items] == [{"x": "y\n\n"}] * 3


@pytest.mark.parametrize(
    "text",
    [
        "apiVersion: x/v1\nkind: AllowList\nspec: {}\n",
        "apiVersion: x/v1\nkind: AllowList\nitems: all\n",
        "apiVersion: x/v1\nkind: AllowList\nitems: {a: b}\n",
        "apiVersion: x/v1\nkind: AllowList\nmetadata: {name: a}\nitems: {a: b}\n",
        '{"apiVersion": "x/v1", "kind": "AllowList", "items": {}}',
        "{apiVersion: x/v1, kind: AllowList}",
    ],
)
def test_a_kind_that_only_ends_in_list_is_kept(text: str) -> None:
    resources = read(text)
    assert kinds(resources) == ["AllowList"]
    assert resources.items[0].manifest == load.read(text.encode())
    (inside,) = lists(text if text[0] == "{" else json.dumps(load.read(text.encode())))[-1:]
    assert read(inside).items[0].manifest == load.read(text.encode())


@pytest.mark.parametrize("kind", ["List", "ResourceList"])
@pytest.mark.parametrize("rest", ["", "metadata: {name: a}\n", "items: text\n", "items: {}\n"])
def test_a_list_without_items_is_refused(kind: str, rest: str) -> None:
    with pytest.raises(KrmfnError, match=rf"^stdin: line 1: `items` of this {kind} must be a list"):
        read(f"---\napiVersion: v1\nkind: {kind}\n{rest}")


@pytest.mark.parametrize("items", ["items: []", "items: null", "items:"])
def test_a_list_of_nothing_is_nothing(items: str) -> None:
    resources = read(f"apiVersion: v1\nkind: List\n{items}\n")
    assert (resources.items, resources.results) == ([], [])


BARE = "{metadata: {name: a, namespace: n}, rules: [1, 'x: y']}"


def test_items_without_a_kind_have_that_of_their_list() -> None:
    for text in lists(BARE, GOOD, BARE, kind="RoleList"):
        resources = read(text)
        assert [(item.kind, item.api_version, item.name) for item in resources.items] == [
            ("Role", "v1", "a"),
            ("A", "v1", "a"),
            ("Role", "v1", "a"),
        ]
        assert resources.items[0].manifest["rules"] == [1, "x: y"]
        assert resources.results == []


@pytest.mark.parametrize("end", ["", "  text: |+\n    x\n\n\n", "  # a comment\n", "  text: >-\n    x\n"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_kind_from_the_list_moves_no_line(end: str, newline: str) -> None:
    head = "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleList\nitems:\n"
    body = "- metadata:\n    name: a\n  rules:\n  - {verbs: [get]}\n" + end
    (item, other) = read((head + body + body).replace("\n", newline)).items
    for one, start in ((item, 3), (other, 3 + body.count("\n"))):
        place = one.field_place("rules[0].verbs")
        assert place is not None and place.line == start + 4
        assert one.manifest == load.read((body.replace("- ", "  ", 1)).encode()) | {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "Role",
        }


@pytest.mark.parametrize("kind", ["List", "ResourceList"])
def test_a_list_of_no_kind_gives_none(kind: str) -> None:
    for text in lists(BARE, kind=kind):
        assert [finding.rule for finding in read(text).results] == ["KRM100"]


def test_a_list_without_an_api_version_gives_a_kind_alone() -> None:
    (finding,) = read("kind: RoleList\nitems:\n- metadata: {name: a}\n").results
    assert finding.severity == "error" and "has kind Role but no apiVersion" in finding.text


ALIASES = [
    "- {apiVersion: v1, kind: A, x: &x 1}\n- {apiVersion: v1, kind: B, x: *x}\n",
    "- {apiVersion: v1, kind: B, x: *x}\n- {apiVersion: v1, kind: A, x: &x 1}\n",
    "- &x {apiVersion: v1, kind: A}\n- *x\n",
    "- apiVersion: v1\n  kind: A\n  x: &x\n  - a\n- apiVersion: v1\n  kind: B\n  x: *x\n",
]


@pytest.mark.parametrize("items", ALIASES)
def test_an_alias_of_another_item_is_refused_with_its_line(items: str) -> None:
    text = f"apiVersion: v1\nkind: List\nitems:\n{items}"
    line = next(number for number, row in enumerate(text.split("\n"), 1) if "*x" in row)
    message = rf"^stdin: line {line}: this alias \(\*\) does not refer to an earlier anchor"
    with pytest.raises(KrmfnError, match=message):
        read(text)


def test_an_anchor_of_its_own_is_fine_and_may_stand_in_every_item() -> None:
    item = "- {apiVersion: v1, kind: A, x: &x 1, z: *x}\n"
    resources = read(f"apiVersion: v1\nkind: List\nitems:\n{item}{item}")
    assert [item.manifest["z"] for item in resources.items] == [1, 1]
    assert [load.read(part)["z"] for part in output.dump(resources.items).split(b"---\n")] == [1, 1]


ENDS = [
    "|\n  x",
    "|\n  x\n",
    "|\n  x\n\n\n",
    "|+\n  x\n\n\n",
    "|+\n  x",
    "|-\n  x",
    ">\n  x",
    ">+\n  x\n\n",
    "|2+\n   x\n\n",
]
ENDS += [
    "|\n  x\n   ",
    "|\n  x\n    \n",
    "|\n  x\r\n\r\n",
    "|+\r\n  x\r\n\r\n",
    "a|b",
    "'x'",
    "x\n\n",
    "|\n\n",
    "|+\n\n",
]


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("start", ["", "\n\n", "# c\n"])
def test_the_end_of_a_document_means_what_it_meant(start: str, end: str) -> None:
    text = f"{start}apiVersion: v1\nkind: A\na: {end}"
    for stream in (text, f"{text}\n---\n{text}" if text[-1] != "\n" else f"{text}---\n{text}"):
        resources = read(stream)
        expected = [load.read(document.text) for document in documents.documents(stream.encode())]
        printed = output.dump(resources.items)
        assert [load.read(document.text) for document in documents.documents(printed)] == expected
        assert printed.endswith(b"\n")
        assert output.dump(read(printed).items) == printed


@pytest.mark.parametrize("path", sorted(EXAMPLES.rglob("*.yaml")), ids=lambda path: str(path.relative_to(EXAMPLES)))
def test_json_is_one_list_that_we_read_back(path: Path) -> None:
    items = manifests.read(str(path)).items
    printed = output.dump_json(items)
    assert json.loads(printed)["kind"] == "List"
    assert [item.manifest for item in read(printed).items] == [item.manifest for item in items]


def test_json_has_no_nan_and_no_infinity() -> None:
    message = r"^A a cannot be written as JSON: data\[0\]\.x is (nan|inf|-inf); a manifest"
    for value in (".nan", ".inf", "-.inf"):
        with pytest.raises(KrmfnError, match=message):
            output.dump_json(read(f"{ONE.format('a').replace('ConfigMap', 'A')}data: [{{x: {value}}}]\n").items)


def test_json_of_hostile_text_is_read_back() -> None:
    hostile = ["\x85", "\u2028 \u2029", "\ufeff", "\x7f", "\x00", "😀", '"\\/', "yes", "\t", "\r\n"]
    new = item("a.b", "x")
    new.manifest["data"] = hostile
    assert read(output.dump_json([new])).items[0].manifest["data"] == hostile


def test_a_text_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    name = tmp_path / "baseline.json"
    name.write_bytes(b'{"findings": "\xff"}')
    with pytest.raises(KrmfnError, match=r"baseline\.json: not UTF-8"):
        files.read_text(str(name))


TEMPLATES = {
    "an action in place of a key": "metadata: {name: {{ .Values.name }}}\n",
    "a condition": "metadata:\n  name: a\n{{- if .x }}\ndata: {}\n{{- end }}\n",
    "a partial": 'metadata:\n{{- include "a.labels" . | nindent 2 }}\n name: a\n  b: c\n',
}


@pytest.mark.parametrize("name", TEMPLATES)
@pytest.mark.parametrize("is_listed", [False, True])
def test_a_template_is_called_one(tmp_path: Path, name: str, is_listed: bool) -> None:
    """One that is deployed, or that may be ours; another one is passed over (KRM534)."""
    text = f"apiVersion: v1\nkind: {'ConfigMap' if is_listed else 'DeviceConfig'}\n{TEMPLATES[name]}"
    listing = {"app/kustomization.yaml": "resources: [a.yaml]\n"} if is_listed else {}
    plant(tmp_path, {".git/x": "", "app/a.yaml": text, **listing})
    assert "krmfn runs no templates" in process("krmfn", "check", "app", cwd=tmp_path).ended(2).text
    plant(tmp_path, {".krmfn.yaml": "exclude: [app/]\n", "b.yaml": CONFIG})
    assert process("krmfn", "check", ".", cwd=tmp_path).code == 0


@pytest.mark.parametrize(
    "text",
    [
        *("a: {b: {c: d}\n", "a: {{}: b}}\n", "a: b: c # {{x}}\n"),
        *('a: "{{ $labels.node }}"\nb: c: d\n', "a: '{{ .Name }}'\nb: [\n", "# {{ if .x }}\na: b: c\n"),
    ],
)
def test_other_files_that_are_no_yaml_are_not(tmp_path: Path, text: str) -> None:
    plant(tmp_path, {"a.yaml": f"apiVersion: v1\nkind: ConfigMap\n{text}"})
    assert "template" not in process("krmfn", "check", ".", cwd=tmp_path).ended(2).text
