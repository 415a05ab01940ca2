"""Predict what KMM does in recorded fleets, as JSON lines: `python tools/predictions.py FOLDER > predictions.jsonl`.

FOLDER holds files `*.jsonl.gz`; each line is a case: its `id` and its `phases`, each with `modules` and `nodes`.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

from krmfn_functions.fleet import facts, moves
from krmfn_functions.fleet.coverage import coverage
from krmfn_functions.fleet.drivers import driver
from krmfn_functions.kmm.scheduling import Entry, play

from krmfn.ownership import Id

Case = dict[str, Any]


def cases(folder: Path) -> Iterator[Case]:
    """Yield the cases of a folder, file by file."""
    for path in sorted(folder.glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def side(phase: Case) -> moves.Side:
    """Return the state of a phase, without node exclusivity."""
    drivers = [driver(module) for module in phase["modules"]]
    nodes = [facts.of_manifest(node) for node in phase["nodes"]]
    return moves.side(coverage(nodes, drivers, exclusive=False), drivers)


def predictions(case: Case) -> Iterator[dict[str, Any]]:
    """Yield a prediction per phase, node and Module; both those of the phase and of the one before."""
    before, loaded = moves.side((), ()), dict[tuple[moves.NodeId, Id], Entry | None]()
    for number, phase in enumerate(case["phases"]):
        after = side(phase)
        for node, module in product(*(sorted({**earlier, **later}) for earlier, later in _both(before, after))):
            was = before.groups[before.group_of[node]].get(module) if node in before.group_of else None
            move = play(loaded.get((node, module)), was, after.view(node, module))
            loaded[node, module] = move.after
            image = move.after["containerImage"] if move.after else None
            expected = {"loaded": image, "events": [*map(str, move.events)], "effect": move.effect}
            subject = {"id": case["id"], "phase": number, "node": node[0], "module": "/".join(module[2:])}
            yield {**subject, "prediction": expected}
        before = after


def _both(before: moves.Side, after: moves.Side) -> list[tuple[Mapping[Any, Any], Mapping[Any, Any]]]:
    return [(before.group_of, after.group_of), (before.drivers, after.drivers)]


if __name__ == "__main__":
    for recorded in cases(Path(sys.argv[1])):
        for prediction in predictions(recorded):
            print(json.dumps(prediction))  # noqa: T201
