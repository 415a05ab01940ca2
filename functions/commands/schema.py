"""The command `schema`: a kind's JSON Schema, for editors."""

from __future__ import annotations

import argparse

from krmfn.errors import KrmfnError
from krmfn.typed import NamedTuple

from .. import options
from ..command import PRINTED, Command, Context
from ..paths import output
from ..rendering.kinds import near, text

SCHEMAS = {
    "DeviceConfig": "deviceconfig",
    "DeviceConfig.example.com": "deviceconfig-example.com",
    "Ptemplate": "ptemplate",
    "RenderDeviceConfigs": "renderdeviceconfigs",
    "NodeInventory": "nodeinventory",
    "Profile": "profile",
}
"""Our kinds by the names that `schema` takes, with the schema of each."""


class Args(NamedTuple):
    """The arguments of `schema`."""

    kind: str
    paths: tuple[str, ...]


def _arguments(parser: argparse.ArgumentParser) -> None:
    known = f"{', '.join(SCHEMAS)} (default: DeviceConfig), or the name of a Profile in PATHs"
    kind = parser.add_argument("kind", nargs="?", default="DeviceConfig", metavar="KIND", help=known)
    setattr(kind, options.OFFERED, tuple(SCHEMAS))  # any other name may be that of a Profile
    parser.add_argument("paths", nargs="*", default=[], metavar="PATH", help="where the Profile is")


def _run(_: Context, args: Args) -> int:
    if args.paths:
        from . import products

        output.write_stdout(products.schema_text(args.kind, args.paths))
        return 0
    if args.kind not in SCHEMAS:
        close = " or ".join(one for one in SCHEMAS if near(one, args.kind))
        hint = (
            f"did you mean {close}?" if close else f"there are {', '.join(SCHEMAS)}; for a Profile pass its PATH, too"
        )
        raise KrmfnError(f"unknown kind {args.kind}; {hint}")
    output.write_stdout(text(f"{SCHEMAS[args.kind]}.schema.json"))
    return 0


COMMAND = Command(
    ("DeviceConfig > deviceconfig.schema.json", "amd-gpu profiles > amd.schema.json"),
    *(_arguments, Args, _run),
    exits=PRINTED,
)
