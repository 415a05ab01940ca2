"""A vendor's own kind, driven by its Profile."""

from __future__ import annotations

import shlex
from typing import Any

import pytest
import yaml
from krmfn_functions.all_kinds import krmfn
from krmfn_functions.profile.expressions import fill_entry
from krmfn_functions.settings import CHECK, Settings

from krmfn import Manifest
from tests.builders import applied
from tests.functions.profile.vendor import CR, PROFILE, cr, profile, rendered

CONTAINER = ("spec", "template", "spec", "containers")
FREE = "additionalProperties: true"


def exporter(**options: object) -> dict[str, object]:
    objects, findings, code = rendered(profile(), cr(exporter=options))
    assert (findings, code) == ([], 0)
    container: dict[str, object] = objects["DaemonSet gpu-metrics"]["spec"]["template"]["spec"]["containers"][0]
    return container


def test_a_config_of_the_vendors_kind_becomes_a_module_and_a_daemonset() -> None:
    objects, findings, code = rendered(profile(), CR)
    assert (findings, code) == ([], 0)
    module = objects["Module gpu"]
    assert module["spec"]["selector"] == {"example.com/gpu": "true"}
    container = module["spec"]["moduleLoader"]["container"]
    assert container["kernelMappings"][0]["containerImage"].startswith("registry.example.com/amd/driver:30.20.1-")
    assert "parameters" not in container["modprobe"]
    for name in ("Module gpu", "DaemonSet gpu-metrics"):
        assert objects[name]["metadata"]["annotations"]["krmfn.dev/profile"] == "amd-gpu@1.4.1"
    template = objects["DaemonSet gpu-metrics"]["spec"]["template"]["metadata"]
    assert "krmfn.dev/profile" not in str(template)


def test_equal_configs_of_two_versions_have_the_profile_of_their_own() -> None:
    """The second config got what the first one's Profile makes."""
    newer = profile("[v1alpha1]", "[v1beta1]", PROFILE.replace("exporter:1", "exporter:2"))
    newer["metadata"]["name"] = "amd-gpu-2"
    two = {**cr("gpu-2"), "apiVersion": "amd.com/v1beta1"}
    objects, findings, code = rendered(profile(), newer, CR, two, exclusivity={"mode": "off"})
    assert (findings, code) == ([], 0)
    for name, version in (("gpu", "1"), ("gpu-2", "2")):
        template = objects[f"DaemonSet {name}-metrics"]["spec"]["template"]
        assert template["spec"]["containers"][0]["image"] == f"registry.example.com/amd/exporter:{version}"


def test_an_option_is_typed_where_it_is_all_and_text_in_a_text() -> None:
    container = exporter(port=7000)
    assert container["ports"] == [{"name": "metrics", "containerPort": 7000}]
    assert container["env"] == [{"name": "PORT", "value": "7000"}]
    assert container["args"] == ["--port=7000", ""]


def test_numbers_in_a_list_or_a_map_are_texts_where_the_field_has_texts() -> None:
    numbers = {"type": "array", "items": {"type": "integer"}}
    own = profile()
    options = own["spec"]["schema"]["properties"]["spec"]["properties"]
    options |= {"numbers": numbers, "map": {"type": "object", "additionalProperties": {"type": "boolean"}}}
    own["spec"]["config"] |= {"loadArgs": "${spec.numbers}", "labels": "${spec.map}"}
    own["spec"]["config"]["daemonSets"][0]["args"] += ["${spec.numbers}"]
    extra = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": "${spec.map}"}
    own["spec"]["config"]["extraObjects"] = [extra]
    config = cr()
    objects, findings, code = rendered(
        own, {**config, "spec": {**config["spec"], "numbers": [1, 2], "map": {"a": True}}}
    )
    assert (findings, code) == ([], 0)
    assert objects["Module gpu"]["metadata"]["labels"]["a"] == "true"
    assert objects["ConfigMap a"]["data"] == {"a": "true"}
    assert objects["Module gpu"]["spec"]["moduleLoader"]["container"]["modprobe"]["args"] == {"load": ["1", "2"]}
    daemon_set = objects["DaemonSet gpu-metrics"]["spec"]["template"]["spec"]["containers"][0]
    assert daemon_set["args"][-2:] == ["1", "2"]


def test_a_map_becomes_a_text_and_a_condition_an_argument() -> None:
    container = exporter(level="debug", flags={"b": "2", "a": "x y"})
    assert container["args"] == ["--port=5000", "--v=10", "-a=x y -b=2"]
    assert {"name": "LEVEL", "value": "debug"} in container["env"]  # type: ignore[operator]


