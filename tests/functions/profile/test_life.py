"""The product of docs/vendors.md: what is optional in it, and an option that got another name."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from krmfn import Manifest
from tests.commands import ROOT
from tests.functions.profile.vendor import container, refused, rendered
from tests.pages import blocks

FILES = {block.file: block.text for block in blocks(ROOT / "docs" / "vendors.md") if block.file}


def product() -> Manifest:
    manifest: Manifest = yaml.safe_load(FILES["acme/profile.yaml"])
    manifest["metadata"]["annotations"] = {"config.kubernetes.io/local-config": "true"}
    return manifest


def npu(**spec: Any) -> Manifest:
    manifest: Manifest = yaml.safe_load(FILES["acme/npu.yaml"])
    manifest["metadata"]["annotations"]["config.kubernetes.io/local-config"] = "true"
    return {**manifest, "spec": {"version": "1.3", "image": "registry.example.com/mirror/npu", **spec}}


def test_what_nobody_writes_leaves_its_component_and_its_entries_out() -> None:
    objects, findings, _ = rendered(product(), npu())
    assert findings == []
    assert "DaemonSet npu-exporter" not in objects
    assert container(objects, "npu-plugin")["args"] == ["--health"]
    pods = objects["DaemonSet npu-plugin"]["spec"]["template"]["spec"]
    assert pods["tolerations"] == [{"key": "acme.example.com/npu", "operator": "Exists"}]


def test_what_is_written_brings_its_component_and_its_entries() -> None:
    added = {"key": "dedicated", "operator": "Exists"}
    spec = {"exporter": {"image": "registry.example.com/exporter:1"}, "debug": True, "tolerations": [added]}
    objects, findings, _ = rendered(product(), npu(**spec))
    assert findings == []
    assert container(objects, "npu-exporter")["args"] == ["--port=9100"]
    assert container(objects, "npu-plugin")["args"] == ["--health", "--log-level=debug"]
    assert objects["DaemonSet npu-plugin"]["spec"]["template"]["spec"]["tolerations"][1:] == [added]


@pytest.mark.parametrize("name", ["image", "repository"])
def test_an_option_counts_by_its_old_and_by_its_new_name(name: str) -> None:
    config = npu()
    config["spec"] = {"version": "1.3", name: "registry.example.com/mirror/npu"}
    objects, findings, failed = rendered(product(), config)
    (mapping,) = objects["Module npu"]["spec"]["moduleLoader"]["container"]["kernelMappings"]
    assert mapping["containerImage"].startswith("registry.example.com/mirror/npu:1.3-")
    assert ["KRM194" in line for line in findings] == ([True] if name == "repository" else [])
    assert not failed


def test_both_names_of_an_option_at_once_are_refused() -> None:
    (line,) = [line for line in refused(product(), npu(repository="x/y")) if line.startswith("error")]
    assert "spec.repository is the old name of spec.image" in line
