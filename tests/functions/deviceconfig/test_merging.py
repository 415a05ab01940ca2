"""How the layers of a config merge: each row of the table, what is switched off, and where a field is found again."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.deviceconfig import deviceconfig
from krmfn_functions.deviceconfig.layers import Layer, place
from krmfn_functions.deviceconfig.merging import ATOMIC, EITHER, KEYS, SWITCHES, UNSET, WHOLE, merged
from krmfn_functions.pods.structure import facts
from krmfn_functions.rendering.function_config import Source
from krmfn_functions.rendering.kinds import schema
from krmfn_functions.settings import CHECK, Settings

from krmfn import ResourceList
from tests.builders import AGENT, SPEC, applied, device_config, function_config, resource_list
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
        if isinstance(node, dict):
            reference = node.get("$ref", "").removeprefix("#/$defs/")
            plain = definitions[reference] if reference else node
            of = plain.get("items") if isinstance(plain, dict) else None
            while isinstance(of, dict) and "$ref" in of:
                of = definitions[of["$ref"].removeprefix("#/$defs/")]
            if isinstance(of, dict) and of.get("type") == "object":
                seen.add(name)
            for key, entry in node.get("properties", {}).items():
                visit(entry, key)
            for key in ("items", "additionalProperties"):
                visit(node.get(key), name)
            for key, entry in node.get("$defs", {}).items():
                visit(entry, key)

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
    for one, other in (pair, pair[::-1]):
        assert merged([{one: "x"}, {other: "y", "a": 1}]) == {"a": 1, one: "x"}


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
def test_merging_is_associative_and_changes_nothing_given(one: Any, two: Any, three: Any) -> None:
    before = repr((one, two, three))
    assert merged([one, two, three]) == merged([merged([one, two]), three]) == merged([one, merged([two, three])])
    assert merged([one]) == {name: value for name, value in one.items() if value != [] or name != "daemonSets"}
    assert repr((one, two, three)) == before


@given(FIELDS, FIELDS)
def test_every_value_is_at_its_path_in_the_layer_that_gave_it(one: Any, two: Any) -> None:
    layers = [Layer(one, "spec", Source()), Layer(two, "spec.defaults", Source())]
    fields = merged([one, two])
    for index, entry in enumerate(fields.get("daemonSets", [])):
        for name in entry:
            layer, path = place(layers, fields, f"daemonSets[{index}].{name}")
            assert layer is not None
            own = next(other for other in layer.fields["daemonSets"] if other["name"] == entry["name"])
            at = layer.fields["daemonSets"].index(own)
            assert path == f"{layer.path}.daemonSets[{at}].{name}"
            assert own[name] == entry[name]


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
    kinds = [(item.kind, item.ref.name) for item in resources.items[1:]]
    assert kinds == [("Module", "dc"), ("DaemonSet", "dc-agent")]
    container = resources.items[2].manifest["spec"]["template"]["spec"]["containers"][0]
    assert container["image"] == AGENT["image"]
    assert container["env"] == [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]
    assert "devicePlugin" not in resources.items[1].manifest["spec"]


def test_a_finding_stands_at_the_layer_s_own_entry() -> None:
    profile = {"daemonSets": [AGENT | {"name": "first"}, AGENT | {"volumeMounts": [{"name": "v", "mountPath": "/v"}]}]}
    resources = rendered(
        SPEC | {"profile": "gpu", "daemonSets": [{"name": "agent", "args": ["-v"]}]}, profiles={"gpu": profile}
    )
    (finding,) = [result for result in resources.results if result.rule == "KRM126"]
    assert finding.field is not None
    assert finding.field.path == "spec.profiles.gpu.daemonSets[1].volumeMounts[0].name"


@pytest.mark.parametrize(
    ("fields", "path", "why"),
    [
        ({"daemonSets": [{"name": "agnet", "enabled": False}]}, "spec.daemonSets[0]", "what is inherited is: agent"),
        ({"dra": {"enabled": False}}, "spec.dra", "nothing is inherited"),
        (
            {"daemonSets": [{"name": "agent", "env": [{"name": "A", "enabled": False}]}]},
            "spec.daemonSets[0].env[0]",
            "what is inherited is: nothing",
        ),
        (
            {"daemonSets": [{"name": "agnet", "image": "x:1", "enabled": True}]},
            "spec.daemonSets[0].enabled",
            "switches on nothing; what is inherited is: agent",
        ),
        ({"devicePlugin": {"enabled": True}}, "spec.devicePlugin.enabled", "switches on nothing; it is on already"),
    ],
)
def test_a_switch_that_changes_nothing_is_a_finding(fields: Any, path: str, why: str) -> None:
    """A name that is misspelt would leave running what somebody meant to switch off."""
    profile = {"daemonSets": [AGENT], "devicePlugin": {"image": "registry.example.com/plugin:1"}}
    resources = rendered(SPEC | {"profile": "gpu"} | fields, profiles={"gpu": profile})
    messages = [result.message for result in resources.results if result.field and result.field.path == path]
    assert [why in message for message in messages] == [True], messages


def test_two_entries_of_one_key_in_a_layer_are_not_merged_away() -> None:
    """The second one would change the first, and nobody would know."""
    twice = [AGENT, AGENT | {"image": "registry.example.com/other:1"}]
    for own in (twice, [*twice, {"name": "x", "image": "registry.example.com/x:1"}]):
        resources = rendered(SPEC | {"profile": "gpu", "daemonSets": own}, profiles={"gpu": {"daemonSets": [AGENT]}})
        paths = [result.field.path for result in resources.results if result.rule == "KRM125" and result.field]
        assert paths == ["spec.daemonSets[1].name"]


@pytest.mark.parametrize("value", [None, {"$patch": "delete"}])
def test_other_ways_to_take_a_field_back_are_refused_with_the_remedy(value: Any) -> None:
    config = device_config(SPEC)
    config["spec"]["devicePlugin"] = value
    resources = resource_list(config)
    deviceconfig(resources)
    assert resources.failed
    assert any("`enabled: false`" in result.message for result in resources.results)


def test_what_a_profile_offers_is_off_until_a_config_switches_it_on() -> None:
    runner = {"name": "runner", "image": "registry.example.com/runner:1", "enabled": False}
    offer = {"profiles": {"p": {"daemonSets": [AGENT, runner], "serviceAccount": {"create": True, "enabled": False}}}}
    account = {"serviceAccountName": "sa"}
    plain = device_config(SPEC | {"profile": "p"} | account)
    with_it = device_config(
        SPEC | {"profile": "p", "daemonSets": [{"name": "runner", "enabled": True}]} | account, serviceAccount={}
    )
    del with_it["metadata"]["serviceAccount"]
    with_it["spec"]["serviceAccount"] = {"enabled": True, "podSecurity": "privileged"}
    for config, names in ((plain, ["dc", "dc-agent"]), (with_it, ["sa", "dc", "dc-agent", "dc-runner"])):
        resources = applied(deviceconfig, config, function_config=function_config(**offer))
        assert [str(result) for result in resources.results] == []
        made = [item.name for item in resources.items if item.kind != "DeviceConfig"]
        assert made == names


@pytest.mark.parametrize("configs", [(), (device_config(SPEC | {"profile": "p"}),)])
def test_what_a_profile_offers_is_checked_although_nobody_has_switched_it_on(configs: tuple[Any, ...]) -> None:
    """What only some clusters have is left to those who switch it on."""
    runner = {"name": "runner", "image": "registry.example.com/runner:latest", "enabled": False}
    dra = {"driverName": "gpu.example.com", "image": "registry.example.com/dra:latest", "enabled": False}
    plugin = {"image": "registry.example.com/plugin:1"}
    spec = {"profiles": {"p": {"daemonSets": [AGENT, runner], "dra": dra, "devicePlugin": plugin}}}
    settings = Settings(CHECK)
    resources = applied(deviceconfig, *configs, function_config=function_config(**spec), settings=settings)
    found = [(result.rule, result.severity) for result in resources.results if result.rule != "KRM143"]
    assert found == [("KRM225", "warning")] * 2
    wrong = {"profiles": {"p": {"daemonSets": [AGENT, {**runner, "image": "$KRMFN_X", "args": ["$KRMFN_Y"]}]}}}
    resources = applied(deviceconfig, *configs, function_config=function_config(**wrong), settings=settings)
    assert {result.field.path for result in resources.results if result.field and result.rule == "KRM146"} == {
        "spec.profiles.p.daemonSets[1].image",
        "spec.profiles.p.daemonSets[1].args[0]",
    }


def test_a_switch_of_a_config_without_what_it_switches_is_a_finding_still() -> None:
    runner = {"name": "runner", "image": "registry.example.com/runner:1", "enabled": False}
    resources = applied(deviceconfig, device_config(SPEC | {"daemonSets": [AGENT, runner]}))
    assert [result.rule for result in resources.results] == ["KRM142"]
    empty = {"profiles": {"p": {"daemonSets": [AGENT, {"name": "runner", "enabled": False}]}}}
    resources = applied(deviceconfig, device_config(SPEC | {"profile": "p"}), function_config=function_config(**empty))
    assert [result.rule for result in resources.results] == ["KRM142"]


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
    one: Any, two: Any, three: Any, names: Any
) -> None:
    without = {name: value for name, value in three.items() if name not in names}
    assert merged([one, {**two, UNSET: names}, three]) == merged([one, two, without])
    assert merged([one, two, {**three, UNSET: names}]) == merged([one, two, three])


def test_labels_named_unset_take_nothing_away() -> None:
    assert merged([{"labels": {"unset": "a"}}, {"labels": {"a": "b"}}]) == {"labels": {"unset": "a", "a": "b"}}


@pytest.mark.parametrize("path", ["spec.unset[1]", "spec.nodePools[0].unset[0]"])
def test_an_inherited_field_can_be_unset(path: str) -> None:
    profile = {"firmwarePath": "/firmware", "daemonSets": [AGENT], "devicePlugin": {"image": "plugin:1"}}
    own = SPEC | {"profile": "gpu", "unset": ["daemonSets", "firmwarePath"]}
    if "nodePools" in path:
        pool = {"name": "a", "nodeSelector": own.pop("nodeSelector"), "unset": ["firmwarePath"]}
        own |= {"nodePools": [pool], "unset": ["daemonSets"]}
    resources = rendered(own, profiles={"gpu": profile | {"imagePullPolicy": "Always"}})
    assert {result.rule for result in resources.results if result.field} <= {"KRM144", "KRM225"}
    (made,) = [item.manifest for item in resources.items if item.kind != "DeviceConfig"]
    container = made["spec"]["moduleLoader"]["container"]
    assert "firmwarePath" not in container["modprobe"]
    assert container["imagePullPolicy"] == "Always"
    assert made["spec"]["devicePlugin"]["container"]["image"] == "plugin:1"


def test_unset_of_two_layers_of_one_pool_both_count() -> None:
    below = {"nodePools": [{"name": "a", "unset": ["dirName"]}]}
    above = {"nodePools": [{"name": "a", "unset": ["firmwarePath"]}]}
    assert merged([above, below])["nodePools"] == [{"name": "a", "unset": ["dirName", "firmwarePath"]}]


def test_a_list_is_replaced_with_unset_and_a_finding_stands_at_what_replaced_it() -> None:
    own = SPEC | {"profile": "gpu", "unset": ["daemonSets"], "daemonSets": [{"name": "agent", "args": ["-v"]}]}
    resources = rendered(own, profiles={"gpu": {"daemonSets": [AGENT, AGENT | {"name": "x"}]}})
    found = {result.field.path for result in resources.results if result.field and result.severity == "error"}
    assert found == {"spec.daemonSets[0].image"}


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"unset": ["firmwarePath"]}, "nothing is inherited for firmwarePath"),
        ({"unset": ["dirName"], "dirName": "/srv"}, "dirName is the same without it"),
    ],
)
def test_a_name_in_unset_that_changes_nothing_is_a_finding(fields: Any, why: str) -> None:
    """A field that somebody meant to take away, and that is still there."""
    resources = rendered(SPEC | {"profile": "gpu"} | fields, profiles={"gpu": {"dirName": "/opt"}})
    (message,) = [r.message for r in resources.results if r.field and r.field.path == "spec.unset[0]"]
    assert message == f"has no effect: {why}"


def test_a_name_in_the_unset_of_a_profile_counts_when_one_config_needs_it() -> None:
    shared = {"profiles": {"p": {"unset": ["dirName"]}}, "defaults": {"dirName": "/srv"}}
    plain, other = SPEC | {"profile": "p"}, SPEC | {"profile": "p", "dirName": "/own"}
    for specs, paths in (((plain, other), []), ((other,), ["spec.profiles.p.unset[0]"])):
        configs = [device_config({**spec, "nodeSelector": {"n": str(at)}}, f"c{at}") for at, spec in enumerate(specs)]
        resources = applied(deviceconfig, *configs, function_config=function_config(**shared))
        found = [result.field.path for result in resources.results if result.field and "unset" in result.field.path]
        assert found == paths, [str(result) for result in resources.results]


def test_a_version_of_the_profile_goes_by_what_is_left_of_driver_version() -> None:
    profile = {"driverVersion": "1.0", "versions": [{"version": "1.0", "parameters": ["a=1"]}]}
    own = {**SPEC, "driverImage": "registry.example.com/driver:2", "profile": "p", "unset": ["driverVersion"]}
    del own["driverVersion"]
    resources = rendered(own, profiles={"p": profile})
    (made,) = [item.manifest for item in resources.items if item.kind == "Module"]
    assert "parameters" not in made["spec"]["moduleLoader"]["container"]["modprobe"]


POOLS = [{"name": "a", "nodeSelector": {"size": "big"}}, {"name": "b", "nodeSelector": {"size": "small"}}]


def test_a_node_selector_narrows_each_pool_of_the_profile() -> None:
    own = SPEC | {"profile": "gpu", "nodeSelector": {"zone": "x"}}
    resources = rendered(own, profiles={"gpu": {"nodePools": POOLS, "daemonSets": [AGENT]}})
    assert [str(result) for result in resources.results] == []
    made = {item.name: item.manifest["spec"] for item in resources.items if item.kind != "DeviceConfig"}
    for name, size in (("a", "big"), ("b", "small")):
        selector = {"size": size, "zone": "x"}
        assert made[f"dc-{name}"]["selector"] == selector
        gate = {f"kmm.node.kubernetes.io/kmm.dc-{name}.ready": ""}
        assert made[f"dc-{name}-agent"]["template"]["spec"]["nodeSelector"] == selector | gate


@pytest.mark.parametrize(
    ("own", "rule", "path"),
    [
        ({"nodeSelector": {"size": "small"}}, "KRM129", "spec.nodeSelector.size"),
        (
            {"nodeSelector": {"gpu": "a"}, "nodePools": [{"name": "c", "nodeSelector": {"size": "tiny"}}]},
            "KRM129",
            "spec.nodeSelector",
        ),
        ({"nodeSelector": {}}, "KRM142", "spec.nodeSelector"),
    ],
)
def test_a_node_selector_that_leaves_a_pool_nothing_or_everything_is_said(own: Any, rule: str, path: str) -> None:
    resources = rendered(SPEC | {"profile": "gpu"} | own, profiles={"gpu": {"nodePools": POOLS}})
    found = {(result.rule, result.field.path) for result in resources.results if result.field}
    assert (rule, path) in found and {one for one, _ in found} <= {rule, "KRM144"}


def test_an_in_tree_driver_may_have_daemon_sets_only_and_then_there_is_no_module() -> None:
    spec = {"inTreeDriver": True, "nodeSelector": {"gpu": "a"}, "daemonSets": [AGENT]}
    resources = rendered(spec)
    assert [str(result) for result in resources.results] == []
    (made,) = [item.manifest for item in resources.items if item.kind != "DeviceConfig"]
    assert made["kind"] == "DaemonSet" and made["spec"]["template"]["spec"]["nodeSelector"] == {"gpu": "a"}
    assert "config.kubernetes.io/depends-on" not in made["metadata"]["annotations"]


KEYS_OF_SIGN = {"keySecret": {"name": "k"}, "certSecret": {"name": "c"}}
FILES = {"filesToSign": ["/opt/a.ko"], "unsignedImage": "x:1"}
DOCKERFILE = {"dockerfileConfigMap": {"name": "d"}}


def loader(spec: Any, profile: Any) -> Any:
    """The container of the loader that a config with a profile gives, which is right."""
    resources = rendered(SPEC | {"profile": "gpu"} | spec, profiles={"gpu": profile})
    assert not resources.failed, [str(result) for result in resources.results]
    return resources.items[-1].manifest["spec"]["moduleLoader"]["container"]


@pytest.mark.parametrize(
    ("name", "files", "keys"),
    [("sign", FILES, KEYS_OF_SIGN), ("build", {"buildArgs": [{"name": "A", "value": "1"}]}, DOCKERFILE)],
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
    assert name not in off and not any(name in one for one in off["kernelMappings"])


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        ({"sign": FILES}, "spec.sign"),
        ({"sign": {"keySecret": {"name": "k"}}}, "spec.sign"),
        ({"build": {"buildArgs": [{"name": "A", "value": "1"}]}}, "spec.build"),
        ({"kernelMappings": [{"regexp": "^.+$", "sign": FILES}]}, "spec.kernelMappings[0].sign"),
        (
            {"kernelMappings": [{"regexp": "^.+$", "build": {"kanikoParams": {"tag": "a"}}}]},
            "spec.kernelMappings[0].build",
        ),
    ],
)
def test_what_is_signed_or_built_without_keys_is_an_error(spec: Any, path: str) -> None:
    found = [one for one in rendered(SPEC | spec).results if one.severity == "error" and one.field]
    assert [(one.rule, one.field.path) for one in found if one.field] == [("KRM177", path)]


@pytest.mark.parametrize("enabled", [{}, {"enabled": False}])
def test_a_profile_may_leave_the_keys_to_its_users(enabled: Any) -> None:
    mapping = {"regexp": "^.+$", "sign": FILES}
    for profile in ({"sign": {**FILES, **enabled}}, {"kernelMappings": [mapping]}):
        settings = function_config(profiles={"gpu": profile})
        results = applied(deviceconfig, function_config=settings, settings=Settings(CHECK)).results
        assert [str(one) for one in results if one.severity != "info"] == []
