"""The commands `crd` and `kustomize-config`: what clusters and kustomize need to know."""

from __future__ import annotations

from typing import NamedTuple

from ..command import PRINTED, Command, Context
from ..paths import output
from ..rendering.schemas import text

CRDS = ("deviceconfigs.krmfn.dev", "deviceconfigs.example.com", "ptemplates.pt.example.com")


class NoArgs(NamedTuple):
    """The arguments of `crd` and `kustomize-config`: none."""


def _crds(_: Context, args: NoArgs) -> int:
    output.write_stdout("---\n".join(text(f"crds/{name}.yaml") for name in CRDS))
    return 0


def _fields(_: Context, args: NoArgs) -> int:
    output.write_stdout(text("kustomize-configurations.yaml"))
    return 0


COMMAND = Command(
    ("| kubectl apply -f -",),
    *(lambda parser: None, NoArgs, _crds),
    exits=PRINTED,
)
KUSTOMIZE_CONFIG = Command(
    ("> kustomize-configurations.yaml",),
    *(lambda parser: None, NoArgs, _fields),
    exits=PRINTED,
)
