"""`import` of what an operator has made, where the operator's config and its Profile are known."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.adopted_cluster import CR, MODULE, PROFILE, Manifest, config, dump, made, named, node
from tests.commands import Done, process


def imported(folder: Path, *objects: Manifest, is_option: bool = True) -> Done:
    (folder / "profile.yaml").write_text(PROFILE)
    profile = ["--profile", str(folder / "profile.yaml")] if is_option else [str(folder / "profile.yaml")]
    return process("krmfn", "import", str(dump(folder, *objects)), *profile, "-o", str(folder / "out"))


@pytest.mark.parametrize("is_option", [True, False])
def test_a_config_with_its_profile_is_the_answer(tmp_path: Path, is_option: bool) -> None:
    done = imported(tmp_path, *made(), config("npu.example.org/cleanup"), is_option=is_option).ended(0, "")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["npupolicy-main.yaml", "profile-npu.yaml"]
    assert yaml.safe_load((tmp_path / "out/npupolicy-main.yaml").read_text()) == yaml.safe_load(CR)
    place = "in place of 1 ConfigMap, 1 Module, 1 DaemonSet"
    assert f"NpuPolicy npu/main as it is in the input, with the Profile npu, {place}" in done.text
    assert "DeviceConfig" not in done.text
    process("krmfn", "adopt", str(tmp_path / "out"), "--live", str(dump(tmp_path, *made(owned=False)))).ended(0)


def test_what_the_profile_makes_otherwise_is_a_warning(tmp_path: Path) -> None:
    objects = made()
    named(objects, MODULE)["spec"]["selector"] = {"other": "true"}
    done = imported(tmp_path, *objects, config())
    assert done.code == 0
    assert "Module npu/main: the Profile makes it otherwise: spec.selector.example" in done.err.replace("[", ".")


def test_modules_beside_it_become_device_configs(tmp_path: Path) -> None:
    other = named(made(owned=False), MODULE)
    other["metadata"] = {"name": "other", "namespace": "npu"}
    done = imported(tmp_path, *made(), config(), other)
    assert "1 DeviceConfig" in done.text
    assert (tmp_path / "out/deviceconfig-other.yaml").exists()


def test_a_config_of_which_nothing_comes_is_told(tmp_path: Path) -> None:
    bad = config()
    del bad["spec"]["image"]
    done = imported(tmp_path, *made(), bad)
    assert "nothing is made of NpuPolicy npu/main by its Profile" in done.err
    assert "1 DeviceConfig" in done.text


def test_a_file_without_a_profile_is_refused(tmp_path: Path) -> None:
    path = dump(tmp_path, *made(), node("w2"))
    refusal = process("krmfn", "import", str(path), "--profile", str(path), "-o", str(tmp_path / "out")).refused()
    assert "no Profile is in it" in refusal
