"""Which operating system an image's name says, and which one a node runs: nothing is said unless both are sure."""

from __future__ import annotations

import pytest
from krmfn_functions.exclusivity.node import Node
from krmfn_functions.fleet import image_findings

from tests.functions.fleet import fleets

IMAGES = {
    "gpu:1.0-ubuntu22.04": ("ubuntu", (22, 4)),
    "gpu:1.0-ubuntu2204-$KERNEL_FULL_VERSION": ("ubuntu", (22, 4)),
    "gpu-ubuntu-22.04.5:1.0": ("ubuntu", (22, 4)),
    "gpu:1.0-Ubuntu22": ("ubuntu", (22,)),
    "gpu:debian12-1.0": ("debian", (12,)),
    "gpu:1.0-rhel9.4": ("el", (9,)),
    "gpu:1.0-rocky_8": ("el", (8,)),
    "gpu:5.14.0-503.el9_5.x86_64": ("el", (9,)),
    "gpu:1.0-rhel9-el9": ("el", (9,)),
    "gpu:1.0-rhel9-el8": None,
    "gpu:sles15sp5": ("sles", (15, 5)),
    "gpu:sles-15.5-1.0": ("sles", (15, 5)),
    "gpu:sles15": ("sles", (15,)),
    "ubuntu22.04.example.com/gpu:1.0": None,
    "localhost/debian11/gpu:1.0": ("debian", (11,)),
    "gpu:1.0-rhcos4.16": None,
    "gpu:rhel9-rhcos4.16": None,
    "gpu:1.0": None,
    "debian12": ("debian", (12,)),
    "gpu:ubuntu-2024": None,
    "gpu:ubuntu-20240101": None,
    "gpu:rhel94": None,
    "gpu:model9-kernel6-intel8": None,
    "gpu:1.0-${OS:-ubuntu22.04}": None,
    "gpu:ubuntu${X": None,
    "gpu:1.0-ubuntu22.04-debian12": None,
    "gpu@sha256:debian12": None,
}
OS_IMAGES = {
    "Ubuntu 22.04.5 LTS": ("ubuntu", (22, 4)),
    "Ubuntu Core 22": None,
    "Debian GNU/Linux 12 (bookworm)": ("debian", (12,)),
    "Red Hat Enterprise Linux 9.5 (Plow)": ("el", (9,)),
    "Red Hat Enterprise Linux Server 7.9 (Maipo)": ("el", (7,)),
    "Red Hat Enterprise Linux CoreOS 416.94.202406172220-0": ("el", (9,)),
    "Red Hat Enterprise Linux CoreOS 9.6.20250523-0 (Plow)": ("el", (9,)),
    "Red Hat Enterprise Linux CoreOS": None,
    "Rocky Linux 8.10 (Green Obsidian)": ("el", (8,)),
    "AlmaLinux 9.4 (Seafoam Ocelot)": ("el", (9,)),
    "CentOS Stream 9": ("el", (9,)),
    "CentOS Stream CoreOS 418.9.202411": None,
    "Oracle Linux Server 9.3": ("el", (9,)),
    "SUSE Linux Enterprise Server 15 SP5": ("sles", (15, 5)),
    "SUSE Linux Enterprise Micro 5.5": None,
    "openSUSE Leap 15.6": None,
    "Flatcar Container Linux by Kinvolk 3815.2.0 (Oklo)": None,
    "": None,
    f"Ubuntu {'9' * 5000}.04": None,
    f"Debian GNU/Linux {'9' * 5000}": None,
}
LABELS = {
    ("ubuntu", "24.04", ""): ("ubuntu", (24, 4)),
    ("rocky", "9.4", ""): ("el", (9,)),
    ("ol", "8.10", ""): ("el", (8,)),
    ("rhcos", "4.16", "9.4"): ("el", (9,)),
    ("rhcos", "4.16", ""): ("ubuntu", (22, 4)),
    ("flatcar", "3815.2.0", ""): None,
    ("debian", "", ""): ("ubuntu", (22, 4)),
    ("debian", "9" * 5000, ""): ("debian", (9999,)),
}
"""Of a node with the osImage Ubuntu 22.04.5 LTS."""


def known(system: image_findings.System | None) -> tuple[str, tuple[int, ...]] | None:
    return system and (system.family, system.version)


@pytest.mark.parametrize("name", IMAGES)
def test_the_system_in_the_name_of_an_image(name: str) -> None:
    image = name if "/" in name else f"registry.example.com/team/{name}"
    assert known(image_findings.of_image(image)) == IMAGES[name]


@pytest.mark.parametrize("os_image", OS_IMAGES)
def test_the_system_of_a_node(os_image: str) -> None:
    assert known(image_findings.of_node(Node("n", {}, os_image=os_image))) == OS_IMAGES[os_image]


@pytest.mark.parametrize("fields", LABELS)
def test_the_labels_of_a_node_count_before_its_os_image(fields: tuple[str, str, str]) -> None:
    names = ("ID", "VERSION_ID", "RHEL_VERSION")
    labels = {f"{image_findings.OS_LABELS}{name}": value for name, value in zip(names, fields, strict=True) if value}
    assert known(image_findings.of_node(Node("n", labels, os_image="Ubuntu 22.04.5 LTS"))) == LABELS[fields]


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
    assert known(image_findings.of_image("gpu:1.0-ubuntu22.04")) == ("ubuntu", (22, 4))
    assert known(image_findings.of_image("team/gpu:1.0-el9")) == ("el", (9,))


def test_a_long_name_takes_no_longer_than_its_length_says() -> None:
    assert image_findings.of_image("." * 200_000) is None
    assert image_findings.of_image("el" * 100_000) is None


def test_one_regexp_for_two_systems_is_said() -> None:
    """The kernels of Ubuntu 22.04 (HWE) and 24.04 have one version."""
    (found,) = [one for one in fleets.findings(CLUSTER) if one.rule == "KRM611"]
    assert (found.severity, found.field and found.field.path) == ("warning", "spec.kernelMappings[0]")
    assert found.message.startswith("its image names ubuntu22.04, but 1 node (n2) runs Ubuntu 24.04.1 LTS; ")


def test_what_is_not_sure_is_not_said() -> None:
    for image in ("gpu:1.0-ubuntu22-x", "gpu:1.0-rhcos4.16", "gpu:1.0"):
        same = CLUSTER.replace("24.04.1", "22.04.1").replace("gpu:1.0-ubuntu22.04", image)
        assert "KRM611" not in [one.rule for one in fleets.findings(same)]
    no_driver = CLUSTER.replace("^6", "^5")
    assert "KRM611" not in [one.rule for one in fleets.findings(no_driver)]
