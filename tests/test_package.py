"""What is installed: one distribution, with its schemas, and no top-level name that is not ours."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.commands import ROOT, execute

SOURCES = ["LICENSE", "README.md", "pyproject.toml", "functions", "krmfn", "schemas"]
FOLDERS = {"functions": "krmfn_functions", "krmfn": "krmfn", "schemas": "krmfn_functions/schemas"}
SHIPPED = {
    "functions": {".py", ".json", ".typed", ".html", ".css", ".js"},
    "krmfn": {".py", ".typed"},
    "schemas": {".py", ".json", ".yaml"},
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and the wheel that was built from that sdist."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, source)
    execute(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, source, timeout=600).ended(0)
    return out


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    return next(built.glob("*.whl"))


def test_the_wheel_installs_two_packages_and_no_other_name(wheel: Path) -> None:
    names = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {name for name in names if not name.endswith(".dist-info")} == {"krmfn", "krmfn_functions"}


def test_the_wheel_carries_every_module_and_every_schema(wheel: Path) -> None:
    ours = [(top, path) for top in FOLDERS for path in (ROOT / top).rglob("*") if path.suffix in SHIPPED[top]]
    assert {top for top, _ in ours} == set(FOLDERS)
    expected = {f"{FOLDERS[top]}/{path.relative_to(ROOT / top)}" for top, path in ours}
    assert expected - set(zipfile.ZipFile(wheel).namelist()) == set()


def test_the_sdist_carries_the_sources(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as sdist:
        names = {name.split("/")[1] for name in sdist.getnames() if "/" in name}
    assert set(SOURCES) <= names


@pytest.mark.parametrize("command", ["krmfn", "deviceconfig", "ptemplate"])
def test_the_installed_commands_answer_away_from_the_repository(wheel: Path, tmp_path: Path, command: str) -> None:
    target = tmp_path / "site"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(target)]
    execute(*pip, wheel, timeout=600).ended(0)
    env = os.environ | {"PYTHONPATH": str(target)}
    assert command in execute(target / "bin" / command, "--help", cwd=tmp_path, env=env).ended(0, "").text
    if command != "krmfn":
        assert json.loads(execute(target / "bin" / command, "--doc", cwd=tmp_path, env=env).ended(0).out)["image"]
    where = "import krmfn, krmfn_functions.schemas as s; print(krmfn.__file__, *s.__path__)"
    paths = execute(sys.executable, "-c", where, cwd=tmp_path, env=env).ended(0).text.split()
    assert len(paths) == 2
    assert [path for path in paths if not path.startswith(str(target))] == []
