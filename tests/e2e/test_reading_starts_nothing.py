"""Reading a value starts no program: what may run kustomize a second time is a call, and no attribute."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from krmfn_functions.cluster import cluster_streams
from krmfn_functions.cluster.deployed import Clusters
from krmfn_functions.command import Context
from krmfn_functions.options import RunOptions
from krmfn_functions.run import placed
from krmfn_functions.settings import CHECK
from krmfn_functions.sources import Sources

from krmfn import ResourceList
from krmfn.streams import Log
from tests.commands import ROOT
from tests.trees import plant

from .test_places import BASE, FAULTY

EXAMPLES = sorted(path for path in (ROOT / "examples").iterdir() if any(path.rglob("kustomization.yaml")))


def attributes(value: object) -> Iterator[Any]:
    """Read each public attribute that is no method; yield what it holds."""
    for name in dir(value):
        if not name.startswith("_"):
            held = getattr(value, name)
            if not callable(held):
                yield held


def is_data(value: object) -> bool:
    """Return True for a value that can be written down: what looks for a place is no part of it."""
    if isinstance(value, tuple):
        return all(map(is_data, value))
    return value is None or isinstance(value, (str, int))


def rendered(folder: Path, options: RunOptions | None = None) -> Clusters:
    return cluster_streams.render(Context(options or RunOptions(), CHECK, Log(quiet=True), Sources()), [str(folder)])


def refuse_programs(patch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **_: object) -> None:
        raise AssertionError(f"a program is started: {args}")

    for name in ("fork", "posix_spawn", "posix_spawnp", "system"):
        patch.setattr(os, name, refuse)
    patch.setattr(subprocess.Popen, "__init__", refuse)


def read_all(streams: Clusters) -> list[ResourceList]:
    """Read the attributes of all lists, of their items and of their findings; return the lists."""
    lists = [held for cluster in streams.clusters for held in (*cluster.inputs, *cluster.lists, cluster.final)]
    for value in (streams, *streams.clusters, *lists):
        assert [*attributes(value)]
    for resources in lists:
        for value in (*resources.items, *resources.results):
            assert [*attributes(value)]
        places = [*(item.place for item in resources.items), *(result.place for result in resources.results)]
        assert all(map(is_data, places))
    return lists


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_of_an_example(example: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = shutil.copytree(example, tmp_path / "repo")
    (folder / ".git").mkdir()
    streams = rendered(folder)
    refuse_programs(monkeypatch)
    assert any(resources.items for resources in read_all(streams))


def test_where_a_place_needs_a_second_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"base/kustomization.yaml": "resources: [config.yaml]\n", "base/config.yaml": BASE}
    files |= {
        "top/kustomization.yaml": "resources: [../base]\npatches: [{path: patch.yaml}]\n",
        "top/patch.yaml": FAULTY,
    }
    # with a flag krmfn does not know what kustomize does, and asks for origins in a build of its own
    options = RunOptions(kustomize="--load-restrictor LoadRestrictionsNone")
    streams = rendered(plant(tmp_path, files) / "top", options)
    with monkeypatch.context() as patch:
        refuse_programs(patch)
        lists = read_all(streams)
    finals = [
        resources for resources in lists if any(result.place and result.place.built for result in resources.results)
    ]
    assert finals, "else there is nothing to look up"
    places = [result.place for result in placed(finals[-1]) if result.rule == "KRM101"]
    assert [(place.path, place.line) for place in places if place] == [(str(tmp_path / "top/patch.yaml"), 8)]
