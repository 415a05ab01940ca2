"""Ordinary files in a folder without a kustomization: they are read as they are, and printed as they were."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders import CONFIG
from tests.commands import process
from tests.ordinary import LOOSE, OTHERS, RENDERED, SHAPES
from tests.trees import config_map, plant


def rendered(folder: Path) -> bytes:
    return process("krmfn", "render", str(folder)).ended(0).out


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What is rendered for the config in the plainest shape."""
    out = rendered(plant(tmp_path_factory.mktemp("plain"), {"config.yaml": CONFIG}))
    assert b"kind: Module" in out
    return out


def test_a_check_has_nothing_to_say(tmp_path: Path) -> None:
    for number, text in enumerate((*LOOSE.values(), *(shape(CONFIG) for shape in SHAPES.values()))):
        plant(tmp_path / str(number), {"a.yaml": text, **OTHERS})
    assert " error" not in process("krmfn", "check", *map(str, sorted(tmp_path.iterdir()))).ended(0).text


@pytest.mark.parametrize("name", LOOSE)
def test_resources_are_printed_as_they_were(tmp_path: Path, name: str) -> None:
    folder = plant(tmp_path, {"a.json" if name == "JSON" else "a.yaml": LOOSE[name]})
    assert rendered(folder).decode() == RENDERED.get(name, LOOSE[name])


@pytest.mark.parametrize("name", SHAPES)
def test_a_config_in_any_shape_is_rendered_as_the_plainest_one(tmp_path: Path, plain: bytes, name: str) -> None:
    assert rendered(plant(tmp_path, {"config.yaml": SHAPES[name](CONFIG)})) == plain


def test_a_linked_file_and_a_linked_folder_are_read(tmp_path: Path) -> None:
    plant(tmp_path, {"real/b.txt": config_map("b"), "real/c/c.yaml": config_map("c")})
    folder = plant(tmp_path, {"a.yaml": "-> real/b.txt", "sub": "-> real/c"})
    assert rendered(folder).decode() == f"{config_map('b')}---\n{config_map('c')}"
    assert rendered(folder / "sub").decode() == config_map("c")


def test_other_yaml_is_passed_over(tmp_path: Path, plain: bytes) -> None:
    assert rendered(plant(tmp_path, {**OTHERS, "config.yaml": CONFIG})) == plain


def test_a_version_of_yaml_is_refused_as_by_kubectl_and_kustomize(tmp_path: Path) -> None:
    """They divide the stream at `---` first, and then miss it behind the directive."""
    folder = plant(tmp_path, {"config.yaml": f"%YAML 1.1\n---\n{CONFIG}"})
    assert "config.yaml:" in process("krmfn", "render", str(folder)).refused()
