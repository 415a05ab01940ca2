"""Rules about the rights that serviceAccount, and Roles among extraObjects, give to the pods of a DeviceConfig."""

from collections.abc import Iterator

from krmfn import Field, Result, warning
from krmfn.printing import some
from krmfn.typed import Any

from .. import oracles
from ..kmm.lookup import table, tables
from ..rule import Rule
from .model import DeviceConfig
from .rbac import accounts
from .rights import harmful_rights

_BECOMING = frozenset({"escalate", "bind", "impersonate"})
"""Verbs that give somebody rights that they do not have."""
_ESCALATED = frozenset({"roles", "clusterroles", "users", "groups", "serviceaccounts", "uids", "*"})
"""The resources of those verbs."""
_GROUPS = frozenset({"", "rbac.authorization.k8s.io", "authentication.k8s.io", "*"})
_SHOWN = 3
_HERE = "in the namespace of the config"
_AGGREGATION = "rbac.authorization.k8s.io/"


def rights_have_an_account(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per kind of rights for an account without a name."""
    for account in (account for account in accounts(config) if not account.name):
        for name in ("rules", "clusterRules", *(["openshift"] if account.part else [])):
            if getattr(account.fields, name):
                message = "gives rights to a service account, but serviceAccountName is missing"
                yield account.config.error(message, f"{account.path}.{name}", remedy="set it")


def accounts_have_one_constraint(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per account with a second SecurityContextConstraint, since OpenShift takes either for its pods."""
    constraints: dict[str, str] = {}
    for account in accounts(config):
        first = constraints.setdefault(account.name, account.scc) if account.scc and account.name else account.scc
        if first != account.scc:
            remedy = "give this part an account of its own with serviceAccountName, or with `create: true`"
            reason = f"which is bound to {first} already, and OpenShift takes either for its pods"
            message = f"binds {account.name} to {account.scc}, {reason}"
            yield account.config.error(message, f"{account.path}.openshift", remedy=remedy)


def _cluster_rules(config: DeviceConfig) -> Iterator[tuple[DeviceConfig, str, dict[str, Any]]]:
    """Yield each rule in clusterRules of a config: the config at its version, the rule's path, and the rule."""
    for account in accounts(config):
        for index, rule in enumerate(account.fields.clusterRules):
            yield account.config, f"{account.path}.clusterRules[{index}]", rule


def rights_exclude_admin(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per rule by which pods could take any right in the cluster.

    The author of a DeviceConfig chooses the image that runs with these rights.
    """
    for pool, path, rule in _cluster_rules(config):
        if _is_admin(rule):
            danger = "and whoever writes a DeviceConfig chooses their image"
            message = f"lets the pods take any right in the cluster, {danger}"
            yield pool.error(message, path, remedy="name the resources and verbs that they need")


def _is_admin(rule: dict[str, Any]) -> bool:
    verbs, groups = set(rule["verbs"]), _GROUPS.intersection(rule.get("apiGroups", ()))
    resources = _ESCALATED.intersection(rule.get("resources", ()))
    return bool(groups and resources and (verbs & _BECOMING or "*" in verbs))


def rights_are_harmless(config: DeviceConfig) -> Iterator[Result]:
    """Yield a warning per rule with rights that are not harmless: the author of a config chooses who uses them."""
    for pool, path, rule in _cluster_rules(config):
        if not _is_admin(rule):
            yield from _harm(pool, path, rule, "in the whole cluster")
    for account in accounts(config):
        for index, rule in enumerate(account.fields.rules):
            yield from _harm(account.config, f"{account.path}.rules[{index}]", rule, _HERE)
    for position, entry in enumerate(config.spec.extraObjects):
        path = f"extraObjects[{position}]"
        for index, rule in tables(entry, "rules") if entry["kind"] == "Role" else ():
            yield from _harm(config, f"{path}.rules[{index}]", rule, _HERE)
        role = table(entry, "roleRef")
        if role.get("kind") == "ClusterRole" and not _is_known(str(role.get("name"))):
            message = f"gives what the ClusterRole {role.get('name')} holds {_HERE}, which is not judged here"
            field = Field(config.at(f"{path}.roleRef.name"))
            yield warning(
                message, field=field, remedy="name a Role among extraObjects, with the rights that are needed"
            )


def _harm(config: DeviceConfig, path: str, rule: dict[str, Any], scope: str) -> Iterator[Result]:
    """Yield the warning about the rights in a rule, with the meaning of the worst; none for harmless ones."""
    if rights := harmful_rights(rule, config.ref.group):
        names = [right.text for right in rights]
        message = f"gives {some(names, len(names), _SHOWN)} {scope}: {rights[0].meaning}"
        remedy = "leave out what the pods do not need; if they do, turn the rule off and say why"
        yield warning(message, field=Field(config.at(path)), remedy=remedy)


def _is_known(role: str) -> bool:
    """Return True for a ClusterRole that reads, or that is another rule's business."""
    return role in ("view", "cluster-admin") or role.startswith("system:openshift:scc:")


def rules_name_resources_or_urls(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per rule about both resources and URLs, or about neither."""
    for pool, path, rule in _cluster_rules(config):
        has_urls, has_groups, has_resources = (key in rule for key in ("nonResourceURLs", "apiGroups", "resources"))
        if has_urls == (has_groups or has_resources):
            yield pool.error(
                "must have either apiGroups and resources, or nonResourceURLs", path, remedy="write one of the two"
            )
        elif has_groups != has_resources:
            yield pool.error(
                "has apiGroups without resources, or resources without apiGroups", path, remedy="write both"
            )


def labels_give_no_rights(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per label that would aggregate a generated ClusterRole into another one of the cluster."""
    for key in config.spec.labels or () if any(_cluster_rules(config)) else ():
        if key.startswith(_AGGREGATION):
            message = "would add the rights of the generated ClusterRole to other ClusterRoles"
            yield config.error(message, f"labels[{key}]", remedy="leave it out")


_EXAMPLE = """\
kind: RenderDeviceConfigs
spec:
  profiles:
    gpu:
      serviceAccount:
        podSecurity: privileged
        clusterRules: [RULE]
---
spec: {profile: gpu, serviceAccountName: gpu, daemonSets: [{name: agent, image: "registry.example.com/agent:1.0"}]}
"""
_GOOD = _EXAMPLE.replace("RULE", '{apiGroups: [""], resources: [nodes], verbs: [get]}')


RULES = (
    Rule(
        "KRM168",
        "rights must be given to an account that the config names",
        check=rights_have_an_account,
        good=_GOOD,
        bad=_GOOD.replace(", serviceAccountName: gpu", ""),
        remedy="Name the account in serviceAccountName.",
        held=oracles.OUR_KINDS,
    ),
    Rule(
        "KRM169",
        "clusterRules must not give cluster-admin rights: a config's author chooses the image that gets the rights",
        check=rights_exclude_admin,
        good=_GOOD,
        bad=_EXAMPLE.replace("RULE", '{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}'),
        remedy="List the API groups, resources and verbs that the pods need.",
        held=oracles.KUBERNETES_RIGHTS,
    ),
    Rule(
        "KRM170",
        "a rule of clusterRules must have either apiGroups and resources, or nonResourceURLs",
        check=rules_name_resources_or_urls,
        good=_GOOD,
        bad=_EXAMPLE.replace("RULE", "{apiGroups: [apps], verbs: [get]}"),
        remedy="Write apiGroups and resources, or write nonResourceURLs in a separate rule.",
        held=oracles.KUBERNETES_RIGHTS,
    ),
    Rule(
        "KRM171",
        "labels must not aggregate the generated ClusterRole into other roles of the cluster",
        check=labels_give_no_rights,
        good=_GOOD.replace("profile: gpu", "profile: gpu, labels: {team: drivers}"),
        bad=_GOOD.replace("{profile", '{labels: {rbac.authorization.k8s.io/aggregate-to-edit: "true"}, profile'),
        remedy="Remove the label.",
        held=oracles.KUBERNETES_RIGHTS,
    ),
    Rule(
        "KRM176",
        "an account must be bound to one SecurityContextConstraint of OpenShift: of several, any may apply to its pods",
        check=accounts_have_one_constraint,
        good="""\
spec:
  serviceAccountName: gpu
  serviceAccount: {openshift: true, podSecurity: privileged}
  daemonSets:
  - {name: agent, image: "registry.example.com/agent:1.0", serviceAccount: {create: true, openshift: hostaccess}}
""",
        bad="""\
spec:
  serviceAccountName: gpu
  serviceAccount: {openshift: true, podSecurity: privileged}
  daemonSets: [{name: agent, image: "registry.example.com/agent:1.0", serviceAccount: {openshift: hostaccess}}]
""",
        remedy="Give each part that needs another constraint an account of its own.",
        held=oracles.OPENSHIFT,
    ),
    Rule(
        "KRM175",
        "pods should have no right to write beyond harmless ones, and none to read Secrets: who may write a "
        "DeviceConfig chooses the image that has them",
        check=rights_are_harmless,
        good=_GOOD,
        bad=_EXAMPLE.replace("RULE", "{apiGroups: [kmm.sigs.x-k8s.io], resources: [modules], verbs: [create]}"),
        remedy="Write narrower rights: `rules` if the config's namespace is enough, `resourceNames` if the objects are "
        "known. If they are needed, turn the rule off, and say in the reason who may write a DeviceConfig.",
        held=oracles.KUBERNETES_RIGHTS,
        severities=("warning",),
        advice=True,
    ),
)
"""The rules about the rights of one config or pool."""
