#!/usr/bin/env python3
"""List the setters in the comments `kpt-set: ...` of a package, with their values."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from krmfn import ResourceList, function, info, warning

MARK = "kpt-set: "
SETTER = r"\$\{([^}]+)\}"


class Setter(NamedTuple):
    """What is known of a setter."""

    value: str
    kind: str


@function
def list_setters(resources: ResourceList) -> None:
    """List the setters."""
    found: dict[str, list[Setter]] = {}
    for item in resources.items:
        for place in item.each("**", comment=MARK):
            for name, setter in values(place.comment.removeprefix(MARK).strip(), place.value).items():
                found.setdefault(name, []).append(setter)
    for name, setters in sorted(found.items()):
        value, kind = setters[0]
        resources.report(info(f"Name: {name}, Value: {value}, Type: {kind}, Count: {len(setters)}"))
    if not found:
        resources.report(warning("no setters found"))


def values(pattern: str, value: Any) -> dict[str, Setter]:
    """Return the setters of a pattern, with what they have in a value that fits it."""
    names = re.findall(SETTER, pattern)
    if isinstance(value, list):
        return {name: Setter(f"[{', '.join(sorted(map(str, value)))}]", "array") for name in names}
    kind = {int: "int", bool: "bool", float: "float"}.get(type(value), "str")
    text = str(value).lower() if isinstance(value, bool) else str(value)
    parts = [re.escape(part) if at % 2 == 0 else "(.*)" for at, part in enumerate(re.split(SETTER, pattern))]
    match = re.fullmatch("".join(parts), text, re.DOTALL)
    return {name: Setter(match[at + 1] if match else text, kind) for at, name in enumerate(names)}


if __name__ == "__main__":
    list_setters.main()
