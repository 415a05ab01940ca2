"""Rules about names that are made from several parts: too long, malformed, or the same for two objects."""

import re
from collections.abc import Iterator, Sequence

from krmfn import Field, Result, error
from krmfn.results import Rule

from . import names
from .model import DeviceConfig
from .rbac import accounts

_LABEL, _NAME = 63, 253
_SERVICE_NAME = r"[a-z]([-a-z0-9]*[a-z0-9])?"


def daemon_sets_have_names(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per DaemonSet whose name stands twice or is too long for its label."""
    seen: set[str] = set()
    for index, entry in enumerate(config.spec.daemonSets):
        if entry.name in seen:
            message = f"the name {entry.name!r} appears twice in daemonSets"
            yield config.error(message, f"daemonSets[{index}].name", entry.name)
        seen.add(entry.name)
    long = [one for one in names.made(config) if one.kind == "DaemonSet" and len(one.name) > _LABEL]
    labelled = [entry for entry in names.entries(config) if entry[2].matchLabels] if long else []
    no_labels = {names.of_daemon_set(one, entry) for one, _, entry in labelled}
    for one in long:
        if one.name not in no_labels:
            remedy = f"{_LABEL} fit into its label, so make a part of it shorter by {len(one.name) - _LABEL}"
            message = f"the DaemonSet's name {one.name!r} has {len(one.name)} characters; {remedy}"
            yield error(message, field=Field(one.field, one.parts[-1][1]))


def adopted_are_one(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per objectName or matchLabels that several DaemonSets would have."""
    entries = config.spec.daemonSets
    for index, entry in enumerate(entries):
        for name in ("objectName", "matchLabels"):
            value, why = getattr(entry, name), "every pool" if config.pool and not config.modules else ""
            if any(getattr(other, name) == value for other in entries[:index]):
                why = "another entry"
            elif names.version_of(config, entry):
                why = "every version of an ordered upgrade"
            if value and why:
                message = f"can apply to only one DaemonSet, but {why} has a DaemonSet of its own; remove it"
                yield config.error(message, f"daemonSets[{index}].{name}")


def pull_secrets_are_beside(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per pull secret with another namespace than the config's: pods take none from elsewhere."""
    for index, entry in enumerate(config.spec.imagePullSecrets):
        namespace = entry.get("namespace", "") if isinstance(entry, dict) else ""
        if namespace not in ("", config.ref.namespace):
            message = f"must be {config.ref.namespace}, the config's: pods take no pull secret from another namespace"
            yield config.error(message, f"imagePullSecrets[{index}].namespace", namespace)


def names_have_their_kind_s_shape(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per name that no Service or RoleBinding can have."""
    has_services = config.retained or any(entry.service for entry in config.spec.daemonSets)
    for one in names.made(config) if has_services else ():
        if one.kind == "Service" and not re.fullmatch(_SERVICE_NAME, one.name):
            what = f"the Service would have the name {one.name!r}, and a Service's name begins with a letter and has no"
            message = f"{what} dots; rename the DeviceConfig, or write a Service of your own and leave this one out"
            yield error(message, field=Field(one.field.removesuffix("name") + "service"))
    for account in accounts(config) if config.has_accounts else ():
        excess = len(f"{account.name}-{account.scc}") - _NAME
        if account.scc and excess > 0:
            what = f"the RoleBinding's name, `<serviceAccountName>-{account.scc}`, has at most {_NAME} characters"
            yield config.error(f"{what}; make serviceAccountName shorter by {excess}", f"{account.path}Name")


def together(configs: Sequence[DeviceConfig]) -> Iterator[Result]:
    """Yield an error, with its place, per two parts of one config that would make one name."""
    first: dict[tuple[str, str], names.Made] = {}
    for at, config in enumerate(configs):
        for name in ("moduleName", "devicePlugin", "dra") if config.modules else ():
            for earlier in configs[:at]:
                if (own := config.fields.get(name)) and own == earlier.fields.get(name):
                    message = f"the Modules {earlier.name} and {config.name} have one {name}; write one for each"
                    yield config.located(config.error(message, name))
        is_alone = len(configs) == 1 and len(config.spec.daemonSets) < 2 and not config.retained
        for one in names.made(config) if not is_alone else ():
            other = first.setdefault((one.kind, one.name), one)
            if one.parts != other.parts:  # the same parts twice are findings of KRM125, KRM129 and KRM131
                message = f"{one} and {other} would both be the {one.kind} {one.name}; change one of the two"
                versions = dict(one.parts).get("version"), dict(other.parts).get("version")
                if versions[0] != versions[1]:
                    message += " (in a name, dots and underscores of a version become dashes, capitals small letters)"
                yield config.located(error(message, field=Field(one.field, one.parts[-1][1])))


OF_NAMES = (
    Rule(
        "KRM125",
        "DaemonSets of a config must have different names, each short enough for a label value (63 characters)",
        good="""\
spec:
  daemonSets:
  - {name: agent, image: "registry.example.com/agent:1.0"}
  - {name: metrics, image: "registry.example.com/metrics:1.0"}
""",
        bad="""\
spec:
  daemonSets:
  - {name: agent, image: "registry.example.com/agent:1.0"}
  - {name: agent, image: "registry.example.com/metrics:1.0"}
""",
        remedy="Rename one of the two, or shorten the part of the name that the finding names.",
        check=daemon_sets_have_names,
    ),
    Rule(
        "KRM136",
        "a generated Service's name must begin with a letter and have no dots; a RoleBinding's must fit into 253 "
        "characters",
        good="""\
metadata: {name: gpu}
spec:
  daemonSets: [{name: metrics, image: "registry.example.com/metrics:1.0", service: {port: 9100}}]
""",
        bad="""\
metadata: {name: 2nd-gpu}
spec:
  daemonSets: [{name: metrics, image: "registry.example.com/metrics:1.0", service: {port: 9100}}]
""",
        remedy="Rename the DeviceConfig, shorten serviceAccountName, or write a Service of your own.",
        check=names_have_their_kind_s_shape,
    ),
    Rule(
        "KRM179",
        "a pull secret must be in the config's namespace",
        good="""\
spec: {imagePullSecrets: [{name: registry, namespace: kmm}]}
""",
        bad="""\
spec: {imagePullSecrets: [{name: registry, namespace: elsewhere}]}
""",
        remedy="Remove the namespace, and keep the Secret beside the config; kustomize adds that of the Secret.",
        check=pull_secrets_are_beside,
    ),
)
RULES = (
    *OF_NAMES,
    Rule(
        "KRM150",
        "objectName and matchLabels must apply to one DaemonSet only, not to several pools, versions or entries",
        good="""\
spec:
  daemonSets:
  - {name: agent, image: "registry.example.com/agent:1.0", objectName: gpu-agent, matchLabels: {app: gpu-agent}}
""",
        bad="""\
spec:
  upgrade: {ordered: true}
  daemonSets:
  - {name: agent, image: "registry.example.com/agent:1.0", objectName: gpu-agent, matchLabels: {app: gpu-agent}}
""",
        remedy="Remove both fields, so that each DaemonSet gets a name and a selector of its own, or write "
        "`perVersion: false` for one DaemonSet of all versions.",
        check=adopted_are_one,
    ),
)
"""The rules about the names of one config or pool; all but the first ones find the same in configs that are alike."""

TOGETHER = Rule(
    "KRM137",
    "pools, DaemonSets and versions of a config must give objects different names (`1.0` and `1-0` give the same)",
    good="""\
spec:
  driverVersion: "1.0"
  upgrade: {ordered: true, retain: ["0.9"]}
  daemonSets: [{name: agent, image: "registry.example.com/agent:1.0"}]
""",
    bad="""\
spec:
  driverVersion: "1.0"
  upgrade: {ordered: true, retain: [1-0]}
  daemonSets: [{name: agent, image: "registry.example.com/agent:1.0"}]
""",
    remedy="Rename one of the two that the finding names, or remove one of the versions.",
    check=together,
)
"""The rule about all pools of a config together: `together`."""