@pytest.mark.parametrize("parameters", [None, []])
def test_a_list_that_comes_to_nothing_is_not_there_where_none_may_be_empty(parameters: list[str] | None) -> None:
    """All of its entries are absent, or the option is a list without any."""
    text = profile('args: ["--port=${spec.exporter.port}", "${texts.verbose}", "${texts.flags}"]', "args: [PARTS]")
    (agent,) = text["spec"]["config"]["daemonSets"]
    for args in (["${spec.driver.parameters}", "${texts.verbose}"], "${spec.driver.parameters}"):
        agent["args"] = args
        own = cr(driver={"parameters": parameters} if parameters is not None else {})
        objects, findings, code = rendered(text, own)
        assert (code, [line for line in findings if "KRM181" not in line]) == (0, [])
        assert "args" not in objects["DaemonSet gpu-metrics"]["spec"]["template"]["spec"]["containers"][0]


@pytest.mark.parametrize(
    ("level", "message"),
    [
        ("{type: string}", "may be absent; give it a default in the schema"),
        ("{type: string, default: info}", ""),
        ("{type: string, nullable: true, default: info}", "may be absent; remove `nullable` from the schema"),
    ],
)
def test_an_option_in_a_text_is_always_there(level: str, message: str) -> None:
    text = PROFILE.replace("level: {type: string}", f"level: {level}").replace(
        "--port=", "--level=${spec.exporter.level},"
    )
    _, findings, _ = rendered(profile(text=text), CR)
    assert [message in line for line in findings] == [True] * bool(message)


def test_a_default_of_an_object_gives_what_the_object_requires() -> None:
    level = "properties:\n              enable:"
    new = "default: {level: info}\n            required: [level]\n            properties:\n              enable:"
    text = PROFILE.replace(level, new).replace("--port=", "--level=${spec.exporter.level},")
    objects, findings, code = rendered(profile(text=text), {**CR, "spec": {"driver": CR["spec"]["driver"]}})
    assert (findings, code, sorted(objects)) == ([], 0, ["DeviceConfig gpu", "Module gpu", "Profile amd-gpu"])


def test_a_when_switches_off() -> None:
    objects, findings, code = rendered(profile(), cr(exporter={"enable": False}))
    assert (findings, code) == ([], 0)
    assert "DaemonSet gpu-metrics" not in objects


@pytest.mark.parametrize("enable", [True, False])
def test_an_option_is_a_switch(enable: bool) -> None:
    """It was said to have no effect."""
    own = profile("    - name: metrics\n", "    - name: metrics\n      enabled: ${spec.exporter.enable}\n")
    del own["spec"]["when"]
    objects, findings, code = rendered(own, cr(exporter={"enable": enable}))
    assert (findings, code, "DaemonSet gpu-metrics" in objects) == ([], 0, enable)


def test_a_config_removed_takes_its_objects_with_it() -> None:
    objects, _, _ = rendered(profile(), CR)
    made = [one for name, one in objects.items() if name.startswith(("Module", "DaemonSet"))]
    again, findings, code = rendered(profile(), CR, *made)
    assert (again, findings, code) == (objects, [], 0)
    left, findings, code = rendered(profile(), *made, prune="always")
    assert (sorted(left), findings, code) == (["Profile amd-gpu"], [], 0)


def test_without_its_profile_nothing_is_changed_and_nothing_pruned() -> None:
    objects, _, _ = rendered(profile(), CR)
    rest = [one for one in objects.values() if one["kind"] != "Profile"]
    left, findings, code = rendered(*rest, prune="always")
    assert code == 1
    assert sorted(left) == ["DaemonSet gpu-metrics", "DeviceConfig gpu", "Module gpu"]
    assert any("nothing drives this DeviceConfig" in line and "[KRM107]" in line for line in findings)


@pytest.mark.parametrize("way", ["annotation", "operators"])
def test_its_own_operator_may_act_on_it(way: str) -> None:
    own = cr()
    config: dict[str, object] = {"adopt": False}
    if way == "annotation":
        own["metadata"]["annotations"] = {"krmfn.dev/profile": "none"}
    else:
        config["operators"] = [{"group": "amd.com", "kind": "DeviceConfig"}]
    objects, findings, code = rendered(own, **config)
    assert (list(objects), findings, code) == (["DeviceConfig gpu"], [], 0)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("kind: DeviceConfig}", "kind: DeviceConfigs}", "nothing drives this DeviceConfig"),
        (
            "versions: [v1alpha1]",
            "versions: [v1]",
            "no Profile is for this version, amd.com/v1alpha1, but for amd.com/v1",
        ),
        ("group: amd.com", "group: amd.example.com", "nothing drives this DeviceConfig"),
    ],
)
def test_a_profile_that_is_for_something_else_drives_nothing(old: str, new: str, words: str) -> None:
    objects, findings, code = rendered(profile(old, new), CR)
    assert code == 1
    assert "Module gpu" not in objects
    assert any(words in line and "krmfn.dev/profile: none" in line for line in findings)


