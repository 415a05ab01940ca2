"""The environment for kustomize: launchers that start our programs and nothing else, whatever lies around."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from krmfn_functions.kustomization import reading
from krmfn_functions.kustomization.calls import Call
from krmfn_functions.kustomization.confinement import FLAGS, confine

from krmfn import KrmfnError
from tests.builders import device_config, list_text
from tests.commands import Done, execute
from tests.trees import OURS, function, plant

MODULE = b"kind: Module\n"


def calls(folder: Path, *specs: str) -> list[Call]:
    plant(folder, {"kustomization.yaml": "transformers: [f.yaml]", "f.yaml": "---\n".join(map(function, specs))})
    return reading.read([str(folder)], None, OURS).calls(str(folder.resolve()))


@pytest.fixture
def build(tmp_path: Path) -> str:
    """A folder for a build."""
    (tmp_path / "build").mkdir()
    return str(tmp_path / "build")


def names(folder: str) -> list[str]:
    return sorted(path.name for path in Path(folder).iterdir())


def run(environment: dict[str, str], cwd: Path, program: str, *args: str) -> Done:
    """Run a program of a build's environment on a list with a DeviceConfig."""
    items = list_text(device_config())
    return execute(Path(environment["PATH"], program), *args, stdin=items, cwd=cwd, env=environment)


def test_path_holds_what_is_called_and_nothing_else(tmp_path: Path, build: str) -> None:
    how = confine(build, calls(tmp_path, "exec: {path: krmfn}", "container: {image: ptemplate}"))
    assert how.flags == FLAGS
    assert names(how.environment["PATH"]) == ["docker", "krmfn", "ptemplate"]
    homes = [how.environment[name] for name in ("KUSTOMIZE_PLUGIN_HOME", "XDG_CONFIG_HOME")]
    assert [names(home) for home in homes] == [[], []]
    assert Path(how.environment["PATH"]).stat().st_mode & 0o022 == 0


def test_a_build_without_functions_enables_none(tmp_path: Path, build: str) -> None:
    how = confine(build, [])
    assert how.flags == ()
    assert names(how.environment["PATH"]) == []


def test_a_launcher_takes_nothing_from_the_folder_or_the_environment(
    tmp_path: Path, build: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Modules of the names that it imports, in the working folder and where the environment says."""
    planted = {f"{name}.py": "import os; os.mknod('trace'); raise SystemExit" for name in ("yaml", "krmfn", "json")}
    folder = plant(
        tmp_path / "app", {**planted, "krmfn_functions/__init__.py": planted["yaml.py"], "usercustomize.py": ""}
    )
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", str(folder)]))
    monkeypatch.setenv("PYTHONHOME", str(folder))
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    monkeypatch.chdir(folder)
    how = confine(build, calls(tmp_path / "k", "exec: {path: deviceconfig}"))
    assert MODULE in run(how.environment, folder, "deviceconfig").ended(0).out
    assert not (folder / "trace").exists()


def test_docker_runs_the_images_that_are_called_and_no_other(tmp_path: Path, build: str) -> None:
    how = confine(build, calls(tmp_path, "container: {image: 'localhost/deviceconfig:1'}"))
    flags = ["run", "--rm", "-i", "--network", "none", "--user", "nobody", "-e", "A=localhost/deviceconfig:1"]
    assert MODULE in run(how.environment, tmp_path, "docker", *flags, "localhost/deviceconfig:1").out
    for image in ("localhost/deviceconfig:2", "evil/krmfn", "localhost/deviceconfig:*", "*", "--help"):
        err = run(how.environment, tmp_path, "docker", *flags, image).refused(125)
        assert f"the image {image} is not krmfn's" in err


def test_what_is_not_ours_is_not_prepared(tmp_path: Path, build: str) -> None:
    with pytest.raises(KrmfnError, match="calls 'sh', which is not part of krmfn"):
        confine(build, calls(tmp_path, "exec: {path: krmfn}", "exec: {path: sh}"))


def test_a_temporary_folder_from_which_nothing_runs_is_said(
    tmp_path: Path, build: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    called = calls(tmp_path, "exec: {path: krmfn}")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(KrmfnError, match=r"programs cannot be run from the temporary folder .*TMPDIR"):
        confine(build, called)


def test_a_temporary_folder_that_path_would_divide_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KrmfnError, match="cannot be added to the environment variable PATH"):
        confine(str(tmp_path / "a:b"), [])


def test_a_python_without_a_path_cannot_be_called(tmp_path: Path, build: str, monkeypatch: pytest.MonkeyPatch) -> None:
    called = calls(tmp_path, "exec: {path: krmfn}")
    monkeypatch.setattr(sys, "executable", "")
    with pytest.raises(KrmfnError, match="has no path"):
        confine(build, called)
