"""The commands `schema`, `crd` and `kustomize-config`: what editors, clusters and kustomize need to know."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..program import Printed
from ..rendering.schemas import text


class SchemaArgs(NamedTuple):
    """The arguments of `schema`."""

    kind: str


class NoArgs(NamedTuple):
    """The arguments of `crd` and `kustomize-config`: none."""


def commands(schemas: Mapping[str, str], crds: Sequence[str]) -> dict[str, Printed]:
    """Return the commands; `schemas` are the kinds that may be named with their schemas, the first by default."""
    first = next(iter(schemas))
    saved, applied = (f"{first} > {first.lower()}.schema.json",), ("| kubectl apply -f -",)

    def kind_argument(parser: argparse.ArgumentParser) -> None:
        known = f"{', '.join(schemas)} (default: {first})"
        parser.add_argument("kind", nargs="?", default=first, choices=tuple(schemas), metavar="KIND", help=known)

    def schema(args: SchemaArgs) -> str:
        return text(f"{schemas[args.kind]}.schema.json")

    def stream(_: NoArgs) -> str:
        return "---\n".join(text(f"crds/{name}.yaml") for name in crds)

    def names(_: NoArgs) -> str:
        return text("kustomize-configurations.yaml")

    return {
        "schema": Printed(
            "print a kind's JSON Schema, for editors (yaml-language-server)", kind_argument, SchemaArgs, schema, saved
        ),
        "crd": Printed(
            "print the CustomResourceDefinitions, for kubectl apply -f -", lambda parser: None, NoArgs, stream, applied
        ),
        "kustomize-config": Printed(
            "print the fields that name other resources or hold images, for `configurations:` of a kustomization",
            lambda parser: None,
            NoArgs,
            names,
            ("> kustomize-configurations.yaml",),
        ),
    }
