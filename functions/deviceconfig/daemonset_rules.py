"""Rules about entries of daemonSets: the Services in front of their pods, and what podSpec may hold."""

from collections.abc import Iterator

from krmfn import Field, Result, info
from krmfn.resource import join
from krmfn.results import Rule
from krmfn.typed import Any

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
"""Fields of a PodSpec that stand under a name of their own, and which."""
_IN_THE_WAY = {
    "nodeName": "it bypasses the scheduler, which waits for the label of a loaded kernel module",
    "restartPolicy": "a DaemonSet's pods always restart",
    "activeDeadlineSeconds": "a DaemonSet's pods do not end",
    "ephemeralContainers": "only a running pod has them",
}
"""Fields of a PodSpec that no DaemonSet of ours can have, and why."""


def pod_specs_fight_nothing(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per field of a podSpec that has a name of its own, or that contradicts what is generated."""
    for index, entry in enumerate(config.spec.daemonSets):
        for name in entry.podSpec or {}:
            path = f"daemonSets[{index}].{join(('podSpec', name))}"
            if name in _NAMED:
                yield config.error(f"has its own place in the config: write {_NAMED[name]}", path)
            elif name in _IN_THE_WAY:
                yield config.error(f"cannot be set: {_IN_THE_WAY[name]}", path)


def pod_specs_have_their_structure(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per part of a podSpec that the API server would refuse or drop."""
    for index, entry in enumerate(config.spec.daemonSets):
        if entry.podSpec:
            from ..pods import structure  # here: hardly any config has a podSpec

            rest = {name: value for name, value in entry.podSpec.items() if name not in (*_NAMED, *_IN_THE_WAY)}
            for path, message in structure.check(rest):
                yield config.error(message, f"daemonSets[{index}].{join(('podSpec', *path))}")


def pod_templates_are_kept_for_a_while(config: DeviceConfig) -> Iterator[Result]:
    """Yield an info per entry whose pods lack the config's own selector since they are left as they were."""
    for index, entry in enumerate(config.spec.daemonSets):
        left_out = {*(config.spec.nodeSelector or {})} - {*(entry.nodeSelector or {})}
        if entry.keepPodTemplate and left_out:
            message = (
                f"its pods do not ask for {min(left_out)}, as the nodes of the config do, so they stay on a node that "
                "loses this label, and the kernel module is never unloaded there; remove keepPodTemplate when its pods "
                "may be replaced once"
            )
            yield info(message, field=Field(config.at(f"daemonSets[{index}].keepPodTemplate"), True))


def services_have_a_port(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per Service without a port, a layer may leave it to another one, or with half a port."""
    for path, service in _services(config):
        if service.port is None and not service.ports:
            message = "has no port; write the port of the Service, or `enabled: false` for no Service"
            yield config.error(message, f"{path}.port")
        for name in ("targetPort", "name") if service.port is None and service.ports else ():
            if getattr(service, name):
                message = f"belongs to `port`, which is missing here; write port, or move {name} to an entry of ports"
                yield config.error(message, f"{path}.{name}")


def ports_are_told_apart(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per port of a Service that has no name beside others, or what another one has, also on nodes."""
    of_nodes: dict[tuple[str, Any], str] = {}  # a node has each port once, whatever Service opens it
    for path, service in _services(config):
        ports = [(f"{path}.port", {"port": service.port, "name": service.name})] if service.port is not None else []
        ports += [(f"{path}.ports[{index}]", port) for index, port in enumerate(service.ports)]
        taken: dict[tuple[str, Any], str] = {}
        for where, port in ports:
            own = [("name", port.get("name")), ("port", (port["port"], port.get("protocol", "TCP")))]
            own += [("nodePort", (port["nodePort"], port.get("protocol", "TCP")))] if "nodePort" in port else []
            if len(ports) > 1 and not port.get("name"):
                yield config.error("has no name; a Service with several ports needs a name for each", where)
                own = own[1:]
            for what, shown in own:
                first = (of_nodes if what == "nodePort" else taken).setdefault((what, shown), where)
                if first != where:
                    yield config.error(f"has the same {what} as {config.at(first)}; change one of the two", where)


def node_ports_have_their_type(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per nodePort or externalTrafficPolicy of a Service that nodes have no port for."""
    for path, service in _services(config):
        if service.type in ("NodePort", "LoadBalancer"):
            continue
        subject = f"a Service of the type {service.type or 'ClusterIP'}"
        if service.externalTrafficPolicy:
            remedy = "write `type: NodePort`, or leave externalTrafficPolicy out"
            yield config.error(f"{subject} gets no traffic from outside; {remedy}", f"{path}.externalTrafficPolicy")
        for index, port in enumerate(service.ports):
            if "nodePort" in port:
                message = f"{subject} has no port on the nodes; write `type: NodePort`, or leave nodePort out"
                yield config.error(message, f"{path}.ports[{index}].nodePort", port["nodePort"])


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
        check=ports_are_told_apart,
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
        check=pod_specs_fight_nothing,
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
        check=pod_templates_are_kept_for_a_while,
        severities=("info",),
        advice=True,
    ),
)
"""The rules about the DaemonSets of one config or pool."""
