"""The commands `crd` and `kustomize-config`: what clusters and kustomize need to know."""

from __future__ import annotations

import argparse

from krmfn.errors import KrmfnError
from krmfn.typed import NamedTuple

from ..command import PRINTED, Command, Context
from ..paths import output
from ..rendering.kinds import text

CRDS = ("deviceconfigs.krmfn.dev", "deviceconfigs.example.com", "ptemplates.pt.example.com")


class Args(NamedTuple):
    """The arguments of `crd`."""

    name: str
    paths: tuple[str, ...]


class NoArgs(NamedTuple):
    """The arguments of `kustomize-config`: none."""


def _arguments(parser: argparse.ArgumentParser) -> None:
    help_ = "a Profile in PATHs, for its own kind (default: our kinds)"
    parser.add_argument("name", nargs="?", default="", metavar="NAME", help=help_)
    parser.add_argument("paths", nargs="*", default=[], metavar="PATH", help="where the Profile is")


def _crds(_: Context, args: Args) -> int:
    if args.name:
        from . import products

        if not args.paths:
            raise KrmfnError(f"pass the PATH that holds the Profile: krmfn crd {args.name} PATH")
        output.write_stdout(products.crd_text(args.name, args.paths))
        return 0
    output.write_stdout("---\n".join(text(f"crds/{name}.yaml") for name in CRDS))
    return 0


def _fields(_: Context, args: NoArgs) -> int:
    output.write_stdout(text("kustomize-configurations.yaml"))
    return 0


COMMAND = Command(
    ("| kubectl apply -f -", "amd-gpu profiles | kubectl apply -f -"),
    *(_arguments, Args, _crds),
    exits=PRINTED,
)
KUSTOMIZE_CONFIG = Command(
    ("> kustomize-configurations.yaml",),
    *(lambda parser: None, NoArgs, _fields),
    exits=PRINTED,
)
