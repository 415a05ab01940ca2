"""Rules about the driver of a DeviceConfig: which kernel module and image, and how it is upgraded."""

from __future__ import annotations

from collections.abc import Iterator

from krmfn import Field, Result, error, info
from krmfn.rule import Rule

from .model import DeviceConfig
from .module import secrets
from .names import entries


def module_name_is_known(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error when neither a kernel module nor raw arguments are named."""
    spec = config.spec
    if spec.moduleName or (spec.rawLoadArgs and spec.rawUnloadArgs) or not config.loads:
        return
    if config.seed:
        where = (
            "in the functionConfig: spec.defaults.moduleName, or a profile named by the annotation krmfn.dev/profile"
        )
    else:
        where = "in spec.moduleName, in the profile, or in the functionConfig's spec.defaults.moduleName"
    yield error(f"the kernel module's name is missing; write it {where}", field=Field("spec.moduleName"))


def image_is_known(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error when a kernel mapping has no image."""
    if not config.loads or config.image or all(mapping.image for mapping in config.mappings):
        return
    named = config.spec.driverImage or config.spec.driverImageParts
    missing = "driverVersion" if named else "driverImage"
    why = (
        "driverImage has no tag; write driverVersion, or give driverImage a tag or a digest"
        if named
        else "no image is named for the kernel module; write driverImage, or an image in every kernel mapping"
    )
    yield error(f"{missing} is missing: {why}", field=Field(config.at(missing)))


_EXCLUSIVE = (
    ("driverImage", "driverImageParts"),
    ("imagePullSecret", "imagePullSecrets"),
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
    """Yield an error per pair of fields that exclude each other."""
    for one, other in _EXCLUSIVE:
        if getattr(config.spec, one) and getattr(config.spec, other):
            first, second = config.strongest(one, other)
            message = f"{one} and {other} exclude each other; leave out one of the two"
            if config.layer(first) != config.layer(second):
                message += f" ({second} is in {config.at(second)})"
            yield error(message, field=Field(config.at(first)))
    if not config.loads and config.version:
        message = "inTreeDriver and upgrade.ordered exclude each other: nothing is loaded, so nothing has a version"
        yield error(message, field=Field(config.at("upgrade.ordered")))
    parts = config.spec.driverImageParts
    if parts and parts.tag and parts.digest:
        message = "has both tag and digest; a digest alone says which image it is"
        yield error(message, field=Field(config.at("driverImageParts")))


def in_tree_driver_has_a_plugin(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error when nothing is loaded and nothing else would run."""
    if not config.loads and not config.has_module and not config.spec.daemonSets:
        message = "inTreeDriver loads nothing, and there is no devicePlugin, dra or daemonSets: nothing would run"
        yield error(message, field=Field(config.at("inTreeDriver")))


def upgrade_has_a_version(config: DeviceConfig) -> Iterator[Result]:
    """Yield errors for an ordered upgrade without a version, and for versions that cannot be retained."""
    upgrade = config.spec.upgrade
    if upgrade is None:
        return
    if upgrade.ordered and not config.version:
        message = "upgrade.ordered needs driverVersion: it becomes the Module's version and a label of its nodes"
        yield error(message, field=Field(config.at("driverVersion")))
    if upgrade.retain and not upgrade.ordered:
        message = "upgrade.retain keeps DaemonSets of earlier versions, which only upgrade.ordered has"
        yield error(message, field=Field(config.at("upgrade.retain")))
    for index, version in enumerate(upgrade.retain):
        if version in upgrade.retain[:index]:
            message = f"upgrade.retain names the version {version!r} twice; leave one out"
            yield error(message, field=Field(config.at(f"upgrade.retain[{index}]"), version))
    if config.version and config.version in upgrade.retain:
        message = f"upgrade.retain names the current version {config.version!r}; name earlier ones only"
        yield error(message, field=Field(config.at("upgrade.retain")))


def module_takes_one_pull_secret(config: DeviceConfig) -> Iterator[Result]:
    """Yield what becomes of several pull secrets, and an error for one that stands twice."""
    names = [one["name"] for one in secrets(config.spec)] if config.spec.imagePullSecrets else []
    for index, name in enumerate(names):
        if name in names[:index]:
            message = f"imagePullSecrets names {name!r} twice; leave one out"
            yield error(message, field=Field(config.at(f"imagePullSecrets[{index}]"), name))
    if len(names) > 1 and entries(config):
        message = (
            f"a KMM Module takes one pull secret: the Module gets the first, {names[0]}, "
            "which has to pull the images of the kernel module and of the device plugin; the DaemonSets get all"
        )
        yield info(message, field=Field(config.at("imagePullSecrets")))


RULES = (
    Rule(
        "KRM121",
        "a config must name the kernel module to load, or how to load it (rawLoadArgs and rawUnloadArgs)",
        good="""\
spec: {moduleName: gpu}
""",
        bad="""\
spec: {moduleName: null}
""",
        remedy="Write moduleName in the config, in its profile, or in `spec.defaults` of the functionConfig.",
        check=module_name_is_known,
    ),
    Rule(
        "KRM122",
        "a kernel mapping must have an image: its own, or one built from driverImage and driverVersion",
        good="""\
spec: {driverImage: registry.example.com/gpu, driverVersion: "1.0"}
""",
        bad="""\
spec: {driverImage: registry.example.com/gpu, driverVersion: null}
""",
        remedy="Write driverImage and driverVersion, a driverImage with a tag or a digest, or an image in every kernel "
        "mapping.",
        check=image_is_known,
    ),
    Rule(
        "KRM128",
        "fields that contradict each other must not be set together",
        good="""\
spec: {driverImage: null, driverImageParts: {registry: registry.example.com, repository: gpu}}
""",
        bad="""\
spec: {driverImage: registry.example.com/gpu, driverImageParts: {repository: gpu}}
""",
        remedy="Remove the field that is not intended.",
        check=fields_exclude_each_other,
    ),
    Rule(
        "KRM130",
        "a config with inTreeDriver must have a devicePlugin, dra or daemonSets, since it loads no driver",
        good="""\
spec:
  inTreeDriver: true
  driverImage: null
  driverVersion: null
  devicePlugin: {image: "registry.example.com/plugin:1.0"}
""",
        bad="""\
spec:
  inTreeDriver: true
  driverImage: null
  driverVersion: null
""",
        remedy="Write devicePlugin, dra or daemonSets, or remove inTreeDriver, so that a driver is loaded.",
        check=in_tree_driver_has_a_plugin,
    ),
    Rule(
        "KRM131",
        "an ordered upgrade must have a driverVersion, and must list each version to retain once, without the current "
        "one",
        good="""\
spec: {driverImage: "registry.example.com/gpu:1.0", driverVersion: "1.0", upgrade: {ordered: true}}
""",
        bad="""\
spec: {driverImage: "registry.example.com/gpu:1.0", driverVersion: null, upgrade: {ordered: true}}
""",
        remedy="Write driverVersion; list each earlier version once in `upgrade.retain`, and remove the current one.",
        check=upgrade_has_a_version,
    ),
    Rule(
        "KRM162",
        "a config should have one pull secret: of several, the Module gets the first, and the DaemonSets get all",
        good="""\
spec: {imagePullSecrets: [registry]}
""",
        bad="""\
spec:
  imagePullSecrets: [registry, metrics]
  daemonSets: [{name: agent, image: "registry.example.com/agent:1.0"}]
""",
        remedy="Put the Secret that pulls the kernel module's image first, then turn the rule off: a KMM Module takes "
        "only one Secret.",
        check=module_takes_one_pull_secret,
        severities=("info", "error"),
        advice=True,
    ),
)
"""The rules about the driver of one config or pool."""
