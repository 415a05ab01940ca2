"""What the API server says of the containers of a pod: names, ports, mounts.

Source: Kubernetes v1.34, pkg/apis/core/validation (validateContainers, validateContainerPorts,
ValidateVolumeMounts).
"""

from collections.abc import Iterator
from itertools import chain

from krmfn.typed import Any

from ..mistake import FieldMistake, Mistake
from . import probes, quantities, rights, variables
from .shapes import is_label, number, table, tables, text

_PROPAGATIONS = ("None", "HostToContainer", "Bidirectional")
_PROTOCOLS = ("", "TCP", "UDP", "SCTP")
_CHOICES = {
    "imagePullPolicy": ("Always", "IfNotPresent", "Never"),
    "terminationMessagePolicy": ("File", "FallbackToLogsOnError"),
}


def check(spec: Any, volumes: set[str]) -> Iterator[FieldMistake]:
    """Yield what is refused in the containers of a PodSpec; `volumes` are the names of its volumes."""
    if not spec.get("containers"):
        yield ("containers",), Mistake("is empty" if "containers" in spec else "is missing", "a pod needs a container")
    names: set[str] = set()
    host_ports: dict[tuple[Any, ...], str] = {}
    is_on_host = spec.get("hostNetwork") is True
    for word in ("containers", "initContainers"):  # the server names the init container of two
        for index, container in tables(spec, word):
            path, name = (word, index), text(container, "name")
            if container.get("name") in (None, ""):
                yield (*path, "name"), Mistake("is missing", "write lower case letters, digits and -")
            elif not is_label(name):
                yield (*path, "name"), Mistake(f"is {name!r}", "write lower case letters, digits and -, at most 63")
            elif name and name in names:
                yield (*path, "name"), Mistake(f"{name} is the name of another container, too", "rename one of the two")
            names.add(name)
            is_sidecar = text(container, "restartPolicy") == "Always"
            parts = (
                _image(container),
                _ports(container, is_on_host and word == "containers", host_ports if word == "containers" else {}),
                variables.check(container),
                _mounts(container, volumes),
                rights.of_container(container, spec),
                _policies(container),
                quantities.check(container),
                probes.check(container, spec) if word == "containers" or is_sidecar else _none_of_init(container),
            )
            yield from (((*path, *field), mistake) for field, mistake in chain(*parts))


def _image(container: Any) -> Iterator[FieldMistake]:
    if not container.get("image"):
        yield ("image",), Mistake("is missing", "write the image of the container")


def _policies(container: Any) -> Iterator[FieldMistake]:
    """Yield what is refused in the fields that have a few values."""
    for name, choices in _CHOICES.items():
        if text(container, name) not in ("", *choices):
            yield (name,), Mistake(f"is {container[name]!r}", f"write one of {', '.join(choices)}")


def _none_of_init(container: Any) -> Iterator[FieldMistake]:
    """Yield the fields that an init container without `restartPolicy: Always` cannot have."""
    for name in ("lifecycle", *probes.PROBES):
        if container.get(name) is not None:
            yield (
                (name,),
                Mistake("is not for an init container that ends", "remove it, or write restartPolicy: Always"),
            )


def _ports(container: Any, is_on_host: bool, host_ports: dict[tuple[Any, ...], str]) -> Iterator[FieldMistake]:
    """Yield what is refused in the ports of a container; `host_ports` are those of the pod that are taken so far."""
    names: set[str] = set()
    for index, port in tables(container, "ports"):
        path, name, protocol = ("ports", index), text(port, "name"), text(port, "protocol")
        inner = number(port, "containerPort")
        outer = number(port, "hostPort") or (inner if is_on_host else None)
        if name and not probes.is_port_name(name):
            yield (
                (*path, "name"),
                Mistake(f"is {name!r}", "write at most 15 lower case letters, digits and -, a letter among them"),
            )
        elif name and name in names:
            yield (*path, "name"), Mistake(f"{name} is the name of another port, too", "rename one of the two")
        names.add(name)
        if not inner:
            yield (*path, "containerPort"), Mistake("is missing", "write the port that the container listens on")
        elif not probes.is_port(inner):
            yield (*path, "containerPort"), Mistake(f"is {inner}; must be a number from 1 to {probes.LAST_PORT}")
        if outer and not probes.is_port(outer):
            if number(port, "hostPort"):
                yield (*path, "hostPort"), Mistake(f"is {outer}; must be a number from 1 to {probes.LAST_PORT}")
        elif outer and is_on_host and outer != inner:
            yield (
                (*path, "hostPort"),
                Mistake(f"must be the containerPort {inner}, since the pod has the network of its node"),
            )
        if protocol not in _PROTOCOLS:
            yield (*path, "protocol"), Mistake(f"is {protocol!r}", "write TCP, UDP or SCTP")
        key = (outer, protocol or "TCP", text(port, "hostIP"))
        if outer and key in host_ports:
            yield (
                (*path, "hostPort"),
                Mistake(f"{outer} is the node's port of {host_ports[key]}, too", "a port has one listener"),
            )
        host_ports.setdefault(key, name or f"another port ({outer})")


def _mounts(container: Any, volumes: set[str]) -> Iterator[FieldMistake]:
    """Yield what is refused in the mounts of a container."""
    paths: set[str] = set()
    is_privileged = table(container, "securityContext").get("privileged") is True
    for index, mount in tables(container, "volumeMounts"):
        start, name, path = ("volumeMounts", index), text(mount, "name"), text(mount, "mountPath")
        if not name or name not in volumes:
            yield (
                (*start, "name"),
                Mistake(f"{name!r} is no volume of the pod", f"there are: {', '.join(sorted(volumes)) or 'none'}"),
            )
        if not path:
            yield (*start, "mountPath"), Mistake("is missing", "write where the volume is to be")
        elif path in paths:
            yield (*start, "mountPath"), Mistake(f"{path} is mounted twice", "remove one of the two")
        paths.add(path)
        for field in ("subPath", "subPathExpr"):
            inner = text(mount, field)
            if inner.startswith("/") or ".." in inner.split("/"):
                yield (*start, field), Mistake(f"is {inner!r}", "write a relative path without ..")
        if mount.get("subPath") and mount.get("subPathExpr"):
            yield (*start, "subPathExpr"), Mistake("cannot be combined with subPath", "write one of the two")
        if text(mount, "mountPropagation") == "Bidirectional" and not is_privileged:
            yield (
                (*start, "mountPropagation"),
                Mistake("Bidirectional is only for privileged containers", "write privileged: true"),
            )
        elif mount.get("mountPropagation") is not None and text(mount, "mountPropagation") not in _PROPAGATIONS:
            yield (*start, "mountPropagation"), Mistake(f"must be one of {', '.join(_PROPAGATIONS)}")
