#!/usr/bin/env python3
"""Set labels on resources, and on the selectors and templates that have to agree with them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from krmfn import Doc, Item, Refused, ResourceList, Rest, function, info, warning

PODS = ("ReplicationController", "Deployment", "ReplicaSet", "DaemonSet", "StatefulSet", "Job")
CREATED = {
    "metadata.labels": (),
    "spec.selector": ("Service", "ReplicationController"),
    "spec.selector.matchLabels": ("Deployment", "ReplicaSet", "DaemonSet", "StatefulSet"),
}
"""Where labels are added, and the kinds that have the field; none named: every kind."""
TEMPLATES = {
    "spec.template": PODS,
    "spec.jobTemplate": ("CronJob",),
    "spec.jobTemplate.spec.template": ("CronJob",),
    "spec.volumeClaimTemplates[*]": ("StatefulSet",),
}
"""Where a template stands, which gets the labels if it is there."""
POD = "spec.**.{}[*].{}labelSelector.matchLabels"
CHANGED = {
    "spec.selector.matchLabels": ("Job", "PodDisruptionBudget"),
    "spec.jobTemplate.spec.selector.matchLabels": ("CronJob",),
    "spec.podSelector.matchLabels": ("NetworkPolicy",),
    "spec.ingress[*].from[*].podSelector.matchLabels": ("NetworkPolicy",),
    "spec.egress[*].to[*].podSelector.matchLabels": ("NetworkPolicy",),
    POD.format("topologySpreadConstraints", ""): (*PODS, "CronJob"),
    POD.format("requiredDuringSchedulingIgnoredDuringExecution", ""): (*PODS, "CronJob"),
    POD.format("preferredDuringSchedulingIgnoredDuringExecution", "podAffinityTerm."): (*PODS, "CronJob"),
}
"""Where only labels that are there get their new value."""


@dataclass(frozen=True)
class SetLabels:
    """Set labels on resources, and on the selectors and templates that have to agree with them."""

    labels: Annotated[dict[str, str], Doc("the labels and their values"), Rest()] = field(default_factory=dict)


@function(config=SetLabels, group="fn.kpt.dev", fields="top")
def set_labels(resources: ResourceList, config: SetLabels) -> None:
    """Set the labels, and say how many there are."""
    items = resources.where(local=False)
    if not items:
        resources.report(info("no input resources"))
        return
    if resources.function_config is None or resources.function_config.get("data") == {}:
        raise Refused("no labels are given: pass them in the functionConfig")
    if not config.labels:
        resources.report(warning("no `labels` arguments are given in FunctionConfig"))
        return
    count = sum(label(item, dict(sorted(config.labels.items()))) for item in items)
    resources.report(info(f"set {count} labels in total"))


def label(item: Item, labels: dict[str, str]) -> int:
    """Set the labels wherever the kind has them; return how many there are."""
    added = [path for path, kinds in CREATED.items() if not kinds or item.kind in kinds]
    for path, kinds in TEMPLATES.items():
        if item.kind in kinds:
            added += [f"{template.path}.metadata.labels" for template in item.each(path)]
    changed = [field.path for path, kinds in CHANGED.items() if item.kind in kinds for field in item.each(path)]
    for path in (*added, *changed):
        for name, value in labels.items():
            if path in added or item.at(f"{path}[{name}]").exists:
                item[f"{path}[{name}]"] = value
    return len(labels) * len((*added, *changed))


if __name__ == "__main__":
    set_labels.main()
