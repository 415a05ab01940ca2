"""What a profile says per version: which entry a config gets, in which layer, and what is wrong with it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.deviceconfig import deviceconfig, reading
from krmfn_functions.rendering.function_config import FunctionConfig
from krmfn_functions.settings import CHECK, Settings

from krmfn import Item, Manifest, Result
from tests.builders import AGENT, SPEC, applied, by_name, device_config, function_config, generated, places

PROFILE: dict[str, Any] = {
    "moduleName": "drv",
    "parameters": ["a=profile"],
    "devicePlugin": {"image": "registry.example.com/plugin:1", "args": ["profile"]},
    "daemonSets": [{"name": "agent", "image": "registry.example.com/agent:$KRMFN_DRIVER_VERSION"}],
}
BASE = {"profile": "p", "driverImage": "registry.example.com/driver", "nodeSelector": {"gpu": "a"}}


def settings(*versions: dict[str, Any], **profile: Any) -> dict[str, Any]:
    """The spec of a functionConfig whose profile `p` has these versions."""
    return {"profiles": {"p": {**PROFILE, "versions": list(versions), **profile}}}


def findings(spec: dict[str, Any], *configs: Manifest) -> list[Result]:
    return applied(deviceconfig, *configs, function_config=function_config(**spec), settings=Settings(CHECK)).results


def errors(spec: dict[str, Any], *configs: Manifest) -> dict[str, str]:
    """Return the messages of the errors by field."""
    results = [result for result in findings(spec, *configs) if result.severity == "error"]
    return {result.field.path: result.text for result in results if result.field}


def config(**spec: Any) -> Manifest:
    return device_config({**BASE, "driverVersion": "1.0", **spec})


def rendered(spec: dict[str, Any], *configs: Manifest) -> dict[str, Manifest]:
    return by_name(generated(applied(deviceconfig, *configs, function_config=function_config(**spec))))


def modprobe(module: Manifest) -> dict[str, Any]:
    fields: dict[str, Any] = module["spec"]["moduleLoader"]["container"]["modprobe"]
    return fields


def parameters(spec: dict[str, Any], **fields: Any) -> list[str]:
    return list(modprobe(rendered(spec, config(**fields))["Module dc"]).get("parameters", []))


def pods(objects: dict[str, Manifest]) -> dict[str, Any]:
    """Return the templates of the DaemonSets' pods by their names."""
    sets = {name: item for name, item in objects.items() if name.startswith("DaemonSet ")}
    return {name.removeprefix("DaemonSet "): item["spec"]["template"] for name, item in sets.items()}


def test_only_the_entry_of_exactly_this_version_counts() -> None:
    spec = settings({"version": "1.0", "parameters": ["a=1.0"]}, {"version": "1.00", "parameters": ["a=1.00"]})
    assert parameters(spec) == ["a=1.0"]
    assert parameters(spec, driverVersion="1.00") == ["a=1.00"]
    assert parameters(spec, driverVersion="1") == parameters(spec, driverVersion="1.0.0") == ["a=profile"]


def test_the_order_of_the_layers() -> None:
    """Defaults < profile < its version < config < node pool; each is taken away in turn, the strongest first."""
    layers: dict[str, dict[str, Any]] = {
        name: {"parameters": [f"a={name}"], "labels": {name: "x", "all": name}}
        for name in ("defaults", "profile", "version", "config", "pool")
    }
    for strongest in ("pool", "config", "version", "profile", "defaults"):
        profile = {"moduleName": "drv", "versions": [{"version": "1.0", **layers["version"]}], **layers["profile"]}
        spec = {"profiles": {"p": profile}, "defaults": layers["defaults"]}
        pool = {"name": "q", "nodeSelector": {"gpu": "a"}, **layers["pool"]}
        stack = config(nodeSelector=None, nodePools=[pool], **layers["config"])
        module = rendered(spec, stack)["Module dc-q"]
        assert modprobe(module)["parameters"] == [f"a={strongest}"]
        labels = {key: value for key, value in module["metadata"]["labels"].items() if "/" not in key}
        names = [name for name, fields in layers.items() if fields]
        assert labels == {**dict.fromkeys(names, "x"), "all": strongest}
        layers[strongest] = {}


