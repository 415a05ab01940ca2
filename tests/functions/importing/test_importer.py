"""What becomes of hand-written Modules and of the DaemonSets that wait for them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from krmfn_functions.deviceconfig import deviceconfig
from krmfn_functions.importing import assembly
from krmfn_functions.importing.comparing import compare
from krmfn_functions.importing.drafts import rendered
from krmfn_functions.importing.importer import Import, extra_of, import_modules, with_settings
from krmfn_functions.importing.normal import normal
from krmfn_functions.importing.wording import ClusterImport, report
from krmfn_functions.kmm.module import Module
from krmfn_functions.kmm.resolution import is_insecure, resolver
from krmfn_functions.run import Run
from krmfn_functions.settings import RENDER, Settings

from krmfn import Manifest
from krmfn.resource import ref
from tests.builders import (
    AGENT,
    DROP,
    EVERY_KERNEL,
    SPEC,
    applied,
    device_config,
    edited,
    function_config,
    generated,
    manifest,
    module,
)
from tests.functions.importing.manifests import CONTAINER, DUMPED_EXPORTER, DUMPED_GPU, EXPORTER, GPU, RUN, C, P
from tests.schema_corpus import samples


def config_of(result: Import) -> Manifest:
    """Return the only config of an import that keeps nothing."""
    assert result.kept == (), result.kept
    (conversion,) = result.conversions
    return conversion.config


def imported(*manifests: Manifest) -> Manifest:
    """Return the only config that these become."""
    return config_of(import_modules(manifests, RUN))


def reasons_of_differences(result: Import) -> dict[tuple[str, str], str]:
    """Return the reasons of the differences, by object and path."""
    pairs = result.conversions[0].differences
    return {(f"{ref.kind} {ref.name}", difference.change.path): difference.reason for ref, difference in pairs}


def reasons(*manifests: Manifest) -> dict[str, tuple[str, ...]]:
    """Return why objects stay as they are, by their names."""
    return {item.manifest["metadata"]["name"]: item.reasons for item in import_modules(manifests, RUN).kept}


def test_a_module_and_its_consumer_become_one_config() -> None:
    result = import_modules([GPU, EXPORTER], RUN)
    assert config_of(result)["spec"] == {
        "driverImage": "example.com/simple:$KERNEL_FULL_VERSION",
        "nodeSelector": {"gpu": "a"},
        "moduleName": "simple",
        "labels": {"team": "drivers"},
        "daemonSets": [
            {
                "name": "metrics",
                "matchLabels": {"app": "gpu-metrics"},
                "containerName": "exporter",
                "image": "registry.example.com/exporter:1",
                "ports": [{"containerPort": 9400}],
                "livenessProbe": {"httpGet": {"path": "/", "port": 9400}},
                "volumes": [{"name": "sys", "hostPath": {"path": "/sys"}}],
                "volumeMounts": [{"name": "sys", "mountPath": "/sys"}],
            }
        ],
    }
    labels = "labels of a config are set on all its objects, and those of a DaemonSet on its pods"
    selector = "the Module's own selector: without it a node that leaves the selector could never unload"
    assert reasons_of_differences(result) == {
        ("DaemonSet gpu-metrics", "metadata.labels.team"): labels,
        ("DaemonSet gpu-metrics", "spec.template.metadata.labels.team"): labels,
        ("DaemonSet gpu-metrics", f"{P}.nodeSelector.gpu"): selector,
    }


def test_what_the_server_sets_is_taken_off() -> None:
    assert imported(DUMPED_GPU, DUMPED_EXPORTER) == imported(GPU, EXPORTER)


def test_with_adopt_the_objects_are_taken_over_without_another_meaning() -> None:
    """On the list as on the cluster: each object stays, and nothing but the differences that were named is another."""
    dumped = (DUMPED_GPU, DUMPED_EXPORTER)
    result = import_modules(dumped, RUN)
    resources = applied(deviceconfig, *dumped, config_of(result), function_config=function_config(adopt=True))
    assert not resources.failed, [str(result) for result in resources.results]
    items = [item for item in resources.items if item.kind != "DeviceConfig"]
    changes = {
        (item.ref, difference.change.path)
        for item, old in zip(items, dumped, strict=True)
        for difference in compare(old, item.manifest, {"gpu": "a"})
    }
    assert changes == {(ref, difference.change.path) for ref, difference in result.conversions[0].differences}
    for old, item in zip(dumped, items, strict=True):
        assert old["metadata"]["uid"] == item.manifest["metadata"]["uid"]
    assert items[1].manifest["spec"]["selector"] == EXPORTER["spec"]["selector"]


ENTRY = "as a DeviceConfig, spec.daemonSets[0]"


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        (f"{P}.shareProcessNamespace", True, None),
        (f"{P}.activeDeadlineSeconds", 5, f"{ENTRY}.podSpec.activeDeadlineSeconds: cannot"),
        (f"{P}.nodeSelector.extra", "x", None),
        (f"{P}.containers", [CONTAINER, {"name": "b", "image": "registry.example.com/b:1"}], None),
        (f"{P}.imagePullSecrets", [{"name": "a"}], None),
        (f"{C}.tty", True, f"{ENTRY}.tty: unknown field 'tty'"),
        (f"{C}.name", "other", None),
        ("metadata.namespace", "elsewhere", "nothing of this name is rendered"),
        (f"{P}.terminationGracePeriodSeconds", 31, None),
        (f"{P}.serviceAccountName", "default", None),
        (f"{P}.hostNetwork", False, None),
    ],
)
def test_a_field_of_a_consumer_is_expressed_or_named(path: str, value: Any, reason: str | None) -> None:
    result = import_modules([GPU, edited(EXPORTER, (path, value))], RUN)
    if reason is None:
        config_of(result)
        return
    (kept,) = result.kept
    assert kept.manifest["metadata"]["name"] == "gpu-metrics"
    assert [text.startswith(reason) for text in kept.reasons] == [True], kept.reasons
    assert "daemonSets" not in result.conversions[0].config["spec"]


@pytest.mark.parametrize(
    ("gpu", "reason"),
    [
        (edited(GPU, ("spec.imageRebuildTriggerGeneration", 3)), "spec.imageRebuildTriggerGeneration: a DeviceConfig "),
        (edited(GPU, ("spec.moduleLoader.container.modprobe.dirName", "")), "spec.moduleLoader.container.modprobe.dir"),
        (edited(GPU, ("spec.moduleLoader", DROP)), "it loads nothing and starts nothing"),
        (edited(GPU, ("spec.moduleLoader.container.modprobe", {})), "as a DeviceConfig, spec.moduleName: "),
    ],
)
def test_a_module_that_cannot_be_expressed_stays_with_its_consumers(gpu: Manifest, reason: str) -> None:
    kept = reasons(gpu, EXPORTER)
    assert kept["gpu"][0].startswith(reason), kept
    assert kept["gpu-metrics"] == ("its Module stays as it is",)


def test_a_consumer_without_its_module_stays() -> None:
    assert reasons(EXPORTER) == {"gpu-metrics": ("its Module kmm/gpu is not in the input",)}


def test_what_is_kept_is_without_what_the_server_sets() -> None:
    (kept,) = import_modules([DUMPED_EXPORTER], RUN).kept
    assert set(kept.manifest["metadata"]) == {"name", "namespace"}
    assert "status" not in kept.manifest


def test_other_objects_are_counted() -> None:
    label = (("metadata", "labels", "kmm.node.kubernetes.io/module.name"), "gpu")
    of_kmm = edited(EXPORTER, ("metadata.name", "x"), label)
    other = edited(EXPORTER, ("metadata.name", "y"), (f"{P}.nodeSelector", {"a": "b"}))
    result = import_modules([GPU, of_kmm, other, manifest("v1", "Secret")], RUN)
    assert (len(result.conversions[0].objects), result.kept, result.others) == (1, (), 3)


@pytest.mark.parametrize(
    "container",
    [
        {"containerImage": "example.com/gpu:1-$KERNEL_FULL_VERSION", "kernelMappings": [EVERY_KERNEL]},
        {"inTreeModuleToRemove": "old"},
    ],
)
def test_another_way_to_write_the_same_is_named(container: dict[str, Any]) -> None:
    result = import_modules([module(name="gpu", **container)], RUN)
    config_of(result)
    reason = "it is written in each kernel mapping, or as a list: KMM reads both the same way"
    assert {*reasons_of_differences(result).values()} == {reason}


REMOVED = [
    ({"inTreeModulesToRemove": ["a"]}, {"inTreeModulesToRemove": []}),
    ({}, {"inTreeModulesToRemove": []}),
    ({"inTreeModuleToRemove": "a"}, {"inTreeModulesToRemove": ["b"]}),
    ({"inTreeModuleToRemove": "a"}, {}),
    ({"inTreeModuleToRemove": "a", "inTreeModulesToRemove": ["c"]}, {}),
    ({"inTreeModulesToRemove": ["c"]}, {"inTreeModuleToRemove": "b", "inTreeModulesToRemove": ["d"]}),
]


@pytest.mark.parametrize(("container", "mapping"), REMOVED, ids=str)
def test_what_is_removed_first_stays_what_kmm_reads(container: dict[str, Any], mapping: dict[str, Any]) -> None:
    """An empty list of a mapping counts, and the old field wins: a config that loses one unloads another module."""
    gpu = module({**EVERY_KERNEL, **mapping}, name="gpu", **container)
    for conversion in import_modules([gpu], RUN).conversions:
        objects = generated(rendered([conversion.config], RUN))
        assert resolver(Module(objects[0]))("6.1.0-test") == resolver(Module(gpu))("6.1.0-test")


TLS = {
    "of the container": ({"registryTLS": {}}, {}),
    "of the container, in words": ({"registryTLS": {"insecure": False}}, {}),
    "of a mapping": ({}, {"registryTLS": {}}),
    "of a build": ({}, {"build": {"dockerfileConfigMap": {"name": "d"}, "baseImageRegistryTLS": {}}}),
    "insecure over an empty one": ({"registryTLS": {}}, {"registryTLS": {"insecureSkipTLSVerify": True}}),
}


@pytest.mark.parametrize(("container", "mapping"), TLS.values(), ids=TLS)
def test_empty_tls_settings_are_written_by_every_operator_in_go(
    container: dict[str, Any], mapping: dict[str, Any]
) -> None:
    """They were "a DeviceConfig has no field for it", and with them each Module that a Go operator wrote."""
    gpu = module({**EVERY_KERNEL, **mapping}, name="gpu", **container)
    (again,) = generated(rendered([imported(gpu)], RUN))
    before, after = Module(gpu), Module(again)
    assert is_insecure(after, after.mappings[0]) is is_insecure(before, before.mappings[0])


def test_an_empty_tls_setting_over_an_insecure_container_cannot_be_expressed() -> None:
    """It verifies TLS for one mapping, and nothing that is rendered would."""
    gpu = module({**EVERY_KERNEL, "registryTLS": {}}, name="gpu", registryTLS={"insecure": True})
    reason = "spec.moduleLoader.container.kernelMappings[0].registryTLS: a DeviceConfig has no field for it"
    assert reasons(gpu)["gpu"] == (reason,)


def test_empty_arguments_stay_since_kmm_would_reload_without_them() -> None:
    result = import_modules([module(name="gpu", modprobe={"moduleName": "gpu", "args": {}})], RUN)
    assert config_of(result)["spec"]["loadArgs"] == []
    assert result.conversions[0].differences == ()


def test_pods_that_no_config_can_leave_as_they_are_stay_by_hand() -> None:
    for path, value in ((f"{C}.securityContext", {}), (f"{P}.serviceAccountName", "default")):
        (kept,) = import_modules([GPU, edited(EXPORTER, (path, value))], RUN, keeps_pods=True).kept
        assert kept.reasons


def test_an_empty_list_that_counts_cannot_be_expressed() -> None:
    gpu = module({**EVERY_KERNEL, "inTreeModulesToRemove": []}, name="gpu", inTreeModulesToRemove=["a"])
    (reason,) = reasons(gpu)["gpu"]
    assert reason.endswith("inTreeModulesToRemove: must not be empty; leave the field out if it is not needed")


def test_older_versions_of_an_ordered_upgrade_are_retained() -> None:
    spec = SPEC | {"driverVersion": "1.1", "upgrade": {"ordered": True, "retain": ["1.0"]}, "daemonSets": [AGENT]}
    objects = generated(applied(deviceconfig, device_config(spec)))
    assert imported(*objects)["spec"] == spec
    (agent,) = (item for item in objects if item["metadata"]["name"] == "dc-agent-1-0")
    agent["spec"]["template"]["spec"]["containers"][0]["image"] = "registry.example.com/agent:0"
    assert set(reasons(*objects)) == {"dc-agent-1-0"}


def test_labels_that_we_have_ourselves_are_replaced_and_named() -> None:
    mine = {"app.kubernetes.io/name": "mine"}
    gpu = edited(GPU, ("metadata.labels", mine))
    exporter = edited(EXPORTER, ("spec.selector.matchLabels", mine), ("spec.template.metadata.labels", mine))
    result = import_modules([gpu, exporter], RUN)
    config_of(result)
    differences = reasons_of_differences(result)
    assert differences.pop(("DaemonSet gpu-metrics", f"{P}.nodeSelector.gpu"))
    ours = "krmfn sets this on every object that it generates"
    assert differences == {("Module gpu", "metadata.labels[app.kubernetes.io/name]"): ours}, "pods keep their labels"


def test_a_consumer_of_any_version_is_one_for_all_versions() -> None:
    config = imported(module(name="gpu", version="1.0"), EXPORTER)
    assert config["spec"]["daemonSets"][0]["perVersion"] is False


def test_a_consumer_that_waits_for_another_kind_of_module_stays_alone() -> None:
    """It is not what keeps the Module from being expressed."""
    gate = "kmm.node.kubernetes.io/version-module.kmm.gpu"
    waiting = edited(EXPORTER, (("spec", "template", "spec", "nodeSelector", gate), "1.0"))
    result = import_modules([GPU, waiting], RUN)
    assert (len(result.conversions), result.kept[0].reasons) == (
        1,
        ("it waits for a version, and its Module has none",),
    )


OWNER = [{"apiVersion": "amd.com/v1alpha1", "kind": "DeviceConfig", "name": "cr", "uid": "1", "controller": True}]


def test_what_belongs_to_the_owner_of_a_module_is_imported_also_where_it_does_not_wait() -> None:
    labeller = edited(
        EXPORTER,
        ("metadata", {"name": "gpu-labeller", "namespace": "kmm", "ownerReferences": OWNER}),
        (f"{P}.nodeSelector", {"gpu": "a"}),
    )
    owned = edited(GPU, ("metadata.ownerReferences", OWNER))
    (entry,) = imported(owned, labeller)["spec"]["daemonSets"]
    assert (entry["name"], entry["waitsForModule"]) == ("labeller", False)
    for path, value in (
        ("metadata.ownerReferences", [{**OWNER[0], "name": "other"}]),
        ("metadata.ownerReferences", []),
        ("metadata.namespace", "other"),
    ):
        result = import_modules([owned, edited(labeller, (path, value))], RUN)
        assert "daemonSets" not in config_of(result)["spec"] and result.others == 1


def test_drivers_that_share_nodes_have_a_profile_each() -> None:
    nic = edited(module(name="nic", selector={"gpu": "a"}), ("spec.moduleLoader.container.modprobe.moduleName", "nic"))
    configs, shared = assembly.assemble(import_modules([GPU, nic], RUN).conversions, RUN)
    assert shared is not None
    assert shared["spec"]["profiles"] == {"simple": {"moduleName": "simple"}, "nic": {"moduleName": "nic"}}
    assert assembly.errors(configs, RUN, shared) == []


def test_a_profile_that_is_there_is_used_and_stays_where_it_is() -> None:
    existing = function_config(profiles={"gpu": {"moduleName": "simple"}})
    configs, new = assembly.assemble(import_modules([GPU], RUN, existing).conversions, RUN, existing)
    assert ([config["spec"].get("profile") for config in configs], new) == (["gpu"], None)
    assert assembly.errors(configs, RUN, new, existing) == []


def test_a_profile_has_what_configs_of_a_driver_share() -> None:
    plugins = [{"image": f"registry.example.com/plugin:{number}", "args": ["-v"]} for number in (1, 2)]
    gpus = [
        edited(module(name=name, selector={"gpu": name}), ("spec.devicePlugin.container", plugin))
        for name, plugin in zip("ab", plugins, strict=True)
    ]
    configs, shared = assembly.assemble(import_modules(gpus, RUN).conversions, RUN)
    assert shared is not None
    assert shared["spec"]["profiles"] == {
        "simple": {
            "driverImage": "example.com/simple:$KERNEL_FULL_VERSION",
            "moduleName": "simple",
            "devicePlugin": {"args": ["-v"]},
        }
    }
    assert configs[0]["spec"] == {
        "profile": "simple",
        "nodeSelector": {"gpu": "a"},
        "devicePlugin": {"image": "registry.example.com/plugin:1"},
    }


def test_the_kmm_version_reaches_the_render_and_the_function_config() -> None:
    gpu = module(name="gpu", version="1.0")
    run = Run(settings=Settings(RENDER, flags={"kmm-version": "2.4"}))
    _, shared = assembly.assemble(import_modules([gpu], run).conversions, run)
    assert shared is not None
    assert shared["spec"] == {"kmm": {"version": "2.4"}}


def test_a_module_for_the_spokes_of_a_hub_is_expressed() -> None:
    hub = {"spokeNamespace": "kmm", "clusterSelector": {"region": "eu"}}
    spec = SPEC | {"hub": hub}
    (managed,) = generated(applied(deviceconfig, device_config(spec)))
    assert imported(managed)["spec"] == spec
    folded = edited(managed, ("spec.moduleSpec.moduleLoader.container.containerImage", "example.com/gpu:1"))
    imported(folded)
    odd = edited(managed, ("spec.moduleSpec.imageRebuildTriggerGeneration", 1))
    assert reasons(odd)["dc"] == ("spec.moduleSpec.imageRebuildTriggerGeneration: a DeviceConfig has no field for it",)


def test_what_a_config_gives_to_all_its_objects_is_named() -> None:
    gpu = edited(GPU, ("metadata.annotations", {"contact": "x"}), ("spec.imageRepoSecret", {"name": "pull"}))
    result = import_modules([gpu, EXPORTER], RUN)
    config_of(result)
    by_path = {path: reason for (_, path), reason in reasons_of_differences(result).items()}
    assert by_path["metadata.annotations.contact"] == "annotations of a config are set on all its objects"
    assert by_path[f"{P}.imagePullSecrets"] == "the pull secret of a config is for all its images"


def owned(kind: str, name: str, api: str = "v1", owner: str = "cr", **fields: Any) -> Manifest:
    """Return an object of the owner of this name."""
    return {**manifest(api, kind, name, ownerReferences=[{**OWNER[0], "name": owner}]), **fields}


def test_the_mark_of_a_profile_that_a_config_without_one_does_not_make_is_told_as_gone() -> None:
    marked = edited(module(), ("metadata.annotations", {"krmfn.dev/profile": "amd-gpu"}))
    text = report([ClusterImport("there", "", import_modules([marked], RUN))], None)
    assert "krmfn sets this where a Profile makes the object, and here none does:\n" in text
    assert 'metadata.annotations[krmfn.dev/profile]: "amd-gpu" -> (none)\n' in text


def test_what_else_belongs_to_the_owner_is_in_the_profile_of_the_config() -> None:
    gpu, nic = (
        edited(
            module(name=name, selector={"gpu": name}),
            ("metadata.ownerReferences", [{**OWNER[0], "name": f"cr-{name}"}]),
            ("spec.moduleLoader.container.modprobe.moduleName", "drv"),
        )
        for name in ("gpu", "nic")
    )
    owner = "cr-gpu"
    settings = owned("ConfigMap", "settings", owner=owner, data={"a": "b"})
    secret = owned("Secret", "keys", owner=owner, data={"a": "Yg=="})
    role = owned("ClusterRole", "wide", "rbac.authorization.k8s.io/v1", owner, rules=[])
    del role["metadata"]["namespace"]
    stranger = owned("ConfigMap", "stranger", data={"a": "b"})
    result = import_modules([gpu, nic, settings, secret, role, stranger], RUN)
    assert [sibling.name for sibling in result.siblings] == ["keys", "wide"] and result.others == 3
    configs, shared = assembly.assemble(result.conversions, RUN)
    assert shared is not None
    names = [item.name for item in rendered(configs, RUN, shared).items if item.kind == "ConfigMap"]
    assert names == ["settings"], "once, though both configs have one driver"
    assert "Secret" not in str(shared)


def test_tolerations_of_the_module_alone_are_the_loader_s() -> None:
    first, second = {"key": "gpu", "operator": "Exists"}, {"key": "other", "operator": "Exists"}
    gpu = edited(GPU, ("spec.tolerations", [first, second]))
    assert imported(gpu, EXPORTER)["spec"]["loaderTolerations"] == [first, second]
    spec = imported(gpu, edited(EXPORTER, (f"{P}.tolerations", [second])))["spec"]
    assert (spec["tolerations"], spec["loaderTolerations"]) == ([second], [first])
    assert imported(gpu)["spec"]["tolerations"] == [first, second]


SAMPLE = samples()[0]["spec"]
ENTRY_FIELDS = {
    name: value for name, value in SAMPLE["daemonSets"][0].items() if name not in ("serviceAccount", "keepPodTemplate")
}
TOGETHER = ("volumes", "volumeMounts", "initContainers", "ports", "service", "livenessProbe", "containers")
"""Fields of a DaemonSet that name each other."""


def some(fields: dict[str, Any], *needed: str) -> st.SearchStrategy[dict[str, Any]]:
    """Return some of the fields, and those that are needed."""
    optional = {name: st.just(value) for name, value in fields.items() if name not in needed}
    return st.fixed_dictionaries({name: st.just(fields[name]) for name in needed}, optional=optional)


LEFT_OUT = ("profile", "driverImageParts", "allNodes", "inTreeDriver", "nodeSelector", "daemonSets", "serviceAccount")
"""Fields that say the same in another form, and objects that are neither Modules nor consumers."""
DAEMON_SETS = st.builds(
    lambda fields, group: fields | ({name: ENTRY_FIELDS[name] for name in TOGETHER} if group else {}),
    some({name: value for name, value in ENTRY_FIELDS.items() if name not in TOGETHER}, "name", "imageParts"),
    st.booleans(),
)
SPECS = st.builds(
    lambda fields, sets: SPEC | fields | ({"daemonSets": sets} if sets else {}),
    some({name: value for name, value in SAMPLE.items() if name not in LEFT_OUT}),
    st.lists(DAEMON_SETS, max_size=1),
)


def objects_of(spec: dict[str, Any]) -> list[Manifest]:
    """Return what a config with this spec renders; one with an error is no example."""
    resources = applied(deviceconfig, device_config(spec), settings=RUN.settings)
    assume(not resources.failed)
    return generated(resources)


@given(SPECS)
def test_what_a_config_renders_is_imported_and_rendered_again(spec: dict[str, Any]) -> None:
    objects = objects_of(spec)
    config = imported(*objects)
    again = generated(rendered([config], RUN))
    assert [normal(item) for item in again] == [normal(item) for item in objects]
    assert imported(*again) == config


@given(SPECS, st.data())
def test_with_a_function_config_that_is_there_it_renders_the_same(spec: dict[str, Any], data: st.DataObject) -> None:
    objects = objects_of(spec)
    shared = data.draw(st.sets(st.sampled_from(sorted(spec))), label="in the profile")
    others = data.draw(st.dictionaries(st.sampled_from(["firmwarePath", "dirName"]), st.just("/other")), label="other")
    profiles = {"some": {key: spec[key] for key in shared - {"nodeSelector", "daemonSets"}}, "other": others}
    existing = function_config(profiles=profiles, defaults=others if data.draw(st.booleans(), label="defaults") else {})
    assume(not rendered([], RUN, existing).failed)
    result = import_modules(objects, RUN, existing)
    configs, new = assembly.assemble(result.conversions, RUN, existing)
    again = rendered(configs, RUN, with_settings(existing, **(new or {"spec": {}})["spec"]))
    ids = {ref(item).id for conversion in result.conversions for item in conversion.objects}
    assert {ref(item).id for item in objects} == ids | {ref(item.manifest).id for item in result.kept}
    assert [normal(item) for item in generated(again)] == [normal(item) for item in objects if ref(item).id in ids]


@given(SPECS)
def test_pod_templates_stay_as_they_are_where_that_is_asked_for(spec: dict[str, Any]) -> None:
    objects = [item for item in objects_of(spec) if item["kind"] != "Service"]
    for item in objects:  # as somebody else has made them
        template = item["spec"].get("template", {})
        for labels in (item["metadata"]["labels"], template.get("metadata", {}).get("labels", {})):
            for key in [key for key in labels if key.startswith(("app.kubernetes.io/", "krmfn.dev/served"))]:
                labels[key] = "other"
    config = config_of(import_modules(objects, RUN, keeps_pods=True))
    again = {ref(item).id: item for item in generated(rendered([config], RUN))}
    for item in (item for item in objects if item["kind"] == "DaemonSet"):
        new, old = (manifest["spec"]["template"] for manifest in (again[ref(item).id], item))
        assert new["metadata"] == old["metadata"]
        new, old = (normal({"metadata": {}, "spec": {"template": template}}) for template in (new, old))
        assert new == old


def test_an_extra_service_keeps_no_address_that_the_server_gave_it() -> None:
    """Another cluster would refuse the address, and this one a second Service with it."""
    spec = {"ports": [{"port": 5000}], "selector": {"app": "gpu"}}
    of_server = {"clusterIP": "10.0.0.3", "clusterIPs": ["10.0.0.3"], "ipFamilies": ["IPv4"]}
    service = {**manifest("v1", "Service", "gpu-metrics"), "spec": {**spec, **of_server}}
    assert extra_of(service)["spec"] == spec
    headless = {**service, "spec": {**spec, "clusterIP": "None"}}
    assert extra_of(headless)["spec"] == headless["spec"]


def test_an_extra_service_keeps_the_two_families_that_somebody_chose() -> None:
    spec = {"ports": [{"port": 5000}], "ipFamilyPolicy": "PreferDualStack"}
    service = {**manifest("v1", "Service", "gpu-metrics"), "spec": {**spec, "ipFamilies": ["IPv6", "IPv4"]}}
    assert extra_of(service)["spec"] == spec
    assert extra_of({**service, "spec": {**spec, "ipFamilyPolicy": "SingleStack"}})["spec"] == {"ports": spec["ports"]}


def test_a_service_that_stays_keeps_its_address() -> None:
    """It is written as it is: nothing tells an address of the server's from one that somebody chose."""
    spec = {"clusterIP": "10.0.0.3", "ipFamilies": ["IPv4"], "ports": [{"port": 5000}]}
    service = {**manifest("v1", "Service", "gpu-metrics"), "spec": spec}
    waiting = edited(EXPORTER, (("spec", "template", "metadata", "labels", "krmfn.dev/served-by"), "gpu-metrics"))
    result = import_modules([waiting, service], RUN)
    kept = {item.manifest["kind"]: item.manifest for item in result.kept}
    assert kept["Service"]["spec"] == spec


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("metadata.ownerReferences", 1),
        ("spec.tolerations", "x"),
        ("spec.moduleLoader.container.kernelMappings", 1),
        ("spec.moduleLoader.container.kernelMappings[0]", "x"),
        ("spec.moduleLoader.container.kernelMappings[0].containerImage", {}),
        ("spec.moduleLoader.container.kernelMappings[0].containerImage", ["x"]),
    ],
)
def test_a_module_with_a_value_of_another_type_stays_as_it_is(path: str, value: Any) -> None:
    """Of what is not there the owner is no reason: the server removes it."""
    result = import_modules([edited(GPU, (path, value)), EXPORTER], RUN)
    assert {item.manifest["kind"] for item in result.kept} == (set() if "owner" in path else {"Module", "DaemonSet"})


