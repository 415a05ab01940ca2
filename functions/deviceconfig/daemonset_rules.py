"""Rules about entries of daemonSets: the Services in front of their pods, and the fields of podSpec."""

from collections.abc import Iterator

from krmfn import Field, Result, info
from krmfn.resource import join
from krmfn.typed import Any

from .. import oracles
from ..rule import Rule
from .daemonsets import POD
from .fields import Service
from .model import DeviceConfig

_NAMED = {
    "containers": "the fields of the entry itself for its main container, and `containers` for further ones",
    "volumes": "`volumes`, and `hostDevices`",
    "imagePullSecrets": "`imagePullSecrets` of the whole config",
    "serviceAccount": "`serviceAccountName`",
    "priority": "`priorityClassName`",
    **{name: f"`{name}`" for name in ("initContainers", "nodeSelector", "tolerations", "serviceAccountName", *POD)},
}
"""Fields of a PodSpec that an entry has under another name, with that name."""
_IN_THE_WAY = {
    "nodeName": "it bypasses the scheduler, which waits for the label of a loaded kernel module",
    "restartPolicy": "a DaemonSet's pods always restart",
    "activeDeadlineSeconds": "a DaemonSet's pods do not end",
    "ephemeralContainers": "only a running pod has them",
}
"""Fields of a PodSpec that no generated DaemonSet can have, with the reason."""