def test_two_profiles_for_a_kind_need_a_choice() -> None:
    other = profile("name: amd-gpu", "name: amd-new")
    _, findings, code = rendered(profile(), other, CR)
    assert code == 1
    assert any("several Profiles are for this kind: amd-gpu, amd-new" in line for line in findings)
    chosen = {**CR, "metadata": {**CR["metadata"], "annotations": {"krmfn.dev/profile": "amd-new"}}}
    objects, findings, code = rendered(profile(), other, chosen)
    assert code == 0, findings
    assert objects["Module gpu"]["metadata"]["annotations"]["krmfn.dev/profile"] == "amd-new@1.4.1"


def test_a_profile_that_is_not_there_is_an_error_anywhere() -> None:
    named = {**CR, "metadata": {**CR["metadata"], "annotations": {"krmfn.dev/profile": "amd-gpo"}}}
    _, findings, code = rendered(named)
    assert code == 1
    assert "there is no Profile 'amd-gpo'" in findings[0]
    assert "there are: none. Or if its own operator acts on it" in findings[0]
    _, findings, code = rendered(profile(), named)
    assert "did you mean 'amd-gpu'?" in findings[0]


def test_a_misspelt_profile_is_said_and_not_that_its_options_are_nobodys() -> None:
    ours = {**CR, "apiVersion": "krmfn.dev/v1alpha1", "spec": {"profile": "amd-gpuu", "options": {}}}
    _, (finding,), code = rendered(profile(), ours)
    assert (code, "profile 'amd-gpuu' is not defined" in finding, "Profiles: amd-gpu" in finding) == (1, True, True)


def test_options_of_a_config_of_ours() -> None:
    own = {"apiVersion": "krmfn.dev/v1alpha1", "kind": "DeviceConfig", "metadata": {"name": "gpu", "namespace": "kmm"}}
    spec = {"profile": "amd-gpu", "options": CR["spec"], "firmwarePath": "/fw"}
    objects, findings, code = rendered(profile(), {**own, "spec": spec})
    assert (findings, code) == ([], 0)
    assert objects["Module gpu"]["spec"]["moduleLoader"]["container"]["modprobe"]["firmwarePath"] == "/fw"
    _, findings, code = rendered(profile(), {**own, "spec": {**spec, "options": {"exporter": {"prot": 1}}}})
    assert code == 1
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
    objects, findings, code = rendered(profile(), cr(**spec), cr("other", exporter={"port": "x"}))
    assert code == 1
    assert "Module gpu" not in objects
    assert any(line.startswith("error: DeviceConfig kmm/gpu: ") and words in line for line in findings)
    assert any(
        line.startswith("error: DeviceConfig kmm/other: spec.exporter.port: is the string 'x'") for line in findings
    )


def test_an_option_is_never_read_again() -> None:
    container = exporter(level="$KRMFN_NAME ${HOME} $(X)")
    assert container["env"][0] == {"name": "LEVEL", "value": "$KRMFN_NAME ${HOME} $(X)"}  # type: ignore[index]
    beside = profile('value: "${spec.exporter.level}"', 'value: "$KRMFN_NAME/${spec.exporter.level}"')
    beside["spec"]["schema"]["properties"]["spec"]["properties"]["exporter"]["properties"]["level"]["default"] = "x"
    objects, findings, code = rendered(beside, cr(exporter={"level": "$KRMFN_X $KRMFN_NAME"}))
    assert (findings, code) == ([], 0)
    (container,) = objects["DaemonSet gpu-metrics"]["spec"]["template"]["spec"]["containers"]
    assert container["env"][0]["value"] == "gpu/$KRMFN_X $KRMFN_NAME"


