"""The SDK by itself: its wheel installs without the product, and functions run on it."""

from __future__ import annotations

import os
import re
import sys
import zipfile
from pathlib import Path

import pytest
from krmfn_functions import VERSION
from release import packages, source

from tests.commands import ROOT, Done, execute

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
    scratch, out = tmp_path_factory.mktemp("scratch"), tmp_path_factory.mktemp("dist")
    commit = source.Source(ROOT, "0" * 40, 1_700_000_000, VERSION)
    return packages.build_sdk(commit, ROOT, scratch, out)


@pytest.fixture(scope="module")
def site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the wheel is installed, alone."""
    target = tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(target)]
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
    assert '{name: a, labels: {"team": "x"}} # kept' in done.text


def test_a_wrong_config_is_a_sentence(site: Path) -> None:
    text = LIST.replace("{team: x}", "{team: [1]}")
    done = typed(site, ROOT / "examples/catalog/set-labels/function.py", text=text).ended(1)
    assert re.search(r"(?m)^error: ConfigMap config: data.labels.team: is a list", done.err)


def test_a_project_is_started_with_it(site: Path, tmp_path: Path) -> None:
    env = os.environ | {"PYTHONPATH": str(site)}
    execute(sys.executable, "-m", "krmfn.new", "set-tag", cwd=tmp_path, env=env).ended(0)
    assert (tmp_path / "set-tag" / "set_tag.py").is_file()
