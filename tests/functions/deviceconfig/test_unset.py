"""`unset` takes fields, and parts of fields by their paths, from weaker layers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.deviceconfig import deviceconfig
from krmfn_functions.deviceconfig.keyed import named, path_in, without
from krmfn_functions.deviceconfig.merging import UNSET, merged
from krmfn_functions.differences import differences
from krmfn_functions.settings import CHECK, Settings

from krmfn import ResourceList
from krmfn.resource import split
from tests.builders import AGENT, SPEC, applied, by_name, device_config, function_config, generated, places
from tests.commands import process

LOG, LEVEL = {"name": "LOG", "value": "debug"}, {"name": "LEVEL", "value": "1"}
PROFILE: dict[str, Any] = {
    "labels": {"example.com/a": "b"},
    "devicePlugin": {"image": "registry.example.com/plugin:1", "args": ["-v"], "env": [LOG, LEVEL]},
    "daemonSets": [AGENT | {"args": ["-v"], "env": [LOG], "resources": {"limits": {"cpu": "1", "memory": "1Gi"}}}],
    "extraObjects": [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a.b"}, "data": {"x": "1", "y": "2"}},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"x": "1"}},
    ],
}


def rendered(*names: str, layer: str = "config", profile: Any = PROFILE, **spec: Any) -> ResourceList:
    """Return what a config of the profile gives, where a layer of it unsets some fields."""
    taken = {UNSET: list(names)} if names else {}
    settings = {"profiles": {"p": profile}, "overrides": {"p": taken} if layer == "overrides" else None}
    config = SPEC | {"profile": "p"} | spec | (taken if layer == "config" else {})
    if layer == "nodePools":
        config |= {"nodeSelector": None, "nodePools": [{"name": "a", "nodeSelector": {"gpu": "a"}, **taken}]}
    functions = function_config(**{name: value for name, value in settings.items() if value})
    return applied(deviceconfig, device_config(config), function_config=functions, settings=Settings(CHECK))


# What is unset, and where the generated objects change; "" for an object that is not there any more.
PARTS: dict[str, tuple[str, str]] = {
    "devicePlugin.args": ("Module dc", "spec.devicePlugin.container.args"),
    "devicePlugin.env.LOG": ("Module dc", "spec.devicePlugin.container.env[name=LOG]"),
    "devicePlugin.env[LOG]": ("Module dc", "spec.devicePlugin.container.env[name=LOG]"),
    "devicePlugin.env": ("Module dc", "spec.devicePlugin.container.env"),
    "daemonSets.agent.args": ("DaemonSet dc-agent", "spec.template.spec.containers[name=agent].args"),
    "daemonSets.agent.env.LOG": ("DaemonSet dc-agent", "spec.template.spec.containers[name=agent].env"),
    "daemonSets.agent.resources.limits.memory": (
        "DaemonSet dc-agent",
        "spec.template.spec.containers[name=agent].resources.limits.memory",
    ),
    "daemonSets.agent": ("DaemonSet dc-agent", ""),
    "extraObjects.ConfigMap[a.b].data.x": ("ConfigMap a.b", "data.x"),
    "extraObjects.ConfigMap.c": ("ConfigMap c", ""),
}


def changed(before: ResourceList, after: ResourceList) -> set[tuple[str, str]]:
    """Return the objects and the fields that differ."""
    assert not before.failed and not after.failed, [str(result) for result in after.results]
    old, new = by_name(generated(before)), by_name(generated(after))
    assert new.keys() <= old.keys()
    rows = {(name, change.path) for name in new for change in differences(old[name], new[name])}
    return rows | {(name, "") for name in old.keys() - new.keys()}


@pytest.mark.parametrize("name", PARTS)
def test_an_override_takes_a_part_of_a_field_away_and_nothing_else(name: str) -> None:
    assert changed(rendered(), rendered(name, layer="overrides")) == {PARTS[name]}


@pytest.mark.parametrize("name", [name for name in PARTS if not name.startswith("extraObjects")])
def test_a_config_does(name: str) -> None:
    assert changed(rendered(), rendered(name)) == {PARTS[name]}


@pytest.mark.parametrize("name", [name for name in PARTS if name.startswith("devicePlugin")])
def test_a_pool_does(name: str) -> None:
    title, path = PARTS[name]
    actual = changed(rendered(layer="nodePools"), rendered(name, layer="nodePools"))
    assert actual == {(f"{title}-a", path)}


def test_what_the_same_layer_says_of_a_part_counts() -> None:
    plugin = {"env": [{"name": "LOG", "value": "info"}]}
    resources = rendered("devicePlugin.env", devicePlugin=plugin)
    container = by_name(generated(resources))["Module dc"]["spec"]["devicePlugin"]["container"]
    assert (container["env"], container["args"]) == (plugin["env"], ["-v"])


WRONG = {
    "devicePlugin.enw": "unknown field 'devicePlugin.enw'; did you mean 'devicePlugin.env'?",
    "devicePlugin.env.LOG.nme": "unknown field 'devicePlugin.env.LOG.nme'; did you mean 'devicePlugin.env.LOG.name'?",
    "devicePlugin.args[0]": "devicePlugin.args is replaced as a whole; unset devicePlugin.args",
    "kernelMappings[0].image": "kernelMappings is replaced as a whole; unset kernelMappings",
    "devicePlugin.env.LOG.name": "devicePlugin.env.LOG needs its name; unset devicePlugin.env.LOG",
    "nodePools.a.nodeSelector": "nodePools.a needs its nodeSelector; unset nodePools.a",
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("layer", ["config", "overrides"])
def test_what_is_no_field_is_an_error_at_its_place(name: str, layer: str) -> None:
    profile = PROFILE | {"nodePools": [{"name": "a", "nodeSelector": {"gpu": "a"}}]}
    resources = rendered(name, layer=layer, profile=profile, nodeSelector=None)
    path = "spec.unset[0]" if layer == "config" else "spec.overrides.p.unset[0]"
    results = [result for result in resources.results if result.rule == "KRM195"]
    errors = {(result.field.path if result.field else "", result.text) for result in results}
    assert {(path, re.sub(r" \(affects [^)]+\)", "", text)) for path, text in errors} == {(path, WRONG[name])}


@pytest.mark.parametrize(("name", "hint"), [("firmwarePaht", "; did you mean 'firmwarePath'?"), ("extraObjects.x", "")])
def test_what_is_no_field_of_the_spec_does_not_fit_its_schema(name: str, hint: str) -> None:
    (finding,) = [result for result in rendered(name).results if result.severity == "error"]
    assert (finding.rule, finding.field.path if finding.field else "") == ("KRM101", "spec.unset[0]")
    assert finding.text.startswith(f"is {name!r}; must be a field, or one in it by its path")
    assert finding.text.endswith(hint)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("devicePlugin.volumes", "nothing is inherited for devicePlugin.volumes"),
        ("daemonSets.other.args", "nothing is inherited for daemonSets.other.args"),
        ("devicePlugin.args", "devicePlugin.args is the same without it"),
    ],
)
def test_a_path_that_changes_nothing_has_no_effect(name: str, reason: str) -> None:
    resources = rendered(name, devicePlugin={"args": ["-v", "-v"]})
    assert [r.message for r in resources.results if r.field and r.field.path == "spec.unset[0]"] == [
        f"has no effect: {reason}"
    ]


@pytest.mark.parametrize("layer", ["config", "overrides"])
def test_a_selector_of_which_nothing_remains_is_one_of_all_nodes(layer: str) -> None:
    """And that is to be confirmed: it is not one that the pool lacks."""
    profile = PROFILE | {"nodePools": [{"name": "a", "nodeSelector": {"gpu": "a"}}]}
    resources = rendered("nodePools.a.nodeSelector.gpu", layer=layer, profile=profile, nodeSelector=None)
    assert "KRM123" in {result.rule for result in resources.results if result.severity == "error"}


def test_what_is_missing_since_it_was_taken_away_is_said_there() -> None:
    profile = PROFILE | {"daemonSets": [AGENT]}
    assert ("KRM133", "spec.unset[0]") in places(rendered("daemonSets.agent.image", profile=profile).results, "error")


@pytest.mark.parametrize(
    ("lock", "name", "is_locked"),
    [
        ("devicePlugin", "devicePlugin.args", True),
        ("devicePlugin.args", "devicePlugin.args", True),
        ("devicePlugin.env.LOG", "devicePlugin.env[LOG].value", True),
        ("devicePlugin.image", "devicePlugin.args", False),
        ("extraObjects.ConfigMap.c", "extraObjects.ConfigMap.c.data.x", True),
        ("extraObjects.ConfigMap.c", "extraObjects.ConfigMap[a.b].data.x", False),
    ],
)
def test_a_locked_field_is_not_taken_away(lock: str, name: str, is_locked: bool) -> None:
    profile = PROFILE | {"locked": {lock: "it is tested so"}}
    rules = {result.rule for result in rendered(name, layer="overrides", profile=profile).results}
    assert ("KRM148" in rules) is is_locked


PRODUCT = """\
apiVersion: krmfn.dev/v1alpha1
kind: Profile
metadata: {name: acme}
spec:
  version: 1.0.0
  for: {group: acme.example.com, versions: [v1], kind: Acme}
  schema: {type: object, properties: {spec: {type: object, properties: {quiet: {type: boolean, default: false}}}}}
  config:
    moduleName: acme
    nodeSelector: {acme: "true"}
    driverImage: registry.example.com/acme:1-$KERNEL_FULL_VERSION
    daemonSets: [{name: agent, image: "registry.example.com/agent:1", env: [{name: LOG, value: debug}]}]
  when:
  - if: {spec.quiet: true}
    unset: [NAME]
