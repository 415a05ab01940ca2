"""Files, folders and streams in; streams and folders out."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from krmfn import Item, KrmfnError, ResourceList, manifests

ONE = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {}\n"


def names(resources: ResourceList) -> list[str]:
    return [item.ref.name for item in resources.items]


def lines(resources: ResourceList) -> list[int]:
    return [item.place.line for item in resources.items if item.place]


def read(text: str | bytes) -> ResourceList:
    return manifests.read("-", text.encode() if isinstance(text, str) else text)


@pytest.mark.parametrize(
    ("text", "found", "at"),
    [
        ("", [], []),
        ("# only a comment\n  # and an indented one\n", [], []),
        ("---\n---\n...\n", [], []),
        (ONE.format("a"), ["a"], [1]),
        ("---\n" + ONE.format("a") + "---\n# b\n" + ONE.format("b"), ["a", "b"], [1, 6]),
        ("%YAML 1.2\n---\n" + ONE.format("a"), ["a"], [2]),
        (ONE.format("a") + "...\n---\n" + ONE.format("b"), ["a", "b"], [1, 6]),
        ("--- # with a comment\n" + ONE.format("a"), ["a"], [1]),
        ("--- {apiVersion: v1, kind: A, metadata: {name: a}}\n", ["a"], [1]),
        (ONE.format("a").replace("\n", "\r\n") + "---\r\n" + ONE.format("b"), ["a", "b"], [1, 5]),
        (ONE.format("a") + "data:\n  b: |\n    x\n    ---\n    y\n", ["a"], [1]),
        (
            "apiVersion: v1\nkind: List\nitems:\n- "
            + ONE.format("a").replace("\n", "\n  ")
            + "\n- "
            + ONE.format("b").replace("\n", "\n  "),
            ["a", "b"],
            [4, 9],
        ),
        ('{"apiVersion": "v1", "kind": "PodList", "items": []}', [], []),
        ("apiVersion: v1\nkind: WishList\nmetadata:\n  name: mine\n", ["mine"], [1]),
    ],
)
def test_documents_and_their_lines(text: str, found: list[str], at: list[int]) -> None:
    resources = read(text)
    assert names(resources) == found
    assert lines(resources) == at
    assert resources.results == []


def test_a_byte_order_mark_is_no_text() -> None:
    assert names(read(b"\xef\xbb\xbf" + ONE.format("a").encode())) == ["a"]


@pytest.mark.parametrize("text", ["a: 1\n", "- a\n", "just text\n", "kind: ConfigMap\n", "apiVersion: v1\n"])
def test_what_is_no_resource_is_left_out_and_said(text: str) -> None:
    resources = read(f"---\n{text}---\n{ONE.format('a')}")
    assert names(resources) == ["a"]
    (finding,) = resources.results
    assert (finding.severity, finding.rule) == ("warning", "KRM100")
    assert finding.place is not None


def test_a_folder_is_read_in_the_order_of_its_names(tmp_path: Path) -> None:
    for name in ("b.yaml", "a/z.yml", "c.json", "a/a.yaml", ".git/x.yaml", ".x.yaml", "notes.txt", "kustomization.yml"):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(ONE.format(name.replace("/", "-").lstrip(".")))
    resources = manifests.read(str(tmp_path))
    assert names(resources) == ["a-a.yaml", "a-z.yml", "b.yaml", "c.json"]
    assert [Path(item.place.path).name for item in resources.items if item.place] == [
        "a.yaml",
        "z.yml",
        "b.yaml",
        "c.json",
    ]


def test_every_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("a: [\n")
    (tmp_path / "b.yaml").write_text(ONE.format("b"))
    (tmp_path / "c.yaml").write_bytes(b"a: \xff\n")
    with pytest.raises(KrmfnError) as failure:
        manifests.read(str(tmp_path))
    told = str(failure.value).splitlines()
    assert [line.partition(": ")[0] for line in told] == [str(tmp_path / "a.yaml"), str(tmp_path / "c.yaml")]
    assert all("line " in line for line in told)


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
    head = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n"
    resources = read(
        f"{head}functionConfig: {{kind: X}}\nitems:\n- {{apiVersion: v1, kind: A, metadata: {{name: a}}}}\n"
    )
    assert resources.function_config == {"kind": "X"}
    assert names(resources) == ["a"]


def test_a_kustomization_below_is_said_to_be_no_build(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "kustomization.yaml").write_text("resources: [a.yaml]\n")
    (tmp_path / "sub" / "a.yaml").write_text(ONE.format("a"))
    (finding,) = manifests.read(str(tmp_path)).results
    assert finding.rule == "KRM105"
    assert finding.place
    assert finding.place.path == str(tmp_path / "sub" / "kustomization.yaml")


def test_a_stream_is_what_was_read(tmp_path: Path) -> None:
    text = "# first\n" + ONE.format("a") + "---\n" + ONE.format("b # why") + "---\n" + ONE.format("c")
    assert manifests.dump(read(text).items) == text.encode()


def test_json_becomes_yaml_between_yaml() -> None:
    out = manifests.dump(
        read(ONE.format("a") + '---\n{"apiVersion": "v1", "kind": "A", "metadata": {"name": "1e3"}}\n').items
    )
    assert list(yaml.safe_load_all(out))[1]["metadata"] == {"name": "1e3"}
    assert b"{" not in out


def item(group: str, name: str, kind: str = "Widget") -> Item:
    text = f"apiVersion: {group}/v1\nkind: {kind}\nmetadata:\n  name: {name!r}\n  namespace: ns\n"
    return read(text).items[0]


def test_a_folder_has_a_file_per_object_and_lists_them(tmp_path: Path) -> None:
    target = tmp_path / "new" / "out"
    manifests.write_folder(str(target), [item("apps", "a"), item("rbac.example.com", "system:b")])
    listed = yaml.safe_load((target / "kustomization.yaml").read_text())["resources"]
    assert listed == ["ns_apps_widget_a.yaml", "ns_rbac_widget_system.b.yaml"]
    assert all((target / name).exists() for name in listed)


def test_two_groups_with_one_first_word_are_two_files(tmp_path: Path) -> None:
    manifests.write_folder(str(tmp_path / "out"), [item("example.com", "x"), item("example.org", "x")])
    assert len(list((tmp_path / "out").glob("*widget*"))) == 2


def test_an_object_that_stands_twice_is_not_written_over(tmp_path: Path) -> None:
    with pytest.raises(KrmfnError, match=r"Widget ns/x and Widget ns/x would both be the file"):
        manifests.write_folder(str(tmp_path / "out"), [item("a.b", "x"), item("a.b", "x")])


@pytest.mark.parametrize("name", ["../../outside", "/etc/passwd", "a/b", "..", "a\\b"])
def test_no_name_leads_out_of_the_folder(name: str, tmp_path: Path) -> None:
    manifests.write_folder(str(tmp_path / "out"), [item("a", name, "../../Kind")])
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.parent for path in files} == {tmp_path / "out"}
    assert len(files) == 2


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "stale.yaml").write_text("a: b\n")
    with pytest.raises(KrmfnError, match="is not empty"):
        manifests.write_folder(str(tmp_path), [item("a", "x")])
    assert [path.name for path in tmp_path.iterdir()] == ["stale.yaml"]


def test_a_folder_of_nothing_is_a_kustomization_of_nothing(tmp_path: Path) -> None:
    manifests.write_folder(str(tmp_path / "out"), [])
    assert yaml.safe_load((tmp_path / "out" / "kustomization.yaml").read_text())["resources"] == []
