"""deviceconfig as a whole: text that means something elsewhere, and what one config's errors do to the others."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from krmfn_functions.deviceconfig import deviceconfig
from krmfn_functions.settings import CHECK, Settings

from krmfn import Manifest, ResourceList, Result
from tests.builders import NO_SETTINGS, Path, applied, device_config, edited, leaves, module, node
from tests.functions.deviceconfig.test_every_field import (
    BASE,
    DAEMONSET_FIELDS,
    DRA_FIELDS,
    FIELDS,
    FUNCTION_CONFIG,
    PLUGIN_FIELDS,
)

DRIVER = {"driverName": "a.example.com", "image": "registry.example.com/dra:1"}

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
        (PLUGIN_FIELDS, BASE, ("devicePlugin",)),
        (DRA_FIELDS, dra, ("dra",)),
        (DAEMONSET_FIELDS, BASE, ("daemonSets", 0)),
    ]
    by_field = {}
    for table, base, where in tables:
        for field, (change, _) in table.items():
            spec = copy.deepcopy(base)
            section: Any = spec
            for key in where:
                section = section[key]
            section |= change
            for key in [key for key, value in section.items() if value is None]:
                del section[key]
            by_field[".".join(map(str, (*where, field)))] = (spec, (*where, field))
    return by_field


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for key, child in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from strings(key)
        yield from strings(child)


def findings(resources: ResourceList) -> list[Result]:
    """The findings, but for what is said about a profile that the functionConfig here has for nobody."""
    return [finding for finding in resources.results if finding.rule != "KRM143"]


def answer(*items: Manifest, settings: Settings = NO_SETTINGS) -> ResourceList:
    return applied(deviceconfig, *items, function_config=FUNCTION_CONFIG, settings=settings)


def texts_of(field: str) -> list[Path]:
    """The paths of the strings in a field."""
    spec, where = SPECS[field]
    return [path for path, value in leaves(spec) if path[: len(where)] == where and isinstance(value, str)]


SPECS = specs()
WITH_TEXT = [field for field in SPECS if texts_of(field)]


@pytest.mark.parametrize("field", WITH_TEXT)
def test_text_arrives_as_the_same_text_or_is_refused(field: str) -> None:
    """Newlines, quotes, `${`, `$(`, `{{`, tags, anchors: in every string of a field, one after the other."""
    spec, _ = SPECS[field]
    usual = answer(device_config(spec))
    assert not usual.failed, [str(finding) for finding in usual.results]
    names = {item.ref for item in usual.items}
    for path in texts_of(field):
        for text in HOSTILE:
            resources = answer(device_config(edited(spec, (path, text))))
            items = ResourceList.parse(resources.to_bytes()).items
            if resources.failed:
                assert len(items) == 1
                continue
            assert {item.ref for item in items} == names
            arrived = [string for item in items[1:] for string in strings(item.manifest) if MARK in string]
            assert arrived, path
            assert [string for string in arrived if text not in string] == [], path


def test_one_config_s_errors_hide_nothing_about_the_others() -> None:
    """A schema's, a rule's and a conflict's finding come in one run."""
    resources = answer(
        device_config(BASE | {"oops": 1, "nodeSelector": {"gpu": "b"}}, "unknown-field"),
        device_config(BASE | {"nodeSelector": {}}, "no-selector"),
        device_config(BASE, "one"),
        device_config(BASE, "two"),
    )
    rules = {(finding.ref.name if finding.ref else "", finding.rule) for finding in resources.results}
    assert {("unknown-field", "KRM101"), ("no-selector", "KRM123"), ("one", "KRM302")} <= rules
    assert resources.changes == []


@pytest.mark.parametrize("value", [None, {}, {"n": "a"}])
def test_absent_empty_and_given_selectors_are_three_things(value: dict[str, str] | None) -> None:
    messages = [
        finding.message
        for finding in answer(device_config(BASE | {"nodeSelector": value})).results
        if finding.severity == "error"
    ]
    starts = [] if value else ["nodeSelector is {}" if value == {} else "nodeSelector is missing"]
    assert [message.startswith(start) for message, start in zip(messages, starts, strict=True)] == [True] * len(starts)


