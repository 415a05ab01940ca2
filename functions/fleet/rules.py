"""The rules about a fleet (KRM6xx), and the one function that checks them all."""

from collections.abc import Iterator
from datetime import datetime, timezone
from functools import partial

from krmfn import Result

from .. import oracles
from ..kmm.versions import DEFAULT, TARGETS, Target
from ..rule import Rule, apply
from . import findings, image_findings
from .cluster import Cluster
from .example_texts import (
    CONSUMER,
    FOR_UBUNTU,
    INVENTORY,
    MODULE,
    ORDERED,
    POOLS,
    TAINTED,
    TOLERATING,
    TWO_ARCHITECTURES,
    TWO_MAPPINGS,
    VERSION,
)


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


OF_INPUT = (
    Rule(
        "KRM601",
        "the nodes in the input must be readable: each with a unique name, and with labels that are strings",
        INVENTORY,
        INVENTORY.replace("gpu-2 ", "gpu-1 "),
        "Regenerate the inventory, and do not edit its lines: `kubectl get nodes -o json | krmfn inventory --for PATH "
        "--name CLUSTER -o inventories/CLUSTER.yaml`, where PATH is the cluster's folder, and CLUSTER its name in "
        "`.krmfn.yaml`.",
        held=oracles.OUR_NODES,
    ),
    Rule(
        "KRM602",
        "a NodeInventory must not be past the day until which it is valid",
        INVENTORY.replace("spec:", 'spec:\n  validUntil: "9999-12-31"'),
        INVENTORY.replace("spec:", 'spec:\n  validUntil: "2020-01-01"'),
        "Regenerate the inventory, with a later `--valid-until`.",
        check=findings.inventory_is_valid,
        held=oracles.OUR_NODES,
    ),
    Rule(
        "KRM603",
        "a NodeInventory must contain the labels that selectors use: otherwise it is unknown which nodes they select",
        INVENTORY + MODULE,
        INVENTORY + MODULE.replace("example.com/gpu", "example.com/fpga"),
        "Regenerate the inventory with `krmfn inventory --for PATH`, which takes the labels from the selectors in "
        "PATH.",
        check=findings.labels_are_held,
        severities=("error", "warning"),
        held=oracles.OUR_NODES,
    ),
)
"""The rules about the nodes themselves. KRM601 is checked while they are read."""

