"""`configurations:` of krmfn under the real kustomize: a prefix, a suffix and a hash reach every field of a Module."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.builders import manifest, module
from tests.commands import process
from tests.functions.final.lists import judged
from tests.functions.final.test_resolved import MODULE
from tests.trees import plant

from .engines import documents, must

NAMED = {"Secret": "secretGenerator", "ConfigMap": "configMapGenerator"}


def repository(folder: Path, is_told: bool) -> Path:
    """Write a Module for each field that names something, and what they name, below an overlay."""
    modules: list[Any] = []
    for number, (_, form) in enumerate(MODULE.values()):
        spec = yaml.safe_load(form.replace("NAME", "wanted"))
        modules.append({**module(name=f"m{number}"), "spec": {"selector": {"n": str(number)}, **spec}})
    account = manifest("v1", "ServiceAccount", "wanted")
    base: dict[str, Any] = {
        field: [{"name": "wanted", "namespace": "kmm", "literals": ["a=b"]}] for field in NAMED.values()
    }
    top: dict[str, Any] = {"resources": ["../base"], "namePrefix": "lab-", "nameSuffix": "-v2"}
    if is_told:
        top["configurations"] = ["names.yaml"]
    files = {
        "base/all.yaml": yaml.safe_dump_all([*modules, account]),
        "base/kustomization.yaml": yaml.safe_dump({"resources": ["all.yaml"], **base}),
        "top/names.yaml": process("krmfn", "kustomize-config").text,
        "top/kustomization.yaml": yaml.safe_dump(top),
    }
    return plant(folder, files) / "top"


def not_reached(kustomize: str, top: Path) -> list[str]:
    """Return the fields that still hold a name from before the build."""
    results = judged(*documents(must(kustomize, "build", top)))
    return [result.field.path for result in results if result.rule == "KRM703" and result.field]


def test_every_field_is_reached(kustomize: str, tmp_path: Path) -> None:
    informed, untold = (repository(tmp_path / str(is_told), is_told) for is_told in (True, False))
    assert sorted(not_reached(kustomize, untold)) == sorted(f"spec.{path}" for path in MODULE)
    assert not_reached(kustomize, informed) == []


@pytest.mark.parametrize("kind", ["DaemonSet", "Deployment"])
@pytest.mark.parametrize("namespace", [False, True])
def test_claims_of_devices_are_reached(kind: str, namespace: bool, kustomize: str, tmp_path: Path) -> None:
    claims = [{"name": "gpu", "resourceClaimTemplateName": "wanted"}]
    pod = {"containers": [{"name": "a", "image": "registry.example.com/a:1"}], "resourceClaims": claims}
    user: Any = {**manifest("apps/v1", kind), "spec": {"template": {"spec": pod}}}
    requests = [{"name": "a", "exactly": {"deviceClassName": "wanted"}}]
    template: Any = {**manifest("resource.k8s.io/v1", "ResourceClaimTemplate", "wanted")}
    template["spec"] = {"spec": {"devices": {"requests": requests}}}
    if not namespace:  # then kustomize also finds a DeviceClass, which it takes for something in a namespace
        del user["metadata"]["namespace"], template["metadata"]["namespace"]
    device_class = manifest("resource.k8s.io/v1", "DeviceClass", "wanted", "")
    fields = {"resources": ["all.yaml"], "namePrefix": "lab-", "configurations": ["names.yaml"]}
    plant(
        tmp_path,
        {
            "all.yaml": yaml.safe_dump_all([user, template, device_class]),
            "names.yaml": process("krmfn", "kustomize-config").text,
            "kustomization.yaml": yaml.safe_dump(fields),
        },
    )
    built = list(yaml.safe_load_all(must(kustomize, "build", tmp_path)))
    text = json.dumps(built)
    assert text.count('"lab-wanted"') == (3 if namespace else 4)
    assert text.count('"wanted"') == (1 if namespace else 0)
    assert [(result.rule, result.severity) for result in judged(*built)] == [("KRM703", "error")] * namespace
