"""Golden cases and lists from folders; the folder that `python -m krmfn.new` makes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from krmfn import ResourceList, function, info
from krmfn.item import INDEX, PATH
from krmfn.new import make
from krmfn.testing import golden, resource_list
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
    with pytest.raises(FileExistsError):
        make("own-it", tmp_path)
    for wrong in ("Own", "own_it", "../x", "", "a--b"):
        with pytest.raises(ValueError, match="cannot be the name of a function"):
            make(wrong, tmp_path)
