"""Our reader against the one that Kubernetes uses (sigs.k8s.io/yaml), and what we write through that one.

KRMFN_FUZZ sets the number of documents (10,000; with CI set ten times as many, about a minute), KRMFN_FUZZ_SEED
the seed. What differs is printed with its document; such a document belongs into tests/krmfn/yamltext/test_load.py.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from krmfn_functions.deviceconfig import deviceconfig
from krmfn_functions.paths import manifests, output, syntax

from krmfn import KrmfnError, ResourceList, itemtext
from krmfn.item import Item
from krmfn.resource import ref
from krmfn.yamltext import documents as divided
from krmfn.yamltext import emit, load, simple, split
from tests import builders
from tests.commands import ROOT
from tests.small_lists import HEAD

from .documents import TEXT, documents
from .engines import find, run

COUNT = int(os.environ.get("KRMFN_FUZZ", "100000" if os.environ.get("CI") else "10000"))
SEED = int(os.environ.get("KRMFN_FUZZ_SEED", "9"))
STEP = 5_000
REFUSED: Any = object()


@pytest.fixture(scope="session")
def reader() -> str:
    """The program that says what Kubernetes reads."""
    return find("yamlreader", "tests/e2e/install makes it with go")


def kubernetes(reader: str, texts: Iterable[bytes]) -> list[Any]:
    """What Kubernetes reads from each document; REFUSED where it does not."""
    texts = list(texts)
    done = run(reader, stdin=b"".join(b"%d\n%s" % (len(text), text) for text in texts)).ended(0)
    answers = done.out.decode().split("\n")[:-1]
    assert len(answers) == len(texts)
    return [json.loads(answer[1:]) if answer[0] == "=" else REFUSED for answer in answers]


def ours(text: bytes) -> Any:
    try:
        return load.read(text)
    except KrmfnError:
        return REFUSED


def alike(value: Any, other: Any) -> bool:
    """True when two values have the same strings, numbers, booleans and nulls at the same places; 1 is 1.0 to JSON."""
    if isinstance(value, dict) and isinstance(other, dict):
        return value.keys() == other.keys() and all(alike(child, other[key]) for key, child in value.items())
    if isinstance(value, list) and isinstance(other, list):
        return len(value) == len(other) and all(map(alike, value, other))
    if isinstance(value, bool) or isinstance(other, bool):
        return value is other
    if isinstance(value, float) or isinstance(other, float):
        return isinstance(value, (int, float)) and isinstance(other, (int, float)) and float(value) == float(other)
    return bool(value == other)


def looks(item: Item) -> list[Any]:
    """What an item says of itself without a parser wherever it can."""
    return [
        item.kind,
        item.name,
        item.ref,
        item.labels,
        item.annotations,
        itemtext.string(item, "a"),
        itemtext.string(item, "metadata", "a"),
        itemtext.part(item, "metadata"),
    ]


def expected(data: Any) -> list[Any]:
    """The same from what Kubernetes reads."""
    data = data if isinstance(data, dict) else {}
    metadata = data.get("metadata") if isinstance(data.get("metadata"), dict) else {}
    about = ref(data)
    maps = [metadata.get("labels"), metadata.get("annotations")]
    strings = [
        {k: v for k, v in (value if isinstance(value, dict) else {}).items() if isinstance(v, str)} for value in maps
    ]
    texts = [value.get("a") if isinstance(value, dict) else "" for value in (data, metadata)]
    plain = (text if isinstance(text, str) else "" for text in texts)
    return [about.kind, about.name, about, *strings, *plain, metadata]


def fuzzed() -> Iterator[list[bytes]]:
    stream = documents(SEED, COUNT, ROOT / "tests" / "cases")
    while batch := [text for _, text in zip(range(STEP), stream, strict=False)]:
        yield batch


def test_documents_mean_to_us_what_they_mean_to_kubernetes(reader: str) -> None:
    """In every string, whichever of our readers reads them, or we refuse; and so do they when we have printed them."""
    seen: Counter[str] = Counter()
    for batch in fuzzed():
        printed: list[tuple[bytes, bytes, Any]] = []
        for text, answer in zip(batch, kubernetes(reader, batch), strict=True):
            if answer is REFUSED:
                seen["refused by Kubernetes"] += 1
                continue
            data = ours(text)
            seen["refused by us" if data is REFUSED else "read by both"] += 1
            assert data is REFUSED or alike(data, answer), (text, data, answer)
            plain = simple.read(text.decode())
            if plain is not None:
                seen["simple"] += 1
                assert alike(plain, answer), (text, plain, answer)
            for above in (b"",) if text.startswith(b"\xef\xbb\xbf") else (b"", b"\n", b" # behind a divider\n"):
                document = above + text
                item = Item(document, 0, len(document), -2, split.is_simple(document))
                try:
                    syntax.check(document)  # what no YAML is may look like anything
                    actual = looks(item)
                except KrmfnError:
                    assert data is REFUSED, document
                else:
                    assert alike(actual, expected(answer)), (document, actual, expected(answer))
            printed += [(text, again, answer) for again in prints(text, data)]
        for (text, again, answer), read in zip(printed, kubernetes(reader, [it[1] for it in printed]), strict=True):
            seen["printed"] += 1
            assert read is not REFUSED, (text, again)
            assert alike(read, answer), (text, again, read, answer)
    assert min(seen[name] for name in ("read by both", "simple", "printed", "refused by Kubernetes")) > COUNT // 20, (
        seen
    )
    assert seen["refused by us"] < COUNT // 10, seen


def prints(text: bytes, data: Any) -> Iterator[bytes]:
    """A document as `render` prints it, and its data as `emit` writes them."""
    if isinstance(data, dict) and data:  # REFUSED is none
        yield emit.dump(data).encode()
        yield emit.dump_json(data).encode()
    if data is REFUSED or len(list(divided.documents(text))) != 1:
        return
    try:
        items = manifests.read("-", text).items
    except KrmfnError:
        return
    if len(items) == 1 and items[0].kind == ref(data).kind:
        yield output.dump(items)


FREE = "zq7marker"
"""Stands for the hostile text; the same object with it tells where that has to come out."""
CONTAINER: dict[str, Any] = {
    "command": ["run"],
    "args": ["-a"],
    "env": [{"name": "A", "value": "b"}],
    "volumes": [{"name": "v", "hostPath": {"path": "/v"}}],
    "volumeMounts": [{"name": "v", "mountPath": "/v"}],
}
SPEC: dict[str, Any] = builders.SPEC | {
    "parameters": ["a=1"],
    "firmwarePath": "/fw",
    "dirName": "/opt",
    "modulesLoadingOrder": ["drv", "dep"],
    "inTreeModulesToRemove": ["old"],
    "loadArgs": ["-v"],
    "unloadArgs": ["-r"],
    "imagePullSecret": "secret",
    "serviceAccountName": "account",
    "labels": {"team": "a"},
    "annotations": {"contact": "a"},
    "tolerations": [{"key": "a", "operator": "Equal", "value": "b"}],
    "devicePlugin": builders.PLUGIN | CONTAINER,
    "daemonSets": [builders.AGENT | CONTAINER],
}
HOSTILE = [text for text in dict.fromkeys(TEXT) if "$" not in text]


def with_text(value: Any, text: str) -> Iterator[Any]:
    """Copies of `value`, each with another of its strings replaced by `text`; keys of maps, too."""
    if isinstance(value, str):
        yield text
    elif isinstance(value, list):
        for at, child in enumerate(value):
            yield from ([*value[:at], now, *value[at + 1 :]] for now in with_text(child, text))
    else:
        for key, child in value.items():
            yield from ({**value, key: now} for now in with_text(child, text))


def specs(text: str) -> Iterator[Any]:
    """SPEC with each of its strings replaced; but for driverImage, whose tag decides whether the version is added."""
    yield from (spec for spec in with_text(SPEC, text) if spec["driverImage"] == SPEC["driverImage"])


def generated(spec: Any) -> bytes | None:
    """The list with what is generated for a config; None when the config is refused."""
    resources = ResourceList.parse(f"{HEAD}{emit.dump([builders.device_config(spec)])}".encode())
    deviceconfig(resources)
    return None if resources.failed else resources.to_bytes()


def put(value: Any, text: str) -> Any:
    """`value` with `text` wherever FREE stands."""
    if isinstance(value, str):
        return value.replace(FREE, text)
    if isinstance(value, list):
        return [put(child, text) for child in value]
    return {put(key, text): put(child, text) for key, child in value.items()} if isinstance(value, dict) else value


def test_generated_objects_hold_the_strings_that_came_in(reader: str) -> None:
    """Whatever stands in a field leaves as itself, read back by Kubernetes' reader."""
    fields = list(specs(FREE))
    patterns = kubernetes(reader, [generated(spec) or b"null" for spec in fields])
    numbers = [at for at, pattern in enumerate(patterns) if pattern]
    assert len(numbers) >= 25
    assert all(
        len(pattern["items"]) == 3 and FREE in json.dumps(pattern["items"][1:]) for pattern in patterns if pattern
    )
    cases = [(at, text) for text in HOSTILE for at, _ in enumerate(fields) if at in numbers]
    spoiled = {text: list(specs(text)) for text in HOSTILE}
    outs = [(at, text, out) for at, text in cases if (out := generated(spoiled[text][at])) is not None]
    assert len(outs) > len(cases) // 4
    for (at, text, out), read in zip(outs, kubernetes(reader, [out for _, _, out in outs]), strict=True):
        assert read["items"] == put(patterns[at]["items"], text), (text, fields[at], out.decode())
