"""How the layers of a config merge: each row of the table, what is switched off, and where a field is found again."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from krmfn_functions.deviceconfig import deviceconfig
from krmfn_functions.deviceconfig.keyed import ATOMIC, KEYS, WHOLE
from krmfn_functions.deviceconfig.layers import Layer, place
from krmfn_functions.deviceconfig.merging import EITHER, SWITCHES, UNSET, merged
from krmfn_functions.pods.structure import facts
from krmfn_functions.rendering.function_config import Source
from krmfn_functions.rendering.kinds import schema
from krmfn_functions.settings import CHECK, Settings

from krmfn import ResourceList
from tests.builders import (
    AGENT,
    EVERY_KERNEL,
    SPEC,
    applied,
    by_name,
    device_config,
    function_config,
    generated,
    places,
    resource_list,
)
from tests.tables import table

# What a row gives: the weaker value, the stronger one, and what comes out.
ROWS: dict[str, dict[str, Any]] = table(__file__, "merging.yaml")


def test_every_row_of_the_table_is_here() -> None:
    assert {*KEYS, *ATOMIC, *WHOLE} <= set(ROWS)


def test_every_list_whose_entries_have_a_name_merges_by_it() -> None:
    """A new list of the schema is a row of the table, or is atomic on purpose."""
    definitions = schema("deviceconfig")["$defs"] | {"": schema("deviceconfig")}
    atomic = {"envFrom", "tolerations", "loaderTolerations", "kernelMappings", "config", "selectors", "items"}
    atomic |= {"imagePullSecrets"}  # whose objects are names, too
    seen = set()

    def visit(node: Any, name: str = "") -> None:
        if not isinstance(node, dict):
            return
        entries = resolved(node).get("items")
        while isinstance(entries, dict) and "$ref" in entries:
            entries = resolved(entries)
        if isinstance(entries, dict) and entries.get("type") == "object":
            seen.add(name)
        for key, child in {**node.get("properties", {}), **node.get("$defs", {})}.items():
            visit(child, key)
        for key in ("items", "additionalProperties"):
            visit(node.get(key), name)

    def resolved(node: dict[str, Any]) -> dict[str, Any]:
        return dict(definitions[node["$ref"].removeprefix("#/$defs/")] if "$ref" in node else node)

    visit(schema("deviceconfig"))
    definition_names = {"daemonSet", "kernelMapping"}
    in_profiles = {"extraObjects"}
    assert seen - atomic - definition_names - OF_PODS.keys() == set(KEYS) - OF_PODS.keys() - in_profiles


def lists_and_maps_of_pods() -> tuple[dict[str, tuple[str, ...]], set[str]]:
    """The lists of a podSpec that merge by keys, and the mappings that one writer owns as a whole."""
    types = facts()["types"]
    fields = [(name.removesuffix("!"), node) for kind in types.values() for name, node in kind.items()]
    nodes = [(name, types.get(node, node) if isinstance(node, str) else node) for name, node in fields]
    keyed = {name: tuple(node["$keys"]) for name, node in nodes if isinstance(node, dict) and "$keys" in node}
    return keyed, {name for name, node in nodes if isinstance(node, dict) and node.get("$atomic")}


OF_PODS = {name: keys for name, keys in lists_and_maps_of_pods()[0].items() if name != "imagePullSecrets"}
"""(imagePullSecrets has a name of its own and stands in no podSpec.)"""


def test_what_is_in_a_pod_spec_merges_as_the_server_says() -> None:
    assert {name: KEYS.get(name) for name in OF_PODS} == OF_PODS
    in_atomic_lists = {"preference"}  # of preferredDuringSchedulingIgnoredDuringExecution
    assert lists_and_maps_of_pods()[1] - in_atomic_lists <= ATOMIC


@pytest.mark.parametrize("name", ROWS)
def test_a_row(name: str) -> None:
    below, above, result = ROWS[name].values()
    assert merged([{name: above}, {name: below}]) == {name: result}


@pytest.mark.parametrize("pair", EITHER)
def test_one_form_of_a_field_takes_the_place_of_the_other(pair: tuple[str, str]) -> None:
    for form, other in (pair, pair[::-1]):
        assert merged([{form: "x"}, {other: "y", "a": 1}]) == {"a": 1, form: "x"}


@pytest.mark.parametrize("name", SWITCHES)
def test_what_is_inherited_is_switched_off(name: str) -> None:
    assert merged([{name: {"enabled": False}}, {name: {"image": "x"}, "a": 1}]) == {"a": 1}
    assert merged([{name: {"enabled": True}}, {name: {"enabled": False, "b": 1}}]) == {name: {"b": 1}}


@pytest.mark.parametrize("name", sorted(KEYS))
def test_an_entry_is_switched_off(name: str) -> None:
    keys = {key: key for key in KEYS[name]}
    others = dict.fromkeys(KEYS[name], "other")
    assert merged([{name: [{**keys, "enabled": False}]}, {name: [{**keys, "x": 1}, others]}]) == {name: [others]}
    assert merged([{name: [{**keys, "enabled": False}]}, {name: [keys]}]) == {}


@pytest.mark.parametrize("odd", [[1, "x"], ["x"], [[{"name": "a"}]], [None, {"name": "a"}], {"a": 1}, "x", 1, None])
def test_what_no_schema_has_looked_at_is_taken_as_it_is(odd: Any) -> None:
    """In a probe there may be anything, also under a name that is a row of the table."""
    for fields in ({"ports": odd}, {"env": odd}, {"exec": {"volumes": odd}}):
        assert merged([{"livenessProbe": fields}]) == {"livenessProbe": fields}
        assert merged([{"livenessProbe": fields}, {"livenessProbe": {"ports": [{"containerPort": 1}]}}])
    twice: dict[str, Any] = {"livenessProbe": {"ports": [{"containerPort": {}}, {"containerPort": {}}]}}
    assert merged([twice, twice])["livenessProbe"]["ports"][:2] == twice["livenessProbe"]["ports"]


def test_annotations_named_enabled_switch_nothing_off() -> None:
    fields = {"annotations": {"enabled": "false"}, "labels": {"env": "x"}}
    assert merged([fields]) == fields


NAMES = st.sampled_from("abc")
ENTRIES = st.lists(
    st.fixed_dictionaries({"name": NAMES}, optional={"image": NAMES, "env": st.just([{"name": "A", "value": "1"}])}),
    unique_by=lambda entry: str(entry["name"]),
    max_size=3,
)
FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "daemonSets": ENTRIES,
        "labels": st.dictionaries(NAMES, NAMES, max_size=2),
        "args": st.lists(NAMES, max_size=2),
        "nodeSelector": st.dictionaries(NAMES, NAMES, max_size=2),
    },
)


@given(FIELDS, FIELDS, FIELDS)
def test_merging_is_associative_and_changes_nothing_given(first: Any, second: Any, third: Any) -> None:
    before = repr((first, second, third))
    assert (
        merged([first, second, third])
        == merged([merged([first, second]), third])
        == merged([first, merged([second, third])])
    )
    assert merged([first]) == {name: value for name, value in first.items() if value != [] or name != "daemonSets"}
    assert repr((first, second, third)) == before


@example({"daemonSets": [{"name": "b"}]}, {"daemonSets": [{"name": "a"}, {"name": "b", "image": "c"}]})
@given(FIELDS, FIELDS)
def test_every_value_is_at_its_path_in_the_layer_that_gave_it(above: Any, below: Any) -> None:
    layers = [Layer(above, "spec", Source()), Layer(below, "spec.defaults", Source())]
    fields = merged([above, below])
    for index, entry in enumerate(fields.get("daemonSets", [])):
        for name in entry:
            layer, path = place(layers, fields, f"daemonSets[{index}].{name}")
            assert layer is not None
            entries = layer.fields["daemonSets"]
            (at,) = (number for number, other in enumerate(entries) if other["name"] == entry["name"])
            assert path == f"{layer.path}.daemonSets[{at}].{name}"
            assert entries[at][name] == entry[name]


def agent(name: str = "agent", **fields: Any) -> dict[str, Any]:
    """Return an entry of daemonSets that names another one."""
    return {"name": name, **fields}


def rendered(spec: Any, **spec_of_config: Any) -> ResourceList:
    return applied(deviceconfig, device_config(spec), function_config=function_config(**spec_of_config))


def test_a_config_extends_and_switches_off_what_its_profile_gives() -> None:
    profile = {
        "devicePlugin": {"image": "registry.example.com/plugin:1"},
        "daemonSets": [AGENT | {"env": [{"name": "A", "value": "1"}], "service": {"port": 80}}, AGENT | {"name": "x"}],
    }
    spec = SPEC | {
        "profile": "gpu",
        "devicePlugin": {"enabled": False},
        "daemonSets": [
            {"name": "agent", "env": [{"name": "B", "value": "2"}], "service": {"enabled": False}},
            {"name": "x", "enabled": False},
        ],
    }
    resources = rendered(spec, profiles={"gpu": profile})
    assert not resources.failed, [str(result) for result in resources.results]
    objects = by_name(item.manifest for item in resources.items[1:])
    assert list(objects) == ["Module dc", "DaemonSet dc-agent"]
    container = objects["DaemonSet dc-agent"]["spec"]["template"]["spec"]["containers"][0]
    assert container["image"] == AGENT["image"]
    assert container["env"] == [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]
    assert "devicePlugin" not in objects["Module dc"]["spec"]


@pytest.mark.parametrize(
    ("fields", "path", "reason"),
    [
        ({"daemonSets": [{"name": "agnet", "enabled": False}]}, "spec.daemonSets[0]", "what is inherited is: agent"),
        ({"dra": {"enabled": False}}, "spec.dra", "nothing is inherited"),
        ({"daemonSets": [agent(env=[{"name": "A", "enabled": False}])]}, "spec.daemonSets[0].env[0]", "is: nothing"),
        (
            {"daemonSets": [{"name": "agnet", "image": "x:1", "enabled": True}]},
            "spec.daemonSets[0].enabled",
            "switches on nothing; what is inherited is: agent",
        ),
        ({"devicePlugin": {"enabled": True}}, "spec.devicePlugin.enabled", "switches on nothing; it is on already"),
    ],
)
def test_a_switch_that_changes_nothing_is_a_finding(fields: Any, path: str, reason: str) -> None:
    """A name that is misspelt would leave running what somebody meant to switch off."""
    profile = {"daemonSets": [AGENT], "devicePlugin": {"image": "registry.example.com/plugin:1"}}
    resources = rendered(SPEC | {"profile": "gpu"} | fields, profiles={"gpu": profile})
    messages = [result.text for result in resources.results if result.field and result.field.path == path]
    assert [reason in message for message in messages] == [True], messages


def test_two_entries_of_one_key_in_a_layer_are_not_merged_away() -> None:
    """The second one would change the first, and nobody would know."""
    twice = [AGENT, AGENT | {"image": "registry.example.com/other:1"}]
    for entries in (twice, [*twice, {"name": "x", "image": "registry.example.com/x:1"}]):
        spec = SPEC | {"profile": "gpu", "daemonSets": entries}
        results = rendered(spec, profiles={"gpu": {"daemonSets": [AGENT]}}).results
        assert [path for rule, path in places(results) if rule == "KRM125"] == ["spec.daemonSets[1].name"]


@pytest.mark.parametrize("value", [None, {"$patch": "delete"}])
def test_other_ways_to_take_a_field_back_are_refused_with_the_remedy(value: Any) -> None:
    config = device_config(SPEC)
    config["spec"]["devicePlugin"] = value
    resources = resource_list(config)
    deviceconfig(resources)
    assert resources.failed
    assert any("`enabled: false`" in result.text for result in resources.results)


RUNNER = {"name": "runner", "image": "registry.example.com/runner:1", "enabled": False}


def test_what_a_profile_offers_is_off_until_a_config_switches_it_on() -> None:
    profile = {"daemonSets": [AGENT, RUNNER], "serviceAccount": {"create": True, "enabled": False}}
    plain = SPEC | {"profile": "p", "serviceAccountName": "sa"}
    account = {"enabled": True, "podSecurity": "privileged"}
    switched = plain | {"daemonSets": [{"name": "runner", "enabled": True}], "serviceAccount": account}
    for spec, names in ((plain, ["dc", "dc-agent"]), (switched, ["sa", "dc", "dc-agent", "dc-runner"])):
        resources = rendered(spec, profiles={"p": profile})
        assert [str(result) for result in resources.results] == []
        assert [item.name for item in resources.items if item.kind != "DeviceConfig"] == names


@pytest.mark.parametrize("configs", [(), (device_config(SPEC | {"profile": "p"}),)])
def test_what_a_profile_offers_is_checked_although_nobody_has_switched_it_on(configs: tuple[Any, ...]) -> None:
    """What only some clusters have is left to those who switch it on."""
    latest = {**RUNNER, "image": "registry.example.com/runner:latest"}
    dra = {"driverName": "gpu.example.com", "image": "registry.example.com/dra:latest", "enabled": False}
    plugin = {"image": "registry.example.com/plugin:1"}
    wrong = {**RUNNER, "image": "$KRMFN_X", "args": ["$KRMFN_Y"]}

    def reported(**profile: Any) -> list[tuple[str, str]]:
        functions = function_config(profiles={"p": profile})
        results = applied(deviceconfig, *configs, function_config=functions, settings=Settings(CHECK)).results
        return [(rule, path) for rule, path in places(results) if rule != "KRM143"]

    offers = reported(daemonSets=[AGENT, latest], dra=dra, devicePlugin=plugin)
    assert [rule for rule, _ in offers] == ["KRM225", "KRM225"]
    assert {path for rule, path in reported(daemonSets=[AGENT, wrong]) if rule == "KRM146"} == {
        "spec.profiles.p.daemonSets[1].image",
        "spec.profiles.p.daemonSets[1].args[0]",
    }


def test_a_switch_of_a_config_without_what_it_switches_is_a_finding_still() -> None:
    results = applied(deviceconfig, device_config(SPEC | {"daemonSets": [AGENT, RUNNER]})).results
    assert [result.rule for result in results] == ["KRM142"]
    results = rendered(
        SPEC | {"profile": "p"}, profiles={"p": {"daemonSets": [AGENT, agent("runner", enabled=False)]}}
    ).results
    assert [result.rule for result in results] == ["KRM142"]


def test_the_in_tree_driver_takes_what_is_loaded_from_weaker_layers() -> None:
    below = {
        "driverImage": "registry.example.com/driver",
        "kernelMappings": [{"regexp": "^.+$"}],
        "upgrade": {"ordered": True},
        "build": {"dockerfileConfigMap": {"name": "d"}},
        "moduleName": "drv",
        "imagePullSecret": "pull",
        "labels": {"a": "b"},
    }
    kept = {name: below[name] for name in ("moduleName", "imagePullSecret", "labels")}
    assert merged([{"inTreeDriver": True}, below]) == {"inTreeDriver": True, **kept}
    assert merged([{"inTreeDriver": False}, below]) == {"inTreeDriver": False, **below}
    assert merged([below, {"inTreeDriver": True}]) == {"inTreeDriver": True, **below}  # and a rule refuses it


@given(FIELDS, FIELDS, FIELDS, st.lists(st.sampled_from(["daemonSets", "labels", "args", "nodeSelector"]), min_size=1))
def test_unset_takes_a_field_from_all_weaker_layers_and_from_no_other(
    first: Any, second: Any, third: Any, names: Any
) -> None:
    without = {name: value for name, value in third.items() if name not in names}
    assert merged([first, {**second, UNSET: names}, third]) == merged([first, second, without])
    assert merged([first, second, {**third, UNSET: names}]) == merged([first, second, third])


def test_labels_named_unset_take_nothing_away() -> None:
    assert merged([{"labels": {"unset": "a"}}, {"labels": {"a": "b"}}]) == {"labels": {"unset": "a", "a": "b"}}


@pytest.mark.parametrize("path", ["spec.unset[1]", "spec.nodePools[0].unset[0]"])
def test_an_inherited_field_can_be_unset(path: str) -> None:
    profile = {"firmwarePath": "/firmware", "daemonSets": [AGENT], "devicePlugin": {"image": "plugin:1"}}
    spec = SPEC | {"profile": "gpu", "unset": ["daemonSets", "firmwarePath"]}
    if "nodePools" in path:
        pool = {"name": "a", "nodeSelector": spec.pop("nodeSelector"), "unset": ["firmwarePath"]}
        spec |= {"nodePools": [pool], "unset": ["daemonSets"]}
    resources = rendered(spec, profiles={"gpu": profile | {"imagePullPolicy": "Always"}})
    assert {result.rule for result in resources.results if result.field} <= {"KRM144", "KRM225"}
    (module,) = generated(resources)
    container = module["spec"]["moduleLoader"]["container"]
    assert "firmwarePath" not in container["modprobe"]
    assert container["imagePullPolicy"] == "Always"
    assert module["spec"]["devicePlugin"]["container"]["image"] == "plugin:1"


def test_unset_of_two_layers_of_one_pool_both_count() -> None:
    below = {"nodePools": [{"name": "a", "unset": ["dirName"]}]}
    above = {"nodePools": [{"name": "a", "unset": ["firmwarePath"]}]}
    assert merged([above, below])["nodePools"] == [{"name": "a", "unset": ["dirName", "firmwarePath"]}]


def test_a_list_is_replaced_with_unset_and_a_finding_stands_at_what_replaced_it() -> None:
    spec = SPEC | {"profile": "gpu", "unset": ["daemonSets"], "daemonSets": [{"name": "agent", "args": ["-v"]}]}
    resources = rendered(spec, profiles={"gpu": {"daemonSets": [AGENT, AGENT | {"name": "x"}]}})
    assert {path for _, path in places(resources.results, "error")} == {"spec.daemonSets[0].image"}


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"unset": ["firmwarePath"]}, "nothing is inherited for firmwarePath"),
        ({"unset": ["dirName"], "dirName": "/srv"}, "dirName is the same without it"),
    ],
)
def test_a_name_in_unset_that_changes_nothing_is_a_finding(fields: Any, reason: str) -> None:
    """A field that somebody meant to take away, and that is still there."""
    resources = rendered(SPEC | {"profile": "gpu"} | fields, profiles={"gpu": {"dirName": "/opt"}})
    (message,) = [r.message for r in resources.results if r.field and r.field.path == "spec.unset[0]"]
    assert message == f"has no effect: {reason}"


def test_a_name_in_the_unset_of_a_profile_counts_when_one_config_needs_it() -> None:
    shared = {"profiles": {"p": {"unset": ["dirName"]}}, "defaults": {"dirName": "/srv"}}
    plain, other = SPEC | {"profile": "p"}, SPEC | {"profile": "p", "dirName": "/own"}
    for specs, paths in (((plain, other), []), ((other,), ["spec.profiles.p.unset[0]"])):
        configs = [device_config({**spec, "nodeSelector": {"n": str(at)}}, f"c{at}") for at, spec in enumerate(specs)]
        results = applied(deviceconfig, *configs, function_config=function_config(**shared)).results
        assert [path for _, path in places(results) if "unset" in path] == paths, [str(result) for result in results]


def test_a_version_of_the_profile_goes_by_what_is_left_of_driver_version() -> None:
    profile = {"driverVersion": "1.0", "versions": [{"version": "1.0", "parameters": ["a=1"]}]}
    image = "registry.example.com/driver:2"
    spec = SPEC | {"driverVersion": None, "driverImage": image, "profile": "p", "unset": ["driverVersion"]}
    (module,) = generated(rendered(spec, profiles={"p": profile}))
    assert "parameters" not in module["spec"]["moduleLoader"]["container"]["modprobe"]


POOLS = [{"name": "a", "nodeSelector": {"size": "big"}}, {"name": "b", "nodeSelector": {"size": "small"}}]
TINY = {"name": "c", "nodeSelector": {"size": "tiny"}}


def test_a_node_selector_narrows_each_pool_of_the_profile() -> None:
    spec = SPEC | {"profile": "gpu", "nodeSelector": {"zone": "x"}}
    resources = rendered(spec, profiles={"gpu": {"nodePools": POOLS, "daemonSets": [AGENT]}})
    assert [str(result) for result in resources.results] == []
    objects = by_name(generated(resources))
    for name, size in (("a", "big"), ("b", "small")):
        selector = {"size": size, "zone": "x"}
        assert objects[f"Module dc-{name}"]["spec"]["selector"] == selector
        gate = {f"kmm.node.kubernetes.io/kmm.dc-{name}.ready": ""}
        pod = objects[f"DaemonSet dc-{name}-agent"]["spec"]["template"]["spec"]
        assert pod["nodeSelector"] == selector | gate


@pytest.mark.parametrize(
    ("fields", "rule", "path"),
    [
        ({"nodeSelector": {"size": "small"}}, "KRM129", "spec.nodeSelector.size"),
        ({"nodeSelector": {"gpu": "a"}, "nodePools": [TINY]}, "KRM129", "spec.nodeSelector"),
        ({"nodeSelector": {}}, "KRM142", "spec.nodeSelector"),
    ],
)
def test_a_node_selector_that_leaves_a_pool_nothing_or_everything_is_said(fields: Any, rule: str, path: str) -> None:
    results = rendered(SPEC | {"profile": "gpu"} | fields, profiles={"gpu": {"nodePools": POOLS}}).results
    assert (rule, path) in places(results) and dict(places(results)).keys() <= {rule, "KRM144"}


def test_an_in_tree_driver_may_have_daemon_sets_only_and_then_there_is_no_module() -> None:
    resources = rendered({"inTreeDriver": True, "nodeSelector": {"gpu": "a"}, "daemonSets": [AGENT]})
    assert [str(result) for result in resources.results] == []
    (daemon_set,) = generated(resources)
    assert daemon_set["kind"] == "DaemonSet"
    assert daemon_set["spec"]["template"]["spec"]["nodeSelector"] == {"gpu": "a"}
    assert "config.kubernetes.io/depends-on" not in daemon_set["metadata"]["annotations"]


KEYS_OF_SIGN = {"keySecret": {"name": "k"}, "certSecret": {"name": "c"}}
FILES = {"filesToSign": ["/opt/a.ko"], "unsignedImage": "x:1"}
ARGS = {"buildArgs": [{"name": "A", "value": "1"}]}
DOCKERFILE = {"dockerfileConfigMap": {"name": "d"}}


def loader(spec: Any, profile: Any) -> Any:
    """Return the container of the loader that a config with a profile gives, which is right."""
    module = generated(rendered(SPEC | {"profile": "gpu"} | spec, profiles={"gpu": profile}))[-1]
    return module["spec"]["moduleLoader"]["container"]


@pytest.mark.parametrize(
    ("name", "files", "keys"),
    [("sign", FILES, KEYS_OF_SIGN), ("build", ARGS, DOCKERFILE)],
)
def test_files_come_from_the_vendor_and_keys_from_the_user(name: str, files: Any, keys: Any) -> None:
    offer: Any = {name: {"enabled": False, **files}}
    assert name not in loader({}, offer)
    assert loader({name: {"enabled": True, **keys}}, offer)[name] == {**files, **keys}
    mappings = {"kernelMappings": [{"literal": "6.2.0", name: files}, {"literal": "6.1.0"}]}
    first, second = loader({name: keys}, mappings)["kernelMappings"]
    assert first[name] == {**files, **keys} and name not in second
    assert (name in loader({name: keys}, mappings)) == (name == "build"), "keys without files are the mappings' alone"
    off = loader({name: {"enabled": False}}, {**mappings, name: keys})
    assert name not in off and not any(name in mapping for mapping in off["kernelMappings"])


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        ({"sign": FILES}, "spec.sign"),
        ({"sign": {"keySecret": {"name": "k"}}}, "spec.sign"),
        ({"build": ARGS}, "spec.build"),
        ({"kernelMappings": [EVERY_KERNEL | {"sign": FILES}]}, "spec.kernelMappings[0].sign"),
        (
            {"kernelMappings": [EVERY_KERNEL | {"build": {"kanikoParams": {"tag": "a"}}}]},
            "spec.kernelMappings[0].build",
        ),
    ],
)
def test_what_is_signed_or_built_without_keys_is_an_error(spec: Any, path: str) -> None:
    assert places(rendered(SPEC | spec).results, "error") == [("KRM177", path)]


@pytest.mark.parametrize("enabled", [{}, {"enabled": False}])
def test_a_profile_may_leave_the_keys_to_its_users(enabled: Any) -> None:
    for profile in ({"sign": {**FILES, **enabled}}, {"kernelMappings": [EVERY_KERNEL | {"sign": FILES}]}):
        settings = function_config(profiles={"gpu": profile})
        results = applied(deviceconfig, function_config=settings, settings=Settings(CHECK)).results
        assert places(results, "error", "warning") == []
