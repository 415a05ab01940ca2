"""A vendor's own kind, driven by its Profile."""

from __future__ import annotations

import shlex
from typing import Any

import pytest
from krmfn_functions.all_kinds import krmfn
from krmfn_functions.mistake import Mistake
from krmfn_functions.profile.expressions import fill_entry
from krmfn_functions.settings import CHECK, Settings

from krmfn import Manifest
from tests.builders import DROP, applied, edited
from tests.functions.profile.vendor import (
    CR,
    OURS,
    PROFILE,
    children,
    container,
    cr,
    modprobe,
    naming,
    options,
    profile,
    refused,
    rendered,
    sound,
)

LEVEL = "level: {type: string}"
PORT = "--port=${spec.exporter.port}"
ARGS = f'["{PORT}", "${{texts.verbose}}", "${{texts.flags}}"]'
OFF = "{spec.exporter.enable: false}"
FREE = "additionalProperties: {type: object, x-kubernetes-preserve-unknown-fields: true}"
ONE_LEVEL = "additionalProperties: true"
"""The API server drops what is below its fields."""
LEVEL_IN_A_TEXT = PROFILE.replace("--port=", "--level=${spec.exporter.level},")


def exporter(**fields: object) -> dict[str, Any]:
    return container(sound(profile(), cr(exporter=fields)))


def test_a_config_of_the_vendors_kind_becomes_a_module_and_a_daemonset() -> None:
    objects = sound(profile(), CR)
    module = objects["Module gpu"]
    assert module["spec"]["selector"] == {"example.com/gpu": "true"}
    mapping = module["spec"]["moduleLoader"]["container"]["kernelMappings"][0]
    assert mapping["containerImage"].startswith("registry.example.com/amd/driver:30.20.1-")
    assert "parameters" not in modprobe(objects)
    for name in ("Module gpu", "DaemonSet gpu-metrics"):
        assert objects[name]["metadata"]["annotations"]["krmfn.dev/profile"] == "amd-gpu@1.4.1"
    assert "krmfn.dev/profile" not in str(objects["DaemonSet gpu-metrics"]["spec"]["template"]["metadata"])


def test_equal_configs_of_two_versions_have_the_profile_of_their_own() -> None:
    """The second config got what the first one's Profile makes."""
    newer = profile("[v1alpha1]", "[v1beta1]", PROFILE.replace("exporter:1", "exporter:2"))
    newer["metadata"]["name"] = "amd-gpu-2"
    second = {**cr("gpu-2"), "apiVersion": "amd.com/v1beta1"}
    objects = sound(profile(), newer, CR, second, exclusivity={"mode": "off"})
    images = [container(objects, name)["image"] for name in ("gpu-metrics", "gpu-2-metrics")]
    assert images == ["registry.example.com/amd/exporter:1", "registry.example.com/amd/exporter:2"]


def test_an_option_is_typed_where_it_is_all_and_text_in_a_text() -> None:
    fields = exporter(port=7000)
    assert fields["ports"] == [{"name": "metrics", "containerPort": 7000}]
    assert fields["env"] == [{"name": "PORT", "value": "7000"}]
    assert fields["args"] == ["--port=7000", ""]


def test_numbers_in_a_list_or_a_map_are_texts_where_the_field_has_texts() -> None:
    product = profile()
    options(product)["numbers"] = {"type": "array", "items": {"type": "integer"}}
    options(product)["map"] = {"type": "object", "additionalProperties": {"type": "boolean"}}
    product["spec"]["config"] |= {"loadArgs": "${spec.numbers}", "labels": "${spec.map}"}
    product["spec"]["config"]["daemonSets"][0]["args"] += ["${spec.numbers}"]
    extra = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": "${spec.map}"}
    product["spec"]["config"]["extraObjects"] = [extra]
    objects = sound(product, cr(numbers=[1, 2], map={"a": True}))
    assert objects["Module gpu"]["metadata"]["labels"]["a"] == "true"
    assert objects["ConfigMap a"]["data"] == {"a": "true"}
    assert modprobe(objects)["args"] == {"load": ["1", "2"]}
    assert container(objects)["args"][-2:] == ["1", "2"]


def test_a_map_becomes_a_text_and_a_condition_an_argument() -> None:
    fields = exporter(level="debug", flags={"b": "2", "a": "x y"})
    assert fields["args"] == ["--port=5000", "--v=10", "-a=x y -b=2"]
    assert {"name": "LEVEL", "value": "debug"} in fields["env"]


@pytest.mark.parametrize("parameters", [None, []])
def test_a_list_that_comes_to_nothing_is_not_there_where_none_may_be_empty(parameters: list[str] | None) -> None:
    """All of its entries are absent, or the option is a list without any."""
    product = profile()
    for args in (["${spec.driver.parameters}", "${texts.verbose}"], "${spec.driver.parameters}"):
        product["spec"]["config"]["daemonSets"][0]["args"] = args
        config = cr(driver={"parameters": parameters} if parameters is not None else {})
        objects, findings, code = rendered(product, config)
        assert (code, [line for line in findings if "KRM181" not in line]) == (0, [])
        assert "args" not in container(objects)


