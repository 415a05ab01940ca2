"""What a Profile requires: versions of krmfn and of KMM."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

_REQUIREMENT = re.compile(r"(>=|<=|==|=|<|>)?\s*v?([0-9]+(?:\.[0-9]+)*)")
_NEWEST = (10**6,)
"""`main` of KMM is above every version."""


def unmet(requires: Mapping[str, str], kmm: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the requirements that do not hold, each with what to do."""
    for name, text in requires.items():
        parts = [_REQUIREMENT.fullmatch(part.strip()) for part in text.split(",")]
        if not all(parts):
            yield (name,), f"is {text!r}; write a version such as '>=2.4', or several divided by commas"
            continue
        own = _krmfn() if name == "krmfn" else kmm
        if not all(_holds(_parts(own), part[1] or ">=", _parts(part[2])) for part in parts if part):
            remedy = (
                "install that version of krmfn" if name == "krmfn" else "set --kmm-version, or `kmm: {version: ...}`"
            )
            yield (name,), f"this Profile needs {name} {text}, and this is {own}; {remedy}, or use another Profile"


def _krmfn() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("krmfn")
    except PackageNotFoundError:
        return "0"


def _parts(version: str) -> tuple[int, ...]:
    if not version[:1].isdigit():  # main, and openshift, which is built from it
        return _NEWEST
    numbers = re.match(r"[0-9]+(?:\.[0-9]+)*", version)
    return tuple(map(int, numbers[0].split("."))) if numbers else ()


def _holds(own: tuple[int, ...], sign: str, other: tuple[int, ...]) -> bool:
    length = max(len(own), len(other))
    one, two = ((*parts, *[0] * (length - len(parts))) for parts in (own, other))
    return {">=": one >= two, "<=": one <= two, ">": one > two, "<": one < two}.get(sign, one == two)
