"""A config that is changed after krmfn was called is an error: its generated objects stay. Renaming it is none."""

from __future__ import annotations

from typing import Any

import pytest
from krmfn_functions.deviceconfig import deviceconfig
from krmfn_functions.kustomization.build_checks import later_changes
from krmfn_functions.kustomization.confinement import Input
from krmfn_functions.run import Transformed, note

from tests.builders import DROP, SPEC, applied, device_config, edited, generated, list_text, resource_list

CONFIG = device_config(SPEC | {"imagePullSecret": "pull", "modulesLoadingOrder": ["drv", "a"]})
MADE = generated(applied(deviceconfig, CONFIG))
CALLS = [Input("deviceconfig", list_text(device_config())), Input("krmfn", list_text(CONFIG, *MADE))]


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        ("spec.driverVersion", "1.0", None),
        ("spec.driverVersion", "1.1", "spec.driverVersion"),
        ("spec.driverVersion", DROP, "spec.driverVersion"),
        ("spec.dirName", "/srv", "spec.dirName"),
        ("spec.modulesLoadingOrder[1]", "b", "spec.modulesLoadingOrder[1]"),
        ("spec.modulesLoadingOrder", ["drv"], "spec.modulesLoadingOrder"),
        ("metadata.labels", {"a": "b"}, None),
        ("metadata.annotations", {"krmfn.dev/profile": "gpu"}, "metadata.annotations[krmfn.dev/profile]"),
        ("spec.imagePullSecret", "lab-eu-pull-v1-0123456789", None),
        ("spec.imagePullSecret", "pull-v1", None),
        ("spec.imagePullSecret", "eu-lab-pull", None),
        ("spec.imagePullSecret", "xlab-pull", "spec.imagePullSecret"),
        ("spec.imagePullSecret", "lab-pull-v2", "spec.imagePullSecret"),
        ("spec.imagePullSecret", "other", "spec.imagePullSecret"),
    ],
)
def test_what_is_changed_later_is_an_error(path: str, value: Any, field: str | None) -> None:
    resources = resource_list(edited(CONFIG, (path, value)), *MADE)
    note(resources, transformed=Transformed(("lab-", "eu-"), ("-v1",)))
    changes = [(result.rule, result.field and result.field.path) for result in later_changes(CALLS, resources)]
    assert changes == ([("KRM515", field)] if field else [])


def test_what_is_removed_later_is_an_error_at_what_was_made_of_it() -> None:
    (result,) = later_changes(CALLS, resource_list(*MADE))
    assert (result.rule, str(result.ref)) == ("KRM515", "Module kmm/dc")
    assert list(later_changes(CALLS, resource_list(device_config(name="new"), *MADE))) == []  # it may be its new name
    assert list(later_changes([], resource_list(*MADE))) == []


def test_many_ways_to_divide_a_prefix_are_looked_through_once() -> None:
    """A prefix of 60 characters that is made of two others in a billion ways, and then is not, never ended."""
    for end, field in (("", None), ("b", "spec.imagePullSecret")):
        resources = resource_list(edited(CONFIG, ("spec.imagePullSecret", f"{'a' * 500}{end}pull")), *MADE)
        note(resources, transformed=Transformed(("a", "aa")))
        changes = [result.field and result.field.path for result in later_changes(CALLS, resources)]
        assert changes == ([field] if field else [])
