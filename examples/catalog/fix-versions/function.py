#!/usr/bin/env python3
"""Move resources from versions that Kubernetes no longer serves to those that take their place."""

from __future__ import annotations

from krmfn import Item, ResourceList, error, function, info

SAME_FIELDS = {
    "apps/v1beta1": ("apps/v1", ("StatefulSet",)),
    "apps/v1beta2": ("apps/v1", ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet")),
    "batch/v1beta1": ("batch/v1", ("CronJob",)),
    "policy/v1beta1": ("policy/v1", ("PodDisruptionBudget",)),
    "rbac.authorization.k8s.io/v1beta1": (
        "rbac.authorization.k8s.io/v1",
        ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"),
    ),
    "scheduling.k8s.io/v1beta1": ("scheduling.k8s.io/v1", ("PriorityClass",)),
}
"""A version that is no longer served, the one in its place, and the kinds whose fields are the same in both."""


@function
def fix_versions(resources: ResourceList) -> None:
    """Write the new versions; a resource that would mean something else there is an error."""
    count = 0
    for item in resources:
        version, kinds = SAME_FIELDS.get(item.api_version, ("", ()))
        if item.api_version not in SAME_FIELDS:
            continue
        if item.kind not in kinds:
            message = f"{item.api_version} is no longer served, and no version has the same fields: move it by hand"
            resources.report(error(message, at=item))
        elif problem := changed_meaning(item):
            resources.report(error(problem, at=item))
        else:
            item["apiVersion"] = version
            count += 1
    if count:
        resources.report(info(f"moved {count} resources to a version that is served"))


def changed_meaning(item: Item) -> str:
    """Return what the new version would read otherwise; "" for nothing."""
    if item.group == "apps" and not item.at("spec.selector").exists:
        return "apps/v1 has no default for spec.selector: write the labels of the template there"
    if item.api_version == "apps/v1beta1" and not item.at("spec.updateStrategy").exists:
        return "without spec.updateStrategy v1beta1 updates on delete, and v1 pod by pod: write which is meant"
    if item.kind == "PodDisruptionBudget" and not any(item.get("spec.selector", dict, {}).values()):
        return "an empty spec.selector selects no pod in v1beta1 and every pod in v1: say which are meant"
    return ""


if __name__ == "__main__":
    fix_versions.main()
