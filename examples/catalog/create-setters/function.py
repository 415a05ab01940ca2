#!/usr/bin/env python3
"""Write a `kpt-set: ...` comment to every field that holds the value of a setter."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

from krmfn import Doc, KrmfnError, Refused, ResourceList, Rest, function, info, parse, warning

MARK = "kpt-set: "


@dataclass(frozen=True)
class CreateSetters:
    """Write a `kpt-set: ...` comment to every field that holds the value of a setter."""

    setters: Annotated[dict[str, str], Doc("the value of each setter; of a list its YAML"), Rest()] = field(
        default_factory=dict
    )


@function(config=CreateSetters, group="fn.kpt.dev", fields="top")
def create_setters(resources: ResourceList, config: CreateSetters) -> None:
    """Write the comments, and say where."""
    if not config.setters:
        raise Refused("no setters are given: pass their values in the functionConfig")
    setters = {name: parse(text) for name, text in config.setters.items()}
    lists = {name: sorted(map(str, value)) for name, value in setters.items() if isinstance(value, list)}
    texts = {name: text for name, text in config.setters.items() if name not in lists and text}
    longest = dict(sorted(texts.items(), key=lambda pair: (-len(pair[1]), pair[0])))
    count = 0
    for item in resources.items:
        for place in item.each("**"):
            pattern = setter_of(place.value, lists, longest)
            if pattern and not place.comment:
                try:
                    place.comment = MARK + pattern
                except KrmfnError as failure:  # in brackets
                    resources.report(warning(str(failure), at=place))
                    continue
                count += 1
                resources.report(info(f"added the comment {MARK + pattern!r}", at=place))
    if not count:
        resources.report(info("no matches for input setter(s)"))


def setter_of(value: Any, lists: dict[str, list[str]], texts: dict[str, str]) -> str:
    """Return what a setter comment says of a value; "" for one that holds the value of no setter."""
    if isinstance(value, list) and not any(isinstance(entry, (dict, list)) for entry in value):
        return next((f"${{{name}}}" for name, entries in lists.items() if entries == sorted(map(str, value))), "")
    if isinstance(value, str):
        pattern = value
        for name, text in texts.items():
            pattern = pattern.replace(text, f"${{{name}}}") if text not in "${}" and "${" not in pattern else pattern
        return pattern if pattern != value else ""
    if isinstance(value, (int, float)):
        text = str(value).lower() if isinstance(value, bool) else str(value)
        return next((f"${{{name}}}" for name, one in texts.items() if one == text), "")
    return ""


if __name__ == "__main__":
    create_setters.main()
