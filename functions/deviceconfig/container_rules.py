"""Rules about the containers of a DeviceConfig: device plugin, DRA driver and DaemonSets."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from krmfn import Field, Result, warning
from krmfn.typed import Any

from .. import oracles
from ..rule import Rule
from .fields import Container
from .model import DeviceConfig
from .names import device_volumes, plugins


def mounts_have_volumes(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per volumeMount without a volume."""
    for path, entry, volumes in containers(config):
        known = [volume["name"] for volume in volumes]
        for index, mount in enumerate(entry.volumeMounts):
            if mount["name"] not in known:
                named = ", ".join(known) or "none"
                message = f"names the volume {mount['name']!r}, but the volumes are: {named}"
                yield config.error(
                    message, f"{path}.volumeMounts[{index}].name", mount["name"], remedy="add it to volumes"
                )


def variables_have_one_source(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per variable with two sources, and a warning per variable that appears twice."""
    for path, entry, _ in containers(config):
        seen: set[str] = set()
        for index, variable in enumerate(entry.env):
            name, field = variable["name"], f"{path}.env[{index}]"
            if "value" in variable and "valueFrom" in variable:
                yield config.error(f"variable {name} has both value and valueFrom", field, remedy="leave out one")
            if name in seen:
                message = f"variable {name} appears twice, and the last one would win"
                yield warning(message, field=Field(config.at(field)), remedy="leave out one")
            seen.add(name)


def containers_have_one_image(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per container with no image or with two."""
    for path, entry, _ in containers(config):
        parts = entry.imageParts
        if bool(entry.image) == bool(parts):
            mistake = "has both image and imageParts" if parts else "has no image"
            remedy = "leave out one" if parts else "write image, or imageParts"
            yield config.error(mistake, f"{path}.image", remedy=remedy)
        if parts and parts.tag and parts.digest:
            message = "has both tag and digest, and a digest alone says which image it is"
            yield config.error(message, f"{path}.imageParts", remedy="leave out the tag")


def privileged_is_given_once(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per container whose privileged and securityContext.privileged contradict each other."""
    for path, entry, _ in containers(config):
        privileged, context = getattr(entry, "privileged", None), getattr(entry, "securityContext", None) or {}
        if privileged is not None and context.get("privileged") is (not privileged):
            message = "contradicts securityContext.privileged beside it"
            yield config.error(message, f"{path}.privileged", privileged, remedy="leave out one of the two")


def sources_are_single(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per envFrom with no source or with two, and per volumeMount with subPath and subPathExpr."""
    for path, entry, _ in containers(config):
        for index, source in enumerate(getattr(entry, "envFrom", ())):
            if ("configMapRef" in source) == ("secretRef" in source):
                sources = "both configMapRef and secretRef" if "secretRef" in source else "no source"
                yield config.error(
                    f"names {sources}", f"{path}.envFrom[{index}]", remedy="write configMapRef or secretRef"
                )
        for index, mount in enumerate(entry.volumeMounts):
            if "subPath" in mount and "subPathExpr" in mount:
                yield config.error(
                    "has both subPath and subPathExpr", f"{path}.volumeMounts[{index}]", remedy="leave out one"
                )


def names_are_different(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per container, volume, port or device class whose name is taken, and per path mounted twice."""
    for path, key, entries, users in _named_lists(config):
        seen: set[str] = set()
        for index, entry in enumerate(entries):
            name = entry.get(key, "")
            if name and (name in seen or name in users):
                mistake = "appears twice" if name in seen else f"is already used by {users[name]}"
                yield config.error(
                    f"the {key} {name!r} {mistake}", f"{path}[{index}].{key}", name, remedy="choose another"
                )
            seen.add(name)


def _named_lists(config: DeviceConfig) -> Iterator[tuple[str, str, Iterable[dict[str, Any]], Mapping[str, str]]]:
    """Yield each list of named entries: its path, the key of the names, the entries, and users of further names."""
    for field, plugin in plugins(config):
        yield f"{field}.volumes", "name", plugin.volumes, {}
        yield f"{field}.deviceClasses", "name", getattr(plugin, "deviceClasses", ()), {}
    for index, entry in enumerate(config.spec.daemonSets):
        path, main = f"daemonSets[{index}]", {entry.containerName or entry.name: "the main container"}
        yield f"{path}.initContainers", "name", map(vars, entry.initContainers), main
        users = main | dict.fromkeys((init.name for init in entry.initContainers), "an init container")
        yield f"{path}.containers", "name", map(vars, entry.containers), users
        devices = {name: f"the host device {device}" for device, name in device_volumes(entry).items()}
        yield f"{path}.volumes", "name", entry.volumes, devices
    for path, container, _ in containers(config):
        yield f"{path}.ports", "name", getattr(container, "ports", ()), {}
        devices = dict.fromkeys(getattr(container, "hostDevices", ()), "a host device")
        yield f"{path}.volumeMounts", "mountPath", container.volumeMounts, devices


def containers(config: DeviceConfig) -> Iterator[tuple[str, Container, Sequence[dict[str, Any]]]]:
    """Yield each container: its path, its fields, and the volumes that it can mount."""
    for field, plugin in plugins(config):
        yield field, plugin, plugin.volumes
        if plugin.initContainer:
            yield f"{field}.initContainer", plugin.initContainer, plugin.volumes
    for index, entry in enumerate(config.spec.daemonSets):
        path = f"daemonSets[{index}]"
        yield path, entry, entry.volumes
        for number, init in enumerate(entry.initContainers):
            yield f"{path}.initContainers[{number}]", init, entry.volumes
        for number, sidecar in enumerate(entry.containers):
            yield f"{path}.containers[{number}]", sidecar, entry.volumes


RULES = (
    Rule(
        "KRM126",
        "a volumeMount must name a volume that is defined beside it",
        good="""\
spec:
  devicePlugin:
    image: registry.example.com/plugin:1.0
    volumes: [{name: dev, hostPath: {path: /dev}}]
    volumeMounts: [{name: dev, mountPath: /dev}]
""",
        bad="""\
spec:
  devicePlugin:
    image: registry.example.com/plugin:1.0
    volumeMounts: [{name: dev, mountPath: /dev}]
""",
        remedy="Add the volume to `volumes`, or correct the name.",
        held=oracles.KUBERNETES_PODS,
        check=mounts_have_volumes,
    ),
    Rule(
        "KRM127",
        "an environment variable must have either value or valueFrom, and should appear only once",
        good="""\
spec:
  devicePlugin:
    image: registry.example.com/plugin:1.0
    env: [{name: LEVEL, value: debug}]
""",
        bad="""\
spec:
  devicePlugin:
    image: registry.example.com/plugin:1.0
    env: [{name: LEVEL, value: info}, {name: LEVEL, value: debug}]
""",
        remedy="Remove one of the two.",
        held=oracles.KUBERNETES_PODS,
        check=variables_have_one_source,
        severities=("warning", "error"),
        advice=True,
    ),
    Rule(
        "KRM133",
        "a container must have an image: one string, or parts with a tag or a digest",
        good="""\
spec:
  daemonSets:
  - {name: agent, imageParts: {repository: agent, tag: "1.0"}}
""",
        bad="""\
spec:
  daemonSets:
  - {name: agent}
""",
        remedy="Write either image, or imageParts with a tag or a digest.",
        held=oracles.KUBERNETES_PODS,
        check=containers_have_one_image,
    ),
    Rule(
        "KRM145",
        "privileged and securityContext.privileged must not contradict each other",
        good="""\
spec:
  daemonSets:
  - {name: agent, image: "registry.example.com/agent:1.0", privileged: true}
""",
        bad="""\
spec:
  daemonSets:
  - {name: agent, image: "registry.example.com/agent:1.0", privileged: true, securityContext: {privileged: false}}
""",
        remedy="Remove one of the two.",
        held=oracles.KUBERNETES_PODS,
        check=privileged_is_given_once,
    ),
    Rule(
        "KRM134",
        "an envFrom must name one source, and a volumeMount must not have both subPath and subPathExpr",
        good="""\
spec:
  daemonSets:
  - name: agent
    image: registry.example.com/agent:1.0
    envFrom: [{configMapRef: {name: settings}}, {secretRef: {name: token}}]
""",
        bad="""\
spec:
  daemonSets:
  - name: agent
    image: registry.example.com/agent:1.0
    envFrom: [{configMapRef: {name: settings}, secretRef: {name: token}}]
""",
        remedy="Write only one of the two, or write two entries.",
        held=oracles.KUBERNETES_PODS,
        check=sources_are_single,
    ),
    Rule(
        "KRM135",
        "containers, volumes, ports and device classes must have different names, and volumeMounts different paths",
        good="""\
spec:
  daemonSets:
  - name: agent
    image: registry.example.com/agent:1.0
    initContainers: [{name: wait, image: "registry.example.com/wait:1.0"}]
""",
        bad="""\
spec:
  daemonSets:
  - name: agent
    image: registry.example.com/agent:1.0
    initContainers: [{name: agent, image: "registry.example.com/wait:1.0"}]
""",
        remedy="Rename one of the two.",
        held=oracles.KUBERNETES_PODS,
        check=names_are_different,
    ),
)
"""The rules about the containers of one config or pool."""
