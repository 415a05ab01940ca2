"""The build tree: exactly what a kustomization reads, at the same places, as all readers take it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from krmfn_functions.kustomization import reading
from krmfn_functions.kustomization.tree import tree
from krmfn_functions.kustomization.workspace import Tree, Workspace

from krmfn import KrmfnError
from tests.trees import OURS, config_map, function, plant

FILES = {
    "base/kustomization.yaml": "resources: [a.yaml, more/b.yaml]\n",
    "base/a.yaml": config_map("a"),
    "base/more/b.yaml": "# kept\nkind: ConfigMap\napiVersion: v1\nmetadata: {name: b}\ndata: {a: yes}\n",
    "base/unused.yaml": config_map("unused"),
    "app/kustomization.yaml": "resources: [../base]\nconfigMapGenerator:\n- {name: c, files: [k=text]}\n",
    "app/text": "a\r\nb\0\xff",
}


def tree_of(folder: Path) -> Tree:
    graph = reading.read([str(folder)], None, OURS)
    assert [str(finding) for finding in graph.findings(os.path.realpath(folder))] == []
    return tree(graph, os.path.realpath(folder))


@pytest.fixture
def workspace() -> Workspace:
    return Workspace()


def top_of(workspace: Workspace) -> Path:
    """Return the folder that stands for / in a workspace."""
    return Path(workspace.folder(), "tree")


def written(folder: Path, workspace: Workspace) -> dict[str, bytes]:
    """Write the tree of a folder, and return what is in it by the paths that the files have in the repository."""
    workspace.write(tree_of(folder))
    top = top_of(workspace)
    return {f"/{path.relative_to(top)}": path.read_bytes() for path in top.rglob("*") if path.is_file()}


def test_it_holds_what_is_read_and_nothing_else(tmp_path: Path, workspace: Workspace) -> None:
    repo = plant(tmp_path / "repo", FILES)
    texts = written(repo / "app", workspace)
    names = {str(repo / name) for name in FILES if name != "base/unused.yaml"}
    assert texts == {name: Path(name).read_bytes() for name in names}


def test_what_was_read_is_built(tmp_path: Path, workspace: Workspace) -> None:
    repo = plant(tmp_path / "repo", FILES)
    repository = tree_of(repo / "app")
    for name in FILES:
        (repo / name).unlink()
    workspace.write(repository)
    assert (top_of(workspace) / str(repo)[1:] / "base/a.yaml").read_text() == config_map("a")


def test_no_file_can_be_executed(tmp_path: Path, workspace: Workspace) -> None:
    repo = plant(tmp_path / "repo", FILES)
    (repo / "app/text").chmod(0o755)
    written(repo / "app", workspace)
    modes = {path.stat().st_mode & 0o777 for path in top_of(workspace).rglob("*") if path.is_file()}
    assert modes == {0o600}


def test_links_are_links_in_the_tree(tmp_path: Path, workspace: Workspace) -> None:
    files = {
        "real/base/kustomization.yaml": "resources: [a.yaml]\n",
        "real/base/a.yaml": "-> b.yaml",
        "real/base/b.yaml": config_map("a"),
        "linked": "-> again",
        "again": "-> real",
        "app/kustomization.yaml": "resources: [../linked/base]\n",
    }
    repo = plant(tmp_path / "repo", files)
    workspace.write(tree_of(repo / "app"))
    folder = top_of(workspace) / str(repo)[1:]
    assert (folder / "linked").is_symlink() and (folder / "linked").resolve() == folder / "real"
    assert (folder / "real/base/a.yaml").resolve() == folder / "real/base/b.yaml"
    assert not (folder / "again").exists()


def test_a_function_is_called_by_a_name_of_this_run(tmp_path: Path, workspace: Workspace) -> None:
    inline = "kind: A\\nmetadata: {name: a, annotations: {config.kubernetes.io/function: 'exec: {path: ptemplate}'}}"
    files = {
        "kustomization.yaml": f'resources: [a.yaml]\ntransformers: [f.yaml, "{inline}"]\n',
        "a.yaml": config_map("a"),
        "f.yaml": function("container: {image: 'localhost/krmfn:1.2.3'}"),
    }
    repo = plant(tmp_path / "repo", files)
    names = dict(tree_of(repo).names)
    assert sorted(names) == ["localhost/krmfn:1.2.3", "ptemplate"]
    texts = written(repo, workspace)
    assert tree_of(repo).names != names
    for name, value in (("kustomization.yaml", "ptemplate"), ("f.yaml", "localhost")):
        text = texts[str(repo / name)]
        assert value.encode() not in text and b"krmfn-" in text, text


def test_a_function_that_is_a_patch_as_well_has_the_name_of_this_run(tmp_path: Path, workspace: Workspace) -> None:
    text = function("exec: {path: krmfn}") + "a: &a [1]\nb: *a\n"
    entry = "transformers:\n- &f |-\n" + "".join(f"  {line}\n" for line in text.splitlines())
    repo = plant(tmp_path, {"kustomization.yaml": f"{entry}patchesStrategicMerge: [*f]\n"})
    (kustomization,) = written(repo, workspace).values()
    assert kustomization.count(b"{path: krmfn-") == 2


def test_a_text_that_readers_could_take_otherwise_is_written_again(tmp_path: Path, workspace: Workspace) -> None:
    text = (
        "apiVersion: v1\nkind: A\nmetadata: {name: a}\na: &x\n  b: 1.10\nc: *x\nd:\n  <<: *x\n  e: no # here\nf: 'no'\n"
    )
    files = {"kustomization.yaml": "resources: [a.yaml]\n", "a.yaml": text}
    repo = plant(tmp_path / "repo", files)
    texts = written(repo, workspace)
    lines = texts[str(repo / "a.yaml")].decode().splitlines()
    assert [line.strip() for line in lines] == [
        "{apiVersion: v1,",
        "kind: A,",
        "metadata: {name: a},",
        "a: {",
        "b: 1.10},",
        "c: {b: 1.10},",
        "d:",
        "{b: 1.10,",
        "e: no},",
        'f: "no"}',
    ]


def test_a_file_that_is_read_in_two_ways_is_refused(tmp_path: Path) -> None:
    files = {
        "kustomization.yaml": "resources: [a.yaml]\nconfigMapGenerator:\n- {name: c, files: [a.yaml]}\n",
        "a.yaml": "apiVersion: v1\nkind: A\nmetadata: &a {name: a}\n",
    }
    with pytest.raises(KrmfnError, match=r"configMapGenerator\[0\]\.files\[0\]: .*a\.yaml is also read as YAML"):
        tree_of(plant(tmp_path, files))
    plant(tmp_path, {"a.yaml": files["a.yaml"].replace("&a ", "")})
    tree_of(tmp_path)


WRONG = {
    "no YAML": ("a: [\n", "KRM523", 2),
    "a patch with equal keys": ("kind: A\nmetadata: {name: a}\nspec:\n  a: 1\n  a: 2\n", "KRM517", 5),
    "a tag": ("kind: A\nmetadata: {name: a}\nb: !x c\n", "KRM517", 3),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("field", ["resources: [w.yaml]", "patches: [{path: w.yaml}]", "configurations: [w.yaml]"])
def test_what_is_wrong_with_a_listed_file_is_said_with_its_line(tmp_path: Path, name: str, field: str) -> None:
    text, rule, line = WRONG[name]
    repo = plant(tmp_path, {"kustomization.yaml": f"{field}\nnamespace: a\n", "w.yaml": text})
    graph = reading.read([str(repo)], None, OURS)
    (finding,) = graph.findings(os.path.realpath(repo))
    place = finding.place
    assert place and (finding.rule, Path(place.path).name, place.line) == (rule, "w.yaml", line)


def test_a_path_that_would_leave_the_tree_is_written_anew(tmp_path: Path, workspace: Workspace) -> None:
    app, up = tmp_path / "app", "../" * 50
    files = {
        "kustomization.yaml": f"resources: ['{up}{tmp_path}/base', {app}/a.yaml]\n"
        f"configMapGenerator: [{{name: c, files: [k={app}/text]}}]\n",
        "a.yaml": config_map("a"),
        "text": "a",
    }
    plant(app, files)
    plant(tmp_path / "base", {"kustomization.yaml": "resources: [a.yaml]\n", "a.yaml": config_map("b")})
    text = written(app, workspace)[str(app / "kustomization.yaml")].decode()
    assert str(tmp_path) not in text and up not in text
    assert '"../base", "a.yaml"' in text and '"k=text"' in text


def test_a_plugin_with_an_absolute_path_is_refused(tmp_path: Path) -> None:
    plugin = f"apiVersion: builtin\nkind: PatchTransformer\nmetadata: {{name: a}}\npath: {tmp_path}/p.yaml\n"
    plant(tmp_path, {"kustomization.yaml": "transformers: [t.yaml]\n", "t.yaml": plugin, "p.yaml": config_map("a")})
    graph = reading.read([str(tmp_path)], None, OURS)
    assert [finding.rule for finding in graph.findings(os.path.realpath(tmp_path))] == ["KRM504"]
