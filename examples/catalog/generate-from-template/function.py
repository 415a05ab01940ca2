#!/usr/bin/env python3
"""Make resources from a template, once for each name; those of a name that goes are removed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from string import Template
from typing import Annotated

from krmfn import Doc, Refused, ResourceList, function, parse_all


@dataclass(frozen=True)
class GenerateFromTemplate:
    """Make resources from a template, once for each name; those of a name that goes are removed."""

    template: Annotated[str, Doc("YAML documents, with $name where the name belongs; $$ is a dollar")]
    names: Annotated[list[str], Doc("the names: small letters, digits and -")]

    def __post_init__(self) -> None:
        for name in self.names:
            if not re.fullmatch(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", name):
                raise ValueError(f"{name!r} is no name: take small letters, digits and -")


@function(config=GenerateFromTemplate, group="fn.example.com")
def generate_from_template(resources: ResourceList, config: GenerateFromTemplate) -> None:
    """Make the resources; comments of the template come along."""
    owner = resources.function_config
    assert owner is not None
    manifests = [manifest for name in config.names for manifest in parse_all(filled(config.template, name))]
    resources.own(owner=owner, manifests=manifests)


def filled(template: str, name: str) -> str:
    """Return the template with a name. Raises Refused for another $variable."""
    try:
        return Template(template).substitute(name=name)
    except (KeyError, ValueError) as failure:
        raise Refused(f"the template has another variable than $name: {failure}; write $$ for a dollar") from None


if __name__ == "__main__":
    generate_from_template.main()
