"""Rules about names that are made from several parts: too long, malformed, or the same for two objects."""

from collections.abc import Iterator, Sequence

from krmfn import Field, Result, error
from krmfn.resource import join

from .. import oracles
from ..kmm.names import is_service_name
from ..rule import Rule
from . import names
from .model import DeviceConfig
from .rbac import accounts

_LABEL, _NAME = 63, 253


def daemon_sets_have_names(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per DaemonSet whose name appears twice or is too long for its label."""
    seen: set[str] = set()
    for index, entry in enumerate(config.spec.daemonSets):
        if entry.name in seen:
            message = f"the name {entry.name!r} appears twice in daemonSets"
            yield config.error(message, f"daemonSets[{index}].name", entry.name, "rename one of the two")
        seen.add(entry.name)
    long_names = [name for name in names.object_names(config) if name.kind == "DaemonSet" and len(name.text) > _LABEL]
    rows = names.entries(config) if long_names else []
    adopted_names = {names.daemon_set_name(versioned, entry) for versioned, _, entry in rows if entry.matchLabels}
    for name in long_names:
        if name.text not in adopted_names:  # their labels are written, not made from the name
            message = (
                f"the DaemonSet's name {name.text!r} has {len(name.text)} characters, and {_LABEL} fit into its label"
            )
            remedy = f"make a part of it shorter by {len(name.text) - _LABEL}"
            yield error(message, field=Field(name.field, name.parts[-1][1]), remedy=remedy)


def adopted_names_are_single(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per objectName or matchLabels that several DaemonSets would have."""
    entries = config.spec.daemonSets
    for index, entry in enumerate(entries):
        for name in ("objectName", "matchLabels"):
            value, others = getattr(entry, name), "every pool" if config.pool and not config.modules else ""
            if any(getattr(other, name) == value for other in entries[:index]):
                others = "another entry"
            elif names.version_of(config, entry):
                others = "every version of an ordered upgrade"
            if value and others:
                message = f"can apply to only one DaemonSet, but {others} has a DaemonSet of its own"
                yield config.error(message, f"daemonSets[{index}].{name}", remedy="remove it")


def labels_are_those_of_the_selector(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per label of pods that has another value in the matchLabels of the entry."""
    for index, entry in enumerate(config.spec.daemonSets):
        for key, value in (entry.matchLabels or {}).items():
            written = (entry.podLabels or {}).get(key, value)
            if written != value:
                message = f"is {written!r}, but matchLabels asks for {value!r}, which the pods get"
                yield config.error(message, f"daemonSets[{index}].{join(('podLabels', key))}", remedy="write it once")


def pull_secrets_are_in_the_namespace(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per pull secret in another namespace than the config's: pods take none from elsewhere."""
    for index, entry in enumerate(config.spec.imagePullSecrets):
        namespace = entry.get("namespace", "") if isinstance(entry, dict) else ""
        if namespace not in ("", config.ref.namespace):
            message = f"must be {config.ref.namespace}, the config's: pods take no pull secret from another namespace"
            field = f"imagePullSecrets[{index}].namespace"
            yield config.error(message, field, namespace, "remove the namespace, and keep the Secret beside the config")


def names_fit_their_kind(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per name that no Service or RoleBinding can have."""
    has_services = config.retained or any(entry.service for entry in config.spec.daemonSets)
    for name in names.object_names(config) if has_services else ():
        if name.kind == "Service" and not is_service_name(name.text):
            remedy = "rename the DeviceConfig, or write a Service of your own and leave this one out"
            message = f"the Service would have the name {name.text!r}"
            shape = "a Service's name begins with a letter, and has no dots and at most 63 characters"
            field = Field(name.field.removesuffix("name") + "service")
            yield error(f"{message}; {shape}", field=field, remedy=remedy)
    for account in accounts(config) if config.has_accounts else ():
        excess = len(f"{account.name}-{account.scc}") - _NAME
        if account.scc and excess > 0:
            limit = f"the RoleBinding's name, `<serviceAccountName>-{account.scc}`, has at most {_NAME} characters"
            yield config.error(limit, f"{account.path}Name", remedy=f"make serviceAccountName shorter by {excess}")


def pools_have_different_names(configs: Sequence[DeviceConfig]) -> Iterator[Result]:
    """Yield an error, with its place, per two parts of one config that would make one name."""
    known: dict[tuple[str, str], names.ObjectName] = {}
    for index, config in enumerate(configs):
        for field in ("moduleName", "devicePlugin", "dra") if config.modules else ():
            value = config.fields.get(field)
            for earlier in configs[:index] if value else ():
                if value == earlier.fields.get(field):
                    message = f"the Modules {earlier.name} and {config.name} have one {field}"
                    yield config.located(config.error(message, field, remedy="write one for each"))
        is_alone = len(configs) == 1 and len(config.spec.daemonSets) < 2 and not config.retained
        for name in names.object_names(config) if not is_alone else ():
            other = known.setdefault((name.kind, name.text), name)
            if name.parts != other.parts:  # the same parts twice are findings of KRM125, KRM129 and KRM131
                message = f"{name} and {other} would both be the {name.kind} {name.text}"
                remedy = "change one of the two"
                if dict(name.parts).get("version") != dict(other.parts).get("version"):
                    remedy += " (in a name, dots and underscores of a version become dashes, capitals small letters)"
                written = Field(name.field, name.parts[-1][1])
                yield config.located(error(message, field=written, remedy=remedy))


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
        held=oracles.KUBERNETES_LABELS,
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
        held=oracles.KUBERNETES_LABELS,
        check=names_fit_their_kind,
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
        held=oracles.OUR_KINDS,
        check=pull_secrets_are_in_the_namespace,
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
        held=oracles.OUR_KINDS,
        check=adopted_names_are_single,
    ),
    Rule(
        "KRM192",
        "a label in podLabels must not have another value than in matchLabels: the pods get that of matchLabels",
        good="""\
spec:
  daemonSets:
  - {name: agent, image: "registry.example.com/agent:1.0", matchLabels: {app: agent}, podLabels: {part: agent}}
""",
        bad="""\
spec:
  daemonSets:
  - {name: agent, image: "registry.example.com/agent:1.0", matchLabels: {app: agent}, podLabels: {app: metrics}}
""",
        remedy="Write the label in one of the two, or with the same value.",
        held=oracles.OUR_KINDS,
        check=labels_are_those_of_the_selector,
    ),
)
"""The rules about names of one config or pool; those beside OF_NAMES find the same in configs of one fingerprint."""

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
    held=oracles.OUR_KINDS,
    check=pools_have_different_names,
)
"""The rule about all pools of a config."""
