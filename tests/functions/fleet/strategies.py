"""Small random fleets: few labels, few values, few kernels, so that much of it meets."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st

from krmfn import Manifest

KEYS = ("a", "b", "example.com/c")
VALUES = ("", "x", "y")
LABELS = st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES), max_size=3)
KERNELS = ("5.14.0-427.el9.x86_64", "5.14.0-503.el9.x86_64", "6.1.0-test+", "6.1.0-test", "6.1", "")
TAINTS = st.lists(
    st.fixed_dictionaries(
        {"key": st.sampled_from("kl"), "effect": st.sampled_from(("NoSchedule", "NoExecute", "PreferNoSchedule"))},
        optional={"value": st.sampled_from(("", "v"))},
    ),
    max_size=2,
)


@st.composite
def nodes(draw: st.DrawFn, most: int = 8) -> list[Manifest]:
    """Node objects, as `kubectl get nodes -o json` prints them, in any order."""
    name = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,3}[a-z0-9])?", fullmatch=True)
    return [draw(node(name)) for name in draw(st.lists(name, unique=True, max_size=most))]


@st.composite
def node(draw: st.DrawFn, name: str) -> Manifest:
    """One Node object; what may be absent is, sometimes."""
    metadata: dict[str, Any] = {"name": name, "labels": draw(LABELS)}
    info = {"kernelVersion": draw(st.sampled_from(KERNELS)), "architecture": "amd64", "osImage": "RHEL 9.5: yes"}
    manifest: Manifest = {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": {"taints": draw(TAINTS)}}
    return manifest | ({"status": {"nodeInfo": info}} if info["kernelVersion"] else {})
