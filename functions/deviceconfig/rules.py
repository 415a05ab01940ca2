"""Rules about one DeviceConfig beyond its schema: one function each, its docstring's first line the rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from krmfn import Result, error, info, warning
from krmfn.results import Field

from . import container_rules, name_rules
from .model import DeviceConfig

Rule = Callable[[DeviceConfig], Iterator[Result]]


def namespace_is_given(config: DeviceConfig) -> Iterator[Result]:
    """KRM120: a DeviceConfig names its namespace, since the ready label of its nodes contains it."""
    if not config.ref.namespace:
        message = (
            "has no namespace; write metadata.namespace (or give `render` a --namespace): "
            "it is part of the label that KMM puts on nodes"
        )
        yield error(message, rule="KRM120", field=Field("metadata.namespace"))


def module_name_is_known(config: DeviceConfig) -> Iterator[Result]:
    """KRM121: somebody says which kernel module to load, or how (rawLoadArgs and rawUnloadArgs)."""
    raw = "rawLoadArgs" in config.spec and "rawUnloadArgs" in config.spec
    if config.module_name or raw or not config.loads:
        return
    if config.seed:
        where = (
            "in the functionConfig: spec.defaults.moduleName, or a profile named by the annotation krmfn.dev/profile"
        )
    else:
        where = "in spec.moduleName, in the profile, or in the functionConfig's spec.defaults.moduleName"
    yield error(f"the kernel module's name is missing; write it {where}", rule="KRM121", field=Field("spec.moduleName"))


def image_is_known(config: DeviceConfig) -> Iterator[Result]:
    """KRM122: every kernel mapping has an image: its own, or one made from driverImage and driverVersion."""
    if not config.loads or config.image or all(mapping.get("image") for mapping in config.mappings):
        return
    named = "driverImage" in config.spec or "driverImageParts" in config.spec
    missing = "driverVersion" if named else "driverImage"
    why = (
        "driverImage has no tag; write driverVersion, or give driverImage a tag or a digest"
        if named
        else "no image is named for the kernel module; write driverImage, or an image in every kernel mapping"
    )
    yield error(f"{missing} is missing: {why}", rule="KRM122", field=Field(config.at(missing)))


def selector_is_deliberate(config: DeviceConfig) -> Iterator[Result]:
    """KRM123: nodeSelector is given; {} means every node and is confirmed with allNodes."""
    field = Field(config.at("nodeSelector"))
    if config.node_selector is None:
        message = "nodeSelector is missing; name the labels of the nodes, or write {} and allNodes: true for every node"
        yield error(message, rule="KRM123", field=field)
    elif not config.node_selector and not config.spec.get("allNodes"):
        message = (
            "nodeSelector is {}, which is every node of the cluster; confirm it with allNodes: true or name labels"
        )
        yield error(message, rule="KRM123", field=field)
    elif config.node_selector and config.spec.get("allNodes"):
        message = "allNodes: true stands beside a nodeSelector with labels; leave out one of the two"
        yield error(message, rule="KRM123", field=Field(config.at("allNodes")))


def mapping_has_one_matcher(config: DeviceConfig) -> Iterator[Result]:
    """KRM124: a kernel mapping has either regexp or literal."""
    for index, mapping in enumerate(config.mappings):
        given = [key for key in ("regexp", "literal") if key in mapping]
        if len(given) != 1:
            what = "both regexp and literal" if given else "neither regexp nor literal"
            message = f"has {what}; a kernel mapping has one of them"
            yield error(message, rule="KRM124", field=Field(config.at(f"kernelMappings[{index}]")))


_EXCLUSIVE = (
    ("driverImage", "driverImageParts"),
    ("devicePlugin", "dra"),
    ("inTreeDriver", "driverImage"),
    ("inTreeDriver", "driverImageParts"),
    ("inTreeDriver", "kernelMappings"),
    ("inTreeDriver", "hub"),
    ("hub", "daemonSets"),
    ("moduleName", "rawLoadArgs"),
    ("moduleName", "rawUnloadArgs"),
)


def fields_exclude_each_other(config: DeviceConfig) -> Iterator[Result]:
    """KRM128: fields that contradict each other do not stand together."""
    for one, other in _EXCLUSIVE:
        if config.spec.get(one) and config.spec.get(other):
            first, second = config.strongest(one, other)
            message = f"{one} and {other} exclude each other; leave out one of the two"
            if config.layer(first) != config.layer(second):
                message += f" ({second} stands in {config.at(second)})"
            yield error(message, rule="KRM128", field=Field(config.at(first)))
    if not config.loads and config.version:
        message = "inTreeDriver and upgrade.ordered exclude each other: nothing is loaded, so nothing has a version"
        yield error(message, rule="KRM128", field=Field(config.at("upgrade.ordered")))
    parts = config.spec.get("driverImageParts", {})
    if parts.get("tag") and parts.get("digest"):
        message = "has both tag and digest; a digest alone says which image it is"
        yield error(message, rule="KRM128", field=Field(config.at("driverImageParts")))


def pools_replace_the_selector(config: DeviceConfig) -> Iterator[Result]:
    """KRM129: a config has one nodeSelector or several nodePools, each with a name of its own."""
    if not config.pool:
        return
    pools = [str(pool["name"]) for pool in _pools(config)]
    own = config.layers[0]
    first = f"nodePools[{pools.index(config.pool)}]"
    if not own.path.endswith(f".{first}"):
        message = f"the pool name {config.pool!r} stands twice"
        yield error(message, rule="KRM129", field=Field(f"{own.path}.name", config.pool))
    elif first == "nodePools[0]" and "nodeSelector" in config.layers[1].fields:
        message = "nodeSelector stands beside nodePools; each pool has its own, leave this one out"
        yield error(message, rule="KRM129", field=Field("spec.nodeSelector"))


def _pools(config: DeviceConfig) -> list[dict[str, Any]]:
    pools: list[dict[str, Any]] = next(
        layer.fields["nodePools"] for layer in config.layers if "nodePools" in layer.fields
    )
    return pools


def in_tree_driver_has_a_plugin(config: DeviceConfig) -> Iterator[Result]:
    """KRM130: with inTreeDriver nothing is loaded, so there is a devicePlugin or dra."""
    if not config.loads and not config.spec.get("devicePlugin") and not config.spec.get("dra"):
        message = "inTreeDriver loads nothing, and there is neither devicePlugin nor dra: nothing would be generated"
        yield error(message, rule="KRM130", field=Field(config.at("inTreeDriver")))


def upgrade_has_a_version(config: DeviceConfig) -> Iterator[Result]:
    """KRM131: an ordered upgrade names driverVersion, and retains other versions, each once."""
    upgrade = config.spec.get("upgrade", {})
    if upgrade.get("ordered") and not config.version:
        message = "upgrade.ordered needs driverVersion: it becomes the Module's version and a label of its nodes"
        yield error(message, rule="KRM131", field=Field(config.at("driverVersion")))
    if upgrade.get("retain") and not upgrade.get("ordered"):
        message = "upgrade.retain keeps DaemonSets of earlier versions, which only upgrade.ordered has"
        yield error(message, rule="KRM131", field=Field(config.at("upgrade.retain")))
    retained = upgrade.get("retain", [])
    for index, version in enumerate(retained):
        if version in retained[:index]:
            message = f"upgrade.retain names the version {version!r} twice; leave one out"
            yield error(message, rule="KRM131", field=Field(config.at(f"upgrade.retain[{index}]"), version))
    if config.version and config.version in retained:
        message = f"upgrade.retain names the current version {config.version!r}; name earlier ones only"
        yield error(message, rule="KRM131", field=Field(config.at("upgrade.retain")))


def account_can_be_created(config: DeviceConfig) -> Iterator[Result]:
    """KRM132: serviceAccount.create needs a serviceAccountName; its namespace must admit KMM's privileged pods."""
    account: dict[str, Any] = config.spec.get("serviceAccount", {})
    if account.get("create") and not config.spec.get("serviceAccountName"):
        message = "serviceAccount.create needs serviceAccountName, the name to create"
        yield error(message, rule="KRM132", field=Field(config.at("serviceAccountName")))
    level = account.get("podSecurity")
    if account and config.loads and level != "privileged":
        hub = config.spec.get("hub")
        where = f"{hub['spokeNamespace']} on every spoke" if hub else config.ref.namespace
        message = (
            f"KMM's worker pods are privileged: the namespace {where} needs the label "
            "pod-security.kubernetes.io/enforce: privileged (no Namespace is generated); "
            "write podSecurity: privileged here once it has it"
        )
        report = warning if level else info
        yield report(message, rule="KRM132", field=Field(config.at("serviceAccount.podSecurity")))


