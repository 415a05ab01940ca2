"""What is many is counted: a message and its remedy name the first few of it, however large the input is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from krmfn import Manifest
from krmfn.yamltext import emit
from tests.builders import SPEC, device_config, manifest, node
from tests.rule_examples import run

MANY = 200
LONGEST = 600
NFD = "feature.node.kubernetes.io"


def drivers() -> list[Manifest]:
    """Configs of as many drivers on one node."""
    configs = [device_config({**SPEC, "moduleName": f"drv{at}"}, f"c{at}") for at in range(MANY)]
    return [node("n", **SPEC["nodeSelector"]), *configs]


def profiles() -> list[Manifest]:
    """A config with a profile that is not there, beside many Profiles."""
    spec = {"version": "1", "schema": {"type": "object"}, "config": {"moduleName": "a"}}
    others = [{**manifest("krmfn.dev/v1alpha1", "Profile", f"p{at}", ""), "spec": spec} for at in range(MANY)]
    return [device_config({**SPEC, "profile": "gone"}), *others]


def inventories() -> list[Manifest]:
    """Inventories without the label that a config selects by."""
    keys = [f"key{at}" for at in range(MANY)]
    heads = [manifest("krmfn.dev/v1alpha1", "NodeInventory", f"i{at}", "") for at in range(MANY)]
    specs = [{"labelKeys": keys, "groups": [{"nodes": f"n{at} 6.1.0"}]} for at in range(MANY)]
    return [device_config(SPEC), *({**head, "spec": spec} for head, spec in zip(heads, specs, strict=True))]


def features() -> list[Manifest]:
    """A rule of Node Feature Discovery with many labels, and a config that selects by another one."""
    labels = {f"label{at}": "true" for at in range(MANY)}
    rule = {**manifest("nfd.k8s-sigs.io/v1alpha1", "NodeFeatureRule", "r", ""), "spec": {"rules": [{"labels": labels}]}}
    return [rule, device_config({**SPEC, "nodeSelector": {f"{NFD}/odd": "true"}})]


@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (drivers, "KRM301"),
        (profiles, "KRM111"),
        (inventories, "KRM603"),
        (features, "KRM713"),
    ],
)
def test_a_finding_about_many_names_few(make: Callable[[], list[Manifest]], rule: str, tmp_path: Path) -> None:
    (tmp_path / "all.yaml").write_text("---\n".join(map(emit.dump, make())))
    _, out = run(["check", "--root", str(tmp_path), str(tmp_path), "--format", "json"])
    findings = json.loads(out)["findings"]
    assert rule in {finding["rule"] for finding in findings}
    for finding in findings:
        message = finding["message"].replace(f"{tmp_path}/", "")
        assert len(message) < LONGEST, message
        assert len(finding["remedy"] or "") < LONGEST, finding["remedy"]
