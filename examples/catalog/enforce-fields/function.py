#!/usr/bin/env python3
"""Refuse resources by rules about their fields, as a policy controller would on the cluster."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any

from krmfn import Doc, Item, ResourceList, Result, error, function


@dataclass(frozen=True)
class Rule:
    """What a field of some kinds must be."""

    path: Annotated[str, Doc("the field, such as `image`")]
    message: Annotated[str, Doc("what is wrong, and what to do")]
    each: Annotated[str, Doc("what must have it, such as `spec.containers[*]`; the resource without it")] = ""
    kinds: Annotated[list[str], Doc("the kinds that the rule is about; all without one")] = field(default_factory=list)
    required: Annotated[bool, Doc("whether the field has to be there")] = False
    pattern: Annotated[str, Doc("a regular expression for the whole of its text")] = ""

    def __post_init__(self) -> None:
        try:
            re.compile(self.pattern)
        except re.error as failure:
            raise ValueError(f"pattern {self.pattern!r} is no regular expression: {failure}") from None


@dataclass(frozen=True)
class EnforceFields:
    """Refuse resources by rules about their fields, as a policy controller would on the cluster."""

    rules: list[Rule] = field(default_factory=list)


@function(config=EnforceFields, group="fn.example.com")
def enforce_fields(resources: ResourceList, config: EnforceFields) -> None:
    """Report every field that breaks a rule; with one, nothing of the list changes and the exit code is 1."""
    for rule in config.rules:
        for item in resources.where(kind=tuple(rule.kinds), local=False):
            resources.report(broken(item, rule))


def broken(item: Item, rule: Rule) -> Iterator[Result]:
    """Yield an error for each field of a resource that breaks a rule, and for each that is missing."""
    holders = [f"{holder.path}." for holder in item.each(rule.each)] if rule.each else [""]
    for holder in holders:
        place = item.at(f"{holder}{rule.path}")
        if not place.exists:
            if rule.required:
                yield error(f"is missing: {rule.message}", at=place)
        elif rule.pattern and not re.fullmatch(rule.pattern, text_of(place.value)):
            yield error(rule.message, at=place)


def text_of(value: Any) -> str:
    """Return a value as YAML writes it: `true`, `3`, and a text as it is."""
    return value if isinstance(value, str) else json.dumps(value)


if __name__ == "__main__":
    enforce_fields.main()