CHECKED = Settings(CHECK)
MODULE = module(name="written", selector={}, modprobe={"moduleName": "written"})


def test_a_written_module_is_linted_beside_configs_and_in_files() -> None:
    """In a pipeline that has nothing for us, only what the cluster refuses is said."""
    assert findings(answer(MODULE)) == []
    beside = answer(MODULE, device_config(BASE | {"nodeSelector": {"gpu": "b"}}))
    assert "KRM201" in [finding.rule for finding in beside.results if finding.ref and finding.ref.name == "written"]
    files = answer(MODULE, settings=CHECKED)
    assert [(finding.rule, finding.severity) for finding in findings(files)] == [("KRM201", "warning")]
    refused = edited(MODULE, ("spec.moduleLoader.container.kernelMappings[0].regexp", "["))
    assert [finding.rule for finding in findings(answer(refused))] == ["KMM023"]


def test_a_rule_that_is_turned_off_without_a_reason_stays_on_with_a_finding() -> None:
    note = {"krmfn.dev/ignore": "KRM201; KRM213: it is meant"}
    files = answer(edited(MODULE, ("metadata.annotations", note)), settings=CHECKED)
    assert [str(finding) for finding in findings(files)] == [
        "warning: Module kmm/written: metadata.annotations[krmfn.dev/ignore]: KRM201 is turned off without a reason; "
        "write `KRM201: why` [KRM115]",
        "warning: Module kmm/written: spec.selector: selector {} is every node of the cluster, control plane included; "
        "name labels of the nodes meant [KRM201]",
        "info: Module kmm/written: metadata.annotations[krmfn.dev/ignore]: KRM213 is turned off, but nothing that "
        "was checked has such a finding; remove the entry [KRM139]",
    ]
    field = findings(files)[0].field
    assert field and field.current == "KRM201"


@pytest.mark.parametrize(
    ("notes", "warned"),
    [
        ({"kustomize.config.k8s.io/id": "1"}, True),
        ({"kustomize.config.k8s.io/id": "1", "config.kubernetes.io/local-config": "false"}, True),
        ({"kustomize.config.k8s.io/id": "1", "config.kubernetes.io/local-config": "true"}, False),
        ({}, False),
    ],
)
def test_under_kustomize_a_config_is_marked_as_local(notes: dict[str, str], warned: bool) -> None:
    item = device_config(BASE, annotations=notes)
    warnings = [str(finding) for finding in answer(item).results if finding.rule == "KRM104"]
    mark = 'config.kubernetes.io/local-config: "true"'
    text = f"would be deployed with its generated objects; mark it with the annotation {mark} [KRM104]"
    assert warnings == ([f"warning: DeviceConfig kmm/dc: {text}"] if warned else [])


@pytest.mark.parametrize(
    ("account", "kinds"),
    [
        ({"create": True}, ["ServiceAccount"]),
        ({"openshift": True}, ["RoleBinding"]),
        ({"create": True, "openshift": True}, ["ServiceAccount", "RoleBinding"]),
        ({"create": False, "openshift": False}, []),
    ],
)
def test_rbac_is_generated_as_serviceaccount_says(account: dict[str, bool], kinds: list[str]) -> None:
    spec = BASE | {"serviceAccountName": "sa", "serviceAccount": account | {"podSecurity": "privileged"}}
    objects = {item.kind: item.manifest for item in answer(device_config(spec)).items if item.group != "krmfn.dev"}
    assert [kind for kind in objects if kind in ("ServiceAccount", "RoleBinding")] == kinds
    if "ServiceAccount" in objects:
        service_account = objects["ServiceAccount"]
        assert service_account["apiVersion"] == "v1"
        assert service_account["metadata"].items() >= {"name": "sa", "namespace": "kmm"}.items()
        assert set(service_account) == {"apiVersion", "kind", "metadata"}
    if "RoleBinding" in objects:
        assert objects["RoleBinding"]["subjects"] == [{"kind": "ServiceAccount", "name": "sa", "namespace": "kmm"}]
        assert objects["RoleBinding"]["roleRef"]["name"] == "system:openshift:scc:privileged"
    without = answer(device_config(BASE | {"serviceAccount": {"openshift": True, "podSecurity": "privileged"}}))
    assert not without.where(kind="RoleBinding")


