"""Modules with the configs that they are made from, and the nodes with their Modules in columns."""

from __future__ import annotations

import pytest
import yaml
from krmfn_functions.deviceconfig import deviceconfig
from krmfn_functions.exclusivity.node import Node
from krmfn_functions.fleet import cluster, nodes
from krmfn_functions.fleet.coverage import coverage
from krmfn_functions.fleet.drivers import driver
from krmfn_functions.fleet.images import unjudged_images, unknown_images
from krmfn_functions.fleet.table import Row, markdown
from krmfn_functions.kmm import regexp_work

from krmfn import ResourceList
from tests.builders import applied, device_config, function_config, list_text, manifest, module
from tests.commands import ROOT


@pytest.mark.parametrize("namespace", ["kmm", ""])
def test_a_module_s_config_is_known_with_a_namespace_and_without(namespace: str) -> None:
    settings = function_config(namespace="kmm")
    resources = applied(deviceconfig, device_config(namespace=namespace), function_config=settings)
    (driver,) = cluster.of_list(resources, lambda item: item.name).drivers
    assert (driver.claim.domain, str(driver.claim.ref)) == ("dc", "DeviceConfig kmm/dc")


@pytest.mark.parametrize(
    ("row", "columns"),
    [
        (Row(Node("n", {})), {"Node"}),
        (Row(Node("n", {}), cluster="lab"), {"Cluster", "Node"}),
        (Row(Node("n", {}), loaded=False), {"Node", "Loaded"}),
    ],
)
def test_columns_in_which_nothing_stands_are_left_out(row: Row, columns: set[str]) -> None:
    assert {"Cluster", "Node", "Loaded"}.intersection(markdown([row]).split()) == columns


def test_a_module_of_a_hub_is_for_the_clusters_with_its_labels() -> None:
    spec = {"moduleSpec": module()["spec"], "spokeNamespace": "kmm", "selector": {"gpu": "true"}}
    hub = {**manifest("hub.kmm.sigs.x-k8s.io/v1beta1", "ManagedClusterModule", "simple", ""), "spec": spec}
    claims = [driver(item).full_claim for item in (hub, module())]
    assert [(claim.of_hub, claim.selector) for claim in claims] == [
        (True, {"cluster gpu": "true", "a": "b"}),
        (False, {"a": "b"}),
    ]


@pytest.mark.parametrize(
    ("image", "kernel", "is_known"),
    [("i:$KERNEL_FULL_VERSION", "", False), ("i:$KERNEL_FULL_VERSION", "6.1.0-1.x86_64", True), ("i:1", "", True)],
)
def test_an_image_that_depends_on_a_kernel_is_known_with_the_kernel(image: str, kernel: str, is_known: bool) -> None:
    drivers = [driver(module({"regexp": "^.+$", "containerImage": image}, selector={}))]
    findings = unknown_images(coverage([Node("n", {}, kernel)], drivers), drivers)
    message = "1 node (n) has reported no kernel, so not all of its images are known"
    assert [finding.message for finding in findings] == [message] * (not is_known)


def test_images_behind_a_regexp_that_is_not_judged_are_not_known() -> None:
    """`images` and `report` left them out, and said nothing where the bound on a run was reached."""
    drivers = [driver(module({"regexp": "^6.+$", "containerImage": "i:$KERNEL_FULL_VERSION"}, selector={}))]
    nodes = [Node(f"n{at}", {}, f"6.1.{at}-1.x86_64") for at in range(3)]
    with regexp_work.bounded(0):
        findings = unjudged_images(coverage(nodes, drivers), drivers)
        reason = "the regexps and kernels of this run are too many to be judged"
        assert [finding.message for finding in findings] == [
            f"its images for 3 nodes (n0, n1, n2) are not known: {reason}"
        ]
    assert list(unjudged_images(coverage(nodes, drivers), drivers)) == []


def test_an_inventory_without_a_file_is_read() -> None:
    inventory = yaml.safe_load((ROOT / "examples/one-cluster/nodes.yaml").read_text())
    assert len(nodes.read(ResourceList.parse(list_text(inventory))).nodes) == inventory["spec"]["nodeCount"]