@pytest.mark.parametrize(
    ("level", "message"),
    [
        ("{type: string}", "may be absent; give it a default in the schema"),
        ("{type: string, default: info}", ""),
        ("{type: string, nullable: true, default: info}", "may be absent; remove `nullable` from the schema"),
    ],
)
def test_an_option_in_a_text_is_always_there(level: str, message: str) -> None:
    _, findings, _ = rendered(profile(LEVEL, f"level: {level}", LEVEL_IN_A_TEXT), CR)
    assert [message in line for line in findings] == [True] * bool(message)


def test_a_default_of_an_object_gives_what_the_object_requires() -> None:
    fields = "properties:\n              enable:"
    default = "default: {level: info}\n            required: [level]\n            "
    product = profile(fields, default + fields, LEVEL_IN_A_TEXT)
    objects = sound(product, {**CR, "spec": {"driver": CR["spec"]["driver"]}})
    assert sorted(objects) == ["DeviceConfig gpu", "Module gpu", "Profile amd-gpu"]


def test_a_when_switches_off() -> None:
    assert "DaemonSet gpu-metrics" not in sound(profile(), cr(exporter={"enable": False}))


@pytest.mark.parametrize("enable", [True, False])
def test_an_option_is_a_switch(enable: bool) -> None:
    """It was said to have no effect."""
    product = profile("    - name: metrics\n", "    - name: metrics\n      enabled: ${spec.exporter.enable}\n")
    del product["spec"]["when"]
    assert ("DaemonSet gpu-metrics" in sound(product, cr(exporter={"enable": enable}))) is enable


def test_a_config_removed_takes_its_objects_with_it() -> None:
    objects = sound(profile(), CR)
    generated = children(profile(), CR)
    assert sound(profile(), CR, *generated) == objects
    assert list(sound(profile(), *generated, prune="always")) == ["Profile amd-gpu"]


def test_without_its_profile_nothing_is_changed_and_nothing_pruned() -> None:
    generated = children(profile(), CR)
    objects, findings, code = rendered(CR, *generated, prune="always")
    assert (code, list(objects.values())) == (1, [CR, *generated])
    assert any("nothing drives this DeviceConfig" in line and "[KRM107]" in line for line in findings)


@pytest.mark.parametrize(
    ("config", "settings"),
    [(naming("none"), {}), (CR, {"operators": [{"group": "amd.com", "kind": "DeviceConfig"}]})],
    ids=["annotation", "operators"],
)
def test_its_own_operator_may_act_on_it(config: Manifest, settings: dict[str, Any]) -> None:
    assert list(sound(config, adopt=False, **settings)) == ["DeviceConfig gpu"]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("kind: DeviceConfig}", "kind: DeviceConfigs}", "nothing drives this DeviceConfig"),
        ("[v1alpha1]", "[v1]", "no Profile is for this version, amd.com/v1alpha1, but for amd.com/v1"),
        ("group: amd.com", "group: amd.example.com", "nothing drives this DeviceConfig"),
    ],
)
def test_a_profile_that_is_for_something_else_drives_nothing(old: str, new: str, words: str) -> None:
    findings = refused(profile(old, new), CR)
    assert any(words in line and "krmfn.dev/profile: none" in line for line in findings)


def test_two_profiles_for_a_kind_need_a_choice() -> None:
    other = profile("name: amd-gpu", "name: amd-new")
    findings = refused(profile(), other, CR)
    assert any("several Profiles are for this kind: amd-gpu, amd-new" in line for line in findings)
    objects = sound(profile(), other, naming("amd-new"))
    assert objects["Module gpu"]["metadata"]["annotations"]["krmfn.dev/profile"] == "amd-new@1.4.1"


def test_a_profile_that_is_not_there_is_an_error_anywhere() -> None:
    (finding,) = refused(naming("amd-gpo"))
    assert "there is no Profile 'amd-gpo'" in finding
    assert "there are: none. Or if its own operator acts on it" in finding
    assert "did you mean 'amd-gpu'?" in refused(profile(), naming("amd-gpo"))[0]


def test_a_misspelt_profile_is_said_and_not_that_its_options_are_nobodys() -> None:
    (finding,) = refused(profile(), {**OURS, "spec": {"profile": "amd-gpuu", "options": {}}})
    assert "profile 'amd-gpuu' is not defined" in finding and "Profiles: amd-gpu" in finding


def test_options_of_a_config_of_ours() -> None:
    spec = {"profile": "amd-gpu", "options": CR["spec"], "firmwarePath": "/fw"}
    assert modprobe(sound(profile(), {**OURS, "spec": spec}), "nic")["firmwarePath"] == "/fw"
    findings = refused(profile(), {**OURS, "spec": {**spec, "options": {"exporter": {"prot": 1}}}})
    assert any("spec.options.exporter.prot: unknown field 'prot'; did you mean 'port'?" in line for line in findings)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"exporter": {"port": 70000}}, "spec.exporter.port: is 70000; must be at most 65535"),
        ({"exporter": {"prot": 1}}, "spec.exporter.prot: unknown field 'prot'; did you mean 'port'?"),
        ({"driver": {"image": "no image"}}, "spec.driver.image: is 'no image'; must be an image reference"),
        ({"driver": {"image": "x/${spec.driver.version}"}}, "an option cannot hold an expression"),
    ],
)
def test_a_wrong_option_is_an_error_at_its_place_and_hides_no_other(spec: dict[str, Any], words: str) -> None:
    findings = refused(profile(), cr(**spec), cr("other", exporter={"port": "x"}))
    assert any(line.startswith("error: DeviceConfig kmm/gpu: ") and words in line for line in findings)
    other = "error: DeviceConfig kmm/other: spec.exporter.port: is the string 'x'"
    assert any(line.startswith(other) for line in findings)


