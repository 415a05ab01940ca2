"""Dumps of clusters that commands take in place of the committed nodes."""

from __future__ import annotations

import json
from collections.abc import Mapping

from krmfn import KrmfnError, ResourceList
from krmfn.runner import max_bytes

from ..fleet import live
from ..fleet.live import Live
from ..paths import files, manifests
from ..rendering.kinds import NODES


def read(name: str) -> Live:
    """Return what a dump says. Raises KrmfnError that names it."""
    try:
        with files.open_named(name) as source:
            return live.read(source.read, max_bytes())
    except KrmfnError as failure:
        raise KrmfnError(*(f"--live {name}: {line}" for line in failure.args)) from failure


def replace_nodes(lists: Mapping[str, ResourceList], dump: Live) -> None:
    """Put the nodes of a dump in the place of those that are committed. Raises KrmfnError for several clusters."""
    if len(lists) > 1:
        raise KrmfnError("--live DUMP needs a single cluster, and there are several; pass the PATH of one")
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(dump.nodes.values())})
    for resources in lists.values():
        kept = [item for item in resources.items if (item.group, item.kind) not in NODES]
        resources.items = [*kept, *manifests.read_stream(text.encode()).items]