---
apiVersion: acme.example.com/v1
kind: Acme
metadata: {name: a, namespace: kmm}
spec: {quiet: true}
"""


@pytest.mark.parametrize(
    ("name", "finding"),
    [
        ("daemonSets.agent.env.LOG", ""),
        (
            "daemonSets.agent.enw",
            "unknown field 'daemonSets.agent.enw' [KRM195]\n  help: did you mean 'daemonSets.agent.env'?",
        ),
        ("daemonSet.agent.env", "is 'daemonSet.agent.env'; must be a field"),
    ],
)
@pytest.mark.parametrize("is_alone", [False, True])
def test_a_when_of_a_profile_takes_parts_away(tmp_path: Path, name: str, finding: str, is_alone: bool) -> None:
    text = PRODUCT.replace("NAME", name)
    (tmp_path / "p.yaml").write_text(text.partition("---")[0] if is_alone else text)
    done = process("krmfn", "check", str(tmp_path / "p.yaml"))
    assert done.code == bool(finding), done.text
    assert f"p.yaml:15:13: error: Profile acme: spec.when[0].unset[0]: {finding}" in done.text or not finding, done.text
    if not finding and not is_alone:
        printed = yaml.safe_load_all(process("krmfn", "render", str(tmp_path)).ended(0).text)
        (agent,) = [item for item in printed if item["kind"] == "DaemonSet"]
        assert "env" not in agent["spec"]["template"]["spec"]["containers"][0]


NAMES = st.sampled_from(["a", "b"])
ENTRIES = st.lists(NAMES, unique=True, max_size=2).map(lambda names: [{"name": name, "value": name} for name in names])
FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "devicePlugin": st.fixed_dictionaries({}, optional={"args": st.lists(NAMES), "env": ENTRIES}),
        "daemonSets": st.lists(NAMES, unique=True, max_size=2).flatmap(
            lambda names: st.tuples(
                *(st.fixed_dictionaries({"name": st.just(name)}, optional={"env": ENTRIES}) for name in names)
            ).map(list)
        ),
        "labels": st.dictionaries(NAMES, NAMES),
    },
)
PATHS = st.sampled_from(
    [
        *("devicePlugin", "devicePlugin.args", "devicePlugin.env", "devicePlugin.env.a", "daemonSets.a.env.b.value"),
        *("daemonSets", "daemonSets.a", "daemonSets.b.env", "daemonSets.a.env.a", "labels.a", "labels"),
    ]
)


@given(FIELDS, FIELDS, FIELDS, st.lists(PATHS, min_size=1, max_size=3))
def test_it_takes_from_all_weaker_layers_and_from_no_other(first: Any, second: Any, third: Any, names: Any) -> None:
    left = third
    for name in names:
        left = without(left, split(name))
        assert not path_in(left, split(name))
    assert merged([first, {**second, UNSET: names}, third]) == merged([first, second, left])
    assert merged([first, second, {**third, UNSET: names}]) == merged([first, second, third])


@given(FIELDS, PATHS)
def test_a_field_that_is_found_has_its_name(fields: Any, name: str) -> None:
    path = path_in(fields, split(name))
    assert not path or named(fields, [str(part) for part in path]) == split(name)
