"""Rules about one DeviceConfig that its schema cannot say: one function each, its docstring's first line the rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from krmfn import Result, error, warning
from krmfn.results import Field

from .model import DeviceConfig

Rule = Callable[[DeviceConfig], Iterator[Result]]

_NAME_LIMIT = 63


def namespace_is_given(config: DeviceConfig) -> Iterator[Result]:
    """KRM120: a DeviceConfig names its namespace, since the ready label of its nodes contains it."""
    if not config.ref.namespace:
        message = (
            "has no namespace; write metadata.namespace (or give `render` a --namespace): "
            "it is part of the label that KMM puts on nodes"
        )
        yield error(message, rule="KRM120", field=Field("metadata.namespace"))


def module_name_is_known(config: DeviceConfig) -> Iterator[Result]:
    """KRM121: somebody says which kernel module to load."""
    if config.module_name:
        return
    if config.seed:
        where = (
            "in the functionConfig, spec.defaults.moduleName or a profile's (named by the annotation krmfn.dev/profile)"
        )
    else:
        where = "in spec.moduleName, in the profile, or in the functionConfig's spec.defaults.moduleName"
    yield error(f"the kernel module's name is missing; write it {where}", rule="KRM121", field=Field("spec.moduleName"))


def image_is_known(config: DeviceConfig) -> Iterator[Result]:
    """KRM122: every kernel mapping has an image: its own, or one made from driverImage and driverVersion."""
    if config.image or all(mapping.get("image") for mapping in config.mappings):
        return
    missing = "driverVersion" if config.spec.get("driverImage") else "driverImage"
    why = "driverImage has no tag" if missing == "driverVersion" else "no image is named for the kernel module"
    yield error(f"{missing} is missing: {why}", rule="KRM122", field=Field(f"spec.{missing}"))


def selector_is_deliberate(config: DeviceConfig) -> Iterator[Result]:
    """KRM123: nodeSelector is given; {} means every node and is confirmed with allNodes."""
    field = Field("spec.nodeSelector")
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
        yield error(message, rule="KRM123", field=Field("spec.allNodes"))


def mapping_has_one_matcher(config: DeviceConfig) -> Iterator[Result]:
    """KRM124: a kernel mapping has either regexp or literal."""
    for index, mapping in enumerate(config.mappings):
        given = [key for key in ("regexp", "literal") if key in mapping]
        if len(given) != 1:
            what = "both regexp and literal" if given else "neither regexp nor literal"
            message = f"has {what}; a kernel mapping has one of them"
            yield error(message, rule="KRM124", field=Field(f"spec.kernelMappings[{index}]"))


def daemon_sets_have_names(config: DeviceConfig) -> Iterator[Result]:
    """KRM125: DaemonSets of one config have names of their own that fit into a label value (63 characters)."""
    seen: set[str] = set()
    for index, entry in enumerate(config.daemon_sets):
        field = Field(f"spec.daemonSets[{index}].name", entry["name"])
        if entry["name"] in seen:
            yield error(f"the name {entry['name']!r} stands twice in daemonSets", rule="KRM125", field=field)
        seen.add(entry["name"])
        name = f"{config.ref.name}-{entry['name']}"
        if len(name) > _NAME_LIMIT:
            message = (
                f"the DaemonSet's name {name!r} has {len(name)} characters; at most {_NAME_LIMIT} fit into its label"
            )
            yield error(message, rule="KRM125", field=field)


def mounts_have_volumes(config: DeviceConfig) -> Iterator[Result]:
    """KRM126: every volumeMount names a volume beside it."""
    for path, entry in _containers(config):
        known = [volume["name"] for volume in entry.get("volumes", [])]
        for index, mount in enumerate(entry.get("volumeMounts", [])):
            if mount["name"] not in known:
                message = f"names the volume {mount['name']!r}; volumes beside it: {', '.join(known) or 'none'}"
                yield error(message, rule="KRM126", field=Field(f"{path}.volumeMounts[{index}].name", mount["name"]))


def variables_have_one_source(config: DeviceConfig) -> Iterator[Result]:
    """KRM127: an environment variable has a value or a valueFrom, and stands once."""
    for path, entry in _containers(config):
        seen: set[str] = set()
        for index, variable in enumerate(entry.get("env", [])):
            field = Field(f"{path}.env[{index}]")
            if "value" in variable and "valueFrom" in variable:
                message = f"variable {variable['name']} has both value and valueFrom; leave out one"
                yield error(message, rule="KRM127", field=field)
            if variable["name"] in seen:
                message = f"variable {variable['name']} stands twice; the last one would win"
                yield warning(message, rule="KRM127", field=field)
            seen.add(variable["name"])


def _containers(config: DeviceConfig) -> Iterator[tuple[str, dict[str, Any]]]:
    if "devicePlugin" in config.spec:
        yield "spec.devicePlugin", config.spec["devicePlugin"]
    for index, entry in enumerate(config.daemon_sets):
        yield f"spec.daemonSets[{index}]", entry


RULES: tuple[Rule, ...] = (
    namespace_is_given,
    module_name_is_known,
    image_is_known,
    selector_is_deliberate,
    mapping_has_one_matcher,
    daemon_sets_have_names,
    mounts_have_volumes,
    variables_have_one_source,
)


def check(config: DeviceConfig) -> list[Result]:
    """All findings of all rules about one config."""
    return [config.item.located(result)._replace(ref=config.ref) for rule in RULES for result in rule(config)]
