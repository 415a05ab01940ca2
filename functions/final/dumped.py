"""A dump of a cluster among the files: it would be deployed."""

from __future__ import annotations

from collections.abc import Iterator

from krmfn import Item, Result, error
from krmfn.rule import Rule

from ..cluster_dump import is_dumped
from .stream import Final

_LIVE = {("kmm.sigs.x-k8s.io", "NodeModulesConfig"), ("", "Event"), ("events.k8s.io", "Event")}
"""What only a cluster writes, as (group, kind)."""


def nothing_is_of_a_dump(final: Final) -> Iterator[Result]:
    """Yield an error per file with what only a cluster writes, or with a Pod that a cluster has given back."""
    by_file: dict[str, list[Item]] = {}
    for item in final.deployed:
        pair = (item.group, item.kind)
        if pair in _LIVE or (pair == ("", "Pod") and is_dumped(item.manifest)):
            by_file.setdefault(item.place.path if item.place else "", []).append(item)
    for first, *others in by_file.values():
        more = f", as are {len(others):,} more in this file" if others else ""
        message = f"is part of a dump of a cluster{more}; it would be deployed: move the dump, and pass it with --live"
        yield first.located(error(message))


RULES = (
    Rule(
        "KRM714",
        "a dump of a cluster must not be among the files: it is passed with --live",
        good="""\
kind: DeviceConfig
""",
        bad="""\
apiVersion: kmm.sigs.x-k8s.io/v1beta1
kind: NodeModulesConfig
metadata: {name: gpu-1}
spec: {modules: []}
""",
        remedy="Move the dump out of PATH, or exclude it (`exclude` in .krmfn.yaml), and pass it with `--live`.",
        check=nothing_is_of_a_dump,
    ),
)