@pytest.mark.parametrize(
    ("old", "new", "place", "words"),
    [
        ("${spec.driver.image}", "${spec.driver.imgae}", "spec.config.driverImage", "did you mean 'image'?"),
        ("${texts.verbose}", "${texts.verbos}", "spec.config.daemonSets[0].args[1]", "there is no text of this name"),
        ("--port=${spec.exporter.port}", "--x=${spec.exporter.level}", "args[0]", "may be absent"),
        ("--port=${spec.exporter.port}", "--x=${spec.exporter.flags}", "args[0]", "is a mapping"),
        ("--port=${spec.exporter.port}", "--x=${spec.exporter port}", "args[0]", "is no expression"),
        ("--port=${spec.exporter.port}", "--x=${texts.verbose}", "args[0]", "may be absent, since it has an `if`"),
        (
            "{spec.exporter.enable: false}",
            "{spec.exporter.enabled: false}",
            "spec.when[0].if",
            "did you mean 'enable'?",
        ),
        ("{spec.exporter.enable: false}", '{spec.exporter.enable: "false"}', "spec.when[0].if", "never holds"),
        (
            "{spec.exporter.enable: false}",
            "{spec.exporter.enable: []}",
            "spec.when[0].if",
            "an empty list has no value",
        ),
        ('as: "-${key}=${value}"', "quote: sh, as: \"-${key}='${value}'\"", "spec.texts.flags.as", "leave them out"),
        ("type: integer, minimum", "minimum", "properties.port", "a structural schema has a type everywhere"),
        ("level: {type: string}", "level: {type: string, minLength: '1'}", "level.minLength", "must be a whole number"),
        ("level: {type: string}", "level: {type: string, pattern: '('}", "level.pattern", "missing closing )"),
        ("level: {type: string}", "level: {type: string, oneOf: x}", "level.oneOf", "must be a list"),
        ("level: {type: string}", "level: {type: string, not: {type: string}}", "level.not.type", "outside of not"),
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
        ("moduleName: amdgpu", "modulName: amdgpu", "spec.config.modulName", "did you mean 'moduleName'?"),
        ("moduleName: amdgpu", "moduleName: ${metadata.uid}", "spec.config.moduleName", "of the metadata only"),
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
    objects, findings, code = rendered(profile(old, new), CR)
    assert code == 1
    assert "Module gpu" not in objects
    assert any(line.startswith("error: Profile amd-gpu: ") and place in line and words in line for line in findings)


def test_a_profile_may_lock_the_mappings_of_kernels() -> None:
    """The reason was taken for a list of mappings, by one way for a vendor's kind and by another without one."""
    own = profile(
        "moduleName: amdgpu", "moduleName: amdgpu\n    locked: {kernelMappings: one image is for every kernel}"
    )
    assert rendered(own, CR)[1:] == ([], 0)
    bare = profile(text=yaml.safe_dump(own))
    del bare["spec"]["for"]
    for one in (own, bare):
        assert applied(krmfn, one, settings=Settings(CHECK)).results == []
    _, findings, code = rendered(own, CR, defaults={"kernelMappings": [{"regexp": "^.+$"}]})
    assert code == 1 and any("spec.defaults.kernelMappings: kernelMappings is locked by" in line for line in findings)


@pytest.mark.parametrize("anything", [FREE, "x-kubernetes-preserve-unknown-fields: true"])
@pytest.mark.parametrize("whether", ["debug", "{exists: true}"])
def test_an_option_below_one_that_takes_anything_is_asked_about(anything: str, whether: str) -> None:
    """A config was made up for the `when` by a schema that is `true`."""
    own = profile("level: {type: string}", f"level: {{type: string}}\n              free: {{type: object, {anything}}}")
    own["spec"]["when"] += yaml.safe_load(f"[{{if: {{spec.exporter.free.a.b: {whether}}}, config: {{dirName: /x}}}}]")
    assert applied(krmfn, own, settings=Settings(CHECK)).results == []
    for free, folder in (({"a": {"b": "debug"}}, "/x"), ({"a": {}}, "/opt"), ({}, "/opt")):
        objects, findings, code = rendered(own, cr(exporter={"free": free}))
        assert (findings, code) == ([], 0)
        assert objects["Module gpu"]["spec"]["moduleLoader"]["container"]["modprobe"]["dirName"] == folder


def test_entries_of_an_option_that_takes_anything_have_any_field() -> None:
    """The fields of an entry were looked for in a schema that is `true`."""
    own = profile("level: {type: string}", f"level: {{type: string}}\n              env: {{type: object, {FREE}}}")
    entry = {"name": "${key}", "value": "${value.a}"}
    own["spec"]["texts"]["variables"] = {"each": "spec.exporter.env", "entry": entry}
    own["spec"]["config"]["daemonSets"][0]["env"] = "${texts.variables}"
    assert rendered(own)[2] == 0
    objects, findings, code = rendered(own, cr(exporter={"level": "x", "env": {"X": {"a": "y"}}}))
    assert code == 0, findings
    container: dict[str, object] = objects["DaemonSet gpu-metrics"]["spec"]["template"]["spec"]["containers"][0]
    assert container["env"] == [{"name": "X", "value": "y"}]


def test_an_option_that_nothing_reads_is_a_warning_unless_it_is_ignored() -> None:
    lonely = "level: {type: string}", "level: {type: string}\n              lonely: {type: string}"
    _, findings, code = rendered(profile(*lonely), CR)
    assert code == 0
    assert any("nothing reads the option spec.exporter.lonely" in line and "[KRM181]" in line for line in findings)
    ignored = profile(*lonely)
    ignored["spec"]["ignored"] = {"spec.exporter.lonely": "for the operator alone"}
    assert rendered(ignored, CR)[1:] == ([], 0)
    ignored["spec"]["ignored"] |= {"spec.exporter.port": "no longer true"}
    (finding,) = rendered(ignored, CR)[1]
    assert "spec.ignored[spec.exporter.port]: an expression reads spec.exporter.port" in finding


def test_a_shell_runs_no_option_without_a_warning() -> None:
    script = 'command: [sh, -c, "run ${spec.exporter.level} ${spec.exporter.port}"]\n      args: ["--port'
    _, findings, _ = rendered(profile('args: ["--port', script), cr(exporter={"level": "x"}))
    guarded = "if: {spec.exporter.level: {exists: true}}"
    assert guarded
    assert [line for line in findings if "[KRM183]" in line and "${spec.exporter.level}" in line]
    assert not [line for line in findings if "[KRM183]" in line and "${spec.exporter.port}" in line]


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        (
            '["--port=${spec.exporter.port}", "${texts.verbose}", "${texts.flags}"]',
            "${spec.driver.parameters}",
            "args:",
        ),
        ('"${texts.verbose}"', '"run $(LEVEL)"', "env[0].value:"),
        ('"${texts.verbose}"', '"run $(PORT)"', ""),  # a number
    ],
)
def test_a_script_by_another_way_is_a_warning_too(old: str, new: str, place: str) -> None:
    script = profile(old, new, PROFILE.replace("      args: ", "      command: [sh, -c]\n      args: "))
    found = [line for line in rendered(script, CR)[1] if "[KRM183]" in line and (place or "env[") in line]
    assert len(found) == bool(place), found


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
    found = [line for line in findings if "chooses rights" in line and f"{field}: " in line and "[KRM175]" in line]
    assert len(found) == bool(field), findings