OF_COVERAGE = (
    Rule(
        "KRM604",
        "each node that a config selects must have a kernel mapping for its kernel: otherwise KMM loads no driver on "
        "it",
        INVENTORY + TWO_MAPPINGS.replace("FIRST", "el9"),
        INVENTORY + TWO_MAPPINGS.replace("FIRST", "el10"),
        "Add a kernel mapping, with an image for these kernels, or narrow the selector.",
        check=findings.kernels_are_mapped,
        severities=("error", "info"),
        advice=True,
        held=oracles.CONTROLLERS,
    ),
    Rule(
        "KRM605",
        "a selector should select at least one of the known nodes; if one cluster has known nodes, each cluster with "
        "Modules should",
        INVENTORY + MODULE,
        INVENTORY + MODULE.replace('"true"', '"yes"'),
        "Correct the label or its value, label the nodes, or regenerate the inventory. Give each cluster an inventory, "
        "in its line of `.krmfn.yaml`.",
        check=findings.selectors_match,
        severities=("warning",),
        advice=True,
        held=oracles.OUR_NODES,
    ),
    Rule(
        "KRM606",
        "a kernel mapping should match the kernel of a selected node",
        INVENTORY.replace("gpu-1 5.14.0-503.el9", "gpu-1 4.18.0-553.el8") + TWO_MAPPINGS.replace("FIRST", "el9"),
        INVENTORY + TWO_MAPPINGS.replace("FIRST", "el9"),
        "Remove the mapping when no node will boot such a kernel again; keep it if it is for a future kernel.",
        check=findings.mappings_are_reached,
        severities=("info",),
        advice=True,
        held=oracles.OUR_NODES,
    ),
    Rule(
        "KRM607",
        "a DaemonSet that waits for a Module must tolerate the taints of the nodes that load it",
        TAINTED + TOLERATING + CONSUMER + "      tolerations: [{key: gpu, operator: Exists}]\n",
        TAINTED + TOLERATING + CONSUMER,
        "Give the DaemonSet the Module's tolerations (in a DeviceConfig: `tolerations`, which go to both).",
        check=findings.workloads_tolerate,
        severities=("error", "warning"),
        advice=True,
        held=oracles.KUBERNETES_TAINTS,
    ),
    Rule(
        "KRM608",
        "a node pool should have at least one of the known nodes",
        INVENTORY.replace(", zone: a}", "}")
        .replace("x86_64", "x86_64 zone=a", 1)
        .replace("x86_64\n", "x86_64 zone=b\n")
        + POOLS.replace("ZONE", "b"),
        INVENTORY + POOLS.replace("ZONE", "b"),
        "Correct the pool's selector, or remove the pool once its nodes are gone.",
        check=partial(findings.selectors_match, pools=True),
        severities=("warning",),
        advice=True,
        held=oracles.OUR_NODES,
    ),
    Rule(
        "KRM609",
        "a Module must tolerate the taints of the nodes that it selects",
        TAINTED + TOLERATING,
        TAINTED + MODULE,
        "Add `tolerations`, or select other nodes.",
        check=findings.modules_tolerate,
        severities=("error", "info"),
        advice=True,
        held=oracles.CONTROLLERS,
    ),
    Rule(
        "KRM610",
        "one node should have no taints: in KMM 2.6 and on OpenShift, the pod that looks for an image tolerates none",
        TAINTED + "  - nodes: |\n      cpu-1 5.14.0-503.el9.x86_64\n" + TOLERATING,
        TAINTED + TOLERATING,
        "Keep a node without taints in the cluster; the pod needs no label and no device. Or add it to the inventory, "
        "if there is one.",
        check=image_findings.images_can_be_checked,
        severities=("warning",),
        advice=True,
        held=oracles.IMAGE_PODS,
    ),
    Rule(
        "KRM611",
        "an image whose name says an operating system should be for the one that its nodes run",
        INVENTORY.replace("    nodes:", "    osImage: Ubuntu 22.04.5 LTS\n    nodes:") + FOR_UBUNTU,
        INVENTORY.replace("    nodes:", "    osImage: Ubuntu 24.04.1 LTS\n    nodes:") + FOR_UBUNTU,
        "Select the nodes of each system by `feature.node.kubernetes.io/system-os_release.ID` and `.VERSION_ID` (in a "
        "DeviceConfig: with a node pool for each), or correct the image's name.",
        check=image_findings.images_are_for_the_system,
        severities=("warning",),
        advice=True,
        held=oracles.REGISTRY,
    ),
    Rule(
        "KRM612",
        "in an ordered upgrade each node should have a version label: without one KMM loads nothing on it",
        INVENTORY.replace("x86_64", f"x86_64 {VERSION}=1.0").replace("zone]", f"zone, {VERSION}]") + ORDERED,
        INVENTORY.replace("zone]", f"zone, {VERSION}]") + ORDERED,
        "Set the label on the nodes once the Module is there, with the finding's command, and renew the inventory.",
        check=findings.nodes_have_a_version,
        severities=("info",),
        advice=True,
        held=oracles.CONTROLLERS,
    ),
    Rule(
        "KRM630",
        "an image should be for one architecture, or be pushed for each: kernel versions do not always name it",
        TWO_ARCHITECTURES.replace("ARCHITECTURE", "amd64") + FOR_UBUNTU,
        TWO_ARCHITECTURES.replace("ARCHITECTURE", "arm64") + FOR_UBUNTU,
        "Select the nodes of each architecture by `kubernetes.io/arch` (in a DeviceConfig: with a node pool for each), "
        "or push one image for all of them.",
        check=image_findings.images_are_for_each_architecture,
        severities=("info",),
        advice=True,
        held=oracles.REGISTRY,
    ),
)
"""The rules about nodes joined with Modules and DaemonSets."""

RULES = OF_INPUT + OF_COVERAGE
