"""Lists whose entries the API server tells apart: sets, and maps with keys.

Source: pkg/apiserver/schema/listtype of k8s.io/apiextensions-apiserver v0.34.2.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from krmfn.typed import Any

from ..mistake import FieldMistake, Mistake
from .structural import Node, Path

TYPE, KEYS = "x-kubernetes-list-type", "x-kubernetes-list-map-keys"


def duplicates(node: Node, entries: list[Any], path: Path) -> Iterator[FieldMistake]:
    """Yield the entries of a set or a map that are there already, each kind of them once, and what is no map's."""
    kind, keys = node.get(TYPE), node.get(KEYS, ())
    if kind == "map":
        strange = (index for index, entry in enumerate(entries) if not isinstance(entry, (dict, type(None))))
        if (index := next(strange, None)) is not None:
            yield (*path, index), Mistake(f"must be a mapping, since its list has `{TYPE}: map`")
            return
        values = [{key: entry[key] for key in keys if key in entry} if entry else {} for entry in entries]
    elif kind == "set":
        values = entries
    else:
        return
    firsts: dict[str, int] = {}
    repeated: set[str] = set()
    for index, value in enumerate(values):
        text = json.dumps(value, sort_keys=True)
        first = firsts.setdefault(text, index)
        if first != index and text not in repeated:
            repeated.add(text)
            label = f"the {'key' if len(keys) == 1 else 'keys'} {text}" if kind == "map" else text
            remedy = "remove one, or give it another key" if kind == "map" else "remove it"
            mistake = Mistake(f"has {label} of entry {first} again, and its list has `{TYPE}: {kind}`", remedy)
            yield (*path, index), mistake
