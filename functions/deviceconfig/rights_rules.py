"""Rules about the rights that serviceAccount gives to the pods of a DeviceConfig."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from krmfn import Field, Result, error
from krmfn.rule import Rule

from .model import DeviceConfig

_BECOMING = frozenset({"escalate", "bind", "impersonate"})
"""Verbs by which somebody gets rights that they do not have."""
_ESCALATED = frozenset({"roles", "clusterroles", "users", "groups", "serviceaccounts", "uids", "*"})
"""The resources that those verbs are about."""
_GROUPS = frozenset({"", "rbac.authorization.k8s.io", "authentication.k8s.io", "*"})
_AGGREGATION = "rbac.authorization.k8s.io/"


def rights_have_an_account(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per kind of rights that no named account could get."""
    account = config.spec.serviceAccount
    for name in ("rules", "clusterRules") if account and not config.spec.serviceAccountName else ():
        if getattr(account, name):
            message = "gives rights to a service account, but serviceAccountName is missing; set it"
            yield error(message, field=Field(config.at(f"serviceAccount.{name}")))


def rights_are_not_an_admin_s(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per rule by which pods could take any right in the cluster.

    The author of a DeviceConfig chooses the image that runs with these rights.
    """
    account = config.spec.serviceAccount
    for index, rule in enumerate(account.clusterRules if account else ()):
        if _is_an_admin_s(rule):
            message = (
                "lets the pods take any right in the cluster, and whoever writes a DeviceConfig chooses their image; "
                "name the resources and verbs that they need"
            )
            yield error(message, field=Field(config.at(f"serviceAccount.clusterRules[{index}]")))


def _is_an_admin_s(rule: dict[str, Any]) -> bool:
    verbs, groups = set(rule["verbs"]), _GROUPS.intersection(rule.get("apiGroups", ()))
    resources = _ESCALATED.intersection(rule.get("resources", ()))
    return bool(groups and resources and (verbs & _BECOMING or "*" in verbs))


def rules_are_about_something(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per rule about both resources and URLs, or about neither."""
    account = config.spec.serviceAccount
    for index, rule in enumerate(account.clusterRules if account else ()):
        urls, resources = "nonResourceURLs" in rule, "apiGroups" in rule and "resources" in rule
        if urls == (resources or "apiGroups" in rule or "resources" in rule):
            message = "must have either apiGroups and resources, or nonResourceURLs; write one of the two"
            yield error(message, field=Field(config.at(f"serviceAccount.clusterRules[{index}]")))
        elif not urls and not resources:
            message = "has apiGroups without resources, or resources without apiGroups; write both"
            yield error(message, field=Field(config.at(f"serviceAccount.clusterRules[{index}]")))


def labels_give_no_rights(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per label that would add a generated ClusterRole to one of the cluster's own."""
    account = config.spec.serviceAccount
    for key in config.object_labels if account and account.clusterRules else ():
        if key.startswith(_AGGREGATION):
            message = "would add the rights of the generated ClusterRole to other ClusterRoles; leave it out"
            yield error(message, field=Field(config.at(f"labels[{key}]")))


RULES = (
    Rule(
        "KRM168",
        "rights must be given to an account that the config names",
        check=rights_have_an_account,
        good="""\
kind: RenderDeviceConfigs
spec:
  profiles:
    gpu:
      serviceAccount:
        podSecurity: privileged
        clusterRules: [{apiGroups: [""], resources: [nodes], verbs: [get]}]
---
spec: {profile: gpu, serviceAccountName: gpu, daemonSets: [{name: agent, image: "registry.example.com/agent:1.0"}]}
""",
        bad="""\
kind: RenderDeviceConfigs
spec:
  profiles:
    gpu:
      serviceAccount:
        podSecurity: privileged
        clusterRules: [{apiGroups: [""], resources: [nodes], verbs: [get]}]
---
spec: {profile: gpu}
""",
        remedy="Name the account in serviceAccountName.",
    ),
    Rule(
        "KRM169",
        "clusterRules must not give cluster-admin rights: a config's author chooses the image that gets the rights",
        check=rights_are_not_an_admin_s,
        good="""\
kind: RenderDeviceConfigs
spec:
  profiles:
    gpu:
      serviceAccount:
        podSecurity: privileged
        clusterRules: [{apiGroups: [""], resources: [nodes], verbs: [get]}]
---
spec: {profile: gpu, serviceAccountName: gpu, daemonSets: [{name: agent, image: "registry.example.com/agent:1.0"}]}
""",
        bad="""\
kind: RenderDeviceConfigs
spec:
  profiles:
    gpu:
      serviceAccount:
        podSecurity: privileged
        clusterRules: [{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]
---
spec: {profile: gpu, serviceAccountName: gpu, daemonSets: [{name: agent, image: "registry.example.com/agent:1.0"}]}
""",
        remedy="List the API groups, resources and verbs that the pods need.",
    ),
    Rule(
        "KRM170",
        "a rule of clusterRules must have either apiGroups and resources, or nonResourceURLs",
        check=rules_are_about_something,
        good="""\
kind: RenderDeviceConfigs
spec:
  profiles:
    gpu:
      serviceAccount:
        podSecurity: privileged
        clusterRules: [{apiGroups: [""], resources: [nodes], verbs: [get]}]
---
spec: {profile: gpu, serviceAccountName: gpu, daemonSets: [{name: agent, image: "registry.example.com/agent:1.0"}]}
""",
        bad="""\
kind: RenderDeviceConfigs
spec:
  profiles:
    gpu:
      serviceAccount:
        podSecurity: privileged
        clusterRules: [{apiGroups: [apps], verbs: [get]}]
---
spec: {profile: gpu, serviceAccountName: gpu, daemonSets: [{name: agent, image: "registry.example.com/agent:1.0"}]}
""",
        remedy="Write apiGroups and resources, or write nonResourceURLs in a separate rule.",
    ),
    Rule(
        "KRM171",
        "labels must not aggregate the generated ClusterRole into other roles of the cluster",
        check=labels_give_no_rights,
        good="""\
kind: RenderDeviceConfigs
spec:
  profiles:
    gpu:
      serviceAccount:
        podSecurity: privileged
        clusterRules: [{apiGroups: [""], resources: [nodes], verbs: [get]}]
---
spec:
  profile: gpu
  serviceAccountName: gpu
  daemonSets: [{name: agent, image: "registry.example.com/agent:1.0"}]
  labels: {team: drivers}
""",
        bad="""\
kind: RenderDeviceConfigs
spec:
  profiles:
    gpu:
      serviceAccount:
        podSecurity: privileged
        clusterRules: [{apiGroups: [""], resources: [nodes], verbs: [get]}]
---
spec:
  profile: gpu
  serviceAccountName: gpu
  daemonSets: [{name: agent, image: "registry.example.com/agent:1.0"}]
  labels: {rbac.authorization.k8s.io/aggregate-to-edit: "true"}
""",
        remedy="Remove the label.",
    ),
)
"""The rules about the rights of one config or pool."""
