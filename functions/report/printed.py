"""What `nodes --format json` prints: all that is known of each cluster, and a row per node and Module."""

from __future__ import annotations

import json
from collections.abc import Iterable

from krmfn.results import json_text, reference
from krmfn.typed import Any, NamedTuple

from ..fleet import table
from .parts import Clash, Part, Pulled, Used

FORMAT = "krmfn.dev/nodes/v1"


class Cluster(NamedTuple):
    """A cluster as `nodes` prints it: what is known of it, and a row per node and Module."""

    part: Part
    rows: Iterable[table.Row]


def dump(clusters: Iterable[Cluster], whole: bool, kernel: str | None) -> str:
    """Return the JSON; `whole` is False when not all rows are wanted, `kernel` is one that nodes would move to."""
    head = f'{{"format": {json.dumps(FORMAT)}, "whole": {json.dumps(whole)}, "kernel": {json.dumps(kernel)},\n'
    return f'{head}"clusters": [\n{",".join(map(_cluster, clusters))}]}}\n'


def _cluster(cluster: Cluster) -> str:
    """Return a cluster; its rows stand on a line each, at its end."""
    part, rows = cluster
    facts = {
        "cluster": part.name,
        "hasErrors": part.has_errors,
        "hasNodes": part.has_nodes,
        "notKnown": part.unjudged or None,
        "modules": [_module(module) for module in part.modules],
        "configsWithoutModule": [reference(ref) for ref in part.bare],
        "conflicts": list(map(_conflict, part.clashes)),
        "furtherConflicts": part.more_clashes,
        "images": [image_record(image) for image in part.images],
        "imagesNotKnown": part.unlisted or None,
    }
    lines = ",\n".join(json_text(table.record(row)) for row in rows)
    text = json_text(facts)[:-1]
    return f'{text}, "rows": [\n{lines}]}}\n' if lines else f'{text}, "rows": []}}\n'


def _conflict(clash: Clash) -> dict[str, Any]:
    labels = [{"key": key, "values": list(values)} for key, values in clash.labels]
    return {**clash._asdict(), "sides": [side._asdict() for side in clash.sides], "labels": labels}


def _module(module: Used) -> dict[str, Any]:
    kernels = [
        {"kernel": one.version or None, "nodes": one.nodes, "mapping": one.mapping, "failure": one.failure or None}
        for one in module.kernels
    ]
    mappings = list(module.mappings)
    return {"module": reference(module.ref), "madeFrom": module.config, "mappings": mappings, "kernels": kernels}


def image_record(image: Pulled) -> dict[str, Any]:
    """Return an image as JSON data; `nodes` is null where their number is not known."""
    return {
        "image": image.name,
        "nodes": image.nodes,
        "madeInCluster": image.built,
        "neededBy": [{**reference(ref), "for": purpose} for ref, purpose in image.needs],
    }