def test_a_version_merges_by_the_table_and_switches_off() -> None:
    agents = [{"name": "agent", "args": ["-v"]}, {"name": "more", "image": "registry.example.com/more:1"}]
    spec = settings({"version": "1.0", "devicePlugin": {"enabled": False}, "daemonSets": agents})
    objects = rendered(spec, config())
    assert list(objects) == ["Module dc", "DaemonSet dc-agent", "DaemonSet dc-more"]
    assert "devicePlugin" not in objects["Module dc"]["spec"]
    [container] = objects["DaemonSet dc-agent"]["spec"]["template"]["spec"]["containers"]
    assert (container["image"], container["args"]) == ("registry.example.com/agent:1.0", ["-v"])
    assert "devicePlugin" in rendered(spec, config(driverVersion="2"))["Module dc"]["spec"]


def test_each_pool_gets_the_entry_of_its_version() -> None:
    spec = settings({"version": "1.0", "parameters": ["a=1"]}, {"version": "2.0", "parameters": ["a=2"]})
    pools = [
        {"name": "one", "nodeSelector": {"gpu": "1"}},
        {"name": "two", "nodeSelector": {"gpu": "2"}, "driverVersion": "2.0"},
        {"name": "three", "nodeSelector": {"gpu": "3"}, "driverVersion": "3.0"},
    ]
    objects = rendered(spec, config(nodeSelector=None, nodePools=pools))
    values = {pool: modprobe(objects[f"Module dc-{pool}"])["parameters"] for pool in ("one", "two", "three")}
    assert values == {"one": ["a=1"], "two": ["a=2"], "three": ["a=profile"]}


def test_the_profile_may_give_the_version_itself() -> None:
    spec = settings({"version": "1.0", "parameters": ["a=1"]}, driverVersion="1.0")
    assert parameters(spec, driverVersion=None) == ["a=1"]
    defaults = {**settings({"version": "1.0", "parameters": ["a=1"]}), "defaults": {"driverVersion": "1.0"}}
    assert parameters(defaults, driverVersion=None) == ["a=1"]


def test_the_operator_s_kind_has_versions_too() -> None:
    spec = settings({"version": "1.0", "parameters": ["a=1"]})
    seed = device_config({"driverImage": "x", "driverVersion": "1.0"}, annotations={"krmfn.dev/profile": "p"})
    module = rendered(spec, {**seed, "apiVersion": "example.com/v1alpha1"})["Module dc-module"]
    assert modprobe(module)["parameters"] == ["a=1"]


# Retained versions.

RETAINED = settings(
    {"version": "2.0", "daemonSets": [{"name": "agent", "args": ["two"]}, {"name": "new", "image": "n:2"}]},
    {"version": "1.0", "daemonSets": [{"name": "agent", "args": ["one"]}, {"name": "old", "image": "o:1"}]},
    upgrade={"ordered": True},
)


def agents(objects: dict[str, Manifest]) -> dict[str, tuple[str, list[str]]]:
    """Return image and arguments of each DaemonSet."""
    containers = {name: template["spec"]["containers"][0] for name, template in pods(objects).items()}
    return {name: (fields["image"].rpartition("/")[2], fields.get("args", [])) for name, fields in containers.items()}


def test_a_retained_version_has_its_own_entry() -> None:
    upgrade = config(driverVersion="2.0", upgrade={"retain": ["1.0", "0.9"]})
    assert agents(rendered(RETAINED, upgrade)) == {
        "dc-agent-2-0": ("agent:2.0", ["two"]),
        "dc-agent-1-0": ("agent:1.0", ["one"]),
        "dc-agent-0-9": ("agent:0.9", []),
        "dc-new-2-0": ("n:2", []),
        "dc-old-1-0": ("o:1", []),
    }
    assert findings(RETAINED, upgrade) == []


