"""The rules about a fleet (KRM6xx), and the one function that checks them all."""

from collections.abc import Iterator
from datetime import datetime, timezone
from functools import partial

from krmfn import Result
from krmfn.results import Rule, apply

from ..kmm.versions import DEFAULT, TARGETS, Target
from . import findings, image_findings
from .cluster import Cluster


def check(cluster: Cluster, day: str, exclusive: bool = True, kmm: Target = TARGETS[DEFAULT]) -> Iterator[Result]:
    """Yield the findings KRM601 to KRM612, and KRM630, about the nodes of one cluster and what they get.

    `day` is the one on which it is checked (see `today`). With an error about the nodes themselves nothing is concluded
    from them. Raises KrmfnError when too many selectors share their labels to be decided in bounded work.
    """
    wrong = list(input_findings(cluster, day))
    yield from wrong
    if cluster.fleet.nodes and not any(finding.severity == "error" for finding in wrong):
        yield from apply(OF_COVERAGE, findings.join(cluster, exclusive, kmm))


def input_findings(cluster: Cluster, day: str) -> Iterator[Result]:
    """Yield the findings KRM601 to KRM603: whether the nodes are known well enough to say what they get."""
    yield from cluster.fleet.findings
    yield from apply(OF_INPUT, cluster, day)


def today() -> str:
    """Return the day in UTC, as `validUntil` has it."""
    return datetime.now(timezone.utc).date().isoformat()


_INVENTORY = """\
apiVersion: krmfn.dev/v1alpha1
kind: NodeInventory
metadata: {name: lab}
spec:
  labelKeys: [example.com/gpu, zone]
  groups:
  - labels: {example.com/gpu: "true", zone: a}
    nodes: |
      gpu-1 5.14.0-503.el9.x86_64
      gpu-2 5.14.0-503.el9.x86_64
"""
_MODULE = """\
---
kind: Module
spec:
  selector: {example.com/gpu: "true"}
"""
_TWO_MAPPINGS = f"""\
{_MODULE}\
  moduleLoader:
    container:
      kernelMappings:
      - {{regexp: el8, containerImage: "registry.example.com/gpu:el8"}}
      - {{regexp: FIRST, containerImage: "registry.example.com/gpu:el9"}}
"""
_FOR_UBUNTU = f"""\
{_MODULE}\
  moduleLoader:
    container:
      kernelMappings: [{{regexp: ^5, containerImage: "registry.example.com/gpu:1.0-ubuntu22.04-$KERNEL_FULL_VERSION"}}]
"""
_TWO_ARCHITECTURES = (
    _INVENTORY.replace("    nodes:", "    architecture: amd64\n    nodes:")
    + """\
  - labels: {example.com/gpu: "true"}
    architecture: ARCHITECTURE
    nodes: |
      gpu-3 5.14.0-503.el9.x86_64
"""
)
_TAINTED = _INVENTORY.replace("    nodes:", "    taints: [{key: gpu, effect: NoSchedule}]\n    nodes:")
_TOLERATING = _MODULE + "  tolerations: [{key: gpu, operator: Exists}]\n"
_CONSUMER = """\
---
kind: DaemonSet
spec:
  template:
    spec:
      nodeSelector: {kmm.node.kubernetes.io/kmm.gpu.ready: ""}
"""
_VERSION = "kmm.node.kubernetes.io/version-module.kmm.gpu"
_ORDERED = """\
---
kind: DeviceConfig
spec: {driverVersion: "1.0", upgrade: {ordered: true}, nodeSelector: {example.com/gpu: "true"}}
"""
_POOLS = """\
---
kind: DeviceConfig
spec:
  nodeSelector: null
  nodePools:
  - {name: a, nodeSelector: {zone: a}}
  - {name: b, nodeSelector: {zone: ZONE}}
"""

OF_INPUT = (
    Rule(
        "KRM601",
        "the nodes in the input must be readable: each with a unique name, and with labels that are strings",
        _INVENTORY,
        _INVENTORY.replace("gpu-2 ", "gpu-1 "),
        "Regenerate the inventory, and do not edit its lines: `kubectl get nodes -o json | krmfn inventory --for PATH "
        "--name CLUSTER -o inventories/CLUSTER.yaml`, where PATH is the cluster's folder, and CLUSTER its name in "
        "`.krmfn.yaml`.",
    ),
    Rule(
        "KRM602",
        "a NodeInventory must not be past the day until which it is valid",
        _INVENTORY.replace("spec:", 'spec:\n  validUntil: "9999-12-31"'),
        _INVENTORY.replace("spec:", 'spec:\n  validUntil: "2020-01-01"'),
        "Regenerate the inventory, with a later `--valid-until`.",
        findings.inventory_is_valid,
    ),
    Rule(
        "KRM603",
        "a NodeInventory must contain the labels that selectors use: otherwise it is unknown which nodes they select",
        _INVENTORY + _MODULE,
        _INVENTORY + _MODULE.replace("example.com/gpu", "example.com/fpga"),
        "Regenerate the inventory with `krmfn inventory --for PATH`, which takes the labels from the selectors in "
        "PATH.",
        findings.labels_are_held,
        severities=("error", "warning"),
    ),
)
"""The rules about the nodes themselves. KRM601 is checked while they are read."""

