"""Every rule about a change of ours, in the order of their ids, and those about a change that the cluster refuses.

Source: the webhook of KMM v2.6.0 and main (2026-07-29), and the API server, as seen on a cluster.
"""

from __future__ import annotations

from collections.abc import Iterator

from krmfn import Result
from krmfn.rule import Rule, apply

from ..kmm.rule import refused
from ..kmm.webhook.admission import UPDATE_RULES
from . import build_rules, node_rules, reload_rules, removal_rules
from .impact import Impact, field_of


def version_is_kept(impact: Impact) -> Iterator[Result]:
    """Yield the webhook's finding about the update of a Module, with what to do."""
    for step in impact.steps:
        if step.old and step.new:
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
            refusal = refused("field is immutable", field.path, field.current, hint)
            yield refusal._replace(ref=change.ref, field=field)


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
    check=selector_is_kept,
)

_ROOMS = (reload_rules, removal_rules, node_rules, build_rules)
RULES = tuple(sorted((KRM403, *(rule for room in _ROOMS for rule in room.RULES)), key=lambda rule: rule.id))