def pod_specs_conflict_with_nothing(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per field of a podSpec that the config has elsewhere, or that conflicts with what is generated."""
    for index, entry in enumerate(config.spec.daemonSets):
        for name in entry.podSpec or {}:
            path = f"daemonSets[{index}].{join(('podSpec', name))}"
            if name in _NAMED:
                yield config.error("has its own place in the config", path, remedy=f"write {_NAMED[name]}")
            elif name in _IN_THE_WAY:
                yield config.error(f"cannot be set: {_IN_THE_WAY[name]}", path)


def pod_specs_have_their_structure(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per part of a podSpec that the API server would refuse or drop."""
    for index, entry in enumerate(config.spec.daemonSets):
        if entry.podSpec:
            from ..pods import structure  # here: hardly any config has a podSpec

            rest = {name: value for name, value in entry.podSpec.items() if name not in (*_NAMED, *_IN_THE_WAY)}
            for path, mistake in structure.check(rest):
                field = f"daemonSets[{index}].{join(('podSpec', *path))}"
                yield config.error(mistake.message, field, remedy=mistake.remedy)


def pod_templates_are_kept_for_a_while(config: DeviceConfig) -> Iterator[Result]:
    """Yield an info per entry with keepPodTemplate whose pods do not select all labels of the config's nodes."""
    for index, entry in enumerate(config.spec.daemonSets):
        missing = {*(config.spec.nodeSelector or {})} - {*(entry.nodeSelector or {})}
        if entry.keepPodTemplate and missing:
            message = (
                f"its pods do not ask for {min(missing)}, as the config does, so they stay on a node that loses it, "
                "and nothing is unloaded there"
            )
            yield info(
                message,
                field=Field(config.at(f"daemonSets[{index}].keepPodTemplate"), True),
                remedy="remove keepPodTemplate when its pods may be replaced once",
            )


def services_have_a_port(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per Service without a port in any layer, and per field of `port` without it."""
    for path, service in _services(config):
        if service.port is None and not service.ports:
            remedy = "write the port of the Service, or `enabled: false` for no Service"
            yield config.error("has no port", f"{path}.port", remedy=remedy)
        for name in ("targetPort", "name") if service.port is None and service.ports else ():
            if getattr(service, name):
                message = "belongs to `port`, which is missing here"
                yield config.error(message, f"{path}.{name}", remedy=f"write port, or move {name} to an entry of ports")


def ports_are_different(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per port of a Service without a name beside others, or with a name or number of another one."""
    node_ports: dict[tuple[str, Any], str] = {}  # a port of a node is opened by one Service only
    for path, service in _services(config):
        ports = [(f"{path}.port", {"port": service.port, "name": service.name})] if service.port is not None else []
        ports += [(f"{path}.ports[{index}]", port) for index, port in enumerate(service.ports)]
        service_ports: dict[tuple[str, Any], str] = {}
        for field, port in ports:
            protocol = port.get("protocol", "TCP")
            keys = [("name", port.get("name")), ("port", (port["port"], protocol))]
            keys += [("nodePort", (port["nodePort"], protocol))] if "nodePort" in port else []
            if len(ports) > 1 and not port.get("name"):
                message = "has no name, which a Service with several ports needs for each"
                yield config.error(message, field, remedy="write its name")
                keys = keys[1:]
            for key in keys:
                first = (node_ports if key[0] == "nodePort" else service_ports).setdefault(key, field)
                if first != field:
                    message = f"has the same {key[0]} as {config.at(first)}"
                    yield config.error(message, field, remedy="change one of the two")


def node_ports_have_their_type(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per nodePort or externalTrafficPolicy of a Service whose type opens no port on the nodes."""
    for path, service in _services(config):
        if service.type in ("NodePort", "LoadBalancer"):
            continue
        subject = f"a Service of the type {service.type or 'ClusterIP'}"
        if service.externalTrafficPolicy:
            name, remedy = "externalTrafficPolicy", "write `type: NodePort`, or leave externalTrafficPolicy out"
            yield config.error(f"{subject} gets no traffic from outside", f"{path}.{name}", remedy=remedy)
        for index, port in enumerate(service.ports):
            if "nodePort" in port:
                field, remedy = f"{path}.ports[{index}].nodePort", "write `type: NodePort`, or leave nodePort out"
                yield config.error(f"{subject} has no port on the nodes", field, port["nodePort"], remedy=remedy)


def _services(config: DeviceConfig) -> Iterator[tuple[str, Service]]:
    for index, entry in enumerate(config.spec.daemonSets):
        if entry.service:
            yield f"daemonSets[{index}].service", entry.service


RULES = (
    Rule(
        "KRM140",
        "a Service must have a port, its own or an inherited one",
        good="""\
spec:
  daemonSets:
  - {name: agent, image: "registry.example.com/agent:1.0", service: {port: 9100}}
""",
        bad="""\
spec:
  daemonSets:
  - {name: agent, image: "registry.example.com/agent:1.0", service: {name: metrics}}
""",
        remedy="Write the port of the Service, or switch the Service off with `enabled: false`.",
        held=oracles.OUR_KINDS,
        check=services_have_a_port,
    ),
    Rule(
        "KRM160",
        "ports of a Service must have different names, and different numbers or protocols",
        good="""\
spec:
  daemonSets:
  - name: agent
    image: registry.example.com/agent:1.0
    service: {port: 9100, name: metrics, ports: [{name: health, port: 9101}]}
""",
        bad="""\
spec:
  daemonSets:
  - name: agent
    image: registry.example.com/agent:1.0
    service: {port: 9100, ports: [{name: health, port: 9101}]}
""",
        remedy="Give each port a name of its own, and another number or protocol.",
        held=oracles.KUBERNETES_SERVICES,
        check=ports_are_different,
    ),
    Rule(
        "KRM161",
        "a nodePort or externalTrafficPolicy must be in a Service of type NodePort or LoadBalancer",
        good="""\
spec:
  daemonSets:
  - name: agent
    image: registry.example.com/agent:1.0
    service: {type: NodePort, ports: [{port: 9100, nodePort: 30910}]}
""",
        bad="""\
spec:
  daemonSets:
  - name: agent
    image: registry.example.com/agent:1.0
    service: {ports: [{port: 9100, nodePort: 30910}]}
""",
        remedy="Write `type: NodePort`, or remove nodePort and externalTrafficPolicy.",
        held=oracles.KUBERNETES_SERVICES,
        check=node_ports_have_their_type,
    ),
    Rule(
        "KRM163",
        "podSpec must not set fields that a config has under another name, or that conflict with what is generated",
        good="""\
spec:
  daemonSets:
  - name: agent
    image: registry.example.com/agent:1.0
    hostNetwork: true
    podSpec: {hostAliases: [{ip: 192.0.2.1, hostnames: [metrics]}]}
""",
        bad="""\
spec:
  daemonSets:
  - name: agent
    image: registry.example.com/agent:1.0
    podSpec: {hostNetwork: true}
""",
        remedy="Write the field beside podSpec, under the name that the finding gives, or remove it.",
        held=oracles.OUR_KINDS,
        check=pod_specs_conflict_with_nothing,
    ),
    Rule(
        "KRM164",
        "podSpec must match the API server's structure: known fields, with the right types and all required fields",
        good="""\
spec:
  daemonSets:
  - name: agent
    image: registry.example.com/agent:1.0
    podSpec: {shareProcessNamespace: true}
""",
        bad="""\
spec:
  daemonSets:
  - name: agent
    image: registry.example.com/agent:1.0
    podSpec: {shareProcessNamespaces: "true"}
""",
        remedy="Correct the field as the finding says; `kubectl explain pod.spec` lists all fields.",
        held=oracles.APISERVER_PODS,
        check=pod_specs_have_their_structure,
    ),
    Rule(
        "KRM189",
        "the pods of a DaemonSet should be left as they were (keepPodTemplate) only until they may be replaced once",
        good="""\
spec:
  daemonSets:
  - {name: agent, image: "registry.example.com/agent:1.0"}
""",
        bad="""\
spec:
  daemonSets:
  - {name: agent, image: "registry.example.com/agent:1.0", keepPodTemplate: true}
""",
        remedy="Remove `keepPodTemplate`; each pod of the DaemonSet is then replaced once.",
        held=oracles.OUR_KINDS,
        check=pod_templates_are_kept_for_a_while,
        severities=("info",),
        advice=True,
    ),
)
"""The rules about the DaemonSets of one config or pool."""
