"""Rules about the Services in front of a DeviceConfig's DaemonSets."""

from __future__ import annotations

from collections.abc import Iterator

from krmfn import Field, Result, error
from krmfn.rule import Rule
from krmfn.typed import Any

from .fields import Service
from .model import DeviceConfig


def services_have_a_port(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per Service without a port, a layer may leave it to another one, or with half a port."""
    for path, service in _services(config):
        if service.port is None and not service.ports:
            message = "has no port; write the port of the Service, or `enabled: false` for no Service"
            yield error(message, field=Field(config.at(f"{path}.port")))
        for name in ("targetPort", "name") if service.port is None and service.ports else ():
            if getattr(service, name):
                message = f"belongs to `port`, which is missing here; write port, or move {name} to an entry of ports"
                yield error(message, field=Field(config.at(f"{path}.{name}")))


def ports_are_told_apart(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per port of a Service that has no name beside others, or what another one has."""
    for path, service in _services(config):
        ports = _ports(path, service)
        taken: dict[tuple[str, Any], str] = {}
        for where, port in ports:
            own = [("name", port.get("name")), ("port", (port["port"], port.get("protocol", "TCP")))]
            own += [("nodePort", (port["nodePort"], port.get("protocol", "TCP")))] if "nodePort" in port else []
            if len(ports) > 1 and not port.get("name"):
                message = "has no name; a Service with several ports needs a name for each"
                yield error(message, field=Field(config.at(where)))
                own = own[1:]
            for what, shown in own:
                first = taken.setdefault((what, shown), where)
                if first != where:
                    message = f"has the same {what} as {config.at(first)}; change one of the two"
                    yield error(message, field=Field(config.at(where)))


def node_ports_have_their_type(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per nodePort or externalTrafficPolicy of a Service that nodes have no port for."""
    for path, service in _services(config):
        if service.externalTrafficPolicy and service.type not in ("NodePort", "LoadBalancer"):
            message = (
                f"a Service of the type {service.type or 'ClusterIP'} gets no traffic from outside; "
                "write `type: NodePort`, or leave externalTrafficPolicy out"
            )
            yield error(message, field=Field(config.at(f"{path}.externalTrafficPolicy")))
        for index, port in enumerate(service.ports):
            if "nodePort" in port and service.type not in ("NodePort", "LoadBalancer"):
                message = (
                    f"a Service of the type {service.type or 'ClusterIP'} has no port on the nodes; "
                    "write `type: NodePort`, or leave nodePort out"
                )
                yield error(message, field=Field(config.at(f"{path}.ports[{index}].nodePort"), port["nodePort"]))


def _services(config: DeviceConfig) -> Iterator[tuple[str, Service]]:
    for index, entry in enumerate(config.spec.daemonSets):
        if entry.service:
            yield f"daemonSets[{index}].service", entry.service


def _ports(path: str, service: Service) -> list[tuple[str, dict[str, Any]]]:
    """Return the ports of a Service with the paths of the fields that they are written in."""
    first = {"port": service.port, "name": service.name}
    own = [(f"{path}.port", first)] if service.port is not None else []
    return own + [(f"{path}.ports[{index}]", port) for index, port in enumerate(service.ports)]


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
)
"""The rules about the Services of one config or pool."""
