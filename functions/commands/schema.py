"""The commands `schema` and `crd`: what editors and clusters need to know of a function's kinds."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence

from krmfn.cli.main import Printed

from ..rendering.schemas import text


def commands(schemas: Mapping[str, str], crds: Sequence[str]) -> dict[str, Printed]:
    """Return both commands; `schemas` are the kinds that may be named with their schemas, the first by default."""
    first = next(iter(schemas))
    saved, applied = (f"{first} > {first.lower()}.schema.json",), ("| kubectl apply -f -",)

    def kind_argument(parser: argparse.ArgumentParser) -> None:
        known = f"{', '.join(schemas)} (default: {first})"
        parser.add_argument("kind", nargs="?", default=first, choices=tuple(schemas), metavar="KIND", help=known)

    def schema(args: argparse.Namespace) -> str:
        return text(f"{schemas[args.kind]}.schema.json")

    def stream(_: argparse.Namespace) -> str:
        return "---\n".join(text(f"crds/{name}.yaml") for name in crds)

    return {
        "schema": Printed(
            "print a kind's JSON Schema, for editors (yaml-language-server)", kind_argument, schema, saved
        ),
        "crd": Printed(
            "print the CustomResourceDefinitions, for kubectl apply -f -", lambda parser: None, stream, applied
        ),
    }
