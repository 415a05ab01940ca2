"""Programs of a repository that kustomize would run and krmfn once did not see: a marker file would show it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from krmfn_functions.kustomization.confinement import FLAGS

from tests.trees import config_map, function, plant

from .engines import path_of, run

COMMANDS = ("check .", "render .", "diff . .", "report .", "images .", "resolve --kernel 5.14.0 .", "nodes .")
BUILTIN = """\
apiVersion: builtin
kind: AnnotationsTransformer
metadata: {name: a}
annotations: {a: b}
fieldSpecs: [{path: metadata/annotations, create: true}]
"""
KIND = "../../../../../../proc/self/cwd/planted"
ENTRY = f"!a/b/c/d/e/f/g/h kind: {KIND}List"
ITEMS = f"""\
x: &kind a
y: &items b
*kind : List
*items :
- kind: {KIND}
  metadata: {{name: planted}}
{BUILTIN}"""
OURS = "resources: [own.yaml]\ntransformers: [ours.yaml"
FILES = {
    "a list with one key": {"kustomization.yaml": f"{OURS}, '{ENTRY}']\n", os.path.normpath(ENTRY): BUILTIN},
    "keys that are aliases": {"kustomization.yaml": f"{OURS}, items.yaml]\n", "items.yaml": ITEMS},
    "two marks of byte order": {
        "kustomization.yaml": "\ufeff\ufeffresources: [base]\n#generators: [planted.yaml]\n",
        "base/kustomization.yaml": f"{OURS}]\n",
        "base/own.yaml": config_map("own"),
        "base/ours.yaml": function("exec: {path: krmfn}"),
        "planted.yaml": function("exec: {path: ./planted}"),
    },
}


@pytest.mark.parametrize("files", FILES.values(), ids=FILES)
def test_a_program_that_kustomize_would_run_is_not_run(kustomize: str, tmp_path: Path, files: dict[str, str]) -> None:
    common = {"own.yaml": config_map("own"), "ours.yaml": function("exec: {path: krmfn}")}
    folder = plant(tmp_path / "app", {**common, **files})
    marker, homes = tmp_path / "marker", tmp_path / "homes" / "plugins"
    homes.mkdir(parents=True)
    for name in ("planted", "plantedList"):
        plant(folder, {name: f"#!/bin/sh\n: >'{marker}'\nexec /bin/cat\n"})
    run(kustomize, "build", *FLAGS, ".", cwd=folder, env=path_of() | {"KUSTOMIZE_PLUGIN_HOME": str(homes)})
    assert marker.exists()
    marker.unlink()
    for command in COMMANDS:
        done = run("krmfn", *command.split(), cwd=folder)
        assert done.code != 0 and "KRM5" in done.text + done.err, (command, done)
        assert not marker.exists(), command