def test_a_pod_s_labels_are_its_own_over_the_daemonset_s_and_ours_over_both() -> None:
    ours = {"app.kubernetes.io/name": "no", "krmfn.dev/daemonset": "no", "krmfn.dev/served-by": "no"}
    entry = {
        **BASE["daemonSets"][0],
        "labels": {"team": "a", "tier": "x"},
        "podLabels": {"tier": "y", "app": "b", **ours},
        "service": {"port": 80},
    }
    resources = answer(device_config(BASE | {"labels": {"team": "no", "site": "s"}, "daemonSets": [entry]}))
    (daemon,), (service,) = resources.where(kind="DaemonSet"), resources.where(kind="Service")
    labels = daemon.manifest["spec"]["template"]["metadata"]["labels"]
    assert labels == {
        "site": "s",
        "team": "a",
        "tier": "y",
        "app": "b",
        "app.kubernetes.io/name": "dc",
        "app.kubernetes.io/component": "consumer",
        "app.kubernetes.io/part-of": "dc",
        "app.kubernetes.io/managed-by": "krmfn",
        "krmfn.dev/daemonset": "dc-agent",
        "krmfn.dev/served-by": "dc-agent",
    }
    assert daemon.labels["tier"] == "x"
    assert service.manifest["spec"]["selector"] == {"krmfn.dev/served-by": "dc-agent"}


@pytest.mark.parametrize(
    ("config", "pool", "image"),
    [
        ({"driverImage": "a"}, {"driverImageParts": {"repository": "b", "tag": "1"}}, "b:1"),
        ({"driverImageParts": {"repository": "b", "tag": "1"}}, {"driverImage": "a"}, "a:1.0-$KERNEL_FULL_VERSION"),
        ({"driverImage": "a"}, {"driverImage": "c"}, "c:1.0-$KERNEL_FULL_VERSION"),
        ({"driverImage": "a"}, {}, "a:1.0-$KERNEL_FULL_VERSION"),
    ],
)
def test_a_pool_s_image_replaces_the_config_s_however_it_is_written(
    config: dict[str, Any], pool: dict[str, Any], image: str
) -> None:
    pools = [{"name": "p", "nodeSelector": {"gpu": "a"}, **pool}]
    spec = BASE | {"driverImage": None, "nodeSelector": None, "nodePools": pools}
    resources = answer(device_config(spec | config))
    assert not resources.failed, [str(finding) for finding in resources.results]
    (module,) = resources.where(kind="Module")
    assert module.manifest["spec"]["moduleLoader"]["container"]["kernelMappings"][0]["containerImage"] == image


@pytest.mark.parametrize(
    ("clusters", "nodes", "rules"),
    [("a", "a", ["KRM302"]), ("a", "b", []), ("b", "a", []), ("b", "b", [])],
)
def test_on_a_hub_clusters_and_nodes_tell_two_configs_apart(clusters: str, nodes: str, rules: list[str]) -> None:
    first, second = (
        BASE
        | {"daemonSets": None, "nodeSelector": {"gpu": gpu}}
        | {"hub": {"spokeNamespace": "kmm", "clusterSelector": {"site": site}}}
        for gpu, site in (("a", "a"), (nodes, clusters))
    )
    for items in ([], [node("hub-1", gpu="a")]):  # the hub's own nodes say nothing about the spokes
        results = findings(answer(device_config(first, "one"), device_config(second, "other"), *items))
        assert [finding.rule for finding in results] == rules
        assert all("cluster site=a" in finding.message for finding in results)
    assert findings(answer(device_config(first, "one"), device_config(first | {"hub": None}, "here"))) == []
