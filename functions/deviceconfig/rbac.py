"""The ServiceAccounts of a config, of it and of its parts, and what gives them rights, also on OpenShift."""

from collections.abc import Iterator, Sequence

from krmfn import Manifest
from krmfn.typed import Any, NamedTuple

from .fields import ServiceAccount
from .model import DeviceConfig
from .names import PARTS, entries, of_account

_ORDER = {"argocd.argoproj.io/sync-wave": "-1", "kustomize.toolkit.fluxcd.io/prune": "disabled"}
"""Unloading needs the account: Argo CD deletes the lowest wave last, and Flux, which knows no order, leaves it."""

_REVOCABLE = {"argocd.argoproj.io/sync-wave": "-1"}
"""The rights of pods: unloading does not need them, and Flux takes them back."""

_GROUP = "rbac.authorization.k8s.io"
_API = f"{_GROUP}/v1"
_PRIVILEGED = "system:openshift:scc:privileged"


class Account(NamedTuple):
    """An account that gets something, and the field that says what."""

    config: DeviceConfig
    """Its config or pool, at the version of the DaemonSet."""
    path: str
    """`serviceAccount`, `daemonSets[0].serviceAccount`."""
    part: str
    """The part of the config that has it: a DaemonSet's name; "" for the config's own."""
    name: str
    """The ServiceAccount's name; "" when none is named."""
    fields: ServiceAccount

    @property
    def scc(self) -> str:
        """The SecurityContextConstraint of OpenShift that it is bound to; "" for none."""
        return "privileged" if self.fields.openshift is True else str(self.fields.openshift or "")


def accounts(config: DeviceConfig) -> Iterator[Account]:
    """Yield the accounts that a config or pool, and the versions that it retains, say something of."""
    if config.spec.serviceAccount:
        yield Account(config, "serviceAccount", "", config.spec.serviceAccountName, config.spec.serviceAccount)
    for field, part in PARTS.items():
        plugin = getattr(config.spec, field)
        if plugin and plugin.serviceAccount:
            name = of_account(config, plugin, part)
            yield Account(config, f"{field}.serviceAccount", part, name, plugin.serviceAccount)
    for one, index, entry in entries(config):
        if entry.serviceAccount:
            name = of_account(one, entry, entry.name) or one.spec.serviceAccountName
            yield Account(one, f"daemonSets[{index}].serviceAccount", entry.name, name, entry.serviceAccount)


def objects(configs: Sequence[DeviceConfig]) -> list[tuple[DeviceConfig, Manifest]]:
    """Return the ServiceAccounts that the pools of a config create, each once, and what gives rights to accounts."""
    made: list[tuple[DeviceConfig, Manifest]] = []
    for account in (account for config in configs for account in accounts(config)):
        known = [manifest for _, manifest in made]
        made += [(account.config, manifest) for manifest in _of_account(account) if manifest not in known]
    return made


def _of_account(account: Account) -> Iterator[Manifest]:
    """Yield the objects of one account; only what loads and unloads needs the config's own for good."""
    fields, order = account.fields, _REVOCABLE if account.part else _ORDER
    if fields.create:
        own = account.config.metadata(account.name, "rbac", order)
        yield {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": own}
    if fields.openshift is True and account.name:
        own = account.config.metadata(f"{account.name}-privileged", "rbac", order)
        yield _binding(account, "RoleBinding", own, _PRIVILEGED)
    elif account.scc and account.name:
        rule = {"apiGroups": ["security.openshift.io"], "resources": ["securitycontextconstraints"]}
        use = [{**rule, "resourceNames": [account.scc], "verbs": ["use"]}]
        yield from _rights(account, "Role", f"{account.name}-{account.scc}", use, order)
    config, part = account.config.ref, account.part
    if fields.rules and account.name:
        yield from _rights(account, "Role", f"{config.name}-{part or 'consumer'}", fields.rules, _REVOCABLE)
    if fields.clusterRules and account.name:
        # with the part, no other config and no role of a cluster has this name
        name = f"krmfn.{config.namespace}.{config.name}"
        yield from _rights(account, "ClusterRole", f"{name}:{part}" if part else name, fields.clusterRules, _REVOCABLE)


def _rights(account: Account, kind: str, name: str, rules: Sequence[Any], order: dict[str, str]) -> list[Manifest]:
    """Return a Role or ClusterRole and its binding to the account."""
    of_role, of_binding = (account.config.metadata(name, "rbac", order) for _ in range(2))
    if kind == "ClusterRole":
        del of_role["namespace"], of_binding["namespace"]
    role = {"apiVersion": _API, "kind": kind, "metadata": of_role, "rules": rules}
    return [role, _binding(account, f"{kind}Binding", of_binding, name, kind)]


def _binding(account: Account, kind: str, own: dict[str, Any], role: str, role_kind: str = "ClusterRole") -> Manifest:
    subject = {"kind": "ServiceAccount", "name": account.name, "namespace": account.config.ref.namespace}
    role_ref = {"apiGroup": _GROUP, "kind": role_kind, "name": role}
    return {"apiVersion": _API, "kind": kind, "metadata": own, "roleRef": role_ref, "subjects": [subject]}
