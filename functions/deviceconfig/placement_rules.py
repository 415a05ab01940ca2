"""Rules about where a DeviceConfig's driver runs: namespace, nodes, and the account of its pods."""

from collections.abc import Iterator

from krmfn import Field, Result, error, info, warning
from krmfn.resource import join
from krmfn.typed import Any

from .. import oracles
from ..rule import Rule
from .merging import stacked
from .model import DeviceConfig
from .rbac import accounts


def namespace_is_given(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error for a config without a namespace."""
    if not config.ref.namespace:
        remedy = "write metadata.namespace (or give `render` a --namespace)"
        if config.vendor.title:
            remedy = "write it, or `scope: Cluster` and `namespace` in its Profile"
        message = "has no namespace, which is part of the label that KMM puts on nodes"
        yield error(message, field=Field("metadata.namespace"), remedy=remedy)


def selector_is_deliberate(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error for no selector, for {} without allNodes, and for allNodes beside labels."""
    selector = config.spec.nodeSelector
    if selector is None:
        message = "nodeSelector is missing"
        yield config.error(
            message,
            "nodeSelector",
            remedy="name the labels of the nodes, or write {} and allNodes: true for every node",
        )
    elif not selector and not config.spec.allNodes:
        remedy = "confirm it with allNodes: true or name labels"
        message = "nodeSelector is {}, which is every node of the cluster"
        yield config.error(message, "nodeSelector", remedy=remedy)
    elif selector and config.spec.allNodes:
        message = "allNodes: true and a nodeSelector with labels exclude each other"
        yield config.error(message, "allNodes", remedy="leave out one of the two")


def pools_replace_the_selector(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error for a nodeSelector beside its layer's pools or against a pool, and for a pool named twice."""
    if not config.pool or config.modules:
        return
    # as the layers have them, before the config's nodeSelector narrows them
    pools: list[dict[str, Any]] = stacked(layer.fields for layer in config.layers[1:])["nodePools"]
    layer, index = config.layers[0], next(index for index, pool in enumerate(pools) if pool["name"] == config.pool)
    selector = pools[index]["nodeSelector"]
    if not layer.path.endswith(f".nodePools[{index}]"):
        message = f"the pool name {config.pool!r} appears twice"
        yield error(message, field=Field(f"{layer.path}.name", config.pool))
    elif index == 0 and config.layers[1].fields.keys() >= {"nodeSelector", "nodePools"}:
        remedy = "each pool has its own nodeSelector, so leave this one out"
        message = "nodeSelector and nodePools exclude each other"
        yield error(message, field=Field("spec.nodeSelector"), remedy=remedy)
    for key, value in config.layers[1].fields.get("nodeSelector", {}).items():
        if selector.get(key, value) != value:
            reason = "so it selects none; a config's nodeSelector narrows each pool of its profile"
            message = f"is {value!r}, but all nodes of the pool {config.pool!r} have {selector[key]!r}, {reason}"
            yield error(message, field=Field(join(("spec", "nodeSelector", key)), value))


def account_can_be_created(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error for an account without a name, and a warning or info about the pods its namespace must admit."""
    account, hub = config.spec.serviceAccount, config.spec.hub
    if account is None:
        return
    if account.create and not config.spec.serviceAccountName:
        yield config.error("serviceAccount.create needs serviceAccountName, the name to create", "serviceAccountName")
    if config.loads and account.podSecurity != "privileged":
        namespace = f"{hub.spokeNamespace} on every spoke" if hub else config.ref.namespace
        label = "pod-security.kubernetes.io/enforce: privileged (no Namespace is generated)"
        message = f"KMM's worker pods are privileged: the namespace {namespace} needs the label {label}"
        remedy = "write podSecurity: privileged here once it has it"
        report, field = (warning if account.podSecurity else info), Field(config.at("serviceAccount.podSecurity"))
        yield report(message, field=field, remedy=remedy)


def rbac_is_where_the_pods_are(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error when rights would be generated on a hub."""
    hub = config.spec.hub
    for account in accounts(config) if hub else ():
        fields = [name for name in ("create", "openshift", "rules", "clusterRules") if getattr(account.fields, name)]
        if hub and fields:
            message = (
                f"with hub, {account.path}.{fields[0]} would give rights on the hub, but the worker pods run on the "
                "spokes"
            )
            yield config.error(
                message,
                f"{account.path}.{fields[0]}",
                remedy=f"leave out {' and '.join(fields)} here, and bring the ServiceAccount "
                f"{account.name or 'of the worker pods'} and its rights into the namespace {hub.spokeNamespace} of "
                "every spoke, for example with a ManifestWork",
            )


NAMESPACE = Rule(
    "KRM120",
    "a DeviceConfig must have a namespace, since the ready label of its nodes contains it",
    good="""\
metadata: {namespace: kmm}
""",
    bad="""\
metadata: {namespace: null}
""",
    remedy="Write metadata.namespace, set `namespace` in the functionConfig, or pass --namespace to `render`.",
    held=oracles.NODES_CONTROLLER,
    check=namespace_is_given,
)
RULES = (
    NAMESPACE,
    Rule(
        "KRM123",
        "a config must have a nodeSelector; {} selects every node and must be confirmed with allNodes",
        good="""\
spec: {nodeSelector: {}, allNodes: true}
""",
        bad="""\
spec: {nodeSelector: {}}
""",
        remedy="Write labels of the nodes that have the device, or confirm that all nodes are intended with `allNodes: "
        "true`.",
        held=oracles.OUR_KINDS,
        check=selector_is_deliberate,
    ),
    Rule(
        "KRM129",
        "a config must have either one nodeSelector or several nodePools with different names; its nodeSelector "
        "must fit the pools of its profile, which it narrows",
        good="""\
spec:
  nodeSelector: null
  nodePools:
  - {name: big, nodeSelector: {memory: 128g}}
  - {name: small, nodeSelector: {memory: 64g}}
""",
        bad="""\
spec:
  nodeSelector: {gpu: "true"}
  nodePools:
  - {name: big, nodeSelector: {memory: 128g}}
  - {name: small, nodeSelector: {memory: 64g}}
""",
        remedy="Remove nodeSelector and write it in each pool, or rename one of two pools of the same name.",
        held=oracles.OUR_KINDS,
        check=pools_replace_the_selector,
    ),
    Rule(
        "KRM132",
        "serviceAccount.create must have a serviceAccountName, and the namespace must admit KMM's privileged pods",
        good="""\
spec: {serviceAccountName: gpu, serviceAccount: {create: true, podSecurity: privileged}}
""",
        bad="""\
spec: {serviceAccountName: gpu, serviceAccount: {create: true, podSecurity: baseline}}
""",
        remedy="Write serviceAccountName. Add the label `pod-security.kubernetes.io/enforce: privileged` to the "
        "namespace, then write `podSecurity: privileged`.",
        held=oracles.POD_SECURITY,
        check=account_can_be_created,
        severities=("warning", "info", "error"),
        advice=True,
    ),
    Rule(
        "KRM138",
        "a config with hub must not create rights: they would be on the hub, but the worker pods run on the spokes",
        good="""\
spec:
  hub: {spokeNamespace: kmm, clusterSelector: {gpu: "true"}}
  serviceAccountName: gpu
  serviceAccount: {podSecurity: privileged}
""",
        bad="""\
spec:
  hub: {spokeNamespace: kmm, clusterSelector: {gpu: "true"}}
  serviceAccountName: gpu
  serviceAccount: {create: true, podSecurity: privileged}
""",
        remedy="Remove create and openshift here, and bring the ServiceAccount and its rights to every spoke, for "
        "example with a ManifestWork.",
        held=oracles.HUB,
        check=rbac_is_where_the_pods_are,
    ),
)
"""The rules about where one config or pool runs."""