def test_an_option_is_never_read_again() -> None:
    variable = exporter(level="$KRMFN_NAME ${HOME} $(X)")["env"][0]
    assert variable == {"name": "LEVEL", "value": "$KRMFN_NAME ${HOME} $(X)"}
    product = profile('value: "${spec.exporter.level}"', 'value: "$KRMFN_NAME/${spec.exporter.level}"')
    options(product)["exporter"]["properties"]["level"]["default"] = "x"
    objects = sound(product, cr(exporter={"level": "$KRMFN_X $KRMFN_NAME"}))
    assert container(objects)["env"][0]["value"] == "gpu/$KRMFN_X $KRMFN_NAME"


@pytest.mark.parametrize(
    ("old", "new", "place", "words"),
    [
        ("${spec.driver.image}", "${spec.driver.imgae}", "spec.config.driverImage", "did you mean 'image'?"),
        ("${texts.verbose}", "${texts.verbos}", "spec.config.daemonSets[0].args[1]", "there is no text of this name"),
        (PORT, "--x=${spec.exporter.level}", "args[0]", "may be absent"),
        (PORT, "--x=${spec.exporter.flags}", "args[0]", "is a mapping"),
        (PORT, "--x=${spec.exporter port}", "args[0]", "is no expression"),
        (PORT, "--x=${texts.verbose}", "args[0]", "may be absent, since it has an `if`"),
        (OFF, "{spec.exporter.enabled: false}", "spec.when[0].if", "did you mean 'enable'?"),
        (OFF, '{spec.exporter.enable: "false"}', "spec.when[0].if", "never holds"),
        (OFF, "{spec.exporter.enable: []}", "spec.when[0].if", "an empty list has no value"),
        ('as: "-${key}=${value}"', "quote: sh, as: \"-${key}='${value}'\"", "spec.texts.flags.as", "leave them out"),
        ("type: integer, minimum", "minimum", "properties.port", "a structural schema has a type everywhere"),
        (LEVEL, "level: {type: string, minLength: '1'}", "level.minLength", "must be a whole number"),
        (LEVEL, "level: {type: string, pattern: '('}", "level.pattern", "missing closing )"),
        (LEVEL, "level: {type: string, oneOf: x}", "level.oneOf", "must be a list"),
        (LEVEL, "level: {type: string, not: {type: string}}", "level.not.type", "outside of not"),
        (
            "exporter:\n            type: object",
            "exporter:\n            type: object\n            anyOf: [{properties: {level: {pattern: '('}}}]",
            "exporter.anyOf[0].properties.level.pattern",
            "missing closing )",
        ),
        ("each: spec.exporter.flags", "each: spec.exporter.level", "spec.texts.flags.each", "must be a map or a list"),
        ("each: spec.exporter.flags", "each: metadata.name", "spec.texts.flags.each", "must be a map or a list"),
        ("default: 5000", "default: 0", "properties.port.default", "the default breaks its own schema"),
        ('as: "--v=10"', 'as: "${texts.flags}"', "spec.texts.verbose.as", "a text cannot name a text"),
        ("moduleName: amd_gpu", "modulName: amd_gpu", "spec.config.modulName", "did you mean 'moduleName'?"),
        ("moduleName: amd_gpu", "moduleName: ${metadata.uid}", "spec.config.moduleName", "of the metadata only"),
        ("version: 1.4.1", "version: 1.4.1\n  requires: {kmm: '>=99'}", "spec.requires.kmm", "needs kmm >=99"),
        ("version: 1.4.1", "version: 1.4.1\n  sumary: x", "spec.sumary", "unknown field 'sumary'"),
        ("group: amd.com", "group: apps", "spec.for.group", "is 'apps', which is no vendor's"),
        ("group: amd.com", "group: krmfn.dev", "spec.for.group", "is 'krmfn.dev', which is no vendor's"),
        ("version: 1.4.1", "version: 1.4.1\n  upgrade: {}", "spec.upgrade", "write it as spec.config.upgrade"),
        ("moduleName:", "locked: {modulName: x}\n    moduleName:", "spec.config.locked.modulName", "'moduleName'?"),
        ("enabled: false}]}", "enabled: false}], locked: {a: x}}", "spec.when[0].config.locked.a", "unknown field"),
    ],
)
def test_a_wrong_profile_is_an_error_at_its_place(old: str, new: str, place: str, words: str) -> None:
    findings = refused(profile(old, new), CR)
    assert any(line.startswith("error: Profile amd-gpu: ") and place in line and words in line for line in findings)


def test_a_profile_may_lock_the_mappings_of_kernels() -> None:
    """The reason was taken for a list of mappings, by one way for a vendor's kind and by another without one."""
    reason = "locked: {kernelMappings: one image is for every kernel}"
    product = profile("moduleName: amd_gpu", f"moduleName: amd_gpu\n    {reason}")
    sound(product, CR)
    bare = edited(product, ("spec.for", DROP))
    for manifest in (product, bare):
        assert applied(krmfn, manifest, settings=Settings(CHECK)).results == []
    findings = refused(product, CR, defaults={"kernelMappings": [{"regexp": "^.+$"}]})
    assert any("spec.defaults.kernelMappings: kernelMappings is locked by" in line for line in findings)


