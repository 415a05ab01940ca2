"""Patches that match nothing: kustomize is silent about them, krmfn warns where it is certain."""

from __future__ import annotations

from pathlib import Path

import pytest
from krmfn_functions.kustomization import build_checks, reading

from krmfn.results import Result
from tests.call_counts import call_count
from tests.trees import COMPONENT, OURS, config_map, plant

PATCH = "patches:\n- path: p.yaml\n  target: {kind: ConfigMap, name: NAME}\n"
OPERATION = "- {op: add, path: /data, value: {a: b}}\n"


def lines(folder: Path, kustomization: str, patch: str = OPERATION, base: str = "namePrefix: lab-\n") -> list[str]:
    files = {
        "kustomization.yaml": f"resources: [base]\n{kustomization}",
        "p.yaml": patch,
        "base/kustomization.yaml": f"resources: [a.yaml]\n{base}",
        "base/a.yaml": config_map("a-map"),
    }
    return [str(finding.place and finding.place.line) for finding in unmatched(plant(folder, files))]


def unmatched(folder: Path) -> list[Result]:
    top = str(folder.resolve())
    return list(build_checks.unmatched_patches(reading.read([top], top, OURS), top))


@pytest.mark.parametrize(
    ("target", "base", "expected"),
    [
        ("{kind: ConfigMap, name: b-map}", "namePrefix: lab-\n", ["4"]),
        ("{kind: configmap}", "namePrefix: lab-\n", ["4"]),
        ("{name: a-maps2x, kind: A}", "namePrefix: lab-\n", ["4"]),
        *((f"{{kind: ConfigMap, name: {name}}}", "", ["4"]) for name in ("a-maps", "Xa-map", "a_map")),
        *(
            (f"{{kind: ConfigMap, name: {name}}}", "namePrefix: lab-\n", [])
            for name in ("a-map", "lab-a-map", "a.map", "b.*", "(b|c)")
        ),
    ],
)
def test_a_target_that_nothing_can_be_is_a_warning(tmp_path: Path, target: str, base: str, expected: list[str]) -> None:
    assert lines(tmp_path, PATCH.replace("{kind: ConfigMap, name: NAME}", target), base=base) == expected


@pytest.mark.parametrize(
    ("others", "patch", "base"),
    [
        ("configMapGenerator: [{name: b-map}]\n", OPERATION, ""),
        ("components: [part]\n", OPERATION, ""),
        ("", OPERATION, "transformers: [t.yaml]\n"),
        ("", OPERATION, "replacements: [{path: r.yaml}]\n"),
        ("", OPERATION, "resources: [https://example.com/a.yaml]\n"),
        ("", "- {op: replace, path: /metadata/name, value: b-map}\n", ""),
        ("- {path: p.yaml, options: {allowNameChange: true}}\n", OPERATION, ""),
    ],
)
def test_what_is_not_certain_is_not_said(tmp_path: Path, others: str, patch: str, base: str) -> None:
    base = base.replace("resources", "bases")
    assert lines(tmp_path, PATCH.replace("NAME", "b-map") + others, patch, base) == []


def test_a_component_patches_what_others_list(tmp_path: Path) -> None:
    files = {"kustomization.yaml": COMPONENT + PATCH.replace("NAME", "b-map"), "p.yaml": OPERATION}
    assert unmatched(plant(tmp_path, files)) == []


def test_a_profile_that_is_not_listed_cannot_be_patched(tmp_path: Path) -> None:
    """It may lie in `profiles/`, which .krmfn.yaml names: that its target is right helps nobody."""
    text = PATCH.replace("{kind: ConfigMap, name: NAME}", "{kind: Profile, name: gpu}")
    files = {"kustomization.yaml": f"resources: [a.yaml]\n{text}", "p.yaml": OPERATION, "a.yaml": config_map("a")}
    (finding,) = unmatched(plant(tmp_path, files))
    assert "; move the Profile's file here or into a base, and list it there under `resources` (" in finding.text


def test_twice_the_patches_of_twice_the_resources_are_twice_the_work(tmp_path: Path) -> None:
    def calls(number: int, base: str) -> int:
        targets = "".join(f"- {{path: p.yaml, target: {{kind: ConfigMap, name: b-{at}}}}}\n" for at in range(number))
        files = {
            "kustomization.yaml": f"resources: [base]\npatches:\n{targets}",
            "p.yaml": OPERATION,
            "base/kustomization.yaml": f"resources: [a.yaml]\n{base}",
            "base/a.yaml": "---\n".join(config_map(f"a-{at}") for at in range(number)),
        }
        top = str(plant(tmp_path / f"{number}{base[:4]}", files).resolve())
        graph = reading.read([top], top, OURS)
        patches, count = call_count(lambda: [*build_checks.unmatched_patches(graph, top)])
        assert len(patches) == number
        return count

    for base in ("", "namePrefix: lab-\n"):
        assert calls(600, base) < 2.5 * calls(300, base), base
