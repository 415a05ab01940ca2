"""The ServiceAccounts of a config and of its parts, and the objects that give them rights, also on OpenShift."""

from collections.abc import Iterator, Sequence

from krmfn import Manifest
from krmfn.typed import Any, NamedTuple

from .fields import ServiceAccount
from .model import DeviceConfig
from .names import PARTS, account_name, entries, plugins

_ORDER = {"argocd.argoproj.io/sync-wave": "-1", "kustomize.toolkit.fluxcd.io/prune": "disabled"}
"""Unloading needs the account: Argo CD deletes the lowest wave last, and Flux, which has no order, keeps it."""

_REVOCABLE = {"argocd.argoproj.io/sync-wave": "-1"}
"""Rights of pods: unloading does not need them, so Flux deletes them."""

_GROUP = "rbac.authorization.k8s.io"
_API = f"{_GROUP}/v1"
_PRIVILEGED = "system:openshift:scc:privileged"


class Account(NamedTuple):
    """An account for which a config has a field `serviceAccount`."""

    config: DeviceConfig
    """The config or pool, at the version of the DaemonSet."""
    path: str
    """The path of the field: `serviceAccount`, `daemonSets[0].serviceAccount`."""
    part: str
    """The part of the config that uses the account: a DaemonSet's name, or one of PARTS; "" for the config's own."""
    name: str
    """The ServiceAccount's name; "" when none is named."""
    fields: ServiceAccount

    @property
    def scc(self) -> str:
        """The SecurityContextConstraint of OpenShift for the account; "" for none."""
        return "privileged" if self.fields.openshift is True else str(self.fields.openshift or "")


def accounts(config: DeviceConfig) -> Iterator[Account]:
    """Yield the accounts for which a config or pool, or a version that it retains, has a field."""
    if config.spec.serviceAccount:
        yield Account(config, "serviceAccount", "", config.spec.serviceAccountName, config.spec.serviceAccount)
    for field, plugin in plugins(config):
        if plugin.serviceAccount:
            name = account_name(config, plugin, PARTS[field])
            yield Account(config, f"{field}.serviceAccount", PARTS[field], name, plugin.serviceAccount)
    for versioned, index, entry in entries(config):
        if entry.serviceAccount:
            name = account_name(versioned, entry, entry.name) or versioned.spec.serviceAccountName
            yield Account(versioned, f"daemonSets[{index}].serviceAccount", entry.name, name, entry.serviceAccount)


def objects(configs: Sequence[DeviceConfig]) -> list[tuple[DeviceConfig, Manifest]]:
    """Return the ServiceAccounts, roles and bindings that the pools of a config need, each once, with its config."""
    rows: list[tuple[DeviceConfig, Manifest]] = []
    for account in (account for config in configs for account in accounts(config)):
        known = [manifest for _, manifest in rows]
        rows += [(account.config, manifest) for manifest in _account_objects(account) if manifest not in known]
    return rows


def _account_objects(account: Account) -> Iterator[Manifest]:
    """Yield the objects of one account. Unloading needs those of the config's own account, and no others."""
    fields, order = account.fields, _REVOCABLE if account.part else _ORDER
    if fields.create:
        metadata = account.config.metadata(account.name, "rbac", order)
        yield {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}
    if fields.openshift is True and account.name:
        metadata = account.config.metadata(f"{account.name}-privileged", "rbac", order)
        yield _binding(account, "RoleBinding", metadata, _PRIVILEGED)
    elif account.scc and account.name:
        rule = {"apiGroups": ["security.openshift.io"], "resources": ["securitycontextconstraints"]}
        use = [{**rule, "resourceNames": [account.scc], "verbs": ["use"]}]
        yield from _rights(account, "Role", f"{account.name}-{account.scc}", use, order)
    ref, part = account.config.ref, account.part
    if fields.rules and account.name:
        yield from _rights(account, "Role", f"{ref.name}-{part or 'consumer'}", fields.rules, _REVOCABLE)
    if fields.clusterRules and account.name:
        # no other config, part or ClusterRole has this name
        name = f"krmfn.{ref.namespace}.{ref.name}"
        yield from _rights(account, "ClusterRole", f"{name}:{part}" if part else name, fields.clusterRules, _REVOCABLE)


def _rights(account: Account, kind: str, name: str, rules: Sequence[Any], order: dict[str, str]) -> list[Manifest]:
    """Return a Role or ClusterRole and its binding to the account."""
    role_metadata, binding_metadata = (account.config.metadata(name, "rbac", order) for _ in range(2))
    if kind == "ClusterRole":
        del role_metadata["namespace"], binding_metadata["namespace"]
    role = {"apiVersion": _API, "kind": kind, "metadata": role_metadata, "rules": rules}
    return [role, _binding(account, f"{kind}Binding", binding_metadata, name, kind)]


def _binding(account: Account, kind: str, metadata: Manifest, role: str, role_kind: str = "ClusterRole") -> Manifest:
    subject = {"kind": "ServiceAccount", "name": account.name, "namespace": account.config.ref.namespace}
    role_ref = {"apiGroup": _GROUP, "kind": role_kind, "name": role}
    return {"apiVersion": _API, "kind": kind, "metadata": metadata, "roleRef": role_ref, "subjects": [subject]}
