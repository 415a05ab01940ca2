"""Rights and extra objects: from profiles and defaults only, whoever writes the DeviceConfig."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from krmfn_functions.deviceconfig import deviceconfig
from krmfn_functions.rendering.kinds import CLUSTER_WIDE, DEVICECONFIG, EXTRA

from krmfn import Manifest, ResourceList
from krmfn.resource import ref
from tests.builders import (
    AGENT,
    PLUGIN,
    SPEC,
    applied,
    by_name,
    device_config,
    function_config,
    generated,
    manifest,
    places,
)
from tests.tables import table

NODES = [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "list"]}]
PODS = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}]
ADMIN = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]
ACCOUNT = {"podSecurity": "privileged", "rules": PODS, "clusterRules": NODES}
USED = SPEC | {"daemonSets": [AGENT], "serviceAccountName": "sa", "profile": "gpu"}
RIGHTS = {"Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"}


def extra(kind: str, name: str = "x", api: str = "v1", **fields: Any) -> dict[str, Any]:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name}, **fields}


FIRST = extra("PriorityClass", "$KRMFN_NAME-first", "scheduling.k8s.io/v1", value=9)
ROLE = extra("Role", "watch", "rbac.authorization.k8s.io/v1", rules=PODS)
SETTINGS = extra("ConfigMap", "$KRMFN_NAME-settings", data={"node": "$KRMFN_NAMESPACE/$(NODE)", "enabled": "false"})


def answer(*configs: Manifest, **profile: Any) -> ResourceList:
    return applied(deviceconfig, *configs, function_config=function_config(profiles={"gpu": profile}))


def faults(resources: ResourceList) -> list[tuple[str, str, str]]:
    """Return rule, field and text of the errors and warnings, without the configs that they affect."""
    results = [result for result in resources.results if result.severity != "info"]
    return [(r.rule, r.field.path if r.field else "", re.sub(r" \(affects [^)]+\)", "", r.text)) for r in results]


# What is generated.


def test_the_account_gets_its_rights() -> None:
    objects = generated(answer(device_config(USED), serviceAccount=ACCOUNT))
    rights = {item["kind"]: item for item in objects if item["kind"] in RIGHTS}
    assert rights["Role"]["rules"] == PODS and rights["ClusterRole"]["rules"] == NODES
    assert {kind: item["metadata"]["name"] for kind, item in rights.items()} == {
        **dict.fromkeys(("Role", "RoleBinding"), "dc-consumer"),
        **dict.fromkeys(("ClusterRole", "ClusterRoleBinding"), "krmfn.kmm.dc"),
    }
    for kind in ("RoleBinding", "ClusterRoleBinding"):
        assert rights[kind]["roleRef"]["kind"] == kind.removesuffix("Binding")
        assert rights[kind]["roleRef"]["name"] == rights[kind]["metadata"]["name"]
        assert rights[kind]["subjects"] == [{"kind": "ServiceAccount", "name": "sa", "namespace": "kmm"}]
    assert not any("namespace" in rights[kind]["metadata"] for kind in ("ClusterRole", "ClusterRoleBinding"))
    prune = "kustomize.toolkit.fluxcd.io/prune"
    assert not any(prune in item["metadata"]["annotations"] for item in rights.values()), "rights can be taken back"


def test_extra_objects_come_first_with_the_variables_filled_in() -> None:
    config = device_config(USED | {"labels": {"team": "x", "own": "config"}})
    entry = SETTINGS | {"metadata": SETTINGS["metadata"] | {"labels": {"own": "profile"}}}
    objects = generated(answer(config, extraObjects=[entry, FIRST, ROLE]))
    assert [item["kind"] for item in objects] == ["ConfigMap", "PriorityClass", "Role", "Module", "DaemonSet"]
    settings, first, *_ = objects
    assert settings["metadata"]["name"] == "dc-settings" and settings["metadata"]["namespace"] == "kmm"
    assert settings["data"] == {"node": "kmm/$(NODE)", "enabled": "false"}
    assert settings["metadata"]["labels"].items() >= {"team": "x", "own": "profile"}.items()
    assert first["metadata"]["name"] == "dc-first" and "namespace" not in first["metadata"]
    notes = [item["metadata"]["annotations"] for item in objects]
    waves = [int(annotations["argocd.argoproj.io/sync-wave"]) for annotations in notes]
    assert waves[0] == waves[1] == waves[2] < min(waves[3:])
    assert all(map(DEVICECONFIG.has_generated, map(ref, objects), notes))


def test_what_a_profile_no_longer_has_goes() -> None:
    before = answer(device_config(USED), serviceAccount=ACCOUNT, extraObjects=[FIRST, SETTINGS])
    items = [item.manifest for item in before.items]
    after = applied(deviceconfig, *items, function_config=function_config(profiles={"gpu": {}}))
    removed = {ref.kind for change, ref in after.changes if change == "removed"}
    assert removed == {"PriorityClass", "ConfigMap", *RIGHTS}, after.changes
    again = answer(*items, serviceAccount=ACCOUNT, extraObjects=[FIRST, SETTINGS])
    assert again.changes == [] and not again.failed


def test_extra_objects_merge_by_kind_and_name() -> None:
    below = [SETTINGS, FIRST, extra("ConfigMap", "other", data={"env": [1], "ports": "x"})]
    above = [extra("ConfigMap", "$KRMFN_NAME-settings", data={"a": "b"}), FIRST | {"enabled": False}]
    config = function_config(defaults={"extraObjects": below}, profiles={"gpu": {"extraObjects": above}})
    objects = generated(applied(deviceconfig, device_config(USED), function_config=config))
    assert [(item["kind"], item.get("data")) for item in objects[:3]] == [
        ("ConfigMap", {"node": "kmm/$(NODE)", "enabled": "false", "a": "b"}),
        ("ConfigMap", {"env": [1], "ports": "x"}),
        ("Module", None),
    ]


# What is refused in a profile, with its place there.

_SA = "spec.profiles.gpu.serviceAccount"
_EXTRA = "spec.profiles.gpu.extraObjects[0]"
REFUSED = table(__file__, "refused_rights.yaml")


@pytest.mark.parametrize(("profile", "rule", "path", "message"), [row.values() for row in REFUSED])
def test_what_is_refused_in_a_profile(profile: dict[str, Any], rule: str, path: str, message: str) -> None:
    resources = answer(device_config(USED), **profile)
    assert any(fault[:2] == (rule, path) and message in fault[2] for fault in faults(resources)), faults(resources)
    assert resources.failed and not resources.changes


ACCOUNT_OF_PART = {"create": True, "rules": PODS, "clusterRules": NODES}


def test_each_part_may_have_an_account_of_its_own_that_goes_with_it() -> None:
    account = {"serviceAccount": ACCOUNT_OF_PART}
    parts = {"devicePlugin": PLUGIN | account, "daemonSets": [AGENT | account]}
    resources = answer(device_config(USED), **parts)
    assert faults(resources) == []
    objects = by_name(generated(resources))
    assert {name for name in objects if name.partition(" ")[0] in RIGHTS | {"ServiceAccount"}} == {
        f"{kind} {prefix}{part}"
        for kind in RIGHTS | {"ServiceAccount"}
        for prefix in ("krmfn.kmm.dc:" if kind.startswith("Cluster") else "dc-",)
        for part in ("agent", "device-plugin")
    }
    assert objects["ClusterRoleBinding krmfn.kmm.dc:agent"]["subjects"][0]["name"] == "dc-agent"
    assert objects["DaemonSet dc-agent"]["spec"]["template"]["spec"]["serviceAccountName"] == "dc-agent"
    assert objects["Module dc"]["spec"]["devicePlugin"]["serviceAccountName"] == "dc-device-plugin"
    off = {"devicePlugin": {"enabled": False}, "daemonSets": [{"name": "agent", "enabled": False}]}
    assert list(by_name(generated(answer(device_config(USED | off), **parts)))) == ["Module dc"]


def test_an_account_of_several_parts_and_pools_is_made_once() -> None:
    shared = AGENT | {"serviceAccountName": "metrics", "serviceAccount": {"create": True, "openshift": True}}
    pools = [{"name": name, "nodeSelector": {"gpu": name}} for name in ("a", "b")]
    spec = USED | {"nodeSelector": None, "nodePools": pools, "daemonSets": [shared, shared | {"name": "other"}]}
    resources = answer(device_config(spec))
    assert [fault for fault in faults(resources) if fault[0] != "KRM143"] == []
    others = [name for name in by_name(generated(resources)) if not name.startswith(("Module", "DaemonSet"))]
    assert others == ["ServiceAccount metrics", "RoleBinding metrics-privileged"]


def test_a_constraint_of_openshift_is_bound_by_its_name_and_no_other_is() -> None:
    agent = AGENT | {"serviceAccount": {"create": True, "openshift": "hostaccess"}}
    objects = by_name(generated(answer(device_config(USED | {"daemonSets": [agent]}))))
    role, binding = objects["Role dc-agent-hostaccess"], objects["RoleBinding dc-agent-hostaccess"]
    (rule,) = role["rules"]
    assert rule["resourceNames"] == ["hostaccess"] and rule["verbs"] == ["use"]
    assert binding["roleRef"]["name"] == "dc-agent-hostaccess"
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "dc-agent", "namespace": "kmm"}]
    shared = AGENT | {"serviceAccount": {"openshift": "hostaccess"}}
    account = {"openshift": True, "podSecurity": "privileged"}
    resources = answer(device_config(USED | {"daemonSets": [shared], "serviceAccount": account}))
    assert [fault[:2] for fault in faults(resources)] == [("KRM176", "spec.daemonSets[0].serviceAccount.openshift")]


@pytest.mark.parametrize("part", ["devicePlugin", "daemonSets"])
@pytest.mark.parametrize(
    ("account", "rule"),
    [({"create": True, "clusterRules": ADMIN}, "KRM169"), ({"clusterRules": NODES}, "KRM168")],
)
def test_the_account_of_a_part_keeps_the_rules_of_the_config_s(part: str, account: Any, rule: str) -> None:
    profile: dict[str, Any] = {"devicePlugin": PLUGIN | {"serviceAccount": account}}
    if part == "daemonSets":
        profile = {"daemonSets": [AGENT | {"serviceAccount": account}]}
    config = device_config(USED | {"serviceAccountName": None, "daemonSets": None})
    errors = [fault[:2] for fault in faults(answer(config, **profile)) if fault[0] != "KRM175"]
    path = f"{part}[0]" if part == "daemonSets" else part
    field = "clusterRules[0]" if rule == "KRM169" else "clusterRules"
    assert errors == [(rule, f"spec.profiles.gpu.{path}.serviceAccount.{field}")]


def test_a_hub_gives_no_rights_to_parts_either() -> None:
    hub = {"spokeNamespace": "kmm", "clusterSelector": {"a": "b"}}
    plugin = PLUGIN | {"serviceAccount": {"create": True}}
    config = device_config(USED | {"daemonSets": None, "hub": hub, "devicePlugin": plugin})
    assert [fault[:2] for fault in faults(answer(config))] == [("KRM138", "spec.devicePlugin.serviceAccount.create")]


HARMFUL = {"apiGroups": ["kmm.sigs.x-k8s.io"], "resources": ["modules"], "verbs": ["get", "create"]}
_HERE = "in the namespace of the config"
_MEANS = "a Module loads any code into the kernel, so this is root on its nodes"


@pytest.mark.parametrize(
    ("profile", "path", "scope"),
    [
        ({"serviceAccount": ACCOUNT | {"clusterRules": [HARMFUL]}}, f"{_SA}.clusterRules[0]", "in the whole cluster"),
        ({"serviceAccount": ACCOUNT | {"rules": [*PODS, HARMFUL]}}, f"{_SA}.rules[1]", _HERE),
        (
            {"devicePlugin": PLUGIN | {"serviceAccount": {"create": True, "rules": [HARMFUL]}}},
            "spec.profiles.gpu.devicePlugin.serviceAccount.rules[0]",
            _HERE,
        ),
        (
            {"extraObjects": [extra("Role", "make", "rbac.authorization.k8s.io/v1", rules=[HARMFUL])]},
            f"{_EXTRA}.rules[0]",
            _HERE,
        ),
    ],
)
def test_a_right_that_is_not_harmless_is_a_warning_with_what_it_means(profile: Any, path: str, scope: str) -> None:
    ((rule, where, message),) = faults(answer(device_config(USED), **profile))
    assert (rule, where) == ("KRM175", path)
    assert message.startswith(f"gives create of modules.kmm.sigs.x-k8s.io {scope}: {_MEANS}; ")


@pytest.mark.parametrize(
    ("role", "is_told"), [("view", False), ("edit", True), ("system:openshift:scc:privileged", False)]
)
def test_a_role_of_the_cluster_that_is_not_judged_is_said(role: str, is_told: bool) -> None:
    ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role}
    bound = extra("RoleBinding", "others", "rbac.authorization.k8s.io/v1", roleRef=ref, subjects=[])
    found = faults(answer(device_config(USED), extraObjects=[bound]))
    assert [fault[:2] for fault in found] == [("KRM175", f"{_EXTRA}.roleRef.name")] * is_told


def test_ordinary_rights_are_none() -> None:
    account = ACCOUNT | {"rules": PODS, "clusterRules": [*NODES, {"nonResourceURLs": ["/metrics"], "verbs": ["get"]}]}
    assert faults(answer(device_config(USED), serviceAccount=account)) == []


def test_an_extra_object_that_is_off_is_a_finding_since_nobody_can_switch_it_on() -> None:
    off = SETTINGS | {"enabled": False}
    resources = answer(device_config(USED), extraObjects=[off])
    assert places(resources.results) == [("KRM142", "spec.profiles.gpu.extraObjects[0]")]
    switched = function_config(defaults={"extraObjects": [SETTINGS]}, profiles={"gpu": {"extraObjects": [off]}})
    resources = applied(deviceconfig, device_config(USED), function_config=switched)
    assert {result.rule for result in resources.results} == {"KRM144"}
    assert not any(item["kind"] == "ConfigMap" for item in generated(resources))


def test_rights_need_an_account() -> None:
    config = device_config(USED | {"serviceAccountName": None})
    rights = [("KRM168", f"{_SA}.rules"), ("KRM168", f"{_SA}.clusterRules")]
    assert [fault[:2] for fault in faults(answer(config, serviceAccount=ACCOUNT))] == rights


def test_rights_that_nobody_uses_are_said() -> None:
    spec = USED | {"daemonSets": [AGENT | {"serviceAccountName": "own"}]}
    rights = [("KRM142", f"{_SA}.rules"), ("KRM142", f"{_SA}.clusterRules")]
    assert [fault[:2] for fault in faults(answer(device_config(spec), serviceAccount=ACCOUNT))] == rights
    plugin = USED | {"daemonSets": None, "devicePlugin": PLUGIN | {"serviceAccountName": "sa"}}
    assert faults(answer(device_config(plugin), serviceAccount=ACCOUNT)) == []


def test_two_configs_that_make_one_object_are_named_at_the_profile() -> None:
    two = [device_config(USED | {"nodeSelector": {"gpu": name}}, name) for name in ("one", "two")]
    fixed = extra("ConfigMap", "settings", data={})
    ((rule, path, message),) = faults(answer(*two, extraObjects=[fixed]))
    assert (rule, path) == ("KRM113", f"{_EXTRA}.metadata")
    assert "DeviceConfig kmm/two: its ConfigMap kmm/settings is also generated from DeviceConfig kmm/one" in message
    assert "rename one of the two; $KRMFN_NAME is the name of the config" in message
    assert faults(answer(*two, extraObjects=[SETTINGS, FIRST])) == []


def test_an_object_of_somebody_else_is_not_overwritten() -> None:
    written = manifest("v1", "ConfigMap", "dc-settings")
    ((rule, path, _),) = faults(answer(device_config(USED), written, extraObjects=[SETTINGS]))
    assert (rule, path) == ("KRM114", f"{_EXTRA}.metadata")


# Attacks: a pull request that changes a DeviceConfig and nothing else.

IN_A_CONFIG: list[tuple[dict[str, Any], str]] = [
    ({"extraObjects": [ROLE]}, "spec.extraObjects"),
    ({"serviceAccount": {"rules": ADMIN}}, "spec.serviceAccount.rules"),
    ({"serviceAccount": {"clusterRules": ADMIN}}, "spec.serviceAccount.clusterRules"),
]


@pytest.mark.parametrize("right", ["rules", "clusterRules"])
@pytest.mark.parametrize("part", ["devicePlugin", "dra", "daemonSets"])
def test_a_config_gives_no_rights_to_its_parts(part: str, right: str) -> None:
    fields: Any = {"image": "x:1", "serviceAccount": {right: PODS}}
    value = [{"name": "agent", **fields}] if part == "daemonSets" else fields
    resources = answer(device_config(USED | {part: value}))
    (message,) = [message for rule, _, message in faults(resources) if rule == "KRM101"]
    assert "so that who may write a DeviceConfig cannot give rights" in message


@pytest.mark.parametrize(("change", "path"), IN_A_CONFIG)
def test_a_config_gives_no_rights(change: dict[str, Any], path: str) -> None:
    resources = answer(device_config(USED | change), serviceAccount=ACCOUNT)
    ((rule, where, message),) = faults(resources)
    assert (rule, where) == ("KRM101", path)
    assert "it may stand in a profile or in the defaults of the functionConfig only" in message
    assert not resources.changes


def test_a_pool_and_the_seed_s_kind_give_no_rights() -> None:
    pools = [{"name": "p", "nodeSelector": {"a": "b"}, "extraObjects": [ROLE]}]
    spec = USED | {"nodeSelector": None, "nodePools": pools}
    assert [rule for rule, _, _ in faults(answer(device_config(spec)))] == ["KRM101"]
    seed = device_config({"driverImage": "a", "driverVersion": "1", "extraObjects": [ROLE]})
    seed["apiVersion"] = "example.com/v1alpha1"
    assert [rule for rule, _, _ in faults(answer(seed, device_config(USED)))] == ["KRM101"]


def test_an_extra_object_is_the_same_for_all_pools() -> None:
    pools = [{"name": name, "nodeSelector": {"gpu": name}, "driverVersion": name} for name in ("v1", "v2")]
    spec = USED | {"nodeSelector": None, "driverVersion": None, "nodePools": pools}
    other = extra("ConfigMap", "versions", data={"version": "$KRMFN_DRIVER_VERSION"})
    ((rule, path, message),) = faults(answer(device_config(spec), extraObjects=[SETTINGS, other]))
    assert (rule, path) == ("KRM172", "spec.profiles.gpu.extraObjects[1]")
    assert "its variables have different values in the pools v1 and v2" in message
    assert faults(answer(device_config(spec), extraObjects=[SETTINGS])) == []


def test_labels_of_a_config_add_its_role_to_no_other() -> None:
    label = {"rbac.authorization.k8s.io/aggregate-to-edit": "true"}
    resources = answer(device_config(USED | {"labels": label}), serviceAccount=ACCOUNT)
    ((rule, path, _),) = faults(resources)
    assert rule == "KRM171" and path.startswith("spec.labels[") and not resources.changes
    assert faults(answer(device_config(USED | {"labels": label}))) == []


@pytest.mark.parametrize("rule", [f"KRM{number}" for number in range(165, 172)])
def test_none_of_these_rules_is_turned_off(rule: str) -> None:
    config = device_config(USED | {"labels": {"rbac.authorization.k8s.io/aggregate-to-view": "true"}})
    config["metadata"]["annotations"] = {"krmfn.dev/ignore": f"{rule}: it is meant"}
    account = {"clusterRules": [*ADMIN, {"verbs": ["get"]}]}
    objects = [extra("Secret"), FIRST | {"metadata": {"name": "first"}}]
    assert answer(config, serviceAccount=account, extraObjects=objects).failed


WORDS = st.sampled_from(
    ["a", "cluster-admin", "system:masters", "*", "$KRMFN_NAME", "${KRMFN_NAMESPACE}", "kube-system"]
)
ANYTHING = st.recursive(
    st.one_of(WORDS, st.booleans(), st.none()),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(WORDS, inner, max_size=2)),
    max_leaves=5,
)
CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "serviceAccountName": WORDS,
        "serviceAccount": st.fixed_dictionaries(
            {}, optional=dict.fromkeys(("create", "openshift", "rules", "clusterRules", "enabled"), ANYTHING)
        ),
        "labels": st.dictionaries(WORDS, WORDS, max_size=2),
        "annotations": st.dictionaries(WORDS, WORDS, max_size=2),
        "driverVersion": WORDS,
        "moduleName": WORDS,
        "driverImage": WORDS,
        "extraObjects": ANYTHING,
        "hub": ANYTHING,
    },
)


def use_of_constraint(change: dict[str, Any]) -> list[Any]:
    """Return the one right that a config may name: to use one SecurityContextConstraint, as its YAML says it."""
    rule = {"apiGroups": ["security.openshift.io"], "resources": ["securitycontextconstraints"]}
    return [rule | {"resourceNames": [change["serviceAccount"]["openshift"]], "verbs": ["use"]}]


@example({"serviceAccount": {"openshift": "a"}}, "dc")
@example({"serviceAccountName": "dc", "serviceAccount": {"openshift": "consumer"}}, "dc")
@given(CHANGES, st.sampled_from(["dc", "cluster-admin", "system-node", "kube-system"]))
def test_whatever_a_config_says_the_rights_are_the_profile_s(change: dict[str, Any], name: str) -> None:
    profile = {"serviceAccount": {"podSecurity": "privileged", "rules": PODS, "clusterRules": NODES}}
    resources = answer(device_config(USED | change, name), **profile, extraObjects=[ROLE, FIRST])
    objects = [] if resources.failed else generated(resources)
    bound = {f"{name}-consumer", f"krmfn.kmm.{name}", "system:openshift:scc:privileged"}
    for item in objects:
        if item["kind"] in ("Role", "ClusterRole") and item["rules"] not in (PODS, NODES):
            assert item["kind"] == "Role" and item["rules"] == use_of_constraint(change), json.dumps(item)
            bound.add(item["metadata"]["name"])
    for item in objects:
        if item["kind"] in ("RoleBinding", "ClusterRoleBinding"):
            assert item["roleRef"]["name"] in bound, json.dumps(item)
            assert [subject["namespace"] for subject in item["subjects"]] == ["kmm"]
        if "namespace" not in item["metadata"] and item["kind"] != "ManagedClusterModule":
            assert name in item["metadata"]["name"]


def test_the_list_of_kinds_has_nothing_dangerous() -> None:
    never = {"Secret", "Namespace", "Node", "Pod", "PersistentVolume", "PersistentVolumeClaim", "ClusterRole"}
    never |= {"ClusterRoleBinding", "CustomResourceDefinition", "DeviceConfig", "Module", "DaemonSet"}
    assert not never & {kind for _, kind in EXTRA}
    assert CLUSTER_WIDE < EXTRA < DEVICECONFIG.kinds


NEW = [
    ("nfd.k8s-sigs.io/v1alpha1", "NodeFeatureRule", True),
    ("nfd.openshift.io/v1alpha1", "NodeFeatureRule", False),
    ("resource.k8s.io/v1", "ResourceClaimTemplate", False),
    ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", True),
    ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", True),
]


@pytest.mark.parametrize(("api", "kind", "is_cluster_wide"), NEW)
def test_what_operators_make_beside_pods(api: str, kind: str, is_cluster_wide: bool) -> None:
    resources = answer(device_config(USED), extraObjects=[extra(kind, "$KRMFN_NAME-x", api, spec={"a": "b"})])
    assert faults(resources) == []
    (item,) = [item for item in generated(resources) if item["kind"] == kind]
    assert item["metadata"].get("namespace") == (None if is_cluster_wide else "kmm")
    others = faults(answer(device_config(USED), extraObjects=[extra(kind, "x", api, spec={"a": "b"})]))
    assert [rule for rule, *_ in others] == (["KRM166"] if is_cluster_wide else [])


@pytest.mark.parametrize(
    "use",
    [
        {"volumes": [{"name": "s", "configMap": {"name": "$KRMFN_NAME-settings"}}]},
        {"volumes": [{"name": "s", "projected": {"sources": [{"configMap": {"name": "dc-settings"}}]}}]},
        {"envFrom": [{"configMapRef": {"name": "dc-settings"}}]},
        {"env": [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "dc-settings", "key": "node"}}}]},
    ],
)
def test_pods_roll_when_a_generated_config_map_changes_and_only_then(use: dict[str, Any]) -> None:
    def note(settings: dict[str, Any], **fields: Any) -> Any:
        entry = AGENT | use | {"rollOnConfigChange": True}
        resources = answer(device_config(USED | {"daemonSets": [entry]} | fields), extraObjects=[settings])
        assert faults(resources) == []
        template = by_name(generated(resources))["DaemonSet dc-agent"]["spec"]["template"]
        return template["metadata"]["annotations"]["krmfn.dev/config-hash"]

    assert note(SETTINGS) == note(SETTINGS, parameters=["a=b"]) == note(SETTINGS | {"data": {**SETTINGS["data"]}})
    assert note(SETTINGS) != note(SETTINGS | {"data": {"node": "x"}})
    assert note(SETTINGS) == note(SETTINGS | {"metadata": {**SETTINGS["metadata"], "labels": {"a": "b"}}})


def test_without_a_generated_config_map_nothing_rolls_and_that_is_said() -> None:
    entry = AGENT | {"rollOnConfigChange": True, "envFrom": [{"configMapRef": {"name": "other"}}]}
    resources = answer(device_config(USED | {"daemonSets": [entry]}), extraObjects=[SETTINGS])
    assert [fault[:2] for fault in faults(resources)] == [("KRM142", "spec.daemonSets[0].rollOnConfigChange")]
