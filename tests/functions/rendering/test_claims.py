"""What else has a say about nodes: Nodes, and Modules that somebody wrote."""

from __future__ import annotations

from typing import Any

import yaml
from krmfn_functions.exclusivity import Claim, Node
from krmfn_functions.kmm.module import Module
from krmfn_functions.rendering import claims
from krmfn_functions.rendering.function_config import FunctionConfig

from krmfn import Item, Manifest, Ref, ResourceList
from tests.builders import manifest, module, node, resource_list


def loading(name: str, **selector: str) -> Manifest:
    """Return a Module that loads the driver drv on selected nodes."""
    return module(name=name, selector=selector, modprobe={"moduleName": "drv"})


def selecting(*keys: str) -> list[Claim]:
    return [Claim(Ref("v1", "A", "", key), {key: "x"}) for key in keys]


def written(resources: ResourceList) -> list[tuple[Item, Module]]:
    """Return the Modules of a list, which somebody wrote."""
    return [(item, Module(item.manifest)) for item in resources.where(kind="Module")]


def test_a_module_claims_what_it_selects_and_loads() -> None:
    (item,) = resource_list(loading("a", rack="r1")).items
    (claim,) = claims.of_module(item, Module(item.manifest))
    assert (claim.ref.name, claim.selector, claim.field) == ("a", {"rack": "r1"}, "spec.selector")
    assert (claim.domain, claim.kernel_modules, claim.module) == (None, frozenset({"drv"}), ("kmm", "a"))


def test_a_module_claims_its_loading_order_as_a_config_does() -> None:
    order = {"moduleName": "drv-a", "modulesLoadingOrder": ["drv-a", "common"]}
    (item,) = resource_list(module(modprobe=order)).items
    (claim,) = claims.of_module(item, Module(item.manifest))
    assert claim.kernel_modules == {"drv_a", "common"}


def test_what_makes_way_for_a_generated_module_claims_nothing() -> None:
    resources = resource_list(loading("a"), loading("b"))
    modules = written(resources)
    owner = Ref("v1", "DeviceConfig", "kmm", "x")
    claim = Claim(owner, {}, kernel_modules=frozenset({"drv"}), module=("kmm", "a"))
    (conflict,) = claims.check(resources, [claim], modules, FunctionConfig(), None)
    assert "Module kmm/b" in conflict[1].message
    assert "Module kmm/a" not in conflict[1].message
    (conflict,) = claims.check(resources, [claim._replace(module=("other", "a"))], modules, FunctionConfig(), None)
    assert "Module kmm/a" in conflict[1].message


def test_odd_modules_claim_nothing() -> None:
    odd: list[Any] = [
        None,
        [],
        "text",
        {},
        {"selector": {"a": "b"}},
        {"moduleLoader": [], "selector": {}},
        {"moduleLoader": {"container": {"modprobe": {"moduleName": 5}}}, "selector": {}},
        loading("drv")["spec"] | {"selector": ["a"]},
        "no spec",
    ]
    items = [{**module(name=f"m{number}"), "spec": spec} for number, spec in enumerate(odd)]
    del items[-1]["spec"]
    assert [claim for pair in written(resource_list(*items)) for claim in claims.of_module(*pair)] == []


def test_nodes_have_the_labels_that_are_selected_by() -> None:
    labels = {"a": "x", "b": "y", "c": ""}
    bare, other = manifest("v1", "Node", "n2", ""), manifest("example.com/v1", "Node", "no", "")
    resources = resource_list(node("n1", **labels), bare, other)
    assert claims.nodes(resources, selecting("a", "c")) == ([Node("n1", {"a": "x", "c": ""}), Node("n2", {})], [])
    many = [chr(ord("a") + number) for number in range(20)]
    assert claims.nodes(resources, selecting(*many)) == ([Node("n1", labels), Node("n2", {})], [])


INVENTORY = """\
apiVersion: krmfn.dev/v1alpha1
kind: NodeInventory
metadata: {name: lab}
spec:
  labelKeys: [rack]
  groups:
  - labels: {rack: r1}
    nodes: |
      n1 -
"""


def two_on(inventory: str, mode: str = "auto", key: str = "rack") -> list[tuple[str, str]]:
    """Return the rules and severities of the findings about two Modules that select the same nodes."""
    modules = [loading("a", **{key: "r1"}), loading("b", **{key: "r1"})]
    resources = resource_list(yaml.safe_load(inventory), *modules)
    config = FunctionConfig()._replace(exclusivity=mode)
    findings = claims.check(resources, [], written(resources), config, None)
    return [(finding.rule, finding.severity) for _, finding in findings]


def test_the_nodes_of_an_inventory_count() -> None:
    assert two_on(INVENTORY, "nodes") == [("KRM304", "error")]
    assert two_on(INVENTORY.replace("r1", "r2"), "nodes") == []
    assert two_on(INVENTORY.replace("r1", "r2")) == [("KRM304", "warning")]


def test_beside_an_inventory_that_cannot_be_read_selectors_decide() -> None:
    broken = INVENTORY.replace("n1 -", "n1")
    assert two_on(broken) == [("KRM601", "error"), ("KRM304", "error")]
    assert two_on(broken, "selectors") == [("KRM304", "error")]
    assert two_on(broken, "off") == []


def test_a_label_that_the_inventory_does_not_hold_is_an_error() -> None:
    """On the cluster the node may have it: no conflict here would be no answer."""
    assert two_on(INVENTORY, key="row") == [("KRM603", "error"), ("KRM603", "error"), ("KRM304", "error")]
