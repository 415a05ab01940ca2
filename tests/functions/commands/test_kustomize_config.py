"""`krmfn kustomize-config`: every field that names a resource or holds an image is in it."""

from __future__ import annotations

import re

import pytest
import yaml

from tests.commands import ROOT, cached
from tests.functions.final.test_resolved import MODULE
from tests.tables import table

CASES = table(__file__, "kustomize_config.yaml")

FILE = yaml.safe_load(cached("krmfn", "kustomize-config").out)
NAMED = {
    (entry["kind"], spec.get("group", ""), spec["kind"], spec["path"])
    for entry in FILE["nameReference"]
    for spec in entry["fieldSpecs"]
}


@pytest.mark.parametrize(("path", "kind"), [(path, kind) for path, (kind, _) in MODULE.items()])
def test_the_fields_that_are_judged_are_the_fields_that_are_renamed(path: str, kind: str) -> None:
    """What KRM703 would report about a Module, kustomize can mend."""
    plain = re.sub(r"\[\d+\]", "", path).replace(".", "/")
    assert (kind, "kmm.sigs.x-k8s.io", "Module", f"spec/{plain}") in NAMED
    assert (kind, "hub.kmm.sigs.x-k8s.io", "ManagedClusterModule", f"spec/moduleSpec/{plain}") in NAMED


@pytest.mark.parametrize(("kind", "path"), CASES["fields_of_a_device_config"])
def test_fields_of_a_device_config(kind: str, path: str) -> None:
    assert (kind, "krmfn.dev", "DeviceConfig", path) in NAMED


def test_it_stands_where_people_and_kustomize_look() -> None:
    copies = [
        path for path in (ROOT / "gitops", ROOT / "examples") for path in path.rglob("kustomize-configurations.yaml")
    ]
    assert len(copies) == 3
    assert {path.read_bytes() for path in copies} == {cached("krmfn", "kustomize-config").out}