def rbac_is_where_the_pods_are(config: DeviceConfig) -> Iterator[Result]:
    """KRM138: with hub no rights are generated: they would be on the hub, and the worker pods run on the spokes."""
    hub, account = config.spec.get("hub"), config.spec.get("serviceAccount", {})
    given = [key for key in ("create", "openshift") if account.get(key)]
    if hub and given:
        name = config.spec.get("serviceAccountName") or "of the worker pods"
        message = (
            f"with hub, serviceAccount.{given[0]} would give rights on the hub, and the worker pods run on the spokes; "
            f"leave out {' and '.join(given)} here, and bring the ServiceAccount {name} and its rights into the "
            f"namespace {hub['spokeNamespace']} of every spoke, for example with a ManifestWork"
        )
        yield error(message, rule="KRM138", field=Field(config.at(f"serviceAccount.{given[0]}")))


RULES: tuple[Rule, ...] = (
    namespace_is_given,
    module_name_is_known,
    image_is_known,
    selector_is_deliberate,
    mapping_has_one_matcher,
    fields_exclude_each_other,
    pools_replace_the_selector,
    in_tree_driver_has_a_plugin,
    upgrade_has_a_version,
    account_can_be_created,
    rbac_is_where_the_pods_are,
    *name_rules.RULES,
    *container_rules.RULES,
)
GROUP_RULES = (name_rules.names_do_not_run_together,)
"""Rules about all pools of a config together."""


def check(config: DeviceConfig) -> list[Result]:
    """Return the findings of all rules about one config or pool."""
    return [config.located(result) for rule in RULES for result in rule(config)]


def check_group(configs: Sequence[DeviceConfig]) -> list[Result]:
    """Return the findings about the pools of one config: about each, then about all together."""
    alone = [result for config in configs for result in check(config)]
    together = (pair for rule in GROUP_RULES for pair in rule(configs))
    return alone + [config.located(result) for config, result in together]
