"""What the API server says of the fields of a PodSpec itself: names, policies, addresses.

Source: Kubernetes v1.34, pkg/apis/core/validation (ValidatePodSpec and what it calls).
"""

from collections.abc import Iterator

from krmfn.typed import Any

from .. import ip_address
from ..mistake import FieldMistake, Mistake
from . import quantities
from .shapes import is_label, is_qualified, is_subdomain, table, tables, text

_SUBDOMAINS = ("serviceAccountName", "priorityClassName", "runtimeClassName", "nodeName")
_LABELS = ("hostname", "subdomain")
_DNS = ("", "ClusterFirst", "ClusterFirstWithHostNet", "Default", "None")
_PREEMPTION = ("PreemptLowerPriority", "Never")
_OF_HOST = ("hostNetwork", "hostPID", "hostIPC")


def check(spec: Any) -> Iterator[FieldMistake]:
    """Yield what is refused in the fields of a PodSpec itself."""
    if text(spec, "restartPolicy") not in ("", "Always"):
        yield (
            ("restartPolicy",),
            Mistake(f"is {spec['restartPolicy']!r}", "the pods of a DaemonSet always restart: write Always"),
        )
    if spec.get("activeDeadlineSeconds") is not None:
        yield ("activeDeadlineSeconds",), Mistake("is not for a DaemonSet, whose pods do not end", "remove it")
    if spec.get("preemptionPolicy") is not None and text(spec, "preemptionPolicy") not in _PREEMPTION:
        yield ("preemptionPolicy",), Mistake(f"is {spec['preemptionPolicy']!r}", f"write {' or '.join(_PREEMPTION)}")
    if spec.get("hostPID") is True and spec.get("shareProcessNamespace") is True:
        yield ("shareProcessNamespace",), Mistake("contradicts hostPID", "remove one of the two")
    for name in _OF_HOST:
        if spec.get(name) is True and spec.get("hostUsers") is False:
            yield (name,), Mistake("contradicts hostUsers: false", "remove one of the two")
    yield from quantities.overhead(spec)
    yield from _names(spec)
    yield from _gates(spec)
    yield from _dns(spec)
    yield from _aliases(spec)


def _names(spec: Any) -> Iterator[FieldMistake]:
    for name in _SUBDOMAINS:
        if text(spec, name) and not is_subdomain(text(spec, name)):
            yield (name,), Mistake(f"is {spec[name]!r}", "write lower case letters, digits, - and .")
    if not text(spec, "serviceAccountName") and not is_subdomain(text(spec, "serviceAccount") or "default"):
        yield (
            ("serviceAccount",),
            Mistake(f"is {spec['serviceAccount']!r}", "write lower case letters, digits, - and ."),
        )
    if spec.get("runtimeClassName") == "":
        yield ("runtimeClassName",), Mistake("is empty", "write the name of a RuntimeClass, or remove it")
    for name in _LABELS:
        if text(spec, name) and not is_label(text(spec, name)):
            yield (name,), Mistake(f"is {spec[name]!r}", "write lower case letters, digits and -, at most 63")


def _gates(spec: Any) -> Iterator[FieldMistake]:
    for index, gate in tables(spec, "readinessGates"):
        if not is_qualified(text(gate, "conditionType")):
            path = ("readinessGates", index, "conditionType")
            yield path, Mistake(f"is {text(gate, 'conditionType')!r}", "write name, or subdomain/name")
    names: set[str] = set()
    for index, gate in tables(spec, "schedulingGates"):
        name = text(gate, "name")
        if not is_qualified(name):
            yield ("schedulingGates", index), Mistake(f"is {name!r}", "write name, or subdomain/name")
        if name in names:
            yield ("schedulingGates", index), Mistake(f"{name} stands twice", "remove one of the two")
        names.add(name)


def _dns(spec: Any) -> Iterator[FieldMistake]:
    if text(spec, "dnsPolicy") not in _DNS:
        yield ("dnsPolicy",), Mistake(f"is {spec['dnsPolicy']!r}", f"write one of {', '.join(_DNS[1:])}")
    if text(spec, "dnsPolicy") == "None" and not table(spec, "dnsConfig").get("nameservers"):
        yield ("dnsConfig", "nameservers"), Mistake("is missing", "dnsPolicy None needs a nameserver")


def _aliases(spec: Any) -> Iterator[FieldMistake]:
    for index, alias in tables(spec, "hostAliases"):
        if not ip_address.bits(text(alias, "ip")):
            yield (
                ("hostAliases", index, "ip"),
                Mistake(f"is {text(alias, 'ip')!r}", "write an address such as 192.0.2.1"),
            )
        names = alias.get("hostnames")
        for place, name in enumerate(names if isinstance(names, list) else ()):
            if isinstance(name, str) and not is_subdomain(name):
                yield ("hostAliases", index, "hostnames", place), Mistake(f"is {name!r}", "write the name of a host")
