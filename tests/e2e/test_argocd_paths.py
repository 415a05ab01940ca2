"""Which changes of files count for an Application, by Argo CD's own code: `manifest-generate-paths`."""

from __future__ import annotations

import itertools
import json

from krmfn_functions.cluster.applications import is_covered, paths_of

from .argo import client
from .engines import run

SOURCE = "clusters/lab"
TABLE = {
    ("/base", "base/gpu.yaml"): True,
    ("/ba*", "base/gpu.yaml"): False,  # no `*` matches a `/`
    ("/ba*", "base"): True,
    ("/ba*/*", "base/gpu.yaml"): True,
    ("/base/*.yaml", "base/gpu.yaml"): True,
    (".;/base", "clusters/lab/kustomization.yaml"): True,
    ("../../base", "base/gpu.yaml"): True,
    ("/base/", "base/gpu.yaml"): True,
    ("/", "base/gpu.yaml"): True,
    ("/**", "base/gpu.yaml"): False,
    ("/[!b]ase/gpu.yaml", "base/gpu.yaml"): True,
    ("/[^b]ase/gpu.yaml", "base/gpu.yaml"): False,
    ("/ba[", "base/gpu.yaml"): False,
}
"""Paths of the annotation with a file, and whether its change counts; Go has no negation by `!`: it is a character."""
PARTS = ("a", "*", "b?", "[ab]", "..", "a\\*")


def test_argo_cd_says_the_same() -> None:
    patterns = [f"/{'/'.join(parts)}" for size in (1, 2, 3) for parts in itertools.product(PARTS, repeat=size)]
    patterns += [pattern[1:] for pattern in patterns] + [".", "./", "/", ";", ".;/a"]
    files = ("a", "a/b", "a/bb", "bb/a/a", "clusters/lab/a", "clusters/lab/a/b", "clusters/a", "a*/c")
    pairs = [*TABLE, *itertools.product(patterns, files)]
    questions = [{"paths": watched, "source": SOURCE, "file": file} for watched, file in pairs]
    done = run(client(), "changed", stdin="\n".join(map(json.dumps, questions)).encode()).ended(0)
    answers = [json.loads(line) for line in done.out.splitlines()]
    ours = [is_covered(f"/{file}", paths) if (paths := paths_of(watched, SOURCE)) else True for watched, file in pairs]
    assert [pair for pair, its, our in zip(pairs, answers, ours, strict=True) if its is not our] == []
    assert dict(zip(pairs, answers, strict=False)).items() >= TABLE.items()
