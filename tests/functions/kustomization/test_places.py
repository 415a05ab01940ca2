"""Places of findings, looked up for several builds at a time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

from krmfn_functions.kustomization import reading
from krmfn_functions.kustomization.kustomize import Output
from krmfn_functions.kustomization.places import Places
from krmfn_functions.paths import manifests

from krmfn.findings import placed
from krmfn.resource import Place
from krmfn.resourcelist import ResourceList
from krmfn.results import Result, error
from tests.commands import HANGS
from tests.trees import OURS, config_map, plant


def test_two_builds_are_traced_at_a_time(tmp_path: Path) -> None:
    """Before Python 3.12 a cached_property held one lock for all instances: kustomize ran one after the other."""
    both = Barrier(2)

    def again() -> Output:
        both.wait(timeout=HANGS)  # raises when the other one does not come
        return Output(b"")

    folder = str(plant(tmp_path, {"kustomization.yaml": "resources: [a]\n", "a": config_map("a")}).resolve())
    graph = reading.read([folder], folder, OURS)
    findings = []
    for _ in range(2):
        items = manifests.read_stream(config_map("a").encode()).items
        Places(graph, folder, (), again).attach(items)
        findings.append(items[0].located(error("wrong", ref=items[0].ref)))
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda finding: placed([finding]), findings))
    assert [finding.place and Path(finding.place.path).name for (finding,) in results] == ["a", "a"]


def test_a_finding_is_looked_up_once() -> None:
    """It has its place afterwards; of two findings that are equal there, one is kept."""
    messages: list[str] = []

    def place_of(result: Result) -> Result:
        messages.append(result.message)
        return result._replace(message="wrong", place=Place("a.yaml", line=3))

    resources = ResourceList()
    for text in ("one", "other"):
        resources.report(error(text, place=Place("", finder=place_of)))
        assert [str(result) for result in resources.results] == ["a.yaml:3: error: wrong"]
    assert messages == ["one", "other"]
