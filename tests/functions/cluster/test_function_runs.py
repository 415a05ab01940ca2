"""Several functionConfigs make one: each setting once, whatever its type is."""

from __future__ import annotations

import json
from itertools import permutations
from typing import Any

import pytest
from krmfn_functions.cluster import function_runs
from krmfn_functions.paths import manifests
from krmfn_functions.rendering.function_config import Source

from krmfn import Field, KrmfnError, Manifest, error
from krmfn.item import Item


def items(*specs: Manifest) -> list[Item]:
    """The functionConfigs `a`, `b`, ... with these specs."""
    head = {"apiVersion": "krmfn.dev/v1alpha1", "kind": "RenderDeviceConfigs"}
    texts = [head | {"metadata": {"name": "ab"[at]}, "spec": spec} for at, spec in enumerate(specs)]
    return [item for text in texts for item in manifests.read("-", json.dumps(text).encode()).items]


def test_settings_of_several_stand_together() -> None:
    first = {"kmm": {"version": "2.6"}, "profiles": {"a": {"dirName": "/a"}}, "operators": [{"group": "a.com"}]}
    second = {"prune": "never", "profiles": {"a.b": {"dirName": "/b"}}, "operators": [{"group": "b.com"}]}
    assert function_runs.join_configs(items(first, second))["spec"] == {
        "kmm": {"version": "2.6"},
        "profiles": {"a": {"dirName": "/a"}, "a.b": {"dirName": "/b"}},
        "operators": [{"group": "a.com"}, {"group": "b.com"}],
        "prune": "never",
    }


@pytest.mark.parametrize(
    ("name", "value", "other"),
    [
        ("kmm", {"version": "2.6"}, {"version": "2.5"}),
        ("kmm", None, {"version": "2.6"}),
        ("kmm", "2.6", {"version": "2.6"}),
        ("prune", "never", "always"),
        ("operators", None, [{"group": "a.com", "kind": "DeviceConfig"}]),
    ],
)
def test_a_setting_in_two_is_refused_and_both_are_named(name: str, value: Any, other: Any) -> None:
    """One of them was null: a traceback, or the other one's setting was lost."""
    for specs in permutations([{name: value}, {name: other}]):
        with pytest.raises(KrmfnError, match=rf"^spec\.{name}.* is in .* a \(.*\) and in .* b \(.*\); set it once$"):
            function_runs.join_configs(items(*specs))


def test_a_finding_stands_in_the_one_that_has_its_field() -> None:
    """The first one was named, whichever had it."""
    first, second = items({"profiles": {"a": {"moduleName": "a"}}}, {"profiles": {"b": {"modulName": "b"}}})
    source = Source(first.ref, first, {}, (first, second))
    holders = {"profiles.b.modulName": second, "profiles.a.x": first, "profiles.c": first, "kmm": first}
    for path, holder in holders.items():
        assert source.located(error("is wrong", field=Field(f"spec.{path}"))).ref == holder.ref
