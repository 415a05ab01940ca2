"""The SDK by itself: its wheel installs without the product, and functions run on it."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
import zipfile
from pathlib import Path

import pytest
from krmfn_functions import VERSION
from release import packages, source

from krmfn.new import make
from tests.commands import ROOT, Done, execute
from tests.sources import copied

CATALOG = sorted(path.name for path in (ROOT / "examples/catalog").iterdir() if path.is_dir())
ALONE = "import runpy, sys\nsys.modules['krmfn_functions'] = None\nsys.argv = sys.argv[1:]\n"
ALONE += "runpy.run_path(sys.argv[0], run_name='__main__')"
"""Runs a program where the product cannot be imported."""
LIST = """\
apiVersion: config.kubernetes.io/v1
kind: ResourceList
items:
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: a} # kept
functionConfig:
  apiVersion: v1
  kind: ConfigMap
  metadata: {name: config}
  data: {team: x}
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tree = copied(tmp_path_factory.mktemp("tree"))
    commit = source.Source(ROOT, "0" * 40, 1_700_000_000, VERSION)
    return packages.build_sdk(commit, tree, tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the wheel is installed, alone."""
    target = tmp_path_factory.mktemp("site")
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--no-compile",
        "--target",
        str(target),
    ]
    execute(*pip, wheel, timeout=600).ended(0)
    return target


def typed(site: Path, program: Path, *args: str, text: str = "") -> Done:
    """Run a program on the installed SDK, away from the repository."""
    env = os.environ | {"PYTHONPATH": str(site)}
    return execute(sys.executable, "-c", ALONE, program, *args, cwd=site, env=env, stdin=text.encode())


def test_the_wheel_has_the_sdk_its_version_and_what_it_needs(wheel: Path) -> None:
    assert wheel.name == f"krmfn_sdk-{VERSION}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as files:
        names = {name for name in files.namelist() if ".dist-info" not in name}
        metadata = files.read(f"krmfn_sdk-{VERSION}.dist-info/METADATA").decode()
    shipped = [path for path in (ROOT / "krmfn").rglob("*") if path.is_file() and path.suffix != ".pyc"]
    assert names == {str(path.relative_to(ROOT)) for path in shipped}
    needed = re.findall(r"(?m)^Requires-Dist: (\w+)", metadata)
    assert needed == ["PyYAML", "jsonschema"]


@pytest.mark.parametrize("name", CATALOG)
def test_a_function_of_the_catalogue_runs_on_it(site: Path, name: str) -> None:
    program = ROOT / "examples/catalog" / name / "function.py"
    assert name in typed(site, program, "--help").ended(0).text


def test_a_function_changes_a_list_on_it(site: Path) -> None:
    done = typed(site, ROOT / "examples/catalog/set-labels/function.py", text=LIST).ended(0)
    assert "{name: a, labels: {team: x}} # kept" in done.text


def test_a_wrong_config_is_a_sentence(site: Path) -> None:
    text = LIST.replace("{team: x}", "{team: [1]}")
    done = typed(site, ROOT / "examples/catalog/set-labels/function.py", text=text).ended(1)
    assert re.search(r"(?m)^error: ConfigMap config: data.labels.team: is a list", done.err)


def test_a_project_is_started_with_it(site: Path, tmp_path: Path) -> None:
    env = os.environ | {"PYTHONPATH": str(site)}
    execute(sys.executable, "-m", "krmfn.new", "set-tag", cwd=tmp_path, env=env).ended(0)
    assert (tmp_path / "set-tag" / "set_tag.py").is_file()


def test_a_project_installs_the_sdk_by_its_bytes_alone(wheel: Path, tmp_path: Path) -> None:
    folder = make("set-tag", tmp_path) / "wheels"
    check = ("sh", folder / "check")
    assert "lacks the SDK: put krmfn_sdk-VERSION-py3-none-any.whl" in execute(*check).ended(1).err
    shutil.copy(wheel, folder)
    (folder / "SHA256SUMS").write_text("")
    assert f"has no line for {wheel.name}" in execute(*check).ended(1).err
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    other = f"{'0' * 64}  krmfn-{VERSION}-py3-none-any.whl\n"
    (folder / "SHA256SUMS").write_text(f"{other}{digest}  {wheel.name}\n")
    execute(*check).ended(0)
    (folder / wheel.name).write_bytes(wheel.read_bytes() + b"x")
    assert "did NOT match" in execute(*check).ended(1).err
