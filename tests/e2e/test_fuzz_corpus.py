"""The inputs of tests/fuzz/corpus, each held against the real readers as `make fuzz` does; that one makes new ones."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fuzz import archive, corpus, work
from tests.fuzz.findings import Refused
from tests.fuzz.readers import PROGRAM, Readers
from tests.fuzz.targets import TARGETS
from tests.trees import config_map, function

from .engines import find

SEEDS = [pytest.param(name, seed, id=f"{name}-{seed.name}") for name in TARGETS for seed in corpus.seeds(name)]


@pytest.fixture(scope="module")
def readers() -> Iterator[Readers]:
    readers = Readers(find(PROGRAM, "tests/e2e/install makes it with go"))
    yield readers
    readers.close()


@pytest.mark.parametrize(("name", "seed"), SEEDS)
def test_every_input_of_the_corpus_is_read_as_others_read_it(readers: Readers, name: str, seed: corpus.Seed) -> None:
    """What has `fine` in its name is taken; all else is taken rightly or refused, in time."""
    target = TARGETS[name]
    try:
        target.run(seed.text, readers)
        if seed.pieces:
            work.check(target.work, *seed.pieces)
            work.large(target.work, *seed.pieces)
    except Refused as refusal:
        assert not seed.name.startswith("fine"), refusal


PLANTED = {
    "a function": ("transformers: [function.yaml]", "started", (("./planted",),)),
    "an image": ("transformers: [image.yaml]", "started", "example/planted"),
    "a URL": ("patches: [{path: 'http://127.0.0.1:9/a'}]", "fetched", ("http://127.0.0.1:9/a",)),
    "a repository": ("components: ['git@127.0.0.1:a/b']", "fetched", ("git init",)),
    "a file": ("patches: [{path: own.yaml}]", "files", "own.yaml"),
}


@pytest.mark.parametrize(("fields", "kind", "seen"), PLANTED.values(), ids=PLANTED)
def test_the_readers_tell_what_kustomize_would_have_done(
    readers: Readers, tmp_path: Path, fields: str, kind: str, seen: object
) -> None:
    files = {
        "kustomization.yaml": f"resources: [own.yaml]\n{fields}\n",
        "own.yaml": config_map("own"),
        "function.yaml": function("exec: {path: ./planted}"),
        "image.yaml": function("container: {image: example/planted}"),
    }
    folder = Path(os.path.realpath(tmp_path))
    archive.plant(str(folder), {name: text.encode() for name, text in files.items()})
    answer = getattr(readers.build(folder), kind)
    assert answer == seen or str(seen) in str(answer)
