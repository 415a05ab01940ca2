"""Golden cases and lists from folders; the folder that `python -m krmfn.new` makes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from krmfn import ResourceList, function, info
from krmfn.annotations import INDEX, PATH
from krmfn.new import make
from krmfn.testing import golden, resource_list, run_folder
from tests.commands import ROOT

TEXT = "apiVersion: v1\nkind: A\nmetadata:\n  name: {} # stays\n"


@pytest.fixture
def case(tmp_path: Path) -> Path:
    (tmp_path / "sub").mkdir()
    (tmp_path / "b.yaml").write_text(TEXT.format("b") + "---\n# above\n" + TEXT.format("c"))
    (tmp_path / "sub/a.yml").write_text(TEXT.format("a"))
    (tmp_path / "Kptfile").write_text(TEXT.format("k"))
    (tmp_path / ".hidden.yaml").write_text("not: [yaml")
    (tmp_path / "README.md").write_text("text")
    return tmp_path


@function
def rename(resources: ResourceList) -> None:
    for item in resources.items:
        item.labels["x"] = "y"
    resources.report(info("done"))


@function
def again(resources: ResourceList) -> None:
    for item in resources.items:
        item.name += "x"


def test_a_list_has_every_file_with_its_place(case: Path) -> None:
    resources = resource_list(case, config={"namespace": "web", "most": 3, "dry": True})
    places = [(item.name, item.annotations[PATH], item.annotations[INDEX]) for item in resources.items]
    assert places == [("k", "Kptfile", "0"), ("b", "b.yaml", "0"), ("c", "b.yaml", "1"), ("a", "sub/a.yml", "0")]
    assert resources.function_config is not None
    assert resources.function_config["data"] == {"namespace": "web", "most": "3", "dry": "true"}
    assert resources.items[2].text.startswith(b"- # above\n")
    assert all(b"# stays" in item.text for item in resources.items)
    done = rename.run(resources)
    assert (done.code, [item.labels for item in done.items], done.stderr) == (0, [{"x": "y"}] * 4, "info: done\n")


def test_a_run_on_a_folder_has_findings_with_lines_and_writes_nothing(case: Path) -> None:
    @function(name="named")
    def name(resources: ResourceList) -> None:
        for item in resources.where(name="c"):
            item.name = str((resources.function_config or {})["data"]["name"])
            resources.report(info("named", at=item.at("metadata.name")))

    before = (case / "b.yaml").read_bytes()
    done = run_folder(name, case, {"name": "d"})
    assert (done.code, done.stderr) == (0, "b.yaml:10:3: info: A d: metadata.name: named\n")
    assert [result.place and result.place[:4] for result in done.results] == [("b.yaml", 1, 10, 3)]
    assert done.items[2].document.endswith(b"name: d # stays\n") and b"name: d # stays" in done.output
    assert (case / "b.yaml").read_bytes() == before


def test_an_edit_that_cannot_be_written_in_a_folder_is_refused(tmp_path: Path) -> None:
    @function
    def write(resources: ResourceList) -> None:
        resources.items[0]["spec.a"] = 2

    (tmp_path / "a.yaml").write_text(TEXT.format("a") + "spec:\n  a: &one 1\n  b: *one\n")
    done = run_folder(write, tmp_path)
    assert done.code == 1 and b"a: &one 1" in done.output
    assert done.stderr.startswith("a.yaml:6:3: error: A a: spec.a: cannot be changed: the anchor &one is there")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.yaml", "a: [b\n", "a.yaml:"),
        ("a.yaml", "apiVersion: v1\nkind: List\nitems: []\n", "a.yaml:1: error: the resources in a List are not read"),
        (".krmignore", "", ".krmignore: error: its patterns are not read here"),
        (None, "", "is no folder; pass one"),
    ],
)
def test_what_the_program_refuses_to_read_is_an_error(
    tmp_path: Path, name: str | None, text: str, message: str
) -> None:
    if name:
        (tmp_path / name).write_text(text)
    done = run_folder(rename, tmp_path if name else tmp_path / "missing")
    assert (done.code, done.output, done.items) == (1, b"", [])
    assert message in done.stderr and len(done.results) == 1


def test_what_is_no_resource_is_not_handed_to_the_function(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(TEXT.format("a") + "---\nx: 1\n")
    done = run_folder(rename, tmp_path)
    assert (done.code, [item.name for item in done.items]) == (0, ["a"])


def test_a_path_that_the_program_refuses_is_an_error(tmp_path: Path) -> None:
    @function
    def move(resources: ResourceList) -> None:
        resources.items[0].path = "../a.yaml"

    (tmp_path / "a.yaml").write_text(TEXT.format("a"))
    done = run_folder(move, tmp_path)
    assert done.code == 1 and "its path ../a.yaml leads out of the folder" in done.stderr
    assert done.items[0].text == TEXT.format("a").encode()


def test_a_golden_case_is_compared_and_rewritten(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AssertionError, match="has no case"):
        golden(rename, case)
    (case / "_fnconfig.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n")
    with pytest.raises(AssertionError, match="KRMFN_UPDATE=1 writes it"):
        golden(rename, case)
    assert not (case / "_expected.yaml").exists()
    monkeypatch.setenv("KRMFN_UPDATE", "1")
    golden(rename, case)
    monkeypatch.delenv("KRMFN_UPDATE")
    golden(rename, case)
    assert "# stays" in (case / "_expected.yaml").read_text()
    (case / "b.yaml").write_text(TEXT.format("other"))
    with pytest.raises(AssertionError, match=r"(?s)-    name: b # stays.*\+    name: other # stays"):
        golden(rename, case)
    with pytest.raises(AssertionError, match="a second run changes something"):
        golden(again, case)


PIPELINE = """\
pipeline:
  mutators:
  - image: registry.example.com/rename:v1
    selectors: [{kind: A, name: b, labels: {}}, {labels: {chosen: "yes"}}]
