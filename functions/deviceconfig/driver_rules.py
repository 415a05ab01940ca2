"""Rules about the driver of a DeviceConfig: the kernel module, its image, upgrades."""

from collections.abc import Iterator

from krmfn import Field, Result, info

from .. import oracles
from ..kmm.module import ready_label
from ..rule import Rule
from .layers import is_ours
from .model import DeviceConfig
from .names import driver_image, entries, named_image, secrets


def module_name_is_known(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error when neither a kernel module nor raw arguments are named."""
    spec = config.spec
    if spec.moduleName or (spec.rawLoadArgs and spec.rawUnloadArgs) or not config.loads:
        return
    remedy = "spec.moduleName, in the profile, or in the functionConfig's spec.defaults.moduleName"
    if config.seed:
        remedy = "the functionConfig: spec.defaults.moduleName, or a profile named by the annotation krmfn.dev/profile"
    elif not is_ours(config.item):
        remedy = f"the Profile {config.profile}, or in the functionConfig's spec.overrides.{config.profile}.moduleName"
    yield config.error("the kernel module's name is missing", "moduleName", remedy=f"write it in {remedy}")


def image_is_known(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error when a kernel mapping has no image."""
    if not config.loads or driver_image(config.spec) or all(mapping.image for mapping in config.mappings):
        return
    upgrade = config.spec.upgrade
    if not named_image(config.spec):
        message = "driverImage is missing: no image is named for the kernel module"
        remedy = "write driverImage, or an image in every kernel mapping"
        yield config.error(message, "driverImage", remedy=remedy)
    elif not (upgrade and upgrade.ordered):  # with these KRM131 asks for driverVersion, and a tag would not help
        remedy = "write driverVersion, or give driverImage a tag or a digest"
        yield config.error("driverVersion is missing: driverImage has no tag", "driverVersion", remedy=remedy)


_EXCLUSIVE = (
    *(("driverImage", "driverImageParts"), ("imagePullSecret", "imagePullSecrets"), ("devicePlugin", "dra")),
    *(("inTreeDriver", name) for name in ("driverImage", "driverImageParts", "kernelMappings", "hub")),
    *(("hub", "daemonSets"), ("moduleName", "rawLoadArgs"), ("moduleName", "rawUnloadArgs")),
)


def fields_exclude_each_other(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per pair of fields that exclude each other."""
    order = [*config.layers, None]  # the strongest first
    for pair in _EXCLUSIVE:
        if all(getattr(config.spec, name) for name in pair):
            first, second = sorted(pair, key=lambda name: order.index(config.layer(name)))
            message = f"{' and '.join(pair)} exclude each other"
            if config.layer(first) != config.layer(second):
                message += f" ({second} is in {config.at(second)})"
            yield config.error(message, first, remedy=_way_out(config, pair))
    if not config.loads and config.version:
        message = "inTreeDriver and upgrade.ordered exclude each other: nothing is loaded, so nothing has a version"
        yield config.error(message, "upgrade.ordered", remedy="remove one of the two")
    parts = config.spec.driverImageParts
    if parts and parts.tag and parts.digest:
        message = "has both tag and digest, and a digest alone says which image it is"
        yield config.error(message, "driverImageParts", remedy="leave out the tag")


def _way_out(config: DeviceConfig, pair: tuple[str, str]) -> str:
    """Return what to do about two fields that exclude each other."""
    hub = config.spec.hub
    if pair != ("hub", "daemonSets") or hub is None:
        return "leave out one of the two"
    label = ready_label(hub.spokeNamespace, config.name)
    return f"a hub brings Modules alone: deploy the DaemonSets on each spoke, with the nodeSelector {label}"


def in_tree_driver_has_a_plugin(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error when nothing is loaded and nothing else would run."""
    if not config.has_module and not config.spec.daemonSets:
        message = "inTreeDriver loads nothing, and there is no devicePlugin, dra or daemonSets: nothing would run"
        yield config.error(message, "inTreeDriver", remedy="write one of the three, or remove inTreeDriver")


def upgrade_has_a_version(config: DeviceConfig) -> Iterator[Result]:
    """Yield errors for an ordered upgrade without a version, and for versions that cannot be retained."""
    upgrade = config.spec.upgrade
    if upgrade is None:
        return
    if upgrade.ordered and not config.version:
        message = "upgrade.ordered needs driverVersion: it becomes the Module's version and a label of its nodes"
        yield config.error(message, "driverVersion", remedy="write driverVersion")
    if upgrade.retain and not upgrade.ordered:
        message = "upgrade.retain keeps DaemonSets of earlier versions, which only upgrade.ordered has"
        remedy = "write `ordered: true` beside it, or remove it"
        yield config.error(message, "upgrade.retain", remedy=remedy)
    for index, version in enumerate(upgrade.retain):
        if version in upgrade.retain[:index]:
            message = f"upgrade.retain names the version {version!r} twice"
            yield config.error(message, f"upgrade.retain[{index}]", version, remedy="leave one out")
    if config.version and config.version in upgrade.retain:
        message = f"upgrade.retain names the current version {config.version!r}"
        yield config.error(message, "upgrade.retain", remedy="name earlier ones only")


def module_takes_one_pull_secret(config: DeviceConfig) -> Iterator[Result]:
    """Yield an info about which of several pull secrets is used where, and an error for one that appears twice."""
    names = [secret["name"] for secret in secrets(config.spec)] if config.spec.imagePullSecrets else []
    for index, name in enumerate(names):
        if name in names[:index]:
            message = f"imagePullSecrets names {name!r} twice"
            yield config.error(message, f"imagePullSecrets[{index}]", name, "leave one out")
    if len(names) > 1 and entries(config):
        message = (
            f"a KMM Module takes one pull secret, so the Module gets the first, {names[0]}; the DaemonSets get all"
        )
        remedy = "let the first one pull the images of the kernel module and of the device plugin"
        yield info(message, field=Field(config.at("imagePullSecrets")), remedy=remedy)


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
        held=oracles.OUR_KINDS,
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
        held=oracles.OUR_KINDS,
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
        held=oracles.OUR_KINDS,
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
        held=oracles.OUR_KINDS,
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
        held=oracles.OUR_KINDS,
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
        held=oracles.MODULE_CONTROLLER,
        check=module_takes_one_pull_secret,
        severities=("info", "error"),
        advice=True,
    ),
)
"""The rules about the driver of one config or pool."""
