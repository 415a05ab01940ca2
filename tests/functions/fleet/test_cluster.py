"""Modules with the configs that they are made from, and the nodes with their Modules in columns."""

from __future__ import annotations

import pytest
from krmfn_functions.deviceconfig import deviceconfig
from krmfn_functions.exclusivity.node import Node
from krmfn_functions.fleet import cluster
from krmfn_functions.fleet.table import Row, markdown

from tests.builders import applied, device_config, function_config


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
