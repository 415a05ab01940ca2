"""Images that KMM makes: one in two ways, or for two kernels, is made as the first node wants it."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.final import made_images
from krmfn_functions.kmm.module import Module

from krmfn import Manifest
from tests.builders import SPEC, device_config, edited, manifest, module, node, resource_list
from tests.commands import process
from tests.trees import plant

from .lists import judged

K1, K2, K3 = "6.1.0-1-amd64", "6.1.0-2-amd64", "6.6.0-3-amd64"
ONE, PER_KERNEL = "r.example.com/gpu:1", "r.example.com/gpu:1-$KERNEL_FULL_VERSION"
PER_SERIES = "r.example.com/gpu:1-$KERNEL_XYZ"
A: Manifest = {"build": {"dockerfileConfigMap": {"name": "asks"}}}
FREE: Manifest = {"build": {"dockerfileConfigMap": {"name": "free"}}}
SIGNED: Manifest = {
    "sign": {
        "keySecret": {"name": "k"},
        "certSecret": {"name": "c"},
        "filesToSign": ["/opt/a.ko"],
        "unsignedImage": ONE,
    }
}
PATH = "spec.moduleLoader.container.kernelMappings"


def on(name: str, kernel: str) -> Manifest:
    return edited(node(name, a="b"), ("status.nodeInfo.kernelVersion", kernel))


def recipe(name: str, text: str = "FROM a\nARG KERNEL_FULL_VERSION\n", namespace: str = "kmm") -> Manifest:
    return {**manifest("v1", "ConfigMap", name, namespace), "data": {"dockerfile": text}}


RECIPES = (recipe("asks"), recipe("free", "FROM a\nRUN make all\n"))


def takes(condition: str, image: str = ONE, **made: Any) -> Manifest:
    kind = "literal" if "-" in condition else "regexp"
    return {kind: condition, "containerImage": image, **made}


def told(*manifests: Manifest, kernels: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    """Return field and message of each finding."""
    inputs = tuple(on(f"n{at}", kernel) for at, kernel in enumerate(kernels))
    found = [finding for finding in judged(*manifests, *RECIPES, inputs=inputs) if finding.rule == "KRM614"]
    assert {finding.severity for finding in found} <= {"warning"}
    return [(finding.field.path if finding.field else "", finding.text) for finding in found]


@pytest.mark.parametrize(
    ("mappings", "at", "text"),
    [
        ([takes(K1, **A), takes(K2)], 1, "is made by kernelMappings[0] and not by kernelMappings[1]"),
        ([takes(K1), takes(K2, **A)], 0, "is made by kernelMappings[1] and not by kernelMappings[0]"),
        ([takes(K1, **SIGNED), takes("el9")], 1, "is made by kernelMappings[0] and not by"),
        ([takes(K1, **A), takes(K2, **FREE)], 1, "from different Dockerfiles"),
        ([takes(K1, **FREE), takes(K2, **FREE, **SIGNED)], 1, "from different `sign` sections"),
        ([takes(K1, **A), takes(K2, **A)], 0, f"is built for one kernel, but is for {K1}, {K2}"),
    ],
)
def test_without_nodes(mappings: list[Manifest], at: int, text: str) -> None:
    ((path, message),) = told(module(*mappings))
    assert path == f"{PATH}[{at}].containerImage"
    assert text in message and message.startswith(ONE)


@pytest.mark.parametrize(
    "mappings",
    [
        [takes(K1, **A), takes(K2, "r.example.com/gpu:2")],
        [takes(K1), takes(K2)],
        [takes(K1, **FREE), takes(K2, **FREE)],
        [takes(K1, PER_KERNEL, **A), takes(K2, PER_KERNEL)],
        [takes("el9", PER_KERNEL, **A), takes("el8", PER_KERNEL)],
        [takes(K1, **A), takes(K1)],
        [takes(K1, "r.example.com/gpu:${", **A), takes(K2, "r.example.com/gpu:${")],
    ],
    ids=["two images", "only pulled", "free of kernels", "literals", "regexps", "never reached", "KMM fails"],
)
def test_without_nodes_there_is_nothing(mappings: list[Manifest]) -> None:
    assert told(module(*mappings)) == []


def test_known_nodes_decide() -> None:
    mixed = module(takes(K1, **A), takes(K2))
    assert told(mixed, kernels=(K1, K3)) == told(mixed, kernels=(K1,)) == []
    assert len(told(mixed, kernels=(K1, K2))) == 1
    every = module(takes("^.+$", PER_SERIES, **A))
    ((_, message),) = told(every, kernels=(K1, K2, K3))
    assert message.startswith(f"r.example.com/gpu:1-6.1.0 is built for one kernel, but is for {K1}, {K2}:")
    assert told(every, kernels=(K1, K3)) == told(every) == []
    assert told(edited(mixed, ("spec.selector", {"other": "label"})), kernels=(K1, K2)) == []


def test_two_modules_of_one_image() -> None:
    one, two = (module(takes("el9", **made), name=name) for name, made in (("one", A), ("two", FREE)))
    assert [message for _, message in told(one, two)] == [
        f"{ONE} is made by Module kmm/{other}, too, from different Dockerfiles: the first that is made stays; "
        "name two images"
        for other in ("two", "one")
    ]
    waits = module(takes("el9"), name="two")
    assert told(one, waits) == [], "it waits until the other has made it"
    assert told(one, module(takes("el9", **A), name="two")) == [], "both make the same"


def test_many_modules_of_one_image_are_compared_with_few() -> None:
    """Their number squared is too many comparisons."""
    same = [module(takes("el9", **A), name=f"m{at}") for at in range(50)]
    assert told(*same) == []
    assert len(told(*same, module(takes("el9", **FREE), name="other"))) == 51
    uses = [
        made_images.Use(resource_list(entry).items[0], Module(entry), 0, "", ONE, {"a": 1}, False) for entry in same
    ]
    assert len(made_images._examples(uses)) == 2


def test_the_same_dockerfile_under_two_names() -> None:
    same = recipe("same", RECIPES[0]["data"]["dockerfile"])
    other = module(takes("el9", build={"dockerfileConfigMap": {"name": "same"}}), name="two")
    assert told(module(takes("el9", **A)), other, same) == []


IMAGES = st.sampled_from([ONE, "r.example.com/gpu:2", PER_KERNEL, PER_SERIES])
MAPPING = st.builds(
    lambda condition, image, made: takes(condition, image, **made),
    st.sampled_from([K1, K2, "6.1", "^.+$"]),
    IMAGES,
    st.sampled_from([{}, A, FREE]),
)


@given(st.lists(MAPPING, min_size=1, max_size=3), st.lists(st.sampled_from([K1, K2, K3]), min_size=1, max_size=3))
def test_as_every_order_of_nodes_tells(mappings: list[Manifest], kernels: list[str]) -> None:
    """KMM keeps of each image what the first node that it sees wants."""
    wanted = [entry for kernel in kernels if (entry := _entry(mappings, kernel))]
    outcomes: dict[str, set[str]] = {}
    for order in permutations(wanted):
        first: dict[str, str] = {}
        for image, way in order:
            first.setdefault(image, way)
        for image, way in first.items():
            outcomes.setdefault(image, set()).add(way)
    expected = {image for image, ways in outcomes.items() if len(ways) > 1}
    found = {message.split()[0] for _, message in told(module(*mappings), kernels=tuple(kernels))}
    assert found == expected


def _entry(mappings: list[Manifest], kernel: str) -> tuple[str, str] | None:
    """Return the image of a kernel, and how it is made: also for which kernel, where the Dockerfile asks for that."""
    for entry in mappings:
        regexp = entry.get("regexp", "")
        if entry.get("literal") == kernel or (regexp and (regexp == "^.+$" or kernel.startswith(regexp))):
            image = entry["containerImage"].replace("$KERNEL_FULL_VERSION", kernel)
            image = image.replace("$KERNEL_XYZ", kernel.split("-")[0])
            name = entry.get("build", {}).get("dockerfileConfigMap", {}).get("name", "pulled")
            return image, f"{name} {kernel}" if name == "asks" else name
    return None


def test_of_a_config_at_its_mapping(tmp_path: Path) -> None:
    mappings = [{"literal": K1, "image": ONE, **A}, {"literal": K2, "image": ONE}]
    config = device_config({**SPEC, "driverImage": None, "driverVersion": None, "kernelMappings": mappings})
    plant(tmp_path, {"a.yaml": yaml.safe_dump(config), "b.yaml": yaml.safe_dump(RECIPES[0])})
    done = process("krmfn", "check", ".", "--root", ".", cwd=tmp_path).ended(0)
    (line,) = [line for line in done.text.splitlines() if "[KRM614]" in line]
    assert line.startswith("a.yaml:")
