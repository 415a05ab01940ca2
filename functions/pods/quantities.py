"""What the API server says of a container's resources: quantities, requests and limits.

Source: Kubernetes v1.34, pkg/apis/core/validation (ValidateContainerResourceRequirements), pkg/apis/core/v1/helper.
"""

import re
from collections.abc import Iterator

from krmfn.typed import Any

from ..mistake import FieldMistake, Mistake
from .shapes import is_number, is_qualified, table

_QUANTITY = re.compile(r"(?!\Z)([+-]?[0-9]*(?:\.[0-9]*)?)([eE][+-]?[0-9]+|[KMGTPE]i|[numkMGTPE])?").fullmatch
"""Without a digit it is 0, as the API server reads it."""
_POWERS = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_NATIVE = frozenset({"cpu", "memory", "ephemeral-storage"})
_OF_PODS = frozenset({"cpu", "memory"})
"""One of these has to stand beside huge pages."""
_HUGE = "hugepages-"
_OF_QUOTAS = "requests."
"""What stands before the name of a resource in a ResourceQuota, and so before no resource."""
_NANO = 9
"""The smallest amount is a billionth; what is smaller is rounded up."""
_LONGEST = 1_000
"""Numbers of more digits are left to the API server; Python refuses to read some thousand of them."""
_DIGITS = 4
"""Exponents of more characters are left to the API server."""


def amount(quantity: Any) -> int | None:
    """Return what a quantity such as 500m or 1Gi is, in billionths; None for a text that is none, or too long."""
    match = _QUANTITY(str(quantity)) if type(quantity) in (str, float) or is_number(quantity) else None
    if not match:
        return None
    (digits, _, decimals), suffix = match[1].partition("."), match[2] or ""
    if len(digits) + len(decimals) > _LONGEST:
        return None
    written = f"{digits}{decimals}"
    value, power = int(written) if written.strip("+-") else 0, _NANO - len(decimals)
    if suffix.endswith("i"):
        value *= 1024 ** ("KMGTPE".index(suffix[0]) + 1)
    elif suffix[:1] in ("e", "E") and len(suffix) > 1:
        if len(suffix) > _DIGITS:
            return None
        power += int(suffix[1:])
    else:
        power += _POWERS.get(suffix, 0)
    scale: int = 10 ** abs(power)
    return value * scale if power >= 0 else -(-value // scale)


def check(container: Any) -> Iterator[FieldMistake]:
    """Yield what is refused in the resources of a container."""
    resources = table(container, "resources")
    limits, requests = table(resources, "limits"), table(resources, "requests")
    for word, amounts in (("limits", limits), ("requests", requests)):
        for name, quantity in amounts.items():
            if mistake := _mistake(str(name), quantity):
                yield ("resources", word, name), mistake
    if any(str(name).startswith(_HUGE) for name in (*limits, *requests)) and not {*limits, *requests} & _OF_PODS:
        yield ("resources",), Mistake(f"{_HUGE}SIZE needs cpu or memory, too", "write one of the two")
    for name, quantity in requests.items():
        requested, limit = amount(quantity), amount(limits.get(name))
        if requested is None:
            continue
        is_fixed = not _is_native(str(name)) or str(name).startswith(_HUGE)
        if limit is None and is_fixed and name not in limits:
            yield ("resources", "limits", name), Mistake("is missing", f"a request of {name} needs the same limit")
        elif limit is not None and requested > limit:
            problem = f"is {quantity}, more than the limit {limits[name]}"
            yield ("resources", "requests", name), Mistake(problem, "write at most the limit")
        elif limit is not None and is_fixed and requested != limit:
            problem, reason = f"is {quantity}, and the limit is {limits[name]}", f"nodes give {name} only as a whole"
            yield ("resources", "requests", name), Mistake(problem, f"{reason}: write the same")


def overhead(spec: Any) -> Iterator[FieldMistake]:
    """Yield what is refused in the overhead of a PodSpec."""
    for path, mistake in check({"resources": {"limits": table(spec, "overhead")}}):
        yield ("overhead", *path[2:]), mistake


def _mistake(name: str, quantity: Any) -> Mistake | None:
    """Return what is wrong with one entry; None for nothing."""
    if not (is_qualified(name) and (name in _NATIVE or name.startswith(_HUGE) or "/" in name)) or not (
        _is_native(name) or _is_extended(name)
    ):
        return Mistake(
            f"{name!r} is no resource of containers",
            "write cpu, memory, ephemeral-storage or vendor.example.com/device",
        )
    value = amount(quantity)
    if value is None:
        return None  # its form is judged with the types
    if value < 0:
        return Mistake(f"is {quantity}; must not be negative")
    if _is_extended(name) and value % 10**_NANO:
        return Mistake(f"is {quantity}", "devices are counted, write a whole number")
    return _huge_mistake(name, value) if name.startswith(_HUGE) else None


def _huge_mistake(name: str, value: int) -> Mistake | None:
    """Return what is wrong with the amount of huge pages; None for nothing."""
    size = amount(name.removeprefix(_HUGE))
    if not size or size < 0 or size % 10**_NANO:
        return Mistake(f"{name!r} has no size of pages in its name", f"write one such as {_HUGE}2Mi")
    if -(-value // 10**_NANO) % (size // 10**_NANO):
        return Mistake("is no multiple of the size of the pages", "write whole pages")
    return None


def _is_extended(name: str) -> bool:
    """Return True for a resource of a device plugin, which is counted."""
    return not _is_native(name) and not name.startswith(_OF_QUOTAS) and is_qualified(f"{_OF_QUOTAS}{name}")


def _is_native(name: str) -> bool:
    return "/" not in name or "kubernetes.io/" in name
