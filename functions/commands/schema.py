"""The command `schema`: a kind's JSON Schema, for editors."""

from __future__ import annotations

import argparse
from typing import NamedTuple

from ..command import PRINTED, Command, Context
from ..paths import output
from ..rendering.schemas import text

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


def _arguments(parser: argparse.ArgumentParser) -> None:
    known = f"{', '.join(SCHEMAS)} (default: DeviceConfig)"
    choices = tuple(SCHEMAS)
    parser.add_argument("kind", nargs="?", default="DeviceConfig", choices=choices, metavar="KIND", help=known)


def _run(_: Context, args: Args) -> int:
    output.write_stdout(text(f"{SCHEMAS[args.kind]}.schema.json"))
    return 0


COMMAND = Command(
    ("DeviceConfig > deviceconfig.schema.json",),
    *(_arguments, Args, _run),
    exits=PRINTED,
)
