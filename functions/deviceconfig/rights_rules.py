"""Rules about the rights that serviceAccount gives to the pods of a DeviceConfig."""

from collections.abc import Iterator

from krmfn import Field, Result, warning
from krmfn.results import Rule
from krmfn.typed import Any

from .model import DeviceConfig
from .rbac import accounts

_BECOMING = frozenset({"escalate", "bind", "impersonate"})
"""Verbs by which somebody gets rights that they do not have."""
_ESCALATED = frozenset({"roles", "clusterroles", "users", "groups", "serviceaccounts", "uids", "*"})
"""The resources that those verbs are about."""
_GROUPS = frozenset({"", "rbac.authorization.k8s.io", "authentication.k8s.io", "*"})
_WRITING = ("create", "update", "patch")
_REACHING = (
    ("", "secrets", ("get", "list", "watch")),
    ("", "pods", ("create",)),
    ("", "pods/exec", ("get", "create")),
    ("", "serviceaccounts/token", ("create",)),
    ("", "nodes/proxy", ("get", "create")),
    ("apps", "", _WRITING),
    ("batch", "", _WRITING),
    ("admissionregistration.k8s.io", "mutatingwebhookconfigurations", _WRITING),
    ("admissionregistration.k8s.io", "validatingwebhookconfigurations", _WRITING),
)
"""Rights by which somebody gets those of others: API group, resource ("" for each of the group), verbs."""
_AGGREGATION = "rbac.authorization.k8s.io/"


def rights_have_an_account(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per kind of rights that no named account could get."""
    for account in accounts(config):
        for name in ("rules", "clusterRules", *(["openshift"] if account.part else [])) if not account.name else ():
            if getattr(account.fields, name):
                message = "gives rights to a service account, but serviceAccountName is missing; set it"
                yield account.config.error(message, f"{account.path}.{name}")


def accounts_have_one_constraint(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per account that would be bound to a second SecurityContextConstraint: pods get either."""
    bound: dict[str, str] = {}
    for account in accounts(config):
        first = bound.setdefault(account.name, account.scc) if account.scc and account.name else account.scc
        if first != account.scc:
            remedy = "give this part an account of its own with serviceAccountName, or with `create: true`"
            what = f"binds {account.name} to {account.scc}, which is bound to {first} already"
            message = f"{what}, and OpenShift takes either for its pods; {remedy}"
            yield account.config.error(message, f"{account.path}.openshift")


def _cluster_rules(config: DeviceConfig) -> Iterator[tuple[DeviceConfig, str, dict[str, Any]]]:
    """Yield each rule for the whole cluster: the config, its path, and the rule."""
    for account in accounts(config):
        for index, rule in enumerate(account.fields.clusterRules):
            yield account.config, f"{account.path}.clusterRules[{index}]", rule


def rights_are_not_an_admin_s(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per rule by which pods could take any right in the cluster.

    The author of a DeviceConfig chooses the image that runs with these rights.
    """
    for one, path, rule in _cluster_rules(config):
        if _is_an_admin_s(rule):
            what = "lets the pods take any right in the cluster, and whoever writes a DeviceConfig chooses their image"
            yield one.error(f"{what}; name the resources and verbs that they need", path)


def _is_an_admin_s(rule: dict[str, Any]) -> bool:
    verbs, groups = set(rule["verbs"]), _GROUPS.intersection(rule.get("apiGroups", ()))
    resources = _ESCALATED.intersection(rule.get("resources", ()))
    return bool(groups and resources and (verbs & _BECOMING or "*" in verbs))


def rights_reach_authors(config: DeviceConfig) -> Iterator[Result]:
    """Yield a warning per rule by which pods could get the rights of others, as whoever writes a config could then."""
    for one, path, rule in _cluster_rules(config):
        reaching = [] if _is_an_admin_s(rule) else list(dict.fromkeys(_reaching(rule)))
        if reaching:
            why = "these rights reach whoever may write a DeviceConfig, who chooses the image that runs with them"
            yield warning(f"gives {', '.join(reaching)} in the whole cluster: {why}", field=Field(one.at(path)))


def _reaching(rule: dict[str, Any]) -> Iterator[str]:
    """Yield each right of a rule by which somebody gets those of others: `get of secrets`."""
    for group, resource, verbs in _REACHING:
        known = {"*", resource, f"*/{resource.rpartition('/')[2]}"}
        whole = not resource and group in rule.get("apiGroups", ())
        resources = [name for name in rule.get("resources", ()) if whole or name in known]
        given = [verb for verb in verbs if not {verb, "*"}.isdisjoint(rule["verbs"])]
        if resources and given and not {group, "*"}.isdisjoint(rule.get("apiGroups", ())):
            yield f"{'/'.join(given)} of {resource or ', '.join(resources)}"


def rules_are_about_something(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per rule about both resources and URLs, or about neither."""
    for one, path, rule in _cluster_rules(config):
        urls, resources = "nonResourceURLs" in rule, "apiGroups" in rule and "resources" in rule
        if urls == (resources or "apiGroups" in rule or "resources" in rule):
            yield one.error("must have either apiGroups and resources, or nonResourceURLs; write one of the two", path)
        elif not urls and not resources:
            yield one.error("has apiGroups without resources, or resources without apiGroups; write both", path)


def labels_give_no_rights(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per label that would add a generated ClusterRole to one of the cluster's own."""
    for key in config.spec.labels or () if any(_cluster_rules(config)) else ():
        if key.startswith(_AGGREGATION):
            message = "would add the rights of the generated ClusterRole to other ClusterRoles; leave it out"
            yield config.error(message, f"labels[{key}]")


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
    ),
    Rule(
        "KRM169",
        "clusterRules must not give cluster-admin rights: a config's author chooses the image that gets the rights",
        check=rights_are_not_an_admin_s,
        good=_GOOD,
        bad=_EXAMPLE.replace("RULE", '{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}'),
        remedy="List the API groups, resources and verbs that the pods need.",
    ),
    Rule(
        "KRM170",
        "a rule of clusterRules must have either apiGroups and resources, or nonResourceURLs",
        check=rules_are_about_something,
        good=_GOOD,
        bad=_EXAMPLE.replace("RULE", "{apiGroups: [apps], verbs: [get]}"),
        remedy="Write apiGroups and resources, or write nonResourceURLs in a separate rule.",
    ),
    Rule(
        "KRM171",
        "labels must not aggregate the generated ClusterRole into other roles of the cluster",
        check=labels_give_no_rights,
        good=_GOOD.replace("profile: gpu", "profile: gpu, labels: {team: drivers}"),
        bad=_GOOD.replace("{profile", '{labels: {rbac.authorization.k8s.io/aggregate-to-edit: "true"}, profile'),
        remedy="Remove the label.",
    ),
    Rule(
        "KRM176",
        "an account must be bound to one SecurityContextConstraint of OpenShift: of several its pods get any",
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
    ),
    Rule(
        "KRM175",
        "clusterRules should not give rights by which pods get those of others, such as reading Secrets or creating "
        "pods: they reach whoever may write a DeviceConfig",
        check=rights_reach_authors,
        good=_GOOD,
        bad=_EXAMPLE.replace("RULE", '{apiGroups: [""], resources: [secrets], verbs: [get]}'),
        remedy="Write narrower rights, in `rules` if the config's namespace is enough. If they are needed, turn the "
        "rule off, and say in the reason who may write a DeviceConfig.",
        severities=("warning",),
        advice=True,
    ),
)
"""The rules about the rights of one config or pool."""
