"""Folders of which Flux applies nothing, since it lists a file that holds no Kubernetes object."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import process
from tests.functions.cluster.test_edited_roots import flux, told
from tests.functions.cluster.test_engine_additions import MODULE
from tests.functions.comparing.test_base import repository
from tests.trees import config_map

TEXTS = {
    "nothing": ("", ""),
    "a comment": ("# values\n---\n", ""),
    "an empty mapping": ("{}\n", ""),
    "null": ("null\n", ""),
    "an object": (config_map("more"), ""),
    "a list of objects": ("apiVersion: v1\nkind: List\nitems:\n- " + config_map("x").replace("\n", "\n  "), ""),
    "values": ("size: 1\n", "has no kind"),
    "a chart": ("apiVersion: v2\nname: x\nversion: 1.0.0\n", "has no kind"),
    "a list": ("- a\n", "has no kind"),
    "a text": ("hello\n", "has no kind"),
    "the second document": (config_map("more") + "---\nsize: 1\n", "has no kind"),
    "an object without name": ("apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n", "has no metadata.name"),
    "a generated name": ("apiVersion: v1\nkind: Pod\nmetadata: {generateName: a-}\n", "has no metadata.name"),
    "a kustomization with another name": (
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [x.yaml]\n",
        "has no metadata.name",
    ),
    "a list with something else": ("apiVersion: v1\nkind: List\nitems: [{size: 1}]\n", "has no kind"),
    "no YAML": ("a: [1\n", "is no YAML"),
}
"""Texts with why kustomize takes them for no objects: Flux's libraries say so, too (tests/e2e/test_flux_library.py)."""
FOLDER = {"a/m.yaml": MODULE} | flux("prune: true")


@pytest.mark.parametrize(("text", "reason"), TEXTS.values(), ids=TEXTS)
def test_a_file_that_stops_flux_is_an_error(text: str, reason: str, tmp_path: Path) -> None:
    done = process("krmfn", "check", ".", cwd=repository(tmp_path, FOLDER | {"a/sub/more.yaml": text}))
    assert [line for line in done.text.splitlines() if "[KRM538]" in line] == [
        f"a/sub/more.yaml: error: it {reason}, so it is no Kubernetes object: Flux fails on it, and applies nothing of "
        "a, which has no kustomization.yaml [KRM538]"
        for _ in filter(None, [reason])
    ]
    assert done.code == (1 if reason and reason != "is no YAML" else done.code)


CASES: dict[str, tuple[dict[str, str], list[str]]] = {
    "a chart": (
        {"a/c/Chart.yaml": "apiVersion: v2\nname: x\nversion: 1.0.0\n", "a/c/values.yaml": "size: 1\n"},
        ["a/c/Chart.yaml [KRM538]"],
    ),
    "a hidden file": ({"a/.hooks.yaml": "repos: [x]\n"}, ["a/.hooks.yaml [KRM100]", "a/.hooks.yaml [KRM538]"]),
    "a file that is not fetched": ({"a/v.yaml": "size: 1\n", ".sourceignore": "v.yaml\n"}, []),
    "a file that Flux never fetches": ({"a/.sops.yaml": "creation_rules: [{age: x}]\n"}, []),
    "a file of a kustomization below": (
        {"a/b/kustomization.yaml": "resources: [c.yaml]\n", "a/b/c.yaml": config_map("c"), "a/b/v.yaml": "size: 1\n"},
        [],
    ),
    "a folder with a kustomization": ({"a/kustomization.yaml": "resources: [m.yaml]\n", "a/v.yaml": "size: 1\n"}, []),
    "a file elsewhere": ({"b/v.yaml": "size: 1\n"}, []),
    "JSON, which Flux does not list": ({"a/v.json": '{"size": 1}\n'}, []),
}


@pytest.mark.parametrize(("files", "findings"), CASES.values(), ids=CASES)
def test_what_flux_lists_decides(files: dict[str, str], findings: list[str], tmp_path: Path) -> None:
    assert sorted(told(process("krmfn", "check", ".", cwd=repository(tmp_path, FOLDER | files)))) == findings


def test_of_folders_of_others_they_are_counted(tmp_path: Path) -> None:
    ks = flux("prune: true")["clusters/lab/ks.yaml"]
    other = ks.replace("{name: a", "{name: b").replace("./a", "./b")
    files = FOLDER | {"clusters/lab/b.yaml": other, "b/c.yaml": config_map("c"), "b/v.yaml": "size: 1\n"}
    done = process("krmfn", "check", ".", cwd=repository(tmp_path, files)).ended(0)
    assert "folders of others (Flux cannot build them: b)" in done.text
