"""What the API server says of a container's probes and lifecycle.

Source: Kubernetes v1.34, pkg/apis/core/validation (validateProbe, validateHandler, ValidateReadinessProbe and others).
"""

import re
from collections.abc import Iterator
from itertools import chain

from krmfn.typed import Any

from ..mistake import FieldMistake, Mistake
from .shapes import is_number, number, table, text

PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc")
_COUNTS = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
_PORT_NAME = re.compile(r"(?=.{1,15}\Z)(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)*").fullmatch
LAST_PORT = 65535
_GRACE = 30
"""The default of terminationGracePeriodSeconds."""


def check(container: Any, spec: Any) -> Iterator[FieldMistake]:
    """Yield what is refused in the probes and in the lifecycle of a container; `spec` is the PodSpec that has it."""
    for name in PROBES:
        probe = container.get(name)
        if isinstance(probe, dict):
            yield from (((name, *path), mistake) for path, mistake in _probe(name, probe))
    for name, hook in table(container, "lifecycle").items():
        if isinstance(hook, dict):
            kinds = ("exec", "httpGet", "tcpSocket", "sleep")
            parts = (_handler(hook, kinds), _sleep(hook, number(spec, "terminationGracePeriodSeconds")))
            yield from ((("lifecycle", name, *path), mistake) for path, mistake in chain(*parts))


def _sleep(hook: Any, grace: int | None) -> Iterator[FieldMistake]:
    seconds, most = number(table(hook, "sleep"), "seconds") or 0, _GRACE if grace is None else grace
    if isinstance(hook.get("sleep"), dict) and not 0 <= seconds <= most:
        yield (
            ("sleep",),
            Mistake(f"takes {seconds} s; must be from 0 to terminationGracePeriodSeconds, which is {most}"),
        )


def _probe(name: str, probe: Any) -> Iterator[FieldMistake]:
    yield from _handler(probe, _HANDLERS)
    for field in _COUNTS:
        if (number(probe, field) or 0) < 0:
            yield (field,), Mistake(f"is {probe[field]}; must not be negative")
    if name != "readinessProbe" and (number(probe, "successThreshold") or 1) > 1:
        yield ("successThreshold",), Mistake(f"is {probe['successThreshold']}; must be 1 in a {name}")
    grace = number(probe, "terminationGracePeriodSeconds")
    if grace is not None and name == "readinessProbe":
        yield (
            ("terminationGracePeriodSeconds",),
            Mistake("must not be set in a readinessProbe, which ends no container"),
        )
    elif grace is not None and grace <= 0:
        yield ("terminationGracePeriodSeconds",), Mistake(f"is {grace}; must be at least 1")


def _handler(handler: Any, kinds: tuple[str, ...]) -> Iterator[FieldMistake]:
    """Yield what is wrong with what a probe or a hook does: it does one thing."""
    written = [kind for kind in kinds if isinstance(handler.get(kind), dict)]
    if not written:
        yield (), Mistake("does nothing", f"write one of {', '.join(kinds)}")
    for other in written[1:]:
        yield (other,), Mistake(f"cannot be combined with {written[0]}", "write one of the two")
    for kind in written[:1]:
        part = handler[kind]
        if kind == "exec" and not part.get("command"):
            yield (kind, "command"), Mistake("is missing", "write what to run")
        if kind in ("httpGet", "tcpSocket", "grpc"):
            yield from (((kind, "port"), mistake) for mistake in _port(part.get("port"), kind != "grpc"))
        if kind == "httpGet" and text(part, "scheme") not in ("", "HTTP", "HTTPS"):
            yield (kind, "scheme"), Mistake(f"is {part['scheme']!r}", "write HTTP or HTTPS")


def _port(port: Any, may_be_name: bool) -> Iterator[Mistake]:
    """Yield what is wrong with the port that a probe asks."""
    if isinstance(port, str) and may_be_name:
        if not is_port_name(port):
            yield Mistake(f"is {port!r}", "write a number, or the name of a port")
    elif port is None:
        yield Mistake("is missing", "write a number, or the name of a port")
    elif is_number(port) and not is_port(port):
        yield Mistake(f"is {port}; must be a number from 1 to {LAST_PORT}")


def is_port(port: int) -> bool:
    """Return True for the number of a port."""
    return 1 <= port <= LAST_PORT


def is_port_name(name: str) -> bool:
    """Return True for an IANA service name: 15 characters, a letter among them."""
    return _PORT_NAME(name) is not None