"""


@pytest.fixture
def package(case: Path) -> Path:
    (case / "Kptfile").write_text("apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: k\n" + PIPELINE)
    (case / ".expected").mkdir()
    return case


def test_a_case_of_kpt_is_compared_and_rewritten(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AssertionError, match=r"(?s)diff.patch differs.*\+    x: \"y\""):
        golden(rename, package)
    monkeypatch.setenv("KRMFN_UPDATE", "1")
    golden(rename, package)
    monkeypatch.delenv("KRMFN_UPDATE")
    golden(rename, package)
    diff = (package / ".expected/diff.patch").read_text()
    changed = ["--- a/b.yaml", "+++ b/b.yaml", "+  labels:", '+    x: "y"']
    assert [line for line in diff.splitlines() if line[:1] in "+-"] == changed
    assert "# above" in (package / "b.yaml").read_text(), "the package itself stays as it is"
    results = package / ".expected/results.yaml"
    results.write_text(results.read_text().replace("message: done", "message: other"))
    with pytest.raises(AssertionError, match=r"(?s)results.yaml differs.*- message: done"):
        golden(rename, package)
    results.unlink()
    (package / ".expected/config.yaml").write_text("exitCode: 1\n")
    with pytest.raises(AssertionError, match="the exit code is 0"):
        golden(rename, package)
    (package / ".expected/config.yaml").write_text("skip: true\n")
    golden(again, package)


@pytest.mark.parametrize(
    ("config", "changed"),
    [
        ("testType: eval\nargs: {name: z}\n", ["a", "b", "c", "k"]),
        ("testType: eval\nfnConfig: ../config.yaml\n", ["a", "b", "c", "config", "k"]),
    ],
)
def test_a_case_of_kpt_fn_eval_gives_the_config(package: Path, config: str, changed: list[str]) -> None:
    if "fnConfig" in config:
        (package / "config.yaml").write_text(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config}\ndata: {name: z}\n"
        )
    (package / ".expected/config.yaml").write_text(config)
    seen = list[str]()

    @function
    def named(resources: ResourceList) -> None:
        assert resources.function_config is not None
        assert resources.function_config["data"] == {"name": "z"}
        seen.extend(item.name for item in resources.items)
        for item in resources.where(kind="A"):
            if item.name == "a":
                resources.remove(item)
        resources.upsert({"apiVersion": "v1", "kind": "New", "metadata": {"name": "n", "namespace": "space"}})

    with pytest.raises(AssertionError, match=r"(?s)b/space/new_n.yaml.*deleted file"):
        golden(named, package)
    assert sorted({*seen} - {"n"}) == changed


def test_a_step_of_another_function_needs_kpt(package: Path) -> None:
    with pytest.raises(AssertionError, match="again alone cannot run"):
        golden(again, package)


def test_a_new_function_passes_its_tests(tmp_path: Path) -> None:
    folder = make("own-it", tmp_path)
    assert all("@" not in path.name and not path.name.endswith(".in") for path in folder.rglob("*"))
    assert (folder / ".github/workflows/test.yaml").is_file()
    env = {**os.environ, "PYTHONPATH": str(ROOT), "KRMFN_UPDATE": ""}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout
    metadata = subprocess.run(
        [sys.executable, "own_it.py", "--metadata"], cwd=folder, env=env, capture_output=True, check=True
    )
    assert metadata.stdout == (folder / "metadata.yaml").read_bytes()
    assert os.access(folder / "own_it.py", os.X_OK)
    with pytest.raises(FileExistsError, match="own-it is there already: take another name, or remove it"):
        make("own-it", tmp_path)


@pytest.mark.parametrize("name", ["Own", "own_it", "../x", "", "a--b", "class", "json", "krmfn"])
def test_a_function_has_a_name_that_python_takes(name: str, tmp_path: Path) -> None:
    reason = ": Python has" if name in ("class", "json", "krmfn") else ""
    with pytest.raises(ValueError, match=f"{re.escape(repr(name))} cannot be the name of a function{reason}"):
        make(name, tmp_path)


def test_a_folder_without_what_is_expected_is_a_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "two"):
        (tmp_path / name / "sub").mkdir(parents=True)
        (tmp_path / name / "sub/a.yaml").write_text(TEXT.format("a"))
    for name in ("_shared", ".git"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.yaml").write_text(TEXT.format("a"))
    monkeypatch.setenv("KRMFN_UPDATE", "1")
    golden(rename, tmp_path)
    monkeypatch.delenv("KRMFN_UPDATE")
    golden(rename, tmp_path)
    assert sorted(path.parent.name for path in tmp_path.rglob("_expected.yaml")) == ["one", "two"]
    (tmp_path / "two/_expected.yaml").unlink()
    with pytest.raises(AssertionError, match="two"):
        golden(rename, tmp_path)
