"""--against with a dump of a real API server, and with a folder that kustomize builds."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.commands import ROOT, process
from tests.trees import altered, plant

from .kube import Cluster, one_version

TEAMS = ROOT / "examples" / "two-teams"


def apart(folder: Path) -> Path:
    """Return a copy of the example with team A in the main pool only."""
    shutil.copytree(TEAMS, folder / "teams")
    config = folder / "teams" / "team-a" / "gpu.yaml"
    config.write_text(f"{config.read_text()}    example.com/pool: main\n")
    return folder


@one_version
def test_a_dump_of_the_cluster_has_our_own_modules_and_theirs(kmm: Cluster, tmp_path: Path) -> None:
    apart(tmp_path)
    applied = tmp_path / "applied.yaml"
    renders = [process("krmfn", "render", f"teams/{team}", cwd=tmp_path) for team in ("team-a", "team-b")]
    applied.write_text("---\n".join(done.text for done in renders))
    for team in ("team-a", "team-b"):
        kmm.namespace(team)
    try:
        kmm.kubectl("apply", f"--filename={applied}").ended(0)
        dump = kmm.kubectl("get", "modules.kmm.sigs.x-k8s.io,serviceaccounts", "-A", "-o", "yaml").ended(0)
    finally:
        kmm.kubectl("delete", "--ignore-not-found", "--wait=false", "--filename", applied)
    fine = process("krmfn", "check", "teams/team-a", "--against", "-", cwd=tmp_path, stdin=dump.out)
    assert (fine.code, fine.reported) == (0, "no findings: 1 DeviceConfig in 2 resources, 2 files\n")
    assert "compared with " in fine.err
    before = process("krmfn", "check", str(TEAMS / "team-a"), "--against", "-", cwd=tmp_path, stdin=dump.out).ended(1)
    ours = "node gpu-1 is selected by DeviceConfig team-a/gpu (spec.nodeSelector)"
    assert f"{ours} and Module team-b/gpu (from --against: stdin:" in before.text
    shutil.copytree(tmp_path / "teams" / "team-a", tmp_path / "next")
    altered(tmp_path / "next" / "gpu.yaml", "name: gpu\n", "name: gpu-next\n")
    renamed = process("krmfn", "diff", "teams/team-a", "next", "--against", "-", cwd=tmp_path, stdin=dump.out)
    assert renamed.code == 1, "what the old side has on the cluster goes, and is in nobody's way"
    assert "Module team-a/gpu: reloaded on 1 node (gpu-2): Module team-a/gpu-next takes its place" in renamed.text
    meets = process(
        "krmfn", "diff", "teams/team-a", str(TEAMS / "team-a"), "--against", "-", cwd=tmp_path, stdin=dump.out
    )
    assert (meets.code, meets.out, "(from --against: stdin:" in meets.err) == (2, b"", True)


def test_what_kustomize_builds_is_named_by_its_files(tmp_path: Path) -> None:
    shutil.copytree(TEAMS, tmp_path / "teams")
    plant(tmp_path, {"teams/team-b/kustomization.yaml": "resources: [gpu.yaml]\n"})
    done = process("krmfn", "check", "teams/team-a", "--against", "teams/team-b", "--root", ".", cwd=tmp_path).ended(1)
    assert "DeviceConfig team-b/gpu (from --against: teams/team-b/gpu.yaml:10, spec.nodeSelector)" in done.text
    ours = process("krmfn", "check", "teams/team-b", "--against", "teams/team-a", "--root", ".", cwd=tmp_path).ended(1)
    assert ours.text.startswith("teams/team-b/gpu.yaml:10:3: error: ")


def test_a_kustomization_that_cannot_be_built_is_no_pass(tmp_path: Path) -> None:
    shutil.copytree(TEAMS, tmp_path / "teams")
    plant(tmp_path, {"teams/team-b/kustomization.yaml": "resources: [gpu.yaml, missing.yaml]\n"})
    done = process("krmfn", "check", "teams/team-a", "--against", "teams/team-b", "--root", ".", cwd=tmp_path).ended(2)
    assert "missing.yaml" in done.text