def test_no_extra_object_binds_cluster_admin() -> None:
    entry: Manifest = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": "eve"}}
    entry["roleRef"] = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
    own = profile()
    own["spec"]["config"]["extraObjects"] = [entry]
    _, findings, code = rendered(own, CR)
    assert (code, any("extraObjects[0].roleRef.name: cluster-admin gives" in line for line in findings)) == (1, True)


@pytest.mark.parametrize("text", ['each: spec.exporter.flags, as: "-${key}=${value}"', 'as: "${spec.exporter.level}"'])
def test_what_is_quoted_is_one_word_for_the_shell_and_nothing_for_the_kubelet(text: str) -> None:
    own = profile('each: spec.exporter.flags, as: "-${key}=${value}"', f"quote: sh, {text}")
    own["spec"]["schema"]["properties"]["spec"]["properties"]["exporter"]["properties"]["level"]["default"] = "x"
    value = "'$(A) $$(B); x"
    (container,) = rendered(own, cr(exporter={"flags": {"a": value}, "level": value}))[0]["DaemonSet gpu-metrics"][
        "spec"
    ]["template"]["spec"]["containers"]
    word = container["args"][-1]
    assert "$(" not in word and "$$" not in word
    assert shlex.split(word) == [f"-a={value}" if "each" in text else value]
    for script, code in (
        ("run ${texts.flags} # don't", 0),
        ("run '${texts.flags}'", 1),
        ('su -c "a ${texts.flags}"', 1),
    ):
        own["spec"]["config"]["daemonSets"][0]["args"] = ["--port=${spec.exporter.port}", "-c", script]
        own["spec"]["config"]["daemonSets"][0]["command"] = ["bash"]
        _, findings, got = rendered(own, CR)
        assert (got, any("args[2]: ${texts.flags}: `quote: sh` quotes" in line for line in findings)) == (
            code,
            bool(code),
        )


def test_metadata_is_told_apart_also_where_options_are_alike() -> None:
    named = profile('"--port=${spec.exporter.port}"', '"--name=${metadata.name}"')
    objects, _, code = rendered(named, cr("a"), cr("b"), exclusivity={"mode": "off"})
    assert code == 0
    names = [
        objects[f"DaemonSet {name}-metrics"]["spec"]["template"]["spec"]["containers"][0]["args"][0] for name in "ab"
    ]
    assert names == ["--name=a", "--name=b"]


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
    own = profile("  config:\n", RIGHTS)
    objects, findings, code = rendered(own, CR)
    assert code == 0, findings
    assert {"ServiceMonitor gpu-metrics"} < objects.keys()
    assert any(name.startswith("ClusterRole ") for name in objects)
    monitor = {"apiVersion": "monitoring.coreos.com/v1", "kind": "ServiceMonitor", "enabled": False}
    overrides = {
        "extraObjects": [{**monitor, "metadata": {"name": "${metadata.name}-metrics"}}],
        "serviceAccount": {"clusterRules": [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["get"]}]},
    }
    objects, findings, code = rendered(own, CR, overrides={"amd-gpu": overrides})
    assert code == 0, findings
    assert "ServiceMonitor gpu-metrics" not in objects
    (role,) = (one for name, one in objects.items() if name.startswith("ClusterRole "))
    assert role["rules"] == [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["get"]}]


