"""deviceconfig as a whole: text that means something elsewhere, and what one config's errors do to the others."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from krmfn_functions.deviceconfig import deviceconfig
from test_every_field import BASE, DAEMON, DRA, FIELDS, PLUGIN

from krmfn import ResourceList

DRIVER = {"driverName": "a.example.com", "image": "registry.example.com/dra:1"}

CONFIG = {
    "apiVersion": "krmfn.dev/v1alpha1",
    "kind": "RenderDeviceConfigs",
    "metadata": {"name": "render"},
    "spec": {"profiles": {"vendor": {"firmwarePath": "/fw"}}, "kmm": {"version": "main"}},
}
MARK = "INJECTED"
HOSTILE = [
    f"{MARK}\nkind: Secret\n---\n- a: &x !!python/name:os.system",
    f"{MARK}\"'`$(id)${{HOME}}{{{{ .Values.x }}}} # %TAG",
    f"{MARK}.{{{{x}}}}",
    f"${{{MARK}}}",
    f"{MARK}\u2028\u0085\t|",
]


def specs() -> dict[str, tuple[dict[str, Any], tuple[Any, ...]]]:
    """For every field of a DeviceConfig a spec that has it, and where it stands there."""
    dra = {key: value for key, value in BASE.items() if key != "devicePlugin"} | {"dra": DRIVER}
    tables: list[tuple[dict[str, Any], dict[str, Any], tuple[Any, ...]]] = [
        (FIELDS, BASE, ()),
        (PLUGIN, BASE, ("devicePlugin",)),
        (DRA, dra, ("dra",)),
        (DAEMON, BASE, ("daemonSets", 0)),
    ]
    found = {}
    for table, base, where in tables:
        for field, (change, _) in table.items():
            spec = copy.deepcopy(base)
            section: Any = spec
            for key in where:
                section = section[key]
            section |= change
            for key in [key for key, value in section.items() if value is None]:
                del section[key]
            found[".".join(map(str, (*where, field)))] = (spec, (*where, field))
    return found


def listed(*items: dict[str, Any]) -> ResourceList:
    return ResourceList.parse(
        json.dumps(
            {
                "apiVersion": "config.kubernetes.io/v1",
                "kind": "ResourceList",
                "functionConfig": CONFIG,
                "items": items,
            }
        ).encode()
    )


def config(spec: dict[str, Any], name: str = "dc") -> dict[str, Any]:
    metadata = {"name": name, "namespace": "kmm"}
    return {"apiVersion": "krmfn.dev/v1alpha1", "kind": "DeviceConfig", "metadata": metadata, "spec": spec}


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all strings."""
    if isinstance(value, str):
        yield path
    for key, child in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from leaves(child, (*path, key))


def replaced(manifest: dict[str, Any], path: tuple[Any, ...], text: str) -> dict[str, Any]:
    manifest = copy.deepcopy(manifest)
    level: Any = manifest
    for key in path[:-1]:
        level = level[key]
    level[path[-1]] = text
    return manifest


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for key, child in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from strings(key)
        yield from strings(child)


def answer(*items: dict[str, Any]) -> ResourceList:
    resources = listed(*items)
    deviceconfig(resources)
    return resources


SPECS = specs()


@pytest.mark.parametrize("field", SPECS)
def test_text_arrives_as_the_same_text_or_is_refused(field: str) -> None:
    """Newlines, quotes, `${`, `$(`, `{{`, tags, anchors: in every string of a field, one after the other."""
    spec, where = SPECS[field]
    usual = answer(config(spec))
    assert not usual.failed, [str(finding) for finding in usual.results]
    names = {item.ref for item in usual.items}
    for path in leaves(spec):
        if path[: len(where)] != where:
            continue
        for text in HOSTILE:
            resources = answer(config(replaced(spec, path, text)))
            items = ResourceList.parse(resources.to_bytes()).items
            if resources.failed:
                assert len(items) == 1
                continue
            assert {item.ref for item in items} == names
            found = [one for item in items[1:] for one in strings(item.manifest) if MARK in one]
            assert all(text in one for one in found), (path, found)


def test_one_config_s_errors_hide_nothing_about_the_others() -> None:
    """A schema's, a rule's and a conflict's finding come in one run."""
    resources = answer(
        config(BASE | {"oops": 1, "nodeSelector": {"gpu": "b"}}, "unknown-field"),
        config(BASE | {"nodeSelector": {}}, "no-selector"),
        config(BASE, "one"),
        config(BASE, "two"),
    )
    rules = {(finding.ref.name if finding.ref else "", finding.rule) for finding in resources.results}
    assert {("unknown-field", "KRM101"), ("no-selector", "KRM123"), ("one", "KRM302")} <= rules
    assert resources.changes == []


@pytest.mark.parametrize("value", [None, {}, {"n": "a"}])
def test_absent_empty_and_given_selectors_are_three_things(value: dict[str, str] | None) -> None:
    spec = {key: given for key, given in BASE.items() if key != "nodeSelector"}
    spec |= {} if value is None else {"nodeSelector": value}
    messages = [finding.message for finding in answer(config(spec)).results if finding.severity == "error"]
    if value:
        assert messages == []
    else:
        (message,) = messages
        assert message.startswith("nodeSelector is {}" if value == {} else "nodeSelector is missing")