def test_the_findings_of_a_retained_version_are_those_of_its_daemon_sets() -> None:
    """The device plugin of an earlier version is not generated, so that it may be anything."""
    mount = {"volumeMounts": [{"name": "v", "mountPath": "/v"}]}
    spec = settings(
        {"version": "2.0", "devicePlugin": {"image": "registry.example.com/plugin:2"}},
        {"version": "1.0", "daemonSets": [{"name": "agent", **mount}]},
        {"version": "0.9", "daemonSets": [{"name": "agent", "image": "registry.example.com/agent"}]},
        upgrade={"ordered": True},
    )
    spec["profiles"]["p"]["devicePlugin"] = {"args": ["-v"]}
    upgrade = config(driverVersion="2.0", upgrade={"retain": ["1.0"]})
    mounted = "spec.profiles.p.versions[1].daemonSets[0].volumeMounts[0].name"
    assert places(findings(spec, upgrade), "error") == [("KRM126", mounted)]
    sound = config(driverVersion="2.0", upgrade={"retain": ["0.9"]})
    paths = [path for rule, path in places(findings(spec, sound)) if rule == "KRM225"]
    assert paths == ["spec.profiles.p.versions[2].daemonSets[0].image"]


def test_daemon_sets_that_only_an_earlier_version_has_count() -> None:
    """What keeps them has an effect, and so have the pull secrets and the account of their pods."""
    old = {"version": "1.0", "daemonSets": [AGENT]}
    profile = {"moduleName": "drv", "upgrade": {"ordered": True}, "versions": [{"version": "2.0"}, old]}
    pull = {"imagePullSecrets": ["a", "b"], "serviceAccountName": "sa"}
    upgrade = config(driverVersion="2.0", upgrade={"retain": ["1.0"]}, **pull)
    spec = {"profiles": {"p": profile}}
    assert [result.rule for result in findings(spec, upgrade)] == ["KRM162"]
    pod = pods(rendered(spec, upgrade))["dc-agent-1-0"]["spec"]
    assert (pod["serviceAccountName"], pod["imagePullSecrets"]) == ("sa", [{"name": "a"}, {"name": "b"}])


def test_a_service_stands_in_front_of_all_versions() -> None:
    """Also one that only an earlier version has."""
    spec = settings(
        {"version": "2.0", "daemonSets": [{"name": "agent", "service": {"enabled": False}}]},
        {"version": "1.0", "daemonSets": [{"name": "agent", "service": {"port": 1}}]},
        upgrade={"ordered": True},
        daemonSets=[{**AGENT, "service": {"port": 2}}],
    )
    objects = rendered(spec, config(driverVersion="2.0", upgrade={"retain": ["1.0", "0.9"]}))
    assert objects["Service dc-agent"]["spec"]["ports"][0]["port"] == 1
    served = {name: "krmfn.dev/served-by" in template["metadata"]["labels"] for name, template in pods(objects).items()}
    assert served == {"dc-agent-2-0": False, "dc-agent-1-0": True, "dc-agent-0-9": True}


@given(
    current=st.sampled_from(["1", "2", "3", "9"]),
    retained=st.lists(st.sampled_from(["1", "2", "3", "9"]), unique=True, max_size=3),
    order=st.permutations(["1", "2", "3"]),
)
def test_versions_are_independent_of_their_order_and_of_each_other(
    current: str, retained: list[str], order: list[str]
) -> None:
    """A config at several versions has for each the DaemonSets that it has at that version alone."""
    retained = [version for version in retained if version != current]
    versions = [{"version": number, "daemonSets": [{"name": "agent", "args": [number]}]} for number in order]
    spec = settings(*versions, upgrade={"ordered": True})
    upgrade = {"upgrade": {"retain": retained}} if retained else {}
    alone: dict[str, Any] = {}
    for version in (current, *retained):
        alone |= agents(rendered(spec, config(driverVersion=version)))
    assert agents(rendered(spec, config(driverVersion=current, **upgrade))) == alone


# What is wrong.