@pytest.mark.parametrize("anything", [FREE, "x-kubernetes-preserve-unknown-fields: true"])
@pytest.mark.parametrize("whether", ["debug", {"exists": True}], ids=["value", "exists"])
def test_an_option_below_one_that_takes_anything_is_asked_about(anything: str, whether: Any) -> None:
    """A config was made up for the `when` by a schema that is `true`."""
    product = profile(LEVEL, f"{LEVEL}\n              free: {{type: object, {anything}}}")
    condition = {"spec.exporter.free.a.b": whether}
    product["spec"]["when"].append({"if": condition, "config": {"dirName": "/x"}})
    assert applied(krmfn, product, settings=Settings(CHECK)).results == []
    for free, folder in (({"a": {"b": "debug"}}, "/x"), ({"a": {}}, "/opt"), ({}, "/opt")):
        assert modprobe(sound(product, cr(exporter={"free": free})))["dirName"] == folder


def test_an_option_with_any_field_has_none_below_these() -> None:
    product = profile(LEVEL, f"{LEVEL}\n              free: {{type: object, {ONE_LEVEL}}}")
    condition = {"spec.exporter.free.a.b": "debug"}
    product["spec"]["when"].append({"if": condition, "config": {"dirName": "/x"}})
    assert applied(krmfn, product, settings=Settings(CHECK)).results == []
    sound(product, cr(exporter={"free": {"a": 1, "b": [1]}}))
    (finding,) = refused(product, cr(exporter={"free": {"a": {"b": "debug"}}}))
    assert "spec.exporter.free.a: has fields, which the API server drops below `additionalProperties: true`" in finding


def test_entries_of_an_option_that_takes_anything_have_any_field() -> None:
    """The fields of an entry were looked for in a schema that is `true`."""
    product = profile(LEVEL, f"{LEVEL}\n              env: {{type: object, {FREE}}}")
    entry = {"name": "${key}", "value": "${value.a}"}
    product["spec"]["texts"]["variables"] = {"each": "spec.exporter.env", "entry": entry}
    product["spec"]["config"]["daemonSets"][0]["env"] = "${texts.variables}"
    assert rendered(product)[2] == 0
    objects, findings, code = rendered(product, cr(exporter={"level": "x", "env": {"X": {"a": "y"}}}))
    assert code == 0, findings
    assert container(objects)["env"] == [{"name": "X", "value": "y"}]


def test_an_option_that_nothing_reads_is_a_warning_unless_it_is_ignored() -> None:
    product = profile(LEVEL, f"{LEVEL}\n              lonely: {{type: string}}")
    _, findings, code = rendered(product, CR)
    assert code == 0
    assert any("nothing reads the option spec.exporter.lonely" in line and "[KRM181]" in line for line in findings)
    product["spec"]["ignored"] = {"spec.exporter.lonely": "for the operator alone"}
    sound(product, CR)
    product["spec"]["ignored"] |= {"spec.exporter.port": "no longer true"}
    _, (finding,), _ = rendered(product, CR)
    assert "spec.ignored[spec.exporter.port]: an expression reads spec.exporter.port" in finding


def test_a_shell_runs_no_option_without_a_warning() -> None:
    script = 'command: [sh, -c, "run ${spec.exporter.level} ${spec.exporter.port}"]\n      args: ["--port'
    _, findings, _ = rendered(profile('args: ["--port', script), cr(exporter={"level": "x"}))
    assert [line for line in findings if "[KRM183]" in line and "${spec.exporter.level}" in line]
    assert not [line for line in findings if "[KRM183]" in line and "${spec.exporter.port}" in line]


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        (ARGS, "${spec.driver.parameters}", "args:"),
        ('"${texts.verbose}"', '"run $(LEVEL)"', "env[0].value:"),
        ('"${texts.verbose}"', '"run $(PORT)"', ""),  # a number
    ],
)
def test_a_script_by_another_way_is_a_warning_too(old: str, new: str, place: str) -> None:
    script = profile(old, new, PROFILE.replace("      args: ", "      command: [sh, -c]\n      args: "))
    findings = [line for line in rendered(script, CR)[1] if "[KRM183]" in line and (place or "env[") in line]
    assert len(findings) == bool(place), findings


@pytest.mark.parametrize(
    ("config", "field"),
    [
        (
            "serviceAccount: {rules: [{apiGroups: [''], resources: [pods], verbs: ['${spec.exporter.level}']}]}",
            "verbs[0]",
        ),
        ("serviceAccount: {clusterRules: '${spec.driver.parameters}'}", "clusterRules"),
        ("extraObjects: ['${spec.driver.parameters}']", "extraObjects[0]"),
        ("serviceAccount: {podSecurity: '${spec.exporter.level}'}", ""),
    ],
)
def test_an_option_that_chooses_rights_is_a_warning(config: str, field: str) -> None:
    _, findings, _ = rendered(profile("    moduleName:", f"    {config}\n    moduleName:"))
    rights = [line for line in findings if "chooses rights" in line and f"{field}: " in line and "[KRM175]" in line]
    assert len(rights) == bool(field), findings


def test_no_extra_object_binds_cluster_admin() -> None:
    entry: Manifest = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": "eve"}}
    entry["roleRef"] = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
    product = profile()
    product["spec"]["config"]["extraObjects"] = [entry]
    findings = refused(product, CR)
    assert any("extraObjects[0].roleRef.name: cluster-admin gives" in line for line in findings)