_MARKED = {"krmfn.dev/owner": "deviceconfig krmfn.dev|DeviceConfig|kmm|gpu apps|DaemonSet|kmm|gpu-metrics"}
LISTS_OF_PODS = ("containers", "initContainers", "volumes", "imagePullSecrets")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("metadata.labels", ["x"]),
        ("spec.selector", ["x"]),
        ("spec.template.metadata", "x"),
        ("spec.template.metadata.labels", "x"),
        *((f"{P}.{name}", 1) for name in (*LISTS_OF_PODS, "tolerations")),
        *((f"{P}.{name}", ["x"]) for name in LISTS_OF_PODS),
        (f"{C}.volumeMounts", "x"),
        (f"{C}.volumes", ["x"]),
        (f"{P}.volumes[0]", {"name": "host-device-0", "hostPath": ["path"]}),
    ],
)
@pytest.mark.parametrize("marked", [{}, _MARKED], ids=["written", "generated"])
@pytest.mark.parametrize("keeps_pods", [False, True])
def test_a_consumer_with_a_value_of_another_type_stays_as_it_is(
    path: str, value: Any, marked: dict[str, str], keeps_pods: bool
) -> None:
    exporter = edited(EXPORTER, ("metadata.annotations", marked), (path, value))
    result = import_modules([GPU, exporter], RUN, keeps_pods=keeps_pods)
    assert [item.manifest["kind"] for item in result.kept] == ["DaemonSet"]
    assert len(result.conversions) == 1


@pytest.mark.parametrize("metadata", [DROP, [], "x"], ids=["none", "list", "text"])
def test_an_object_without_metadata_stays_as_it_is(metadata: Any) -> None:
    (kept,) = import_modules([edited(GPU, ("metadata", metadata))], RUN).kept
    assert kept.manifest == edited(GPU, ("metadata", metadata))


def test_many_configs_of_one_driver_are_compared_once_each() -> None:
    class Value(str):
        compared = 0

        def __ne__(self, other: object) -> bool:
            Value.compared += 1
            return not str.__eq__(self, other)

        def __eq__(self, other: object) -> bool:
            return not self != other

        __hash__ = str.__hash__

    specs = [{"moduleName": "gpu", "driverImage": Value("gpu:1")} for _ in range(50)]
    _, profiles = assembly.with_profiles([{"spec": spec} for spec in specs])
    assert profiles == {"gpu": {"moduleName": "gpu", "driverImage": "gpu:1"}}
    assert Value.compared < 150
