"""What is installed: two distributions, the product and its SDK, and no top-level name that is not ours."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from krmfn_functions import VERSION

from tests.commands import ROOT, execute
from tests.sources import SOURCES, copied

FOLDERS = {
    "functions": "krmfn_functions",
    "schemas": "krmfn_functions/schemas",
    "examples/vendor-profiles": "krmfn_functions/vendors",
    "gitops/ci/github": "krmfn_functions/recipes/github",
    "gitops/ci/gitlab": "krmfn_functions/recipes/gitlab",
}
SHIPPED = {
    "functions": {".py", ".json", ".typed", ".html", ".css", ".js"},
    "schemas": {".py", ".json", ".yaml"},
    "examples/vendor-profiles": {".yaml"},
    "gitops/ci/github": {".yaml"},
    "gitops/ci/gitlab": {".yml"},
}
ALONE = ["--quiet", "--no-deps", "--no-index", "--no-compile", "--disable-pip-version-check"]
UNDIVIDED = """\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"
[project]
name = "krmfn"
version = "0.0.9"
[tool.setuptools]
packages = ["krmfn", "krmfn.yamltext"]
"""
"""A krmfn of before the SDK was a distribution of its own."""


def built(source: Path, out: Path, *options: str) -> None:
    execute(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, *options, source, timeout=600).ended(0)


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and both wheels as they are built from that sdist."""
    out, unpacked = tmp_path_factory.mktemp("dist"), tmp_path_factory.mktemp("unpacked")
    built(copied(tmp_path_factory.mktemp("source")), out)
    execute("tar", "-xzf", next(out.glob("*.tar.gz")), "--strip-components=1", cwd=unpacked).ended(0)
    built(unpacked / "sdk", out, "--wheel")
    return out


@pytest.fixture(scope="module")
def wheel(dist: Path) -> Path:
    return next(dist.glob("krmfn-*.whl"))


@pytest.fixture(scope="module")
def sdk(dist: Path) -> Path:
    return next(dist.glob("krmfn_sdk-*.whl"))


def environment_of(folder: Path) -> Path:
    """Return the python of a new environment, which has nothing; pip installs into it from outside."""
    execute(sys.executable, "-m", "venv", "--clear", "--without-pip", folder, timeout=600).ended(0)
    return folder / "bin" / "python"


def install(python: Path, wheel: Path) -> None:
    """Install a wheel into an environment."""
    pip: list[str | Path] = [sys.executable, "-m", "pip", "--python", python, "install"]
    execute(*pip, *ALONE, wheel, timeout=600).ended(0)


@pytest.mark.parametrize(("name", "packages"), [("krmfn", {"krmfn_functions"}), ("krmfn_sdk", {"krmfn"})])
def test_a_wheel_installs_its_package_and_no_other_name(dist: Path, name: str, packages: set[str]) -> None:
    names = {path.split("/")[0] for path in zipfile.ZipFile(next(dist.glob(f"{name}-*.whl"))).namelist()}
    assert {name for name in names if not name.endswith(".dist-info")} == packages


def test_the_wheel_carries_every_module_and_every_schema(wheel: Path) -> None:
    ours = [(top, path) for top in FOLDERS for path in (ROOT / top).rglob("*") if path.suffix in SHIPPED[top]]
    assert {top for top, _ in ours} == set(FOLDERS)
    expected = {f"{FOLDERS[top]}/{path.relative_to(ROOT / top)}" for top, path in ours}
    assert expected - set(zipfile.ZipFile(wheel).namelist()) == set()


def test_the_sdist_carries_the_sources_of_both(dist: Path) -> None:
    with tarfile.open(next(dist.glob("*.tar.gz"))) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    assert set(SOURCES) <= names
    assert {"krmfn/py.typed", "krmfn/template/Dockerfile.in", "sdk/LICENSE", "sdk/pyproject.toml"} <= names


def test_the_product_needs_the_sdk_of_its_own_version(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as files:
        metadata = files.read(f"krmfn-{VERSION}.dist-info/METADATA").decode()
    assert f"Requires-Dist: krmfn-sdk=={VERSION}\n" in metadata


@pytest.fixture(scope="module")
def installed(wheel: Path, sdk: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which both wheels are installed."""
    target = tmp_path_factory.mktemp("installed") / "site"
    execute(sys.executable, "-m", "pip", "install", *ALONE, "--target", target, sdk, wheel, timeout=600).ended(0)
    return target


@pytest.mark.parametrize("command", ["krmfn", "deviceconfig", "ptemplate"])
def test_the_installed_commands_answer_away_from_the_repository(installed: Path, tmp_path: Path, command: str) -> None:
    target = installed
    env = os.environ | {"PYTHONPATH": str(target)}
    assert command in execute(target / "bin" / command, "--help", cwd=tmp_path, env=env).ended(0, "").text
    if command != "krmfn":
        assert json.loads(execute(target / "bin" / command, "--doc", cwd=tmp_path, env=env).ended(0).out)["image"]
    where = "import krmfn, krmfn_functions.schemas as s; print(krmfn.__file__, *s.__path__)"
    paths = execute(sys.executable, "-c", where, cwd=tmp_path, env=env).ended(0).text.split()
    assert len(paths) == 2
    assert [path for path in paths if not path.startswith(str(target))] == []


def test_a_missing_sdk_is_a_sentence_that_names_its_wheel(wheel: Path, tmp_path: Path) -> None:
    python = environment_of(tmp_path / "venv")
    install(python, wheel)
    for args, code in (([], 1), (["check", "."], 2)):
        done = execute(tmp_path / "venv/bin/krmfn", *args, stdin=b"items: []").ended(code)
        assert done.out == b""
        assert done.err == (
            f"error: krmfn {VERSION} needs its SDK, which is not installed here; "
            f"install krmfn_sdk-{VERSION}-py3-none-any.whl of the same release, or ./sdk of a checkout\n"
        )


def test_an_environment_with_the_undivided_wheel_is_made_anew(wheel: Path, sdk: Path, tmp_path: Path) -> None:
    """What docs/internals/release.md says: pip removes the former wheel's files after it has installed the SDK's."""
    (tmp_path / "old").mkdir()
    shutil.copytree(ROOT / "krmfn", tmp_path / "old" / "krmfn", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "old" / "pyproject.toml").write_text(UNDIVIDED)
    built(tmp_path / "old", tmp_path / "dist", "--wheel")
    [undivided] = (tmp_path / "dist").glob("*.whl")
    python = environment_of(tmp_path / "venv")
    site = "import importlib.util as util; print(util.find_spec('krmfn.item') is not None)"

    def has_sdk(*wheels: Path) -> str:
        for path in wheels:
            install(python, path)
        return execute(python, "-I", "-c", f"try: {site}\nexcept ImportError: print(False)").ended(0).text.strip()

    assert has_sdk(undivided) == "True"
    assert has_sdk(sdk, wheel) == "False", "the page says why this is no way to upgrade"
    environment_of(tmp_path / "venv")
    assert has_sdk(sdk, wheel) == "True"
