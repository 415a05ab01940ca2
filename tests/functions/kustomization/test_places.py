"""Places of findings, looked up for several builds at a time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

from krmfn_functions.kustomization import reading
from krmfn_functions.kustomization.confinement import Input
from krmfn_functions.kustomization.kustomize import Output
from krmfn_functions.kustomization.places import Places
from krmfn_functions.paths import manifests
from krmfn_functions.rendering.generated import OWNER_FACT

from krmfn.findings import placed
from krmfn.resource import Place, Ref
from krmfn.resourcelist import ResourceList
from krmfn.results import Result, error
from tests.builders import resource_list
from tests.call_counts import call_count
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


def calls_to_locate(number: int, folder: Path) -> int:
    """Return how many functions are called to look up two findings for each of so many resources: its own, a call's."""
    text = "---\n".join(config_map(f"m{at}") for at in range(number))
    top = str(plant(folder / str(number), {"kustomization.yaml": "resources: [a]\n", "a": text}).resolve())
    items = manifests.read_stream(text.encode()).items
    inputs = resource_list(*(item.manifest for item in items)).to_bytes()
    output = Output(b"", inputs=[Input("krmfn", inputs)])
    places = Places(reading.read([top], top, OURS), top, (), lambda: output)
    places.attach(items)
    findings = [item.located(error("wrong", ref=item.ref)) for item in items]
    generated = Ref("v1", "Secret", "", "of")
    owned = [error("wrong", ref=generated, facts=((OWNER_FACT, str(item.ref)),)) for item in items]
    found, count = call_count(lambda: placed([*findings, *map(places.locate, owned)]))
    lines = [finding.place.line for finding in found if finding.place]
    assert len(lines) == 2 * number and lines[:number] == lines[number:]
    return count


def test_twice_the_findings_are_twice_the_work(tmp_path: Path) -> None:
    calls_to_locate(2, tmp_path)  # what is imported once
    assert calls_to_locate(200, tmp_path) < 2.5 * calls_to_locate(100, tmp_path)


def test_a_finding_is_looked_up_once() -> None:
    """It has its place afterwards; of two findings that are equal there, one is kept."""
    messages: list[str] = []

    def place_of(result: Result) -> Result:
        messages.append(result.message)
        return result._replace(message="wrong", place=Place("a.yaml", line=3))

    resources = ResourceList()
    for text in ("one", "other"):
        resources.report(error(text, place=Place("", finder=place_of)))
        assert [str(result) for result in resources.placed()] == ["a.yaml:3: error: wrong"]
    assert messages == ["one", "other"]