def test_a_version_that_is_not_among_all_versions_is_an_error() -> None:
    spec = settings({"version": "6.4"}, {"version": "6.3"}, versionsComplete=True, upgrade={"ordered": True})
    assert errors(spec, config(driverVersion="6.4")) == {}
    assert errors(spec, config(driverVersion="6.4.0")) == {
        "spec.driverVersion": "the profile p has no version '6.4.0' (it has: 6.4, 6.3); did you mean '6.4'?"
    }
    assert errors(spec, config(driverVersion="6.4", upgrade={"retain": ["6.3", "2"]})) == {
        "spec.upgrade.retain[1]": "the profile p has no version '2' (it has: 6.4, 6.3)"
    }
    pools = [{"name": "a", "nodeSelector": {"gpu": "a"}, "driverVersion": "6.5"}]
    pooled = config(driverVersion="6.4", nodeSelector=None, nodePools=pools)
    assert list(errors(spec, pooled)) == ["spec.nodePools[0].driverVersion"]
    assert "spec.driverVersion" in errors(spec, config(driverVersion=None))
    of_profile = {**settings({"version": "6.4"}, versionsComplete=True, driverVersion="6"), "defaults": {}}
    assert list(errors(of_profile, config(driverVersion=None))) == ["spec.profiles.p.driverVersion"]


def test_many_versions_are_named_in_part() -> None:
    versions = [{"version": f"{number}"} for number in range(10, 20)]
    [message] = errors(settings(*versions, versionsComplete=True), config(driverVersion="abc")).values()
    assert message == "the profile p has no version 'abc' (it has: 10, 11, 12, 13, 14, 15 and 4 more)"


@pytest.mark.parametrize("configs", [(), (config(),)])
def test_what_is_wrong_with_the_versions_of_a_profile(configs: tuple[Manifest, ...]) -> None:
    """With a config that names the profile and without."""
    twice = settings({"version": "1.0"}, {"version": "2.0"}, {"version": "1.0", "parameters": ["a=1"]})
    assert errors(twice, *configs) == {
        "spec.profiles.p.versions[2].version": "the version '1.0' appears twice; merge the two entries into one"
    }
    none = {"profiles": {"p": {**PROFILE, "versionsComplete": True}}}
    assert "spec.profiles.p.versionsComplete" in errors(none, *configs)


MISFITS = {
    "driverVersion": ("1.0", "the entry is for the driverVersion that its `version` names"),
    "nodeSelector": ({"a": "b"}, "it is the same in all versions; write it in the profile, or in the config"),
    "upgrade": ({"ordered": True}, "it is the same in all versions"),
    "nodePools": ([{"name": "a", "nodeSelector": {"a": "b"}}], "it is the same in all versions"),
    "profile": ("q", "unknown field 'profile'"),
    "versions": ([{"version": "1"}], "unknown field 'versions'"),
}


@pytest.mark.parametrize("field", MISFITS)
def test_what_a_version_cannot_hold(field: str) -> None:
    value, message = MISFITS[field]
    messages = errors(settings({"version": "1.0", field: value}), config())
    assert list(messages) == [f"spec.profiles.p.versions[0].{field}"]
    assert message in messages[f"spec.profiles.p.versions[0].{field}"]


@pytest.mark.parametrize("number", [6.4, 6])
def test_a_version_in_digits_is_written_in_quotes(number: float) -> None:
    [message] = errors(settings({"version": number}), config()).values()
    assert "must be a string" in message and f'; write it in quotes, "{number}"' in message


def test_versions_stand_in_profiles_only() -> None:
    for field, value in (("versions", [{"version": "1"}]), ("versionsComplete", True), ("locked", {"moduleName": "x"})):
        assert list(errors({"defaults": {field: value}}, config())) == [f"spec.defaults.{field}"]
        assert places(findings({}, device_config({**SPEC, field: value})), "error") == [("KRM101", f"spec.{field}")]


def test_versions_that_nobody_uses_are_no_finding_and_are_checked() -> None:
    """Releases that are listed and not used yet are normal."""
    spec = settings({"version": "1.0", "parameters": ["a=1"]}, {"version": "2.0", "parameters": ["a=2"]})
    assert findings(spec, config()) == []
    wrong = settings({"version": "1.0"}, {"version": "2.0", "devicePlugin": {"image": "plugin:latest"}})
    for configs in ((config(),), ()):
        paths = [path for rule, path in places(findings(wrong, *configs)) if rule == "KRM225"]
        assert paths == ["spec.profiles.p.versions[1].devicePlugin.image"]


