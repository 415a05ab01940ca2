"""Rules about what a change does on the nodes of a fleet, where they are known."""

from __future__ import annotations

from collections.abc import Iterator

from krmfn import Result, warning
from krmfn.rule import Rule

from .impact import Impact


def nodes_keep_their_driver(impact: Impact) -> Iterator[Result]:
    """Yield a warning per Module and reason for which nodes that it selects are left without it."""
    for effect in impact.plan.effects:
        if effect.is_short:
            yield warning(effect.message, ref=effect.ref)


RULES = (
    Rule(
        "KRM409",
        "a change should not leave a selected node without its driver (where the nodes are known)",
        good="""\
# before
kind: Node
metadata: {labels: {example.com/gpu: "true"}}
status: {nodeInfo: {kernelVersion: 5.14.0-427.el9_4.x86_64}}
---
# after
kind: Node
metadata: {labels: {example.com/gpu: "true"}}
status: {nodeInfo: {kernelVersion: 5.14.0-570.el9_6.x86_64}}
---
spec: {kernelMappings: [{regexp: el9}]}
""",
        bad="""\
# before
kind: Node
metadata: {labels: {example.com/gpu: "true"}}
status: {nodeInfo: {kernelVersion: 5.14.0-427.el9_4.x86_64}}
---
# after
kind: Node
metadata: {labels: {example.com/gpu: "true"}}
status: {nodeInfo: {kernelVersion: 6.12.0-55.el10_0.x86_64}}
---
spec: {kernelMappings: [{regexp: el9}]}
""",
        remedy="Add a kernel mapping for the new kernel, or tolerate the taint; the finding names what keeps the "
        "driver away. Change the Module's version first in an ordered upgrade, then the node's version label, and let "
        "the node boot another kernel only after that.",
        check=nodes_keep_their_driver,
        severities=("warning",),
        advice=True,
    ),
)
