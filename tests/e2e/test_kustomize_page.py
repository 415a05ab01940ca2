"""The tables of gitops/kustomize: each cell is a folder that is built, and is right or reported as the page says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.commands import ROOT, process
from tests.trees import plant

from .engines import EXEC, must, run
from .overlays import Level, config, files

PAGE = (ROOT / "docs" / "engines" / "kustomize.md").read_text().partition("## Names and images")[2]
CHANGES = {
    "namePrefix": "prefix",
    "nameSuffix": "suffix",
    "namespace": "namespace",
    "images": "images",
    "labels": "labels",
}
WHERE = ("base", "component", "overlay", "base and overlay")


def cells() -> list[tuple[bool, str, str, str]]:
    """Return the cells of both tables: with configurations or not, what is changed, where krmfn is called, the word."""
    entries = []
    for is_told, table in zip((True, False), re.findall(r"(?:^\|.*\n)+", PAGE, re.MULTILINE), strict=True):
        head, _, *rows = (line.strip("| ").split(" | ") for line in table.splitlines())
        assert tuple(head[1:]) == WHERE
        entries += [(is_told, row[0].strip("`"), *pair) for row in rows for pair in zip(WHERE, row[1:], strict=True)]
    return entries


def repository(is_told: bool, change: str, where: str) -> dict[str, str]:
    """Return the files of one cell."""
    changes = (CHANGES[change],) if change in CHANGES else ()
    base = Level(calls=where.startswith("base"), is_told=is_told)
    component = () if where == "component" else None
    top = Level(changes, where != "base", is_told, component, in_component=where == "component")
    return files((base, top), process("krmfn", "kustomize-config").text, (config(),), change not in CHANGES)


def is_right(objects: list[dict[str, Any]], change: str) -> bool:
    """Return True when names, images and labels of a build are what a person means by the change."""
    (module,) = (manifest for manifest in objects if manifest["kind"] == "Module")
    (agent,) = (manifest for manifest in objects if manifest["kind"] == "DaemonSet")
    metadata = [(manifest["kind"], manifest["metadata"]) for manifest in objects]
    references = {(kind, about["name"], about["namespace"]) for kind, about in metadata}
    space, loader = module["metadata"]["namespace"], module["spec"]["moduleLoader"]
    pod = agent["spec"]["template"]["spec"]
    named = {
        ("ServiceAccount", loader["serviceAccountName"], space),
        ("ServiceAccount", pod["serviceAccountName"], space),
        ("Secret", module["spec"]["imageRepoSecret"]["name"], space),
        ("Secret", loader["container"]["build"]["secrets"][0]["name"], space),
        ("ConfigMap", loader["container"]["build"]["dockerfileConfigMap"]["name"], space),
        ("ConfigMap", pod["containers"][0]["envFrom"][0]["configMapRef"]["name"], space),
    }
    ready = f"kmm.node.kubernetes.io/{space}.{module['metadata']['name']}.ready"
    image = loader["container"]["kernelMappings"][0]["containerImage"]
    return (
        named <= references
        and ready in pod["nodeSelector"]
        and image.startswith("mirror.example.com/" if change == "images" else "registry.example.com/")
        and (change != "labels" or module["metadata"]["labels"].get("team") == "storage")
    )


@pytest.mark.parametrize(("is_told", "change", "where", "word"), cells())
def test_a_cell_is_what_happens(
    is_told: bool, change: str, where: str, word: str, kustomize: str, tmp_path: Path
) -> None:
    plant(tmp_path, repository(is_told, change, where))
    top = tmp_path / "top"
    built = must(kustomize, "build", *EXEC, top)
    done = run("krmfn", "check", "--root", tmp_path, "--format", "json", top)
    rules = {finding["rule"] for finding in json.loads(done.out)["findings"]}
    assert is_right(list(yaml.safe_load_all(built)), change) == (word == "right")
    assert not rules if word == "right" else word in rules
