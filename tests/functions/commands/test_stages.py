"""`render --split stages`: a folder for each stage, nothing lost between them, and the next run over the last."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.commands import Done, process
from tests.trees import config_map, plant

STAGES = {"before", "modules", "consumers"}
CONFIG = """\
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata: {name: drv, namespace: kmm}
spec:
  driverImage: registry.example.com/drv
  driverVersion: "1.0"
  moduleName: drv
  nodeSelector: {drv: present}
  serviceAccountName: drv
  serviceAccount: {create: true}
"""
AGENT = '  daemonSets: [{name: agent, image: "registry.example.com/agent:1.0"}]\n'
OTHERS = "---\n".join(
    f"apiVersion: v1\nkind: {kind}\nmetadata: {{name: mine-{number}}} # kept\n"
    for number, kind in enumerate(("Service", "ConfigMap", "Pod"))
)


def render(folder: Path, *args: str) -> Done:
    return process("krmfn", "render", "lab", "--output-dir", "out", "--split", "stages", *args, cwd=folder)


def built(folder: Path) -> list[str]:
    """Return the texts that a folder's kustomization lists; all of its files are listed."""
    listed: list[str] = yaml.safe_load((folder / "kustomization.yaml").read_text())["resources"]
    assert {path.name for path in folder.iterdir()} == {*listed, "kustomization.yaml"}
    return [(folder / name).read_text() for name in listed]


def kinds(folder: Path) -> list[str]:
    return [yaml.safe_load(text)["kind"] for text in built(folder)]


def test_every_object_is_in_one_folder_as_it_is_in_the_whole(tmp_path: Path) -> None:
    plant(tmp_path, {"lab/config.yaml": CONFIG + AGENT, "lab/others.yaml": OTHERS})
    assert render(tmp_path).code == 0
    documents = process("krmfn", "render", "lab", cwd=tmp_path).text.split("---\n")
    assert {path.name for path in (tmp_path / "out").iterdir()} == STAGES
    assert sorted(text for stage in STAGES for text in built(tmp_path / "out" / stage)) == sorted(documents)
    assert kinds(tmp_path / "out" / "modules") == ["Module"]
    assert kinds(tmp_path / "out" / "consumers") == ["DaemonSet"]
    assert sorted(kinds(tmp_path / "out" / "before")) == ["ConfigMap", "Pod", "Service", "ServiceAccount"]


def test_a_stage_that_holds_nothing_any_more_stays_as_an_empty_folder(tmp_path: Path) -> None:
    plant(tmp_path, {"lab/config.yaml": CONFIG + AGENT})
    assert render(tmp_path).code == 0
    assert render(tmp_path).code == 2, "--replace was not said"
    plant(tmp_path, {"lab/config.yaml": CONFIG})
    assert "warning" not in render(tmp_path, "--replace").ended(0).err
    assert {stage: kinds(tmp_path / "out" / stage) for stage in STAGES} == {
        "before": ["ServiceAccount"],
        "modules": ["Module"],
        "consumers": [],
    }


def test_with_and_without_stages_never_share_a_folder(tmp_path: Path) -> None:
    plant(tmp_path, {"lab/config.yaml": CONFIG})
    command = ("render", "lab", "--output-dir")
    assert process("krmfn", *command, "out", cwd=tmp_path).code == 0
    for options in ((), ("--replace",)):
        assert "out was written without --split; remove it" in render(tmp_path, *options).ended(2).err
    assert {path.name for path in (tmp_path / "out").iterdir()}.isdisjoint(STAGES)
    assert process("krmfn", *command, "split", "--split", "stages", cwd=tmp_path).code == 0
    assert process("krmfn", *command, "split", "--replace", cwd=tmp_path).code == 2


@pytest.mark.parametrize(
    "args",
    [
        ("lab", "--output-dir", "lab"),
        ("lab", "other", "--output-dir", "."),
        ("--cluster", "lab=other,lab", "--output-dir", "lab/../lab"),
    ],
)
def test_nothing_is_written_among_its_sources(tmp_path: Path, args: tuple[str, ...]) -> None:
    plant(tmp_path, {"lab/config.yaml": CONFIG, "other/map.yaml": config_map("a")})
    refusal = process("krmfn", "render", *args, "--split", "stages", cwd=tmp_path).refused()
    assert "lab is the input itself: " in refusal
    assert "such as --output-dir rendered/lab" in refusal
    assert [path.name for path in (tmp_path / "lab").iterdir()] == ["config.yaml"]


def test_each_of_several_clusters_has_its_stages_and_one_that_is_gone_is_named(tmp_path: Path) -> None:
    plant(tmp_path, {"lab/a/config.yaml": CONFIG, "lab/b/config.yaml": CONFIG})
    both = ("render", "lab/a", "lab/b", "--output-dir", "out", "--split", "stages", "--replace")
    process("krmfn", *both, cwd=tmp_path).ended(0)
    for cluster in ("a", "b"):
        assert {path.name for path in (tmp_path / "out" / cluster).iterdir()} == STAGES
    (tmp_path / "lab/b").rename(tmp_path / "lab/c")
    done = process("krmfn", *both[:2], "lab/c", *both[3:], cwd=tmp_path)
    assert "warning: out/b/modules was written by an earlier render" in done.err, done.err


@pytest.mark.parametrize("args", [("--split", "stages"), ("--split", "waves", "--output-dir", "out")])
def test_what_cannot_be_split_is_refused(args: tuple[str, ...], tmp_path: Path) -> None:
    plant(tmp_path, {"lab/config.yaml": CONFIG})
    assert "--split" in process("krmfn", "render", "lab", *args, cwd=tmp_path).ended(2).err


@pytest.mark.parametrize("paths", [("lab",), ("lab/a", "lab/b")])
def test_what_is_written_below_a_path_is_not_read_again(paths: tuple[str, ...], tmp_path: Path) -> None:
    plant(tmp_path, {f"{path}/config.yaml": CONFIG + AGENT for path in paths})
    for _ in range(2):
        command = ("render", *paths, "--output-dir", f"{paths[0]}/out", "--split", "stages", "--replace")
        assert process("krmfn", *command, cwd=tmp_path).ended(0).err.count("DaemonSet") == 1
