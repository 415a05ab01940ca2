"""What else has a say about nodes: Nodes, and Modules that somebody wrote."""

from __future__ import annotations

import json
from typing import Any

from krmfn_functions.exclusivity import Claim, Node
from krmfn_functions.rendering import claims

from krmfn import Ref, ResourceList


def listed(*items: dict[str, Any]) -> ResourceList:
    return ResourceList.parse(
        json.dumps({"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": items}).encode()
    )


def module(name: str, spec: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "kmm"}
    return {"apiVersion": "kmm.sigs.x-k8s.io/v1beta1", "kind": "Module", "metadata": metadata, "spec": spec}


def loading(name: str, **selector: str) -> dict[str, Any]:
    return {"moduleLoader": {"container": {"modprobe": {"moduleName": name}}}, "selector": selector}


def selecting(*keys: str) -> list[Claim]:
    return [Claim(Ref("v1", "A", "", key), {key: "x"}) for key in keys]


def test_a_module_claims_what_it_selects_and_loads() -> None:
    (claim,) = claims.of_modules(listed(module("a", loading("drv", rack="r1"))).items)
    assert (claim.ref.name, claim.selector, claim.field) == ("a", {"rack": "r1"}, "spec.selector")
    assert (claim.domain, claim.kernel_modules) == (None, frozenset({"drv"}))


def test_what_makes_way_for_a_generated_module_claims_nothing() -> None:
    there = listed(module("a", loading("drv")), module("b", loading("drv")))
    assert [claim.ref.name for claim in claims.of_modules(there.items, {("kmm", "a")})] == ["b"]
    assert len(claims.of_modules(there.items, {("other", "a")})) == 2


def test_odd_modules_claim_nothing() -> None:
    odd: list[Any] = [
        None,
        [],
        "text",
        {},
        {"selector": {"a": "b"}},
        {"moduleLoader": [], "selector": {}},
        {"moduleLoader": {"container": {"modprobe": {"moduleName": 5}}}, "selector": {}},
        loading("drv") | {"selector": ["a"]},
    ]
    items = [module(f"m{number}", spec) for number, spec in enumerate(odd)]
    assert claims.of_modules(listed(*items).items) == []
    del items[0]["spec"]
    assert claims.of_modules(listed(items[0]).items) == []


def test_nodes_have_the_labels_that_somebody_selects_by() -> None:
    labels = {"a": "x", "b": "y", "c": ""}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "labels": labels}}
    bare = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n2"}}
    other = {"apiVersion": "example.com/v1", "kind": "Node", "metadata": {"name": "no"}}
    there = listed(node, bare, other)
    assert claims.nodes(there, selecting("a", "c")) == [Node("n1", {"a": "x", "c": ""}), Node("n2", {})]
    many = [chr(ord("a") + number) for number in range(20)]
    assert claims.nodes(there, selecting(*many)) == [Node("n1", labels), Node("n2", {})]
