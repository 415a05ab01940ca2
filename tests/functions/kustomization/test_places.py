"""Places of findings, looked up for several builds at a time."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from krmfn_functions.kustomization import places as places_module
from krmfn_functions.kustomization import reading
from krmfn_functions.kustomization.confinement import Input
from krmfn_functions.kustomization.kustomize import Decision, Output
from krmfn_functions.kustomization.places import Places
from krmfn_functions.kustomization.traces import Trace
from krmfn_functions.paths import manifests
from krmfn_functions.rendering.generated import OWNER_FACT
from krmfn_functions.run import note, placed
from krmfn_functions.sources import Sources, of_field

from krmfn.item import Item
from krmfn.resource import Built, Place, Ref
from krmfn.resourcelist import ResourceList
from krmfn.results import Result, error
from tests.builders import resource_list
from tests.call_counts import call_count
from tests.commands import HANGS
from tests.trees import OURS, config_map, plant


def trace_of(folder: str, traced: Output | None = None) -> Trace:
    return Trace(folder, folder, reading.read([folder], folder, OURS), Decision(()), (), 1, traced)


def attach(sources: Sources, places: Places, items: Sequence[Item]) -> str:
    """Let the items be those of a build, and return its name."""
    name = sources.add("", places)
    for number, item in enumerate(items):
        item.file = Place("", number, built=Built(name, number))
    return name


def test_two_builds_are_traced_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two findings each looks up its build, and kustomize runs for both of them at a time."""
    both = Barrier(2)

    def again(trace: Trace) -> Output:
        both.wait(timeout=HANGS)  # raises when the other one does not come
        return Output(b"")

    folder = str(plant(tmp_path, {"kustomization.yaml": "resources: [a]\n", "a": config_map("a")}).resolve())
    monkeypatch.setattr(places_module, "origins_of", again)
    findings, sources = [], Sources()
    for _ in range(2):
        items = manifests.read_stream(config_map("a").encode()).items
        attach(sources, Places(trace_of(folder), items), items)
        findings.append(items[0].located(error("wrong", ref=items[0].ref)))
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda finding: sources.placed([finding]), findings))
    assert [finding.place and Path(finding.place.path).name for (finding,) in results] == ["a", "a"]


def calls_to_locate(number: int, folder: Path) -> int:
    """Return how many functions are called to look up two findings for each of so many resources: its own, a call's."""
    text = "---\n".join(config_map(f"m{at}") for at in range(number))
    top = str(plant(folder / str(number), {"kustomization.yaml": "resources: [a]\n", "a": text}).resolve())
    items = manifests.read_stream(text.encode()).items
    inputs = resource_list(*(item.manifest for item in items)).to_bytes()
    output = Output(b"", inputs=[Input("krmfn", inputs)])
    sources = Sources()
    name = attach(sources, Places(trace_of(top, output), items), items)
    findings = [item.located(error("wrong", ref=item.ref)) for item in items]
    generated = Ref("v1", "Secret", "", "of")
    place = Place(built=Built(name))
    owned = [error("wrong", ref=generated, facts=((OWNER_FACT, str(item.ref)),), place=place) for item in items]
    found, count = call_count(lambda: sources.placed([*findings, *owned]))
    lines = [finding.place.line for finding in found if finding.place]
    assert len(lines) == 2 * number and lines[:number] == lines[number:]
    return count


def test_twice_the_findings_are_twice_the_work(tmp_path: Path) -> None:
    calls_to_locate(2, tmp_path)  # what is imported once
    assert calls_to_locate(200, tmp_path) < 2.5 * calls_to_locate(100, tmp_path)


def test_a_finding_is_looked_up_once() -> None:
    """Its place is kept; of two findings that are equal there, one is told."""
    messages: list[str] = []

    class Known:
        def located(self, result: Result, number: int) -> Result:
            messages.append(f"{number}: {result.message}")
            return result._replace(message="wrong", place=Place("a.yaml", line=3))

    resources, sources = ResourceList(), Sources()
    note(resources, sources=sources)
    name = sources.add("a", Known())
    for text in ("one", "other"):
        resources.report(error(text, place=Place(built=Built(name, 2))))
        assert [str(result) for result in placed(resources)] == ["a.yaml:3: error: wrong"]
    assert messages == ["2: one", "2: other"]


def test_another_field_than_that_of_the_finding_is_looked_up() -> None:
    """The finding keeps its words, its resource and its field, which are not those of the place."""

    class Known:
        def located(self, result: Result, number: int) -> Result:
            path = result.field.path if result.field else ""
            return Result("", ref=OTHER, place=Place(f"{result.ref}, {path}"))

    sources = Sources()
    place = of_field(Place(built=Built(sources.add("a", Known()), 0)), OTHER, "spec.b")
    finding = error("wrong", ref=ABOUT, place=place)
    assert sources.located(finding) == finding._replace(place=Place("Profile b, spec.b"))


ABOUT, OTHER = Ref("g/v1", "DeviceConfig", "kmm", "a"), Ref("g/v1", "Profile", "", "b")