FLAGS = 'each: spec.exporter.flags, as: "-${key}=${value}"'


@pytest.mark.parametrize("text", [FLAGS, 'as: "${spec.exporter.level}"'])
def test_what_is_quoted_is_one_word_for_the_shell_and_nothing_for_the_kubelet(text: str) -> None:
    product = profile(FLAGS, f"quote: sh, {text}")
    options(product)["exporter"]["properties"]["level"]["default"] = "x"
    value = "'$(A) $$(B); x"
    objects, _, _ = rendered(product, cr(exporter={"flags": {"a": value}, "level": value}))
    word = container(objects)["args"][-1]
    assert "$(" not in word and "$$" not in word
    assert shlex.split(word) == [f"-a={value}" if "each" in text else value]
    scripts = {"run ${texts.flags} # don't": 0, "run '${texts.flags}'": 1, 'su -c "a ${texts.flags}"': 1}
    for script, code in scripts.items():
        product["spec"]["config"]["daemonSets"][0] |= {"command": ["bash"], "args": [PORT, "-c", script]}
        _, findings, exit_code = rendered(product, CR)
        quotes = any("args[2]: ${texts.flags}: `quote: sh` quotes" in line for line in findings)
        assert (exit_code, quotes) == (code, bool(code)), script


def test_metadata_is_told_apart_also_where_options_are_alike() -> None:
    product = profile(f'"{PORT}"', '"--name=${metadata.name}"')
    objects, _, code = rendered(product, cr("a"), cr("b"), exclusivity={"mode": "off"})
    assert code == 0
    assert [container(objects, f"{name}-metrics")["args"][0] for name in "ab"] == ["--name=a", "--name=b"]


RIGHTS = """\
  config:
    serviceAccountName: amd
    serviceAccount:
      create: true
      podSecurity: privileged
      clusterRules: [{apiGroups: [""], resources: [nodes], verbs: [get, patch]}]
    extraObjects:
    - apiVersion: monitoring.coreos.com/v1
      kind: ServiceMonitor
      metadata: {name: "${metadata.name}-metrics"}
      spec: {selector: {}, endpoints: [{port: metrics}]}
    locked: {moduleName: the exporter knows no other module}
"""


def test_an_override_drops_a_service_monitor_and_a_right() -> None:
    product = profile("  config:\n", RIGHTS)
    objects, findings, code = rendered(product, CR)
    assert code == 0, findings
    assert "ServiceMonitor gpu-metrics" in objects
    assert any(name.startswith("ClusterRole ") for name in objects)
    monitor = {"apiVersion": "monitoring.coreos.com/v1", "kind": "ServiceMonitor", "enabled": False}
    rules = [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["get"]}]
    override = {
        "extraObjects": [{**monitor, "metadata": {"name": "${metadata.name}-metrics"}}],
        "serviceAccount": {"clusterRules": rules},
    }
    objects, findings, code = rendered(product, CR, overrides={"amd-gpu": override})
    assert code == 0, findings
    assert "ServiceMonitor gpu-metrics" not in objects
    assert [role["rules"] for name, role in objects.items() if name.startswith("ClusterRole ")] == [rules]


OVERRIDE = "RenderDeviceConfigs render: spec.overrides.amd-gpu"


@pytest.mark.parametrize(
    ("args", "finding"),
    [
        (["--x=${spec.exporter.level}"], ""),
        (["${spec.nope}"], f"error: {OVERRIDE}.daemonSets[0].args[0]: ${{spec.nope}}"),
        (["${texts.nope}"], "there is no text of this name"),
        (["${spec.a b}"], "is no expression"),
        (["sh", "-c", "${spec.exporter.level}"], f"warning: {OVERRIDE}.daemonSets"),
    ],
)
def test_expressions_of_an_override_are_judged(args: list[str], finding: str) -> None:
    """A field with an option that the schema has not was left out without a word, and the vendor's stayed."""
    override = {"daemonSets": [{"name": "metrics", "args": args}]}
    _, findings, code = rendered(profile(), cr(exporter={"level": "x"}), overrides={"amd-gpu": override})
    assert code == (bool(finding) and "warning" not in finding)
    assert any(finding in line for line in findings) if finding else not findings


def test_versions_of_an_override_are_said_to_have_no_effect() -> None:
    override = {"versions": [{"version": "1.0", "dirName": "/x"}]}
    _, (finding,), code = rendered(profile(), CR, overrides={"amd-gpu": override})
    assert (code, "spec.overrides.amd-gpu.versions: has no effect" in finding) == (0, True)


def test_an_override_that_an_absent_option_breaks_is_an_error_at_its_field() -> None:
    """It was a KeyError: a field without its option is left out, and metadata with it."""
    entry = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "${spec.exporter.level}"},
        "data": {"a": "b"},
    }
    overrides = {"amd-gpu": {"extraObjects": [entry]}}
    findings = refused(profile(), CR, overrides=overrides)
    assert any(f"error: {OVERRIDE}.extraObjects[0].metadata: is required" in line for line in findings), findings
    assert "ConfigMap extra" in sound(profile(), cr(exporter={"level": "extra"}), overrides=overrides)
    findings = refused(profile(), cr(exporter={"level": "Not A Name"}), overrides=overrides)
    assert any("DeviceConfig kmm/gpu: spec.exporter.level: " in line for line in findings), findings