@pytest.mark.parametrize(
    ("args", "finding"),
    [
        (["--x=${spec.exporter.level}"], ""),
        (
            ["${spec.nope}"],
            "error: RenderDeviceConfigs render: spec.overrides.amd-gpu.daemonSets[0].args[0]: ${spec.nope}",
        ),
        (["${texts.nope}"], "there is no text of this name"),
        (["${spec.a b}"], "is no expression"),
        (
            ["sh", "-c", "${spec.exporter.level}"],
            "warning: RenderDeviceConfigs render: spec.overrides.amd-gpu.daemonSets",
        ),
    ],
)
def test_expressions_of_an_override_are_judged(args: list[str], finding: str) -> None:
    """A field with an option that the schema has not was left out without a word, and the vendor's stayed."""
    over = {"daemonSets": [{"name": "metrics", "args": args}]}
    _, findings, code = rendered(profile(), cr(exporter={"level": "x"}), overrides={"amd-gpu": over})
    assert code == (bool(finding) and "warning" not in finding)
    assert any(finding in line for line in findings) if finding else not findings


def test_versions_of_an_override_are_said_to_have_no_effect() -> None:
    over = {"versions": [{"version": "1.0", "dirName": "/x"}]}
    _, findings, code = rendered(profile(), CR, overrides={"amd-gpu": over})
    assert (code, ["spec.overrides.amd-gpu.versions: has no effect" in line for line in findings]) == (0, [True])


def test_an_override_that_an_absent_option_breaks_is_an_error_at_its_field() -> None:
    """It was a KeyError: a field without its option is left out, and metadata with it."""
    entry = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "${spec.exporter.level}"},
        "data": {"a": "b"},
    }
    over = {"amd-gpu": {"extraObjects": [entry]}}
    _, findings, code = rendered(profile(), CR, overrides=over)
    told = "error: RenderDeviceConfigs render: spec.overrides.amd-gpu.extraObjects[0].metadata: is required"
    assert (code, any(told in line for line in findings)) == (1, True), findings
    objects, findings, code = rendered(profile(), cr(exporter={"level": "extra"}), overrides=over)
    assert (code, findings, "ConfigMap extra" in objects) == (0, [], True)
    _, findings, code = rendered(profile(), cr(exporter={"level": "Not A Name"}), overrides=over)
    assert (code, any("DeviceConfig kmm/gpu: spec.exporter.level: " in line for line in findings)) == (1, True), (
        findings
    )


def test_an_override_writes_a_locked_field_only_with_the_vendors_reason() -> None:
    own = profile("  config:\n", RIGHTS)
    _, findings, code = rendered(own, CR, overrides={"amd-gpu": {"moduleName": "amdgpu_open"}})
    assert code == 1
    assert any("spec.overrides.amd-gpu.moduleName: moduleName is locked" in line for line in findings)
    locked = {"moduleName": "the exporter knows no other module"}
    objects, findings, code = rendered(own, CR, overrides={"amd-gpu": {"moduleName": "amdgpu_open", "locked": locked}})
    assert code == 0, findings
    _, findings, code = rendered(own, CR, defaults={"moduleName": "amdgpu_open"})
    assert code == 1 and any("spec.defaults.moduleName: moduleName is locked by" in line for line in findings)
    assert objects["Module gpu"]["spec"]["moduleLoader"]["container"]["modprobe"]["moduleName"] == "amdgpu_open"


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
    text = PROFILE.replace("level: {type: string}", f'level: {{type: string, default: ab, pattern: "{pattern}"}}')
    own = profile('args: ["--port=', 'command: [sh, -c]\n      args: ["${spec.exporter.level} ', text)
    _, findings, _ = rendered(own, CR)
    script = [line for line in findings if "${spec.exporter.level} is part of a shell's script" in line]
    assert not script if is_safe else script


def test_an_expression_that_nobody_fills_in_is_an_error() -> None:
    own = {"apiVersion": "krmfn.dev/v1alpha1", "kind": "DeviceConfig", "metadata": {"name": "gpu", "namespace": "kmm"}}
    inline = {"moduleName": "gpu", "driverImage": "x/y:1", "nodeSelector": {"a": "b"}, "parameters": ["a=${spec.port}"]}
    for findings, code in (
        rendered({**own, "spec": {"profile": "p"}}, profiles={"p": inline})[1:],
        rendered({**own, "spec": inline})[1:],
    ):
        assert code == 1
        assert any("${spec....} is left in it" in line and "[KRM182]" in line for line in findings)


