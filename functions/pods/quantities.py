"""What the API server says of a container's resources: quantities, requests and limits.

Source: Kubernetes v1.34, pkg/apis/core/validation (ValidateContainerResourceRequirements), pkg/apis/core/v1/helper.
"""

import re
from collections.abc import Iterator

from krmfn.typed import Any

from .shapes import Problem, is_number, is_qualified, table

_QUANTITY = re.compile(r"([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))([eE][+-]?[0-9]+|[KMGTPE]i|[numkMGTPE])?").fullmatch
_POWERS = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_NATIVE = frozenset({"cpu", "memory", "ephemeral-storage"})
_HUGE = "hugepages-"
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
    value, power = int(f"{digits}{decimals}"), _NANO - len(decimals)
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


def check(container: Any) -> Iterator[Problem]:
    """Yield what is refused in the resources of a container."""
    resources = table(container, "resources")
    limits, requests = table(resources, "limits"), table(resources, "requests")
    for word, amounts in (("limits", limits), ("requests", requests)):
        for name, quantity in amounts.items():
            if message := _mistake(str(name), quantity):
                yield ("resources", word, name), message
    for name, quantity in requests.items():
        requested, limit = amount(quantity), amount(limits.get(name))
        if requested is None:
            continue
        is_fixed = _is_extended(str(name)) or str(name).startswith(_HUGE)
        if limit is None and is_fixed and name not in limits:
            yield ("resources", "limits", name), f"is missing; a request of {name} needs the same limit"
        elif limit is not None and requested > limit:
            message = f"is {quantity}, more than the limit {limits[name]}; write at most the limit"
            yield ("resources", "requests", name), message
        elif limit is not None and is_fixed and requested != limit:
            message = (
                f"is {quantity}, and the limit is {limits[name]}; nodes give {name} only as a whole: write the same"
            )
            yield ("resources", "requests", name), message


def _mistake(name: str, quantity: Any) -> str:
    """Return what is wrong with one entry; "" for nothing."""
    if not is_qualified(name) or ("/" not in name and name not in _NATIVE and not name.startswith(_HUGE)):
        return (
            f"{name!r} is no resource of containers; write cpu, memory, ephemeral-storage or vendor.example.com/device"
        )
    value = amount(quantity)
    if value is None:
        return ""  # its form is judged with the types
    if value < 0:
        return f"is {quantity}; must not be negative"
    if _is_extended(name) and value % 10**_NANO:
        return f"is {quantity}; devices are counted, write a whole number"
    return ""


def _is_extended(name: str) -> bool:
    """Return True for a resource of a device plugin, which is counted."""
    return "/" in name and not name.rpartition("/")[0].endswith("kubernetes.io")