def test_an_override_writes_a_locked_field_only_with_the_vendors_reason() -> None:
    product, override = profile("  config:\n", RIGHTS), {"moduleName": "amdgpu_open"}
    findings = refused(product, CR, overrides={"amd-gpu": override})
    assert any("spec.overrides.amd-gpu.moduleName: moduleName is locked" in line for line in findings)
    findings = refused(product, CR, defaults=override)
    assert any("spec.defaults.moduleName: moduleName is locked by" in line for line in findings)
    locked = {"moduleName": "the exporter knows no other module"}
    objects, findings, code = rendered(product, CR, overrides={"amd-gpu": {**override, "locked": locked}})
    assert code == 0, findings
    assert modprobe(objects)["moduleName"] == "amdgpu_open"


@pytest.mark.parametrize(
    ("pattern", "is_safe"),
    [
        ("^[A-Za-z0-9/_.-]+$", True),
        ("^(?:v[0-9]{1,3}|latest)(\\\\.[0-9]+)*$", True),
        ("^https://.*$", False),
        ("^v[0-9]+;$", False),
        ("^ab|cd$", False),
        ("^[^;]{9}$", False),
        ("^ab\\\\s+c$", False),
        ("^(?i)abc.de$", False),
        ("^ab\\\\x20c$", False),
        ("^ab\\\\040c$", False),
        ("^ab\\\\x{20}$", False),
        ("^a\\\\PLb$", False),
        ("^a\\\\p{Z}b$", False),
        ("^ab{,}$", False),
        ("^ab{2,}\\\\d\\\\w{3}$", True),
        ("abc", False),
    ],
)
def test_a_pattern_is_safe_where_no_part_of_it_takes_what_a_shell_reads(pattern: str, is_safe: bool) -> None:
    text = PROFILE.replace(LEVEL, f'level: {{type: string, default: ab, pattern: "{pattern}"}}')
    product = profile('args: ["--port=', 'command: [sh, -c]\n      args: ["${spec.exporter.level} ', text)
    _, findings, _ = rendered(product, CR)
    script = [line for line in findings if "${spec.exporter.level} is part of a shell's script" in line]
    assert not script if is_safe else script


def test_an_expression_that_nobody_fills_in_is_an_error() -> None:
    inline = {"moduleName": "gpu", "driverImage": "x/y:1", "nodeSelector": {"a": "b"}, "parameters": ["a=${spec.port}"]}
    for findings in (
        refused({**OURS, "spec": {"profile": "p"}}, profiles={"p": inline}),
        refused({**OURS, "spec": inline}),
    ):
        assert any("${spec....} is left in it" in line and "[KRM182]" in line for line in findings)


def test_children_of_a_vendors_config_that_is_gone_with_its_profile_are_left_over() -> None:
    for child in children(profile(), CR):  # the stream holds this object alone
        objects, findings, code = rendered(child)
        assert (list(objects.values()), code) == ([child], 1)
        (finding,) = [line for line in findings if "[KRM116]" in line]
        assert "was generated from amd.com DeviceConfig kmm/gpu, which is missing from the input" in finding
        assert "add amd.com DeviceConfig kmm/gpu and the Profile amd-gpu@1.4.1 to the input" in finding
        other: Manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "other"}}
        assert list(sound(child, other, prune="always")) == ["ConfigMap other"]  # of nothing else kpt would delete it
        assert rendered(child, prune="never")[::2] == (objects, 0)


@pytest.mark.parametrize("prune", ["auto", "always", "never"])
@pytest.mark.parametrize(
    ("config", "products", "code"),
    [
        (naming("none"), [], 0),
        (naming("none"), [profile()], 0),
        (CR, [profile("versions: [v1alpha1]", "versions: [v1]")], 1),
    ],
    ids=["annotation-alone", "annotation", "version"],
)
def test_children_of_a_config_that_its_profile_no_longer_drives_stay(
    config: Manifest, products: list[Manifest], code: int, prune: str
) -> None:
    objects, findings, exit_code = rendered(*products, config, *children(profile(), CR), prune=prune)
    assert {"Module gpu", "DaemonSet gpu-metrics"} < objects.keys()
    assert exit_code == code
    is_kept = any("nothing drives amd.com DeviceConfig kmm/gpu any more, so what was" in line for line in findings)
    assert is_kept is bool(products)


def test_what_stays_is_told_of_each_config_by_itself() -> None:
    configs = [CR, cr("other", selector={"example.com/gpu": "b"})]
    undriven = [naming("none", config) for config in configs]
    objects, findings, code = rendered(profile(), *undriven, *children(profile(), *configs))
    assert (len(objects), code) == (7, 0)
    lines = [line for line in findings if "any more, so what was generated from it stays" in line]
    words = ("kmm/gpu any more", "stays as it is: Module kmm/gpu, DaemonSet kmm/gpu-metrics;", "kmm/other")
    assert [[word in line for word in words] for line in lines] == [[True, True, False], [False, False, True]]


def test_cel_rules_are_said_once_not_to_be_evaluated() -> None:
    product = profile()
    for option in ("driver", "exporter"):
        options(product)[option]["x-kubernetes-validations"] = [{"rule": "false"}]
    objects, (finding,), code = rendered(product, CR, cr("other", selector={"example.com/gpu": "b"}))
    assert finding.startswith("info: Profile amd-gpu: spec.schema.properties.spec.properties.driver.x-kubernetes-valid")
    assert "are not evaluated" in finding
    assert (code, "Module gpu" in objects) == (0, True)


