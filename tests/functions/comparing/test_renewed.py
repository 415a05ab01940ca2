"""A Module that an engine deletes and creates at each change is never updated: KMM's webhook refuses nothing of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from krmfn import Manifest
from krmfn.yamltext import emit
from tests.builders import module
from tests.commands import process
from tests.trees import plant

ARGO, HELM, FLUX = "argocd.argoproj.io/", "helm.sh/", "kustomize.toolkit.fluxcd.io/"
ANEW = [
    {f"{ARGO}hook": "Sync"},
    {f"{ARGO}hook": "PreSync", f"{ARGO}hook-delete-policy": "HookSucceeded"},
    {f"{ARGO}sync-options": "Force=true, Replace=true"},
    {f"{HELM}hook": "pre-install,pre-upgrade"},
]
UPDATED = [
    {},
    {f"{ARGO}sync-options": "Replace=true"},
    {f"{ARGO}sync-options": "Force=true"},
    {f"{ARGO}hook": "Sync", f"{ARGO}hook-delete-policy": "HookFailed"},
    {f"{FLUX}force": "enabled"},
]


def drv(annotations: dict[str, str], version: str) -> Manifest:
    held = module({"regexp": "^6", "containerImage": "r/drv:1"}, modprobe={"moduleName": "drv"})
    if version:
        held["spec"]["moduleLoader"]["container"]["version"] = version
    return {**held, "metadata": {**held["metadata"], "annotations": annotations}} if annotations else held


def told(folder: Path, annotations: dict[str, str], old: str, new: str) -> str:
    """Return what `diff` says of a Module that goes from one version to another; "" is none."""
    plant(folder, {f"{side}/m.yaml": emit.dump(drv(annotations, text)) for side, text in (("old", old), ("new", new))})
    return process("krmfn", "diff", str(folder / "old"), str(folder / "new")).text


@pytest.mark.parametrize("annotations", ANEW, ids=repr)
def test_one_that_is_made_anew_may_become_ordered_and_back(tmp_path: Path, annotations: dict[str, str]) -> None:
    texts = [told(tmp_path / name, annotations, *pair) for name, pair in (("a", ("", "1")), ("b", ("1", "")))]
    assert [("KMM002" in text, "not as reviewed: Module" in text) for text in texts] == [(False, True)] * 2


@pytest.mark.parametrize("annotations", UPDATED, ids=repr)
def test_one_that_is_updated_may_not(tmp_path: Path, annotations: dict[str, str]) -> None:
    """`Replace` alone replaces in place, and `Force` does not make anew what a webhook refuses."""
    assert "[KMM002]" in told(tmp_path, annotations, "", "1")