def test_children_of_a_vendors_config_that_is_gone_with_its_profile_are_left_over() -> None:
    objects, _, _ = rendered(profile(), CR)
    for name in ("Module gpu", "DaemonSet gpu-metrics"):
        alone = objects[name]
        left, findings, code = rendered(alone)  # the stream holds this object alone
        assert (left, code) == ({name: alone}, 1), name
        (finding,) = [line for line in findings if "[KRM116]" in line]
        assert "was generated from amd.com DeviceConfig kmm/gpu, which is missing from the input" in finding
        assert "add amd.com DeviceConfig kmm/gpu and the Profile amd-gpu@1.4.1 to the input" in finding
        left, findings, code = rendered(alone, prune="always")
        assert (left, findings, code) == ({}, [], 0), name
        assert rendered(alone, prune="never")[::2] == ({name: alone}, 0), name


def test_children_of_a_config_that_its_own_operator_acts_on_now_are_not_removed() -> None:
    objects, _, _ = rendered(profile(), CR)
    made = [one for one in objects.values() if one["kind"] in ("Module", "DaemonSet")]
    own = {**CR, "metadata": {**CR["metadata"], "annotations": {"krmfn.dev/profile": "none"}}}
    left, _, code = rendered(own, *made, prune="always")
    assert (len(left), code) == (3, 0)


@pytest.mark.parametrize("prune", ["auto", "always", "never"])
@pytest.mark.parametrize("why", ["annotation", "version"])
def test_nor_are_they_with_the_profile_there(why: str, prune: str) -> None:
    objects, _, _ = rendered(profile(), CR)
    made = [one for one in objects.values() if one["kind"] in ("Module", "DaemonSet")]
    own = {**CR, "metadata": {**CR["metadata"], "annotations": {"krmfn.dev/profile": "none"}}}
    product = profile() if why == "annotation" else profile("versions: [v1alpha1]", "versions: [v1]")
    left, findings, code = rendered(product, own if why == "annotation" else CR, *made, prune=prune)
    assert {name for name in left if not name.startswith("Profile")} >= {"Module gpu", "DaemonSet gpu-metrics"}
    assert code == (0 if why == "annotation" else 1)
    assert any("nothing drives amd.com DeviceConfig kmm/gpu any more, so what was" in line for line in findings)


def test_what_stays_is_told_of_each_config_by_itself() -> None:
    crs = [CR, cr("other", selector={"example.com/gpu": "b"})]
    objects, _, _ = rendered(profile(), *crs)
    made = [one for one in objects.values() if one["kind"] in ("Module", "DaemonSet")]
    own = [{**one, "metadata": {**one["metadata"], "annotations": {"krmfn.dev/profile": "none"}}} for one in crs]
    left, findings, code = rendered(profile(), *own, *made)
    assert (len(left), code) == (7, 0)
    told = [line for line in findings if "any more, so what was generated from it stays" in line]
    assert [("kmm/gpu any more" in line, "kmm/gpu-metrics" in line, "kmm/other" in line) for line in told] == [
        (True, True, False),
        (False, False, True),
    ]


def test_cel_rules_are_said_once_not_to_be_evaluated() -> None:
    own = profile()
    options = own["spec"]["schema"]["properties"]["spec"]
    for node in (options["properties"]["driver"], options["properties"]["exporter"]):
        node["x-kubernetes-validations"] = [{"rule": "false"}]
    objects, findings, code = rendered(own, CR, cr("other", selector={"example.com/gpu": "b"}))
    (finding,) = findings
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
    own = profile("  when:\n", VERSIONS)
    images, loads = {}, {}
    for number in ("30.20.1", "31.0", "29"):
        objects, findings, code = rendered(own, version(number))
        assert (findings, code) == ([], 0), number
        images[number] = objects["DaemonSet gpu-metrics"]["spec"]["template"]["spec"]["containers"][0]["image"]
        loads[number] = objects["Module gpu"]["spec"]["moduleLoader"]["container"]["modprobe"]
    assert images == {
        "30.20.1": "registry.example.com/amd/exporter:30",
        "31.0": "registry.example.com/amd/exporter:1",
        "29": "registry.example.com/amd/exporter:1",  # a version that is not listed is right, as in inline profiles
    }
    assert (loads["30.20.1"]["firmwarePath"], loads["31.0"]["parameters"]) == ("/lib/firmware/gpu", ["new=1"])
    assert not {"firmwarePath", "parameters"} & loads["29"].keys()