VERSIONS = """\
  versions:
  - version: 30.20.1
    firmwarePath: /lib/firmware/${metadata.name}
    daemonSets: [{name: metrics, image: "registry.example.com/amd/exporter:30"}]
  - {version: "31.0", parameters: [new=1]}
  when:
"""


def version(number: str) -> dict[str, Any]:
    return cr(driver={"version": number})


def test_a_version_is_stronger_than_the_config_of_its_profile() -> None:
    product = profile("  when:\n", VERSIONS)
    images, loads = {}, {}
    for number in ("30.20.1", "31.0", "29"):
        objects = sound(product, version(number))
        images[number], loads[number] = container(objects)["image"], modprobe(objects)
    assert images == {
        "30.20.1": "registry.example.com/amd/exporter:30",
        "31.0": "registry.example.com/amd/exporter:1",
        "29": "registry.example.com/amd/exporter:1",  # a version that is not listed is right, as in inline profiles
    }
    assert (loads["30.20.1"]["firmwarePath"], loads["31.0"]["parameters"]) == ("/lib/firmware/gpu", ["new=1"])
    assert not {"firmwarePath", "parameters"} & loads["29"].keys()


def test_of_a_profile_with_all_its_versions_no_other_is_right() -> None:
    product = profile("  when:\n", VERSIONS)
    product["spec"]["config"]["versionsComplete"] = True
    sound(product, version("31.0"))
    (finding,) = refused(product, version("31.1"))
    assert "DeviceConfig kmm/gpu: spec.driver.version: the profile amd-gpu has no version '31.1'" in finding
    assert "did you mean '31.0'?" in finding


@pytest.mark.parametrize(
    ("old", "new", "place", "words"),
    [
        ('version: "31.0"', 'version: "30.20.1"', "spec.versions[1].version", "appears twice"),
        ("parameters: [new=1]", 'driverVersion: "32"', "spec.versions[1].driverVersion", "does not belong here"),
        ("parameters: [new=1]", "nodeSelector: {a: b}", "spec.versions[1].nodeSelector", "does not belong here"),
        ("parameters: [new=1]", "firmwarPath: /x", "spec.versions[1].firmwarPath", "did you mean 'firmwarePath'?"),
        ("parameters: [new=1]", 'firmwarePath: "${spec.x}"', "spec.versions[1].firmwarePath", "the schema has no"),
    ],
)
def test_a_wrong_version_of_a_profile_is_an_error_at_its_place(old: str, new: str, place: str, words: str) -> None:
    product = profile(old, new, PROFILE.replace("  when:\n", VERSIONS))
    for configs in ((), (version("29"),)):
        findings = refused(product, *configs)
        start = f"error: Profile amd-gpu: {place}: "
        assert any(line.startswith(start) and words in line for line in findings), findings


def test_versions_that_are_all_need_one() -> None:
    findings = refused(profile("moduleName:", "versionsComplete: true\n    moduleName:"), CR)
    assert any("spec.config.versionsComplete: versionsComplete is set without versions" in line for line in findings)


def test_a_version_that_replaces_what_a_when_sets_is_a_warning() -> None:
    product = profile("  when:\n", VERSIONS)
    debug = {"if": {"spec.exporter.level": "debug"}, "config": {"firmwarePath": "/debug", "dirName": "/d"}}
    metrics = {"if": {"spec.exporter.level": "info"}, "config": {"daemonSets": [{"name": "metrics", "args": ["x"]}]}}
    product["spec"]["when"] += [debug, metrics]
    sound(product, cr(driver={"version": "30.20.1"}, exporter={"level": "info"}))  # they set different fields
    _, (finding,), code = rendered(product, cr(driver={"version": "30.20.1"}, exporter={"level": "debug"}))
    assert code == 0
    assert finding.startswith("warning: Profile amd-gpu: spec.versions[0].firmwarePath: ")
    assert "spec.when[1].config.firmwarePath" in finding


def test_a_profile_may_have_node_pools() -> None:
    product = profile("    nodeSelector: ${spec.selector}\n", "")
    product["spec"]["ignored"] = {"spec.selector": "each pool has its own"}
    labels = {name: {"example.com/gpu": name} for name in ("big", "small")}
    product["spec"]["config"]["nodePools"] = [{"name": name, "nodeSelector": labels[name]} for name in labels]
    objects = sound(product, CR)
    assert {name: objects[f"Module gpu-{name}"]["spec"]["selector"] for name in labels} == labels


def _texts(**texts: Any) -> Manifest:
    product = profile()
    product["spec"]["texts"] |= texts
    product["spec"]["config"]["daemonSets"][0] |= {"podLabels": "${texts.labels}", "args": ["-a", "${texts.each}"]}
    product["spec"]["config"]["tolerations"] = "${texts.taints}"
    return product


_EACH = {
    "labels": {"each": "spec.exporter.flags", "onto": {"app": "exporter", "b": "1"}},
    "each": {"each": "spec.exporter.flags", "entry": "-${key}=${value}"},
    "taints": {"each": "spec.driver.parameters", "entry": {"key": "${value}", "operator": "Exists"}},
}


