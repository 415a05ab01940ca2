#!/usr/bin/env python3
"""Set the fields whose comment is `kpt-set: ...` to the values of its setters."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Annotated

from krmfn import Doc, Refused, ResourceList, Rest, function, info, parse

MARK = "kpt-set: "
SETTER = r"\$\{([^}]+)\}"


@dataclass(frozen=True)
class ApplySetters:
    """Set the fields whose comment is `kpt-set: ...` to the values of its setters."""

    setters: Annotated[dict[str, str], Doc("the value of each setter; of a list its YAML"), Rest()] = field(
        default_factory=dict
    )


@function(config=ApplySetters, group="fn.kpt.dev", fields="top")
def apply_setters(resources: ResourceList, config: ApplySetters) -> None:
    """Set the fields, and say which."""
    if not config.setters:
        raise Refused("no setters are given: pass their values in the functionConfig")
    matches = 0
    for item in resources.items:
        for place, comment in [(one, one.comment) for one in item.each("**", comment=MARK)]:
            pattern = comment.removeprefix(MARK).strip()
            names = re.findall(SETTER, pattern)
            if not config.setters.keys() & set(names):
                continue
            matches += 1
            new: object = re.sub(SETTER, lambda match: config.setters.get(match[1], match[0]), pattern)
            if re.search(SETTER, str(new)):
                raise Refused(f"values for the setters {', '.join(names)} are needed: some are not given", at=place)
            if not isinstance(place.value, str):
                new = parse(str(new))
            if new != place.value:
                place.value = new
                resources.report(info(f"set field value to {new!r}", at=place))
    if not matches:
        resources.report(info("no matches for input setter(s)"))


if __name__ == "__main__":
    apply_setters.main()
