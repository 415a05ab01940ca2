"""The NetworkPolicy for the sidecar: which connections of the repo-server's pod it allows."""

from __future__ import annotations

import ipaddress
from typing import Any

import pytest
import yaml

from tests.commands import ROOT

FOLDER = ROOT / "gitops/argocd"
POLICY: dict[str, Any] = yaml.safe_load((FOLDER / "network/network-policy.yaml").read_text())
HERE, REDIS = "argocd", {"app.kubernetes.io/name": "argocd-redis"}


def matches(selector: dict[str, Any], labels: dict[str, str]) -> bool:
    """Return whether a label selector selects; of the operators only In is understood."""
    pairs = [(key, [value]) for key, value in selector.get("matchLabels", {}).items()]
    for term in selector.get("matchExpressions", []):
        assert term["operator"] == "In"
        pairs.append((term["key"], term["values"]))
    return all(labels.get(key) in values for key, values in pairs)


def reaches(peer: dict[str, Any], address: str, namespace: str, labels: dict[str, str]) -> bool:
    """Return whether a peer of a rule is the address, or the pod with the labels in the namespace ("" for no pod)."""
    if "ipBlock" in peer:
        assert peer.keys() == {"ipBlock"}  # the API server refuses others beside it
        ip, block = ipaddress.ip_address(address), peer["ipBlock"]
        inside = [ip in ipaddress.ip_network(text) for text in (block["cidr"], *block.get("except", []))]
        return inside[0] and not any(inside[1:])
    space = peer.get("namespaceSelector")
    is_in_space = namespace == HERE if space is None else matches(space, {"kubernetes.io/metadata.name": namespace})
    return bool(namespace) and is_in_space and matches(peer.get("podSelector", {}), labels)


def allows(port: int, address: str = "10.0.0.9", namespace: str = "", labels: dict[str, str] | None = None) -> bool:
    """Return whether a rule allows TCP to the port; a rule without peers or ports would allow all of them."""
    return any(
        {"protocol": "TCP", "port": port} in rule["ports"]
        and any(reaches(peer, address, namespace, labels or {}) for peer in rule["to"])
        for rule in POLICY["spec"]["egress"]
    )


def test_every_rule_names_its_peers_and_ports() -> None:
    """An empty or absent `to` or `ports` means all."""
    assert POLICY["spec"]["policyTypes"] == ["Egress"]
    assert all(rule["to"] and rule["ports"] and all(rule["to"]) for rule in POLICY["spec"]["egress"])


def test_git_names_and_the_cache_are_reached() -> None:
    assert allows(443, "140.82.112.3")
    assert allows(22, "140.82.112.3")
    assert allows(53, namespace="kube-system", labels={"k8s-app": "kube-dns"})
    assert allows(5353, namespace="openshift-dns")
    assert allows(6379, namespace=HERE, labels=REDIS)


@pytest.mark.parametrize(
    "address", ["10.96.0.1", "172.20.0.1", "192.168.1.1", "100.100.100.200", "169.254.169.254", "127.0.0.1", "fd00::1"]
)
@pytest.mark.parametrize("port", [22, 80, 443, 6443, 8080])
def test_no_inner_address_is_reached(address: str, port: int) -> None:
    assert not allows(port, address)


def test_no_other_pod_port_or_namespace_is_reached() -> None:
    assert not allows(443, namespace=HERE, labels={"app.kubernetes.io/name": "argocd-server"})
    assert not allows(6379, namespace="team", labels=REDIS)
    assert not allows(53, namespace="team")
    assert not allows(8080, "140.82.112.3")
