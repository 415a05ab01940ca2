"""What kustomize was to change everywhere and has not: images and labels."""

from __future__ import annotations

import pytest
from krmfn_functions.final import judge
from krmfn_functions.run import Replacement, Transformed

from tests.builders import device_config, manifest, module

from .lists import judged, levels, rows, workload

OWNED = {"krmfn.dev/owner": "deviceconfig krmfn.dev|DeviceConfig|kmm|dc kmm.sigs.x-k8s.io|Module|kmm|dc"}


@pytest.mark.parametrize(
    ("entry", "image", "is_left"),
    [
        (Replacement("r.io/a", "m.io/a"), "r.io/a:1-$KERNEL_FULL_VERSION", True),
        (Replacement("r.io/a", "m.io/a"), "m.io/a:1", False),
        (Replacement("r.io/a", "m.io/a"), "r.io/a/b:1", False),
        (Replacement("r.io/a", "m.io/a"), "r.io:5000/a:1", False),
        (Replacement("r.io:5000/a", "m.io/a"), "r.io:5000/a", True),
        (Replacement("r.io/a", "r.io/a", "2"), "r.io/a:1", False),
        (Replacement("r.io/a", tag="2"), "r.io/a:1", True),
        (Replacement("r.io/a", tag="2"), "r.io/a:2", False),
        (Replacement("r.io/a", digest="sha256:b"), "r.io/a@sha256:a", True),
        (Replacement("r.io/a", digest="sha256:b"), "r.io/a@sha256:b", False),
        (Replacement("r.io/a"), "r.io/a:1", False),
    ],
)
def test_an_image_that_is_to_be_replaced(entry: Replacement, image: str, is_left: bool) -> None:
    transformed = Transformed(images=(entry,))
    for holder in (
        module({"regexp": "^.+$", "containerImage": image}),
        workload({"initContainers": [{"name": "a", "image": image}]}),
    ):
        assert levels(judged(holder, transformed=transformed)) == ([("KRM709", "warning")] if is_left else [])


def test_a_label_of_the_owner_is_on_what_is_made_from_it() -> None:
    owner = device_config(labels={"team": "storage", "own": "x"})
    child = {**module(name="dc"), "metadata": {"name": "dc", "namespace": "kmm", "annotations": OWNED}}
    transformed = Transformed(labels=(("team", "storage"), ("site", "lab")))
    assert rows(judged(child, inputs=(owner,), transformed=transformed)) == [
        ("KRM708", "warning", ""),
        ("KRM710", "info", "metadata.labels"),
    ]
    child["metadata"]["labels"] = {"team": "other"}  # chosen on purpose: the owner's own value does not count
    assert levels(judged(child, inputs=(owner,), transformed=transformed)) == [("KRM708", "warning")]
    assert judged(manifest("v1", "Secret"), transformed=transformed) == []


def test_the_rules_that_nobody_can_turn_off() -> None:
    assert [rule.id for rule in judge.RULES if not rule.advice] == [
        "KRM702",
        "KRM705",
        "KRM707",
        "KRM714",
        "KRM716",
        "KRM191",
        "KMM081",
        "KRM530",
        "KRM531",
        "KRM532",
        "KRM632",
    ]
