"""Under a real `kpt fn render`: twice the same, stale objects go, and a finding leaves the files alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import builders
from tests.commands import Done

from .conftest import Env
from .engines import copy_of, documents, path_of, run, tree
from .spoiled import every_mistake, spoil


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The example, to be changed at will."""
    return copy_of("kpt-package", tmp_path)


def render(kpt: str, package: Path, env: Env | None = None) -> Done:
    return run(kpt, "fn", "render", package, "--allow-exec", env=env)


def rendered(kpt: str, package: Path, env: Env | None = None) -> dict[str, bytes]:
    """The package after a render that has to succeed."""
    render(kpt, package, env).ended(0)
    return tree(package)


def in_a_container(package: Path, image: str) -> None:
    """Let every function of the Kptfile that is a command be an image."""
    kptfile = package / "Kptfile"
    content = yaml.safe_load(kptfile.read_text())
    functions = [entry for entries in content["pipeline"].values() for entry in entries if entry.pop("exec", None)]
    assert functions
    for function in functions:
        function["image"] = image
    kptfile.write_text(yaml.safe_dump(content, sort_keys=False))


def manifests(files: dict[str, bytes]) -> list[dict[str, Any]]:
    texts = [text for path, text in files.items() if path.endswith((".yaml", ".yml"))]
    return [document for text in texts for document in documents(text)]


def kinds(files: dict[str, bytes]) -> set[str]:
    return {str(manifest["kind"]) for manifest in manifests(files)}


@pytest.fixture(params=["exec", "container"])
def package(request: pytest.FixtureRequest, copy: Path) -> tuple[Path, Env]:
    """The example, run as a command or in a container, and the environment for it."""
    if request.param == "exec":
        return copy, path_of()
    in_a_container(copy, request.getfixturevalue("image"))
    return copy, request.getfixturevalue("containers")


def test_the_second_render_changes_nothing(kpt: str, package: tuple[Path, Env]) -> None:
    folder, env = package
    first = rendered(kpt, folder, env)
    assert {"Module", "DaemonSet"} <= kinds(first)
    assert rendered(kpt, folder, env) == first


def test_without_its_deviceconfig_the_generated_objects_go_and_nothing_else(
    kpt: str, package: tuple[Path, Env]
) -> None:
    folder, env = package
    first = rendered(kpt, folder, env)
    configs = [path for path, text in first.items() if b"kind: DeviceConfig\n" in text]
    for path in configs:
        (folder / path).unlink()
    second = rendered(kpt, folder, env)
    generated = {path for path, text in first.items() if b"krmfn.dev/owner:" in text}
    assert generated
    assert second == {path: text for path, text in first.items() if path not in generated and path not in configs}


@every_mistake
def test_a_finding_is_shown_and_changes_no_file(kpt: str, package: tuple[Path, Env], mistake: str) -> None:
    folder, env = package
    rendered(kpt, folder, env)
    fragments = spoil(folder, mistake)
    before = tree(folder)
    done = render(kpt, folder, env).ended(1)
    assert [fragment for fragment in fragments if fragment not in done.err] == [], done.err
    assert "Traceback" not in done.err
    assert tree(folder) == before


def test_a_command_and_a_container_write_the_same_files(kpt: str, containers: Env, image: str, copy: Path) -> None:
    by_command = rendered(kpt, copy)
    in_a_container(copy, image)
    by_container = rendered(kpt, copy, containers)
    assert {path for path in by_command if by_command[path] != by_container.get(path)} <= {"Kptfile"}


def test_copies_of_generated_objects_and_foreign_marks_stay(kpt: str, package: tuple[Path, Env]) -> None:
    """Somebody copies a generated file, and puts its mark on a Namespace: the next render removes neither."""
    folder, env = package
    first = rendered(kpt, folder, env)
    path = next(path for path, text in first.items() if b"kind: DaemonSet\n" in text)
    generated = next(manifest for manifest in yaml.safe_load_all(first[path]) if manifest["kind"] == "DaemonSet")
    mark = generated["metadata"]["annotations"]["krmfn.dev/owner"]
    generated["metadata"]["name"] += "-copy"
    (folder / "copy.yaml").write_text(yaml.safe_dump(generated, sort_keys=False))
    space = builders.manifest("v1", "Namespace", "x", "", annotations={"krmfn.dev/owner": mark})
    (folder / "namespace.yaml").write_text(yaml.safe_dump(space, sort_keys=False))
    for config in [path for path, text in first.items() if b"kind: DeviceConfig\n" in text]:
        (folder / config).unlink()
    second = rendered(kpt, folder, env)
    assert path not in second
    assert {"copy.yaml", "namespace.yaml"} <= set(second)
