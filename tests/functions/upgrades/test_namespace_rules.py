"""Namespaces that leave a cluster, with their Modules or without."""

from __future__ import annotations

import pytest

from krmfn import Manifest
from tests.builders import DROP, edited, manifest

from .test_change_rules import drv, notes_on

NAMESPACE = edited(manifest("v1", "Namespace", "kmm"), ("metadata.namespace", DROP))
HUB = edited(manifest("hub.kmm.sigs.x-k8s.io/v1beta1", "ManagedClusterModule", "m"), ("spec.spokeNamespace", "kmm"))


def rules(old: list[Manifest], new: list[Manifest]) -> list[tuple[str, str]]:
    return [(row.rule, row.severity) for row in notes_on(old, new) if str(row.ref) == "Namespace kmm"]


def test_a_namespace_leaves_and_its_module_stays() -> None:
    assert rules([NAMESPACE, drv()], [drv()]) == [("KRM415", "error")]
    assert rules([NAMESPACE, drv("a"), drv("b")], [drv("a")]) == [("KRM415", "error")], "one of two stays"


def test_a_namespace_leaves_with_its_module() -> None:
    assert rules([NAMESPACE, drv()], []) == [("KRM416", "warning")]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ([NAMESPACE, drv()], [NAMESPACE]),
        ([NAMESPACE, drv()], [NAMESPACE, drv()]),
        ([drv()], [NAMESPACE, drv()]),
        ([NAMESPACE, drv(namespace="other")], [drv(namespace="other")]),
        ([NAMESPACE, HUB], [HUB]),
        ([NAMESPACE], []),
    ],
)
def test_a_namespace_that_stays_or_has_no_module(old: list[Manifest], new: list[Manifest]) -> None:
    assert rules(old, new) == []


@pytest.mark.parametrize(
    ("key", "value", "is_kept"),
    [
        ("argocd.argoproj.io/sync-options", "Prune=false,Validate=false", True),
        ("argocd.argoproj.io/sync-options", "Validate=false", False),
        ("kustomize.toolkit.fluxcd.io/prune", "disabled", True),
        ("helm.sh/resource-policy", "keep", True),
    ],
)
def test_a_namespace_that_an_annotation_keeps(key: str, value: str, is_kept: bool) -> None:
    kept = edited(NAMESPACE, ("metadata.annotations", {key: value}))
    assert rules([kept, drv()], [drv()]) == ([] if is_kept else [("KRM415", "error")])
