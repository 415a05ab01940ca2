"""Which operating system an image's name says, and which one a node runs: nothing is said unless both are sure."""

from __future__ import annotations

from typing import Any

import pytest
from krmfn_functions.exclusivity.node import Node
from krmfn_functions.fleet import image_findings

from tests.functions.fleet import fleets
from tests.tables import table

CASES = table(__file__, "systems.yaml")


def known(system: image_findings.System | None) -> list[str | int] | None:
    return system and [system.family, *system.version]


def long(text: str) -> str:
    return text.replace("NINES", "9" * 5000)


@pytest.mark.parametrize("name", CASES["images"])
def test_the_system_in_the_name_of_an_image(name: str) -> None:
    image = name if "/" in name else f"registry.example.com/team/{name}"
    assert known(image_findings.of_image(image)) == CASES["images"][name]


@pytest.mark.parametrize("os_image", CASES["osImages"])
def test_the_system_of_a_node(os_image: str) -> None:
    assert known(image_findings.of_node(Node("n", {}, os_image=long(os_image)))) == CASES["osImages"][os_image]


@pytest.mark.parametrize("case", CASES["labels"], ids=str)
def test_the_labels_of_a_node_count_before_its_os_image(case: list[Any]) -> None:
    *fields, system = case
    names = ("ID", "VERSION_ID", "RHEL_VERSION")
    pairs = zip(names, map(long, fields), strict=True)
    labels = {f"{image_findings.OS_LABELS}{name}": value for name, value in pairs if value}
    assert known(image_findings.of_node(Node("n", labels, os_image="Ubuntu 22.04.5 LTS"))) == system


CLUSTER = """\
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {gpu: "true"}}
status: {nodeInfo: {kernelVersion: 6.8.0-49-generic, osImage: Ubuntu 22.04.5 LTS}}
---
apiVersion: v1
kind: Node
metadata: {name: n2, labels: {gpu: "true"}}
status: {nodeInfo: {kernelVersion: 6.8.0-49-generic, osImage: Ubuntu 24.04.1 LTS}}
---
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata: {name: gpu, namespace: kmm}
spec:
  moduleName: gpu
  nodeSelector: {gpu: "true"}
  kernelMappings:
  - {regexp: ^6\\..*-generic$, image: "registry.example.com/gpu:1.0-ubuntu22.04-$KERNEL_FULL_VERSION"}
"""


def test_an_image_without_a_registry() -> None:
    assert known(image_findings.of_image("gpu:1.0-ubuntu22.04")) == ["ubuntu", 22, 4]
    assert known(image_findings.of_image("team/gpu:1.0-el9")) == ["el", 9]


def test_a_long_name_takes_no_longer_than_its_length_says() -> None:
    assert image_findings.of_image("." * 200_000) is None
    assert image_findings.of_image("el" * 100_000) is None


def test_one_regexp_for_two_systems_is_said() -> None:
    """The kernels of Ubuntu 22.04 (HWE) and 24.04 have one version."""
    (finding,) = [finding for finding in fleets.findings(CLUSTER) if finding.rule == "KRM611"]
    assert (finding.severity, finding.field and finding.field.path) == ("warning", "spec.kernelMappings[0]")
    assert finding.message.startswith("its image names ubuntu22.04, but 1 node (n2) runs Ubuntu 24.04.1 LTS; ")


def test_what_is_not_sure_is_not_said() -> None:
    same, name = CLUSTER.replace("24.04.1", "22.04.1"), "gpu:1.0-ubuntu22.04"
    others = [same.replace(name, image) for image in ("gpu:1.0-ubuntu22-x", "gpu:1.0-rhcos4.16", "gpu:1.0")]
    for text in (*others, CLUSTER.replace("^6", "^5")):
        assert "KRM611" not in [finding.rule for finding in fleets.findings(text)]


MIXED = """\
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {gpu: "true"}}
status: {nodeInfo: {kernelVersion: 6.8.0-49-generic, architecture: amd64}}
---
apiVersion: v1
kind: Node
metadata: {name: n2, labels: {gpu: "true"}}
status: {nodeInfo: {kernelVersion: 6.8.0-49-generic, architecture: arm64}}
---
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata: {name: gpu, namespace: kmm}
spec:
  moduleName: gpu
  nodeSelector: {gpu: "true"}
  kernelMappings:
  - {regexp: ^6, image: "registry.example.com/gpu:1.0-$KERNEL_FULL_VERSION"}
"""
"""One kernel string and one image, for nodes of two architectures."""


def test_one_image_for_two_architectures_is_said() -> None:
    (finding,) = [finding for finding in fleets.findings(MIXED) if finding.rule == "KRM630"]
    assert (finding.severity, finding.field and finding.field.path) == ("info", "spec.kernelMappings[0]")
    assert finding.text == (
        "registry.example.com/gpu:1.0-6.8.0-49-generic is for nodes of 2 architectures (amd64, arm64); "
        "push it for each, or select each by kubernetes.io/arch"
    )


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("arm64", "amd64"),
        (", architecture: arm64", ""),
        ("6.8.0-49-generic, architecture: arm64", "6.8.0-49-generic-64k, architecture: arm64"),
        ('name: n2, labels: {gpu: "true"}', 'name: n2, labels: {gpu: "false"}'),
    ],
    ids=["one", "not known", "two kernels and images", "not selected"],
)
def test_an_image_for_one_architecture_is_fine(text: str, other: str) -> None:
    assert "KRM630" not in [finding.rule for finding in fleets.findings(MIXED.replace(text, other))]


def test_images_of_many_kernels_are_one_finding() -> None:
    *nodes, config = MIXED.split("---\n")
    others = [text.replace("name: n", "name: m").replace("-49-", "-50-") for text in nodes]
    (finding,) = [
        finding for finding in fleets.findings("---\n".join([*nodes, *others, config])) if finding.rule == "KRM630"
    ]
    assert "49-generic (as 1 more image) is for nodes of 2 architectures (amd64, arm64)" in finding.message
