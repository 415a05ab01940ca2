"""KMM's other objects: what its operator does not read, what its webhook refuses, what no node can pull."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from krmfn import Manifest, Result
from tests.builders import edited, manifest, module
from tests.commands import process
from tests.trees import plant

from .lists import judged

KMM = "kmm.sigs.x-k8s.io/v1beta1"


def only(*manifests: Manifest) -> list[Result]:
    """What is said of these objects, but not of Modules themselves."""
    return [finding for finding in judged(*manifests) if finding.rule.startswith("KRM53")]


def settings(text: str, name: str = "kmm-operator-manager-config", key: str = "controller_config.yaml") -> Manifest:
    return edited(manifest("v1", "ConfigMap", name, "kmm-operator-system"), ("data", {key: text}))


EVERY_KEY = """\
healthProbeBindAddress: :8081
job: {gcDelay: 1h}
leaderElection: {enabled: true, resourceID: kmm.sigs.x-k8s.io}
metrics: {bindAddress: "0.0.0.0:8443", disableHTTP2: true, enableAuthnAuthz: true, secureServing: true}
webhook: {disableHTTP2: true, port: 9443}
webhookPort: 9443
worker: {firmwareHostPath: /lib/firmware, runAsUser: 0, seLinuxType: spc_t}
"""
ALL = "KMM's operator then uses its defaults for everything in this file"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "worker: {setFirmwareClassPath: /a}",
            f"has the unknown key worker.setFirmwareClassPath: {ALL}; write firmware",
        ),
        ("worker: {runAsuser: 0}", f"has the unknown key worker.runAsuser: {ALL}; write runAsUser"),
        ("workers: {}", f"has the unknown key workers: {ALL}; write worker"),
        ("x: 1", f"has the unknown key x: {ALL}; known here: healthProbeBindAddress, job"),
        ("worker: {", "is no YAML ("),
        ("- worker", f"is no mapping of settings: {ALL}; write keys such as `worker:`"),
        ("worker", f"is no mapping of settings: {ALL}; write keys such as `worker:`"),
    ],
)
def test_one_unknown_key_makes_all_settings_void(text: str, message: str) -> None:
    [finding] = only(module(), settings(text))
    assert (finding.rule, finding.severity) == ("KRM530", "error")
    assert finding.text.startswith(message)


@pytest.mark.parametrize("text", [EVERY_KEY, "", "worker: {}", "worker:"])
def test_settings_that_the_operator_reads_are_fine(text: str) -> None:
    assert only(module(), settings(text)) == []


def test_settings_of_another_name_are_nobody_s_business() -> None:
    assert only(module(), settings("x: 1", name="settings")) == []
    [finding] = only(module(), settings("x: 1", key="config.yaml"))
    assert "reads the key controller_config.yaml of this ConfigMap, and it is not there" in finding.text


@pytest.mark.parametrize(
    ("kind", "spec", "is_refused"),
    [
        ("PreflightValidation", {"kernelVersion": "el9"}, True),
        ("PreflightValidation", {"kernelVersion": "6.1"}, True),
        ("PreflightValidation", {"kernelVersion": "6.1-a"}, False),
        ("PreflightValidation", {"kernelVersion": "5.14.0-570.el9.x86_64"}, False),
        ("PreflightValidation", {}, True),
        ("PreflightValidationOCP", {"kernelVersion": "el9"}, True),
        ("PreflightValidationOCP", {"releaseImage": "r.example.com/ocp:4.20"}, False),
    ],
)
def test_a_preflight_validation_needs_a_kernel_of_three_parts(kind: str, spec: Any, is_refused: bool) -> None:
    found = only(edited(manifest("kmm.sigs.x-k8s.io/v1beta2", kind, "next", ""), ("spec", spec)))
    assert [finding.rule for finding in found] == ["KRM531"] * is_refused


@pytest.mark.parametrize(
    ("image", "is_refused"),
    [("r.example.com:5000/kmod", False), ("r.example.com/kmod:1", True), ("r.example.com/kmod@sha256:ab", True)],
)
def test_the_image_of_a_boot_module_has_no_tag(image: str, is_refused: bool) -> None:
    boot = edited(manifest(KMM, "BootModuleConfig", "day1", "kmm"), ("spec", {"kernelModuleImage": image}))
    assert [finding.rule for finding in only(boot)] == ["KRM532"] * is_refused


def test_a_folder_of_these_is_the_right_path(tmp_path: Path) -> None:
    """`is it the right PATH?` was the answer."""
    spec = {"kernelVersion": "5.14.0-570.el9.x86_64"}
    preflight = edited(manifest("kmm.sigs.x-k8s.io/v1beta2", "PreflightValidation", "next", ""), ("spec", spec))
    plant(tmp_path, {"next.yaml": yaml.safe_dump(preflight)})
    done = process("krmfn", "check", ".", cwd=tmp_path).ended(0)
    assert "KRM109" not in done.text