def test_a_driver_version_that_picks_an_entry_has_an_effect() -> None:
    mappings = [{"regexp": "^.+$", "image": "registry.example.com/driver:x-$KERNEL_FULL_VERSION"}]
    agent = {"name": "agent", "image": "registry.example.com/agent:1"}
    plain = settings(kernelMappings=mappings, daemonSets=[agent])
    del plain["profiles"]["p"]["versions"]
    complete = config(driverImage=None)
    assert [path for _, path in places(findings(plain, complete))] == ["spec.driverVersion"]
    assert findings(settings({"version": "1.0"}, kernelMappings=mappings, daemonSets=[agent]), complete) == []


def test_a_field_of_a_version_is_found_again_where_it_is_written() -> None:
    profiles = {"p.q": {**PROFILE, "versions": [{"version": "1.0"}, {"version": "2.0", "dirName": "/two"}]}}
    head = b'{"apiVersion": "krmfn.dev/v1alpha1", "metadata": {"name": "a", "namespace": "b"}, '
    text = head + b'"spec": {"profile": "p.q", "driverVersion": "2.0"}}'
    [read] = reading.from_item(Item(text, 0, len(text), -2), FunctionConfig(profiles=profiles))
    assert read.at("dirName") == "spec.profiles[p.q].versions[1].dirName"
    assert read.at("devicePlugin.image") == "spec.profiles[p.q].devicePlugin.image"
    layers = ["spec", "spec.profiles[p.q].versions[1]", "spec.profiles[p.q]", "spec.defaults"]
    assert [layer.path for layer in read.layers] == layers


ORDERED: dict[str, Any] = {"upgrade": {"ordered": True, "retain": ["0.9"]}}
READY = "kmm.node.kubernetes.io/kmm.dc.ready"


def gated(**entry: Any) -> dict[str, set[str]]:
    """Return KMM's labels in the nodeSelector of each DaemonSet of an ordered upgrade that retains a version."""
    daemon_set = {"name": "agent", **entry}
    templates = pods(rendered({"profiles": {"p": PROFILE}}, config(**ORDERED, daemonSets=[daemon_set])))
    selectors = {name: template["spec"]["nodeSelector"] for name, template in templates.items()}
    return {name: {key for key in labels if "kmm.node" in key} for name, labels in selectors.items()}


def test_one_daemon_set_serves_all_versions_where_it_is_said() -> None:
    versioned = {f"kmm.node.kubernetes.io/{key}" for key in ("version-module.kmm.dc", "kmm.dc.version.ready")}
    assert gated() == dict.fromkeys(("dc-agent-1-0", "dc-agent-0-9"), versioned)
    assert gated(perVersion=False) == {"dc-agent": {READY}}
    assert gated(waitsForModule=False) == {"dc-agent": set()}


def test_one_daemon_set_for_all_versions_may_be_one_that_is_there_already() -> None:
    adopted = {"objectName": "old", "matchLabels": {"app": "old"}}
    assert gated(perVersion=False, **adopted) == {"old": {READY}}
    messages = errors({"profiles": {"p": PROFILE}}, config(**ORDERED, daemonSets=[{"name": "agent", **adopted}]))
    assert messages.keys() >= {f"spec.daemonSets[0].{name}" for name in adopted}


@pytest.mark.parametrize(
    ("upgrade", "entry", "reason"),
    [
        ({}, {}, "only an ordered upgrade has versions"),
        (ORDERED, {"waitsForModule": False}, "does not wait"),
    ],
    ids=["not-ordered", "not-waiting"],
)
def test_per_version_without_versions_has_no_effect(upgrade: Any, entry: Any, reason: str) -> None:
    daemon_set = {"name": "agent", "perVersion": False, **entry}
    results = findings({"profiles": {"p": PROFILE}}, config(**upgrade, daemonSets=[daemon_set]))
    path = "spec.daemonSets[0].perVersion"
    (message,) = [result.text for result in results if result.field and result.field.path == path]
    assert reason in message
