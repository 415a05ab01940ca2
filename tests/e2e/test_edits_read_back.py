"""Edits, read back by the real readers: what Kubernetes and kustomize (go-yaml v3) read of a text after an edit."""

from __future__ import annotations

import copy
import json
import os
import random
from typing import Any

from krmfn import KrmfnError, ResourceList

from .engines import find, run

HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
ITEM = "apiVersion: example.com/v1\nkind: Dashboard\nmetadata:\n  name: d\nspec:\n"
KEYS = ("y", "Y", "n", "on", "OFF", "yes", "No", "true", "a", "0x10")
VALUES = ("3", "on", "'y'", "no", "a", "{y: 1}", "{'n': 2, on: b}", "[yes, 'no']", "2001-01-01", "|\n    a", "null")
COUNT, SEED = int(os.environ.get("KRMFN_FUZZ", "20000")) // 5, int(os.environ.get("KRMFN_FUZZ_SEED", "9"))
NEW: tuple[Any, ...] = ("new", 7, True, "yes", {"y": 1}, ["on", 2], None)


def edited(draw: random.Random) -> tuple[str, bytes, str, Any]:
    """A document, the same after an edit, the key that was written, and its value; no bytes for a refusal."""
    keys = draw.sample(KEYS, draw.randint(1, 4))
    rows = [f"  {draw.choice([json.dumps(key), key])}: {draw.choice(VALUES)}\n" for key in keys]
    text = ITEM + "".join(rows)
    key, value, way = draw.choice(KEYS), draw.choice(NEW), draw.choice("fmr")
    lines = text.splitlines(keepends=True)
    resources = ResourceList.parse((HEAD + "- " + "  ".join(lines)).encode())
    try:
        item = resources.items[0]
        if way == "f":
            item.at(f"spec.{key}").value = value
        elif way == "m":
            item.manifest["spec"][key] = value
        else:
            manifest = copy.deepcopy(item.manifest)
            resources.replace(item, {**manifest, "spec": {**manifest["spec"], key: value}})
        out = resources.to_bytes().decode().removeprefix(HEAD)
    except KrmfnError:
        return text, b"", key, value
    return text, "".join(line[2:] for line in out.splitlines(keepends=True)).encode(), key, value


def read(texts: list[bytes], *reader: str) -> list[Any]:
    """What a reader reads under `spec` of each text; None where it refuses it."""
    frames = b"".join(b"%d\n%s" % (len(text), text) for text in texts)
    done = run(find("yamlreader", "tests/e2e/install makes it with go"), *reader, stdin=frames).ended(0)
    lines = done.out.decode().split("\n")[:-1]
    return [json.loads(line[1:])["spec"] if line[0] == "=" else None for line in lines]


def test_an_edit_changes_one_field_to_both_readers() -> None:
    """To kustomize a plain `y` and "y" are one key, and it refuses a mapping with both."""
    draw = random.Random(SEED)
    cases = [case for case in (edited(draw) for _ in range(COUNT)) if case[1]]
    assert len(cases) > COUNT / 3
    old, new = [case[0].encode() for case in cases], [case[1] for case in cases]
    for reader in ((), ("kustomize",)):
        for (text, out, key, value), before, after in zip(cases, read(old, *reader), read(new, *reader), strict=True):
            if before is None:
                continue
            assert after is not None, (reader, text, out.decode())
            changed = {name for name in {*before, *after} if before.get(name, "-") != after.get(name, "-")}
            assert len(changed) <= 1, (reader, text, out.decode())
            assert all(after[name] == value for name in changed), (reader, text, out.decode(), key)