def test_a_map_or_a_list_becomes_a_list_or_a_mapping() -> None:
    config = cr(exporter={"flags": {"c": "xy", "b": "2"}})
    objects, findings, code = rendered(_texts(**_EACH), config)
    assert code == 0, findings
    labels = objects["DaemonSet gpu-metrics"]["spec"]["template"]["metadata"]["labels"]
    assert labels.items() >= {"app": "exporter", "b": "2", "c": "xy"}.items()
    assert container(objects)["args"] == ["-a", "-b=2", "-c=xy"]
    objects, _, _ = rendered(_texts(**_EACH), CR)
    assert container(objects)["args"] == ["-a"]
    assert "tolerations" not in objects["DaemonSet gpu-metrics"]["spec"]["template"]["spec"]


def test_an_entry_is_left_without_what_comes_to_nothing() -> None:
    entry = {"a": ["${value.x}", "b"], "c": {"d": ["${value.x}"]}, "e": "-${key}", "f": []}
    assert fill_entry(entry, {"key": 0, "value": {}}, []) == {"a": ["b"], "e": "-0", "f": []}


_PATH: dict[str, Any] = {"path": {"type": "string"}}
_OBJECT = {"type": "object", "properties": _PATH}
_OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


@pytest.mark.parametrize(
    ("entries", "entry", "words"),
    [
        (_OBJECT, "-m=${value.path}", "${value.path} may be absent; require it in the schema"),
        (_OBJECT, {"args": ["a", "-m=${value.path}"]}, "${value.path} may be absent; require it in the schema"),
        (_OBJECT | {"required": ["path"]}, "-m=${value.path}", ""),
        ({"type": "object", "properties": {"path": {"type": "string", "default": "x"}}}, "-m=${value.path}", ""),
        (_OBJECT, "${value.path}", ""),
        (_OBJECT, "-m=${value}", "${value} is a mapping and cannot be part of a text"),
        ({"type": "object", "properties": {"a": _OBJECT}}, "-m=${value.a.path}", "absent, since value.a may be"),
        ({"type": "string", "nullable": True}, "-m=${value}", "${value} may be absent; remove `nullable`"),
        ({"type": "string"}, "-m=${value}", ""),
        (_OPEN, "-m=${value.path}", "${value.path} may be absent; require it in the schema"),
    ],
)
def test_what_an_entry_may_lack_is_no_part_of_a_text(entries: Any, entry: Any, words: str) -> None:
    product = profile()
    options(product)["driver"]["properties"]["mounts"] = {"type": "array", "items": entries}
    product["spec"]["texts"]["mounts"] = {"each": "spec.driver.mounts", "entry": entry}
    product["spec"]["config"]["daemonSets"][0]["args"] = ["${texts.mounts}"]
    findings = [line for line in rendered(product, CR)[1] if "spec.texts.mounts.entry" in line]
    assert len(findings) == bool(words), findings
    assert all(words in line for line in findings), findings


@pytest.mark.parametrize(("value", "words"), [({}, "is a mapping"), ([], "is a list"), (None, "has no value here")])
def test_an_entry_without_a_schema_is_no_part_of_a_text_unless_it_is_one(value: Any, words: str) -> None:
    mistakes: list[Mistake] = []
    assert fill_entry("-m=${value}", {"key": 0, "value": value}, mistakes) == "-m="
    assert [words in mistake.message for mistake in mistakes] == [True]
    product = profile()
    options(product)["driver"]["properties"]["mounts"] = {"type": "object", "additionalProperties": True}
    product["spec"]["texts"]["mounts"] = {"each": "spec.driver.mounts", "entry": "-m=${value}"}
    product["spec"]["config"]["daemonSets"][0]["args"] = ["${texts.mounts}"]
    findings = refused(product, cr(driver={"mounts": {"a": value}}))
    assert any("spec.texts.mounts.entry: ${value} " in line and words in line for line in findings), findings


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ({"each": "spec.exporter.flags"}, "write one of `as`"),
        ({"entry": "x"}, "write one of `as`"),
        ({"each": "spec.exporter.flags", "as": "x", "entry": "x"}, "write one of `as`"),
        ({"each": "spec.exporter.flags", "entry": {"a": "${value.name}"}}, "${value.name}: an entry of spec.exporter"),
        ({"each": "spec.exporter.flags", "entry": "${spec.exporter.port}"}, "is not read in `entry`"),
    ],
)
def test_a_text_makes_one_thing(text: dict[str, Any], words: str) -> None:
    findings = refused(_texts(**{**_EACH, "each": text}), CR)
    assert any(words in line and "spec.texts.each" in line for line in findings), findings


def test_a_user_of_a_vendors_kind_is_not_told_to_write_a_field_that_it_has_not() -> None:
    findings = refused(profile("    moduleName: amd_gpu\n", ""), CR)
    (line,) = (line for line in findings if "[KRM121]" in line)
    assert "write it in the Profile amd-gpu, or in the functionConfig's spec.overrides.amd-gpu.moduleName" in line


def test_a_remedy_with_a_semicolon_of_the_author_is_whole() -> None:
    """It was cut out of one text with the message, at the last semicolon: of these names the last stood alone."""
    product = profile()
    product["spec"]["texts"] = {"a; b": {"as": "x"}}
    product["spec"]["config"]["daemonSets"][0]["args"] = ["${texts.c}"]
    found = [result for result in applied(krmfn, product, CR).results if "${texts.c}" in result.message]
    assert [(result.message, result.remedy) for result in found] == [
        ("${texts.c}: there is no text of this name", "texts are: a; b")
    ]