def test_of_a_profile_with_all_its_versions_no_other_is_right() -> None:
    own = profile("  when:\n", VERSIONS)
    own["spec"]["config"]["versionsComplete"] = True
    assert rendered(own, version("31.0"))[1:] == ([], 0)
    objects, findings, code = rendered(own, version("31.1"))
    assert (code, "Module gpu" in objects) == (1, False)
    (finding,) = findings
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
    own = profile(old, new, PROFILE.replace("  when:\n", VERSIONS))
    for configs in ((), (version("29"),)):
        _, findings, code = rendered(own, *configs)
        assert code == 1, configs
        assert any(line.startswith(f"error: Profile amd-gpu: {place}: ") and words in line for line in findings), (
            findings
        )


def test_versions_that_are_all_need_one() -> None:
    own = profile()
    own["spec"]["config"]["versionsComplete"] = True
    _, findings, code = rendered(own, CR)
    assert code == 1
    assert any("spec.config.versionsComplete: versionsComplete is set without versions" in line for line in findings)


def test_a_version_that_replaces_what_a_when_sets_is_a_warning() -> None:
    own = profile("  when:\n", VERSIONS)
    debug = {"if": {"spec.exporter.level": "debug"}, "config": {"firmwarePath": "/debug", "dirName": "/d"}}
    metrics = {"if": {"spec.exporter.level": "info"}, "config": {"daemonSets": [{"name": "metrics", "args": ["x"]}]}}
    own["spec"]["when"] += [debug, metrics]
    number = CR["spec"]["driver"]["version"]
    assert number == "30.20.1"
    assert rendered(own, cr(exporter={"level": "info"}))[1:] == ([], 0)  # they set different fields
    _, findings, code = rendered(own, cr(exporter={"level": "debug"}))
    (finding,) = findings
    assert code == 0
    assert finding.startswith("warning: Profile amd-gpu: spec.versions[0].firmwarePath: ")
    assert "spec.when[1].config.firmwarePath" in finding


def test_a_profile_may_have_node_pools() -> None:
    own = profile("    nodeSelector: ${spec.selector}\n", "")
    own["spec"]["ignored"] = {"spec.selector": "each pool has its own"}
    labels = {name: {"example.com/gpu": name} for name in ("big", "small")}
    pools = [{"name": name, "nodeSelector": selector} for name, selector in labels.items()]
    own["spec"]["config"]["nodePools"] = pools
    objects, findings, code = rendered(own, CR)
    assert (findings, code) == ([], 0)
    assert {name: objects[f"Module gpu-{name}"]["spec"]["selector"] for name in labels} == labels


def _texts(**texts: Any) -> Manifest:
    made = profile()
    made["spec"]["texts"] |= texts
    made["spec"]["config"]["daemonSets"][0] |= {"podLabels": "${texts.labels}", "args": ["-a", "${texts.each}"]}
    made["spec"]["config"]["tolerations"] = "${texts.taints}"
    return made


_EACH = {
    "labels": {"each": "spec.exporter.flags", "onto": {"app": "exporter", "b": "1"}},
    "each": {"each": "spec.exporter.flags", "entry": "-${key}=${value}"},
    "taints": {
        "each": "spec.driver.parameters",
        "entry": {"key": "${value}", "operator": "Exists"},
    },
}


def test_a_map_or_a_list_becomes_a_list_or_a_mapping() -> None:
    own = cr(exporter={"flags": {"c": "xy", "b": "2"}})
    objects, findings, code = rendered(_texts(**_EACH), own)
    assert code == 0, findings
    pod = objects["DaemonSet gpu-metrics"]["spec"]["template"]
    assert pod["metadata"]["labels"].items() >= {"app": "exporter", "b": "2", "c": "xy"}.items()
    assert pod["spec"]["containers"][0]["args"] == ["-a", "-b=2", "-c=xy"]
    objects, _, _ = rendered(_texts(**_EACH), CR)
    pod = objects["DaemonSet gpu-metrics"]["spec"]["template"]
    assert pod["spec"]["containers"][0]["args"] == ["-a"] and "tolerations" not in pod["spec"]


def test_an_entry_is_left_without_what_comes_to_nothing() -> None:
    entry = {"a": ["${value.x}", "b"], "c": {"d": ["${value.x}"]}, "e": "-${key}", "f": []}
    assert fill_entry(entry, {"key": 0, "value": {}}) == {"a": ["b"], "e": "-0", "f": []}


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
    _, findings, code = rendered(_texts(**{**_EACH, "each": text}), CR)
    assert code == 1
    assert any(words in line and "spec.texts.each" in line for line in findings), findings


def test_a_user_of_a_vendors_kind_is_not_told_to_write_a_field_that_it_has_not() -> None:
    _, findings, code = rendered(profile("    moduleName: amdgpu\n", ""), CR)
    (line,) = (line for line in findings if "[KRM121]" in line)
    assert code == 1
    assert "write it in the Profile amd-gpu, or in the functionConfig's spec.overrides.amd-gpu.moduleName" in line
