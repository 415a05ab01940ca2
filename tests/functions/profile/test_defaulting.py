"""Configs of a vendor's kind are judged after defaults, as the API server judges them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.functions.profile.schemas import judged
from tests.functions.profile.vendor import CR, PROFILE, container, cr, options, profile, refused, rendered, sound

CASES: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "defaulting.yaml").read_text())


@pytest.mark.parametrize("case", CASES, ids=[case["about"] for case in CASES])
def test_defaults_come_before_validation(case: dict[str, Any]) -> None:
    result = judged(case["schema"], case["written"])
    assert result.becomes == case["becomes"], result.refusals


def test_a_config_without_spec_has_no_defaults() -> None:
    """The error stood at the vendor's expression, which nobody but him can mend."""
    product = profile("    required: [spec]\n", "")
    options(product)["driver"] = {"type": "object", "default": {"image": "x/y", "version": "1"}}
    options(product)["driver"]["properties"] = {name: {"type": "string"} for name in ("image", "version", "parameters")}
    assert "DaemonSet gpu-metrics" not in sound(product, {**CR, "spec": {}})
    config = {key: value for key, value in CR.items() if key != "spec"}
    assert refused(product, config) == [
        "error: DeviceConfig kmm/gpu: spec: is missing, and there is no default for an option below it; "
        "write `spec: {}` [KRM180]"
    ]


def test_what_a_default_breaks_is_said_with_the_default() -> None:
    product = profile()
    options(product)["exporter"]["not"] = {"required": ["port", "level"]}
    (finding,) = refused(product, cr(exporter={"level": "debug"}))
    assert "spec.exporter: fits what `not` of the schema refuses" in finding
    assert finding.endswith("; by default it has port: 5000 [KRM101]")


ENTRY = """\
  - if: {CONDITION}
    config: {daemonSets: [{name: more, image: "x/y:1", args: ["--x=${spec.part.inner.name}"]}]}
"""
PART = """\
          part:
            type: object
            required: [inner]
            properties:
              live: {type: boolean}
              inner: {type: object, required: [name], properties: {name: {type: string}, other: {type: string}}}
          exporter:
"""


@pytest.mark.parametrize(
    ("condition", "old", "new", "words"),
    [
        ("spec.part: {exists: true}", "", "", ""),
        ("spec.part.inner: {exists: true}", "", "", ""),
        ("spec.part.inner.name: {exists: true}", "", "", ""),
        ("spec.part.inner.other: {exists: true}", "", "", ""),  # its parent is there, then
        ("spec.part.live: true", "", "", ""),
        ("spec.part.live: [true, false]", "", "", ""),
        ("spec.part: {exists: true}", "required: [name], ", "", "may be absent; give it a default"),
        ("spec.part: {exists: true}", "required: [inner]", "required: [live]", "since spec.part.inner may be"),
        ("spec.part: {exists: true}", "inner: {type", "inner: {nullable: true, type", "spec.part.inner may be"),
        ("spec.part: {exists: false}", "", "", "since spec.part may be; give spec.part `default: {}`"),
        ("spec.exporter: {exists: true}", "", "", "since spec.part may be; give spec.part `default: {}`"),
    ],
)
def test_a_condition_on_a_part_gives_what_the_part_requires(condition: str, old: str, new: str, words: str) -> None:
    assert old in PART
    text = PROFILE.replace("          exporter:\n", PART.replace(old, new) if old else PART)
    _, findings, _ = rendered(profile(text=text + ENTRY.replace("CONDITION", condition)), CR)
    errors = [line for line in findings if line.startswith("error")]
    assert [words in line for line in errors] == [True] * bool(words), findings


def test_what_a_condition_on_a_part_guards_is_filled_in() -> None:
    text = PROFILE.replace("          exporter:\n", PART) + ENTRY.replace("CONDITION", "spec.part: {exists: true}")
    objects = rendered(profile(text=text), cr(part={"inner": {"name": "a"}}))[0]
    assert container(objects, "gpu-more")["args"] == ["--x=a"]
