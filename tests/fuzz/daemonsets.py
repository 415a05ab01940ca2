"""DaemonSets made at random: the edits of tests/functions/pods, and others made of their parts and of other words."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

from krmfn_functions.pods import structure

from tests.functions.pods.daemon_sets import EDITS, POD

Edits = list[list[Any]]
_FIELDS = structure.facts()["types"]["PodSpec"]
_TEXTS = (
    *("", "a", "b", "agent", "other", "run", "conf", "app", "part", "a.b", "A", "a_b", "a b", "-x", "x" * 63, "x" * 64),
    *("a/b", "a/b/c", "/x", "../x", "x/..", "..", ".", "1", "9000", "metrics", "é", "a\n", "metadata.name", "Exists"),
    *("In", "Gt", "Equal", "NoExecute", "NoSchedule", "NoRun", "Always", "10.0.0.1", "10.0.0.300", "::1", "a.b."),
    *("kubernetes.io/hostname", "A.b/c", "a/", "/a", "$(A)", "registry.example.com/a:1", "None", "Default", "x" * 254),
)
_NUMBERS = (0, 1, 2, 5, 100, 101, -1, 65535, 65536, 2**31 - 1, -(2**31), 512, 511, 9000)
_QUANTITIES = ("1", "0", "-1", "500m", "1Gi", "2Mi", "3Mi", "4Mi", "1.5", "2e3", "1n", "0.1", "1E", 1, 0.5, 2)
_RESOURCES = (
    *("cpu", "memory", "ephemeral-storage", "storage", "gpu", "example.com/gpu", "example.com/g u", "pods"),
    *("hugepages-2Mi", "hugepages-1Gi", "hugepages-", "hugepages-x", "hugepages-0", "hugepages-1m", "hugepages-2M"),
    *("requests.example.com/a", "kubernetes.io/a", "a.kubernetes.io/a", "requests.cpu", "example.com/requests.a"),
)


def new(rng: random.Random) -> bytes:
    """Return an input: one to four edits of the right DaemonSet."""
    return _dumped([_edit(rng) for _ in range(rng.choice((1, 1, 2, 2, 3, 4)))])


def changed(rng: random.Random, text: bytes) -> bytes:
    """Return an input with an edit more, or less, or with another value within one."""
    try:
        edits: Edits = json.loads(text)["edits"]
        draw = rng.random()
        if draw < 0.3 or not edits:
            edits.insert(rng.randint(0, len(edits)), _edit(rng))
        elif draw < 0.4:
            edits.pop(rng.randrange(len(edits)))
        else:
            edit = rng.choice(edits)
            edit[1] = _varied(rng, edit[1])
    except (ValueError, LookupError, TypeError, AttributeError):
        return new(rng)
    return _dumped(edits)


def _dumped(edits: Edits) -> bytes:
    return (json.dumps({"edits": edits}) + "\n").encode()


def _edit(rng: random.Random) -> list[Any]:
    """Return an edit: one that is listed, as it is or varied, or one of a field of the pod as its type says."""
    draw = rng.random()
    if draw < 0.4:
        name = rng.choice(sorted(_FIELDS))
        return [[*POD, name.removesuffix("!")], _typed(rng, _FIELDS[name], name)]
    path, value = rng.choice(EDITS)
    return [list(path), copy.deepcopy(value) if draw < 0.6 else _varied(rng, value)]


def _varied(rng: random.Random, value: Any) -> Any:
    """Return a value with one to three changes of its texts, its numbers, its fields and its entries."""
    box = [copy.deepcopy(value)]
    for _ in range(rng.choice((1, 1, 2, 3))):
        parent, key = rng.choice([*_places(box)])
        old = parent[key]
        if isinstance(old, dict) and old and rng.random() < 0.7:
            old.pop(rng.choice(sorted(old)))
        elif isinstance(old, list) and old and rng.random() < 0.7:
            old.append(_varied(rng, rng.choice(old)))
        elif isinstance(parent, dict) and rng.random() < 0.1:
            parent.pop(key)
        else:
            parent[key] = _other(rng, old)
    return box[0]


def _other(rng: random.Random, old: Any) -> Any:
    """Return another value of the type of a value."""
    if isinstance(old, bool) or old is None:
        return not old
    if isinstance(old, str):
        return rng.choice(_TEXTS)
    return rng.choice(_NUMBERS) if isinstance(old, (int, float)) else type(old)()


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each mapping and list below a value with each of its keys."""
    for key, child in value.items() if isinstance(value, dict) else enumerate(value):
        yield value, key
        if isinstance(child, (dict, list)):
            yield from _places(child)


def _typed(rng: random.Random, node: Any, name: str) -> Any:
    """Return a value of a type of structure.json, which may be a wrong one."""
    node = structure.facts()["types"].get(node, node) if isinstance(node, str) else node
    if isinstance(node, str):
        return _scalar(rng, node, name)
    if "$enum" in node:
        return rng.choice(node["$enum"])
    if "$list" in node:
        return [_typed(rng, node["$list"], name) for _ in range(rng.choice((0, 1, 1, 2)))]
    if "$map" in node:
        keys = _RESOURCES if node["$map"] == "quantity" else _TEXTS
        return {rng.choice(keys): _typed(rng, node["$map"], name) for _ in range(rng.choice((0, 1, 2, 3)))}
    fields = [field for field in sorted(node) if not field.startswith("$")]
    kept = [field for field in fields if field.endswith("!") or rng.random() < 0.4]
    return {field.removesuffix("!"): _typed(rng, node[field], field) for field in kept}


def _scalar(rng: random.Random, kind: str, name: str) -> Any:
    if kind == "boolean":
        return rng.random() < 0.5
    if kind == "quantity":
        return rng.choice(_QUANTITIES)
    if kind == "string" or (kind == "number-or-string" and rng.random() < 0.5):
        return rng.choice(_TEXTS)
    return rng.choice([number for number in _NUMBERS if kind != "int32" or -(2**31) <= number < 2**31])