OF_COVERAGE = (
    Rule(
        "KRM604",
        "each node that a config selects must have a kernel mapping for its kernel: otherwise KMM loads no driver on "
        "it",
        _INVENTORY + _TWO_MAPPINGS.replace("FIRST", "el9"),
        _INVENTORY + _TWO_MAPPINGS.replace("FIRST", "el10"),
        "Add a kernel mapping, with an image for these kernels, or narrow the selector.",
        findings.kernels_are_mapped,
        severities=("error", "info"),
        advice=True,
    ),
    Rule(
        "KRM605",
        "a selector should select at least one of the known nodes, and no cluster with Modules should be without nodes "
        "where others have some",
        _INVENTORY + _MODULE,
        _INVENTORY + _MODULE.replace('"true"', '"yes"'),
        "Correct the label or its value, label the nodes, or regenerate the inventory. Give each cluster an inventory, "
        "in its line of `.krmfn.yaml`.",
        findings.selectors_match,
        severities=("warning",),
        advice=True,
    ),
    Rule(
        "KRM606",
        "a kernel mapping should match the kernel of a selected node",
        _INVENTORY.replace("gpu-1 5.14.0-503.el9", "gpu-1 4.18.0-553.el8") + _TWO_MAPPINGS.replace("FIRST", "el9"),
        _INVENTORY + _TWO_MAPPINGS.replace("FIRST", "el9"),
        "Remove the mapping once no node goes back to such a kernel; keep it if it is for a future kernel.",
        findings.mappings_are_reached,
        severities=("info",),
        advice=True,
    ),
    Rule(
        "KRM607",
        "a DaemonSet that waits for a Module must tolerate the taints of the nodes that load it",
        _TAINTED + _TOLERATING + _CONSUMER + "      tolerations: [{key: gpu, operator: Exists}]\n",
        _TAINTED + _TOLERATING + _CONSUMER,
        "Give the DaemonSet the Module's tolerations (in a DeviceConfig: `tolerations`, which go to both).",
        findings.workloads_tolerate,
        severities=("error", "warning"),
        advice=True,
    ),
    Rule(
        "KRM608",
        "a node pool should have at least one of the known nodes",
        _INVENTORY.replace(", zone: a}", "}")
        .replace("x86_64", "x86_64 zone=a", 1)
        .replace("x86_64\n", "x86_64 zone=b\n")
        + _POOLS.replace("ZONE", "b"),
        _INVENTORY + _POOLS.replace("ZONE", "b"),
        "Correct the pool's selector, or remove the pool once its nodes are gone.",
        partial(findings.selectors_match, pools=True),
        severities=("warning",),
        advice=True,
    ),
    Rule(
        "KRM609",
        "a Module must tolerate the taints of the nodes that it selects",
        _TAINTED + _TOLERATING,
        _TAINTED + _MODULE,
        "Add `tolerations`, or select other nodes.",
        findings.modules_tolerate,
        severities=("error", "info"),
        advice=True,
    ),
    Rule(
        "KRM610",
        "a node should be without taints: to KMM 2.6, and on OpenShift, the pod that looks for an image tolerates none",
        _TAINTED + "  - nodes: |\n      cpu-1 5.14.0-503.el9.x86_64\n" + _TOLERATING,
        _TAINTED + _TOLERATING,
        "Keep a node without taints in the cluster; the pod needs no label and no device. Or add it to the inventory, "
        "if there is one.",
        image_findings.images_can_be_checked,
        severities=("warning",),
        advice=True,
    ),
    Rule(
        "KRM611",
        "an image whose name says an operating system should be for the one that its nodes run",
        _INVENTORY.replace("    nodes:", "    osImage: Ubuntu 22.04.5 LTS\n    nodes:") + _FOR_UBUNTU,
        _INVENTORY.replace("    nodes:", "    osImage: Ubuntu 24.04.1 LTS\n    nodes:") + _FOR_UBUNTU,
        "Select the nodes of each system by `feature.node.kubernetes.io/system-os_release.ID` and `.VERSION_ID` (in a "
        "DeviceConfig: with a node pool for each), or correct the image's name.",
        image_findings.images_are_for_the_system,
        severities=("warning",),
        advice=True,
    ),
    Rule(
        "KRM612",
        "in an ordered upgrade each node should have a version label: without one KMM loads nothing on it",
        _INVENTORY.replace("x86_64", f"x86_64 {_VERSION}=1.0").replace("zone]", f"zone, {_VERSION}]") + _ORDERED,
        _INVENTORY.replace("zone]", f"zone, {_VERSION}]") + _ORDERED,
        "Set the label on the nodes once the Module is there, with the finding's command, and renew the inventory.",
        findings.nodes_have_a_version,
        severities=("info",),
        advice=True,
    ),
    Rule(
        "KRM630",
        "an image should be for one architecture, or be pushed for each: kernel versions do not always name it",
        _TWO_ARCHITECTURES.replace("ARCHITECTURE", "amd64") + _FOR_UBUNTU,
        _TWO_ARCHITECTURES.replace("ARCHITECTURE", "arm64") + _FOR_UBUNTU,
        "Select the nodes of each architecture by `kubernetes.io/arch` (in a DeviceConfig: with a node pool for each), "
        "or push one image for all of them.",
        image_findings.images_are_for_each_architecture,
        severities=("info",),
        advice=True,
    ),
)
"""The rules about nodes joined with Modules and DaemonSets."""

RULES = OF_INPUT + OF_COVERAGE
