"""Rules about the driver of a DeviceConfig: which kernel module and images, built and signed how, and its upgrade."""

from collections.abc import Iterator

from krmfn import Field, Result, info
from krmfn.results import Rule

from .layers import is_ours
from .merging import OF_MAPPINGS, of_mapping
from .model import DeviceConfig
from .names import driver_image, entries, named_image, secrets


def module_name_is_known(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error when neither a kernel module nor raw arguments are named."""
    spec = config.spec
    if spec.moduleName or (spec.rawLoadArgs and spec.rawUnloadArgs) or not config.loads:
        return
    where = "spec.moduleName, in the profile, or in the functionConfig's spec.defaults.moduleName"
    if config.seed:
        where = "the functionConfig: spec.defaults.moduleName, or a profile named by the annotation krmfn.dev/profile"
    elif not is_ours(config.item):
        where = f"the Profile {config.profile}, or in the functionConfig's spec.overrides.{config.profile}.moduleName"
    yield config.error(f"the kernel module's name is missing; write it in {where}", "moduleName")


def image_is_known(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error when a kernel mapping has no image."""
    if not config.loads or driver_image(config.spec) or all(mapping.image for mapping in config.mappings):
        return
    upgrade = config.spec.upgrade
    if named_image(config.spec):
        if upgrade and upgrade.ordered:
            return  # a tag would not do: KRM131 asks for driverVersion
        why = "driverImage has no tag; write driverVersion, or give driverImage a tag or a digest"
        yield config.error(f"driverVersion is missing: {why}", "driverVersion")
    else:
        why = "no image is named for the kernel module; write driverImage, or an image in every kernel mapping"
        yield config.error(f"driverImage is missing: {why}", "driverImage")


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
            message = f"{' and '.join(pair)} exclude each other; leave out one of the two"
            if config.layer(first) != config.layer(second):
                message += f" ({second} is in {config.at(second)})"
            yield config.error(message, first)
    if not config.loads and config.version:
        message = "inTreeDriver and upgrade.ordered exclude each other: nothing is loaded, so nothing has a version"
        yield config.error(message, "upgrade.ordered")
    parts = config.spec.driverImageParts
    if parts and parts.tag and parts.digest:
        yield config.error("has both tag and digest; a digest alone says which image it is", "driverImageParts")


def in_tree_driver_has_a_plugin(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error when nothing is loaded and nothing else would run."""
    if not config.has_module and not config.spec.daemonSets:
        message = "inTreeDriver loads nothing, and there is no devicePlugin, dra or daemonSets: nothing would run"
        yield config.error(message, "inTreeDriver")


def upgrade_has_a_version(config: DeviceConfig) -> Iterator[Result]:
    """Yield errors for an ordered upgrade without a version, and for versions that cannot be retained."""
    upgrade = config.spec.upgrade
    if upgrade is None:
        return
    if upgrade.ordered and not config.version:
        message = "upgrade.ordered needs driverVersion: it becomes the Module's version and a label of its nodes"
        yield config.error(message, "driverVersion")
    if upgrade.retain and not upgrade.ordered:
        message = "upgrade.retain keeps DaemonSets of earlier versions, which only upgrade.ordered has"
        yield config.error(message, "upgrade.retain")
    for index, version in enumerate(upgrade.retain):
        if version in upgrade.retain[:index]:
            message = f"upgrade.retain names the version {version!r} twice; leave one out"
            yield config.error(message, f"upgrade.retain[{index}]", version)
    if config.version and config.version in upgrade.retain:
        message = f"upgrade.retain names the current version {config.version!r}; name earlier ones only"
        yield config.error(message, "upgrade.retain")


def module_takes_one_pull_secret(config: DeviceConfig) -> Iterator[Result]:
    """Yield what becomes of several pull secrets, and an error for one that stands twice."""
    names = [secret["name"] for secret in secrets(config.spec)] if config.spec.imagePullSecrets else []
    for index, name in enumerate(names):
        if name in names[:index]:
            message = f"imagePullSecrets names {name!r} twice; leave one out"
            yield config.error(message, f"imagePullSecrets[{index}]", name)
    if len(names) > 1 and entries(config):
        what = f"a KMM Module takes one pull secret: the Module gets the first, {names[0]}, which has to pull the"
        message = f"{what} images of the kernel module and of the device plugin; the DaemonSets get all"
        yield info(message, field=Field(config.at("imagePullSecrets")))


def mapping_has_one_matcher(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per kernel mapping with both matchers or none."""
    for index, mapping in enumerate(config.mappings):
        if bool(mapping.regexp) == bool(mapping.literal):
            what = "both regexp and literal" if mapping.regexp else "neither regexp nor literal"
            yield config.error(f"has {what}; a kernel mapping has one of them", f"kernelMappings[{index}]")


def builds_and_signs_are_whole(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per key, certificate or Dockerfile that is missing where an image is signed or built."""
    for name, keys in OF_MAPPINGS.items():
        shared = getattr(config.spec, name)
        own = [(f"kernelMappings[{at}].{name}", getattr(one, name)) for at, one in enumerate(config.mappings)]
        for path, fields in [(name, shared), *((path, of_mapping(one, shared, name)) for path, one in own)]:
            missing = [key for key in keys if key not in fields] if fields else []
            if missing and (path == name or not shared):
                message = f"needs {' and '.join(missing)}; write {name} with them, or `enabled: false` in it for none"
                yield config.error(message, path)


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
    Rule(
        "KRM124",
        "a kernel mapping must have either regexp or literal",
        good="""\
spec:
  kernelMappings:
  - {literal: 5.14.0-503.el9.x86_64}
  - {regexp: '^.*\\.el9\\..*$'}
""",
        bad="""\
spec:
  kernelMappings:
  - {literal: 5.14.0-503.el9.x86_64, regexp: '^.*\\.el9\\..*$'}
""",
        remedy="Remove one of the two, or write two mappings.",
        check=mapping_has_one_matcher,
    ),
    Rule(
        "KRM177",
        "sign must have keySecret and certSecret, build must have dockerfileConfigMap; a kernel mapping takes them "
        "from those of the config",
        good="""\
spec:
  sign: {keySecret: {name: key}, certSecret: {name: certificate}}
  kernelMappings: [{regexp: ^.+$, sign: {filesToSign: [/opt/lib/modules/gpu.ko], unsignedImage: "example.com/gpu:1"}}]
""",
        bad="""\
spec:
  kernelMappings: [{regexp: ^.+$, sign: {filesToSign: [/opt/lib/modules/gpu.ko], unsignedImage: "example.com/gpu:1"}}]
""",
        remedy="Write the Secrets or the ConfigMap, or switch the field off with `enabled: false`.",
        check=builds_and_signs_are_whole,
    ),
)
"""The rules about the driver of one config or pool."""
