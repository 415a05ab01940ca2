"""What `init` says to do next: its lines are typed as they are printed."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from tests.commands import process

NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "a", "labels": {"example.com/device": "true"}},
    "status": {"nodeInfo": {"kernelVersion": "6.1.0-test"}},
}


def _inventory_line(text: str) -> str:
    lines = [line for line in text.splitlines() if "krmfn inventory" in line]
    return lines[0] if lines else ""


@pytest.mark.parametrize("folder", [".", "with space"])
def test_the_inventory_that_it_names_is_judged(folder: str, tmp_path: Path) -> None:
    """A reader needs it in the second step, and no line named it."""
    (tmp_path / folder).mkdir(exist_ok=True)
    done = process("krmfn", "init", "--plain", "--ci", "none", folder, cwd=tmp_path).ended(0)
    command = shlex.split(_inventory_line(done.text).partition(" | ")[2].partition("    #")[0])
    process(*command, stdin=json.dumps(NODE).encode(), cwd=tmp_path).ended(0)
    done = process("krmfn", "check", folder, cwd=tmp_path).ended(0)
    assert "no inventory" not in done.text
    assert "planned" in process("krmfn", "nodes", folder, cwd=tmp_path).text


def test_of_several_clusters_the_first_is_shown() -> None:
    from functions.commands.init_next import folders, steps

    paths = ["base/kustomization.yaml", "clusters/dev/kustomization.yaml", "clusters/prod/kustomization.yaml"]
    bare = folders(".", ["dev", "prod"], paths)
    line = _inventory_line("\n".join(steps(".", {}, paths, bare)))
    assert "krmfn inventory --for clusters/dev --name dev -o clusters/dev/inventory.yaml    #" in line
    assert line.endswith("; the same for each cluster")
    assert folders("x", ["prod"], paths) == [Path("x/clusters/prod")]


@pytest.mark.parametrize("paths", [[], [".gitlab-ci.yml"], ["base/a.yaml"]])
def test_where_no_config_was_written_no_inventory_is_named(paths: list[str]) -> None:
    from functions.commands.init_next import folders

    assert folders(".", [], paths) == []
    assert folders(".", ["dev"], paths) == []
