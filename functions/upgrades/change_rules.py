"""All rules about changes, sorted by id, and those about nodes and updates that the cluster refuses.

Source: the webhook of KMM v2.6.0 and main (2026-07-29), and the API server, as seen on a cluster.
"""

from collections.abc import Collection, Iterator

from krmfn import Result, info, warning
from krmfn.ownership import Id

from .. import oracles
from ..kmm.rule import refusal
from ..kmm.webhook.admission import UPDATE_RULES
from ..rule import Rule, apply
from ..sentence import named
from . import build_rules, namespace_rules, reload_rules, removal_rules, restart_rules
from .impact import Impact, field_of

_WAYS_OUT = {
    "lost": "add the kernel mapping, toleration or label that is missing (the Module's version first, then the label), "
    "or stop first what uses the driver",
    "blocked": "correct that first: KMM does nothing on the nodes until then",
    "waiting": "apply it when that has ended",
    "unknown": "look at these nodes before and after it",
}
"""What to do, by what happens on the nodes (`Effect.word`)."""


def nodes_keep_their_driver(impact: Impact) -> Iterator[Result]:
    """Yield a warning per Module, and per reason for which nodes that it selects are left without it.

    Of nodes that it selects no more by a label of theirs, which the change takes, it is an info with the label's place.
    """
    for position, effect in enumerate(impact.plan.effects):
        if effect.is_short:
            remedy = _WAYS_OUT.get(effect.word, "")
            yield warning(effect.sentence, ref=effect.ref, facts=effect.facts, remedy=remedy)
        elif lost := impact.lost_labels.get(position):  # no warning: a label is how one takes a driver from a node
            yield info(effect.sentence, ref=effect.ref, facts=effect.facts, place=lost.place, remedy=lost.remedy)


def one_module_after_another(impact: Impact) -> Iterator[Result]:
    """Yield a warning per Module that takes over nodes from another one of the same kernel module in one step."""
    for effect in impact.plan.effects:
        if effect.rival and effect.parts[0].after is None and effect.parts[0].before is None:
            danger = "if it loads first, no driver is left and the nodes look ready"
            rest = f" while {effect.rival} unloads it: {danger}"
            remedy = "deselect the nodes there first, wait for the unload, then select them here"
            yield warning(("loads its kernel module on ", named(effect.nodes), rest), ref=effect.ref, remedy=remedy)


KRM409 = Rule(
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
    held=oracles.CONTROLLERS,
    check=nodes_keep_their_driver,
    severities=("warning", "info"),
    advice=True,
)

KRM414 = Rule(
    "KRM414",
    "nodes should not go from one Module to another of the same kernel module in one step, if KMM knows the image",
    good="""\
# before
kind: Node
metadata: {name: node-1, labels: {use: train}}
status: {nodeInfo: {kernelVersion: 5.14.0-427.el9_4.x86_64}}
---
# after
kind: Node
metadata: {name: node-1, labels: {}}
status: {nodeInfo: {kernelVersion: 5.14.0-427.el9_4.x86_64}}
---
kind: Node
metadata: {name: node-2, labels: {use: serve}}
status: {nodeInfo: {kernelVersion: 5.14.0-427.el9_4.x86_64}}
---
kind: DeviceConfig
spec:
  nodeSelector: null
  nodePools: [{name: train, nodeSelector: {use: train}}, {name: serve, nodeSelector: {use: serve}}]
""",
    bad="""\
# before
kind: Node
metadata: {name: node-1, labels: {use: train}}
status: {nodeInfo: {kernelVersion: 5.14.0-427.el9_4.x86_64}}
---
# after
kind: Node
metadata: {name: node-1, labels: {use: serve}}
status: {nodeInfo: {kernelVersion: 5.14.0-427.el9_4.x86_64}}
---
kind: Node
metadata: {name: node-2, labels: {use: serve}}
status: {nodeInfo: {kernelVersion: 5.14.0-427.el9_4.x86_64}}
---
kind: DeviceConfig
spec:
  nodeSelector: null
  nodePools: [{name: train, nodeSelector: {use: train}}, {name: serve, nodeSelector: {use: serve}}]
""",
    remedy="Remove the label from the node, wait until its ready label is gone, which says that the kernel module is "
    "unloaded, and set the new label then.",
    held=oracles.HISTORIES,
    check=one_module_after_another,
    severities=("warning",),
    advice=True,
)


def version_is_kept(impact: Impact, renewed: Collection[Id] = ()) -> Iterator[Result]:
    """Yield the webhook's finding about the update of a Module, with what to do; `renewed` ones have no update."""
    for step in impact.steps:
        if step.old and step.new and step.ref.id not in renewed:
            for finding in apply(UPDATE_RULES, step.old, step.new):
                hint = "applying it fails from here on; deleting the Module unloads it on all its nodes"
                yield finding._replace(message=f"{finding.message} ({hint})", ref=step.ref)


def selector_is_kept(impact: Impact) -> Iterator[Result]:
    """Yield the API server's refusal of each changed selector of a workload."""
    for change in impact.plan.changes:
        changed = next((field for field in change.fields if field.parts[:2] == ("spec", "selector")), None)
        if changed and change.ref.group == "apps":
            hint = f"the API server refuses the change; delete the {change.ref.kind} first, or give it another name"
            field = field_of(changed)
            finding = refusal("field is immutable", field.path, field.current, hint)
            yield finding._replace(ref=change.ref, field=field)


KRM403 = Rule(
    "KRM403",
    "the selector of a DaemonSet, Deployment, StatefulSet or ReplicaSet must not change: it is immutable",
    good="""\
# before
kind: DaemonSet
---
# after
kind: DaemonSet
metadata: {name: another-agent}
spec:
  selector: {matchLabels: {app: another-agent}}
  template: {metadata: {labels: {app: another-agent}}}
""",
    bad="""\
# before
kind: DaemonSet
---
# after
kind: DaemonSet
spec:
  selector: {matchLabels: {app: another-agent}}
  template: {metadata: {labels: {app: another-agent}}}
""",
    remedy="Keep the selector, give the workload another name, or delete it before the new one is applied.",
    held=oracles.KUBERNETES_APPS,
    check=selector_is_kept,
)

_OTHERS = (
    *reload_rules.RULES,
    *removal_rules.RULES,
    *restart_rules.RULES,
    *build_rules.RULES,
    *namespace_rules.RULES,
)
RULES = tuple(sorted((KRM403, KRM409, KRM414, *_OTHERS), key=lambda rule: rule.id))
