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
from tests.functions.importing.manifests import (
    CONTAINER,
    DUMPED_EXPORTER,
    DUMPED_GPU,
    EXPORTER,
    GPU,
    SETTINGS,
    C,
    P,
)
from tests.schema_corpus import samples


def config_of(whole: Import) -> Manifest:
    assert whole.kept == (), whole.kept
    (taken,) = whole.conversions
    return taken.config


def reasons(*manifests: Manifest) -> dict[str, tuple[str, ...]]:
    """Why objects stay as they are, by their names."""
    return {one.manifest["metadata"]["name"]: one.reasons for one in import_modules(manifests, SETTINGS).kept}


def test_a_module_and_its_consumer_become_one_config() -> None:
    whole = import_modules([GPU, EXPORTER], SETTINGS)
    assert config_of(whole)["spec"] == {
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
    (conversion,) = whole.conversions
    why = {(str(ref), difference.change.path): difference.reason for ref, difference in conversion.differences}
    assert why == {
        (
            "DaemonSet kmm/gpu-metrics",
            "metadata.labels.team",
        ): "labels of a config are set on all its objects, and those of a DaemonSet on its pods",
        ("DaemonSet kmm/gpu-metrics", "spec.template.metadata.labels.team"): "labels of a config are set on all its "
        "objects, and those of a DaemonSet on its pods",
        ("DaemonSet kmm/gpu-metrics", f"{P}.nodeSelector.gpu"): "the Module's own selector: without it a node that "
        "leaves the selector could never unload",
    }


def test_what_the_server_sets_is_taken_off() -> None:
    assert config_of(import_modules([DUMPED_GPU, DUMPED_EXPORTER], SETTINGS)) == config_of(
        import_modules([GPU, EXPORTER], SETTINGS)
    )


def test_with_adopt_the_objects_are_taken_over_without_another_meaning() -> None:
    """On the list as on the cluster: each object stays, and nothing but the differences that were named is another."""
    whole = import_modules([DUMPED_GPU, DUMPED_EXPORTER], SETTINGS)
    resources = applied(
        deviceconfig, DUMPED_GPU, DUMPED_EXPORTER, config_of(whole), function_config=function_config(adopt=True)
    )
    assert not resources.failed, [str(result) for result in resources.results]
    now = {item.ref: item.manifest for item in resources.items if item.kind != "DeviceConfig"}
    assert len(now) == 2
    named = {(ref, difference.change.path) for ref, difference in whole.conversions[0].differences}
    seen = {
        (ref, difference.change.path)
        for (ref, new), old in zip(now.items(), (DUMPED_GPU, DUMPED_EXPORTER), strict=True)
        for difference in compare(old, new, {"gpu": "a"})
    }
    assert seen == named
    for old, new in zip((DUMPED_GPU, DUMPED_EXPORTER), now.values(), strict=True):
        assert old["metadata"]["uid"] == new["metadata"]["uid"]
    assert now[list(now)[1]]["spec"]["selector"] == EXPORTER["spec"]["selector"]


@pytest.mark.parametrize(
    ("path", "value", "why"),
    [
        (f"{P}.shareProcessNamespace", True, None),
        (
            f"{P}.activeDeadlineSeconds",
            5,
            "as a DeviceConfig, spec.daemonSets[0].podSpec.activeDeadlineSeconds: cannot",
        ),
        (f"{P}.nodeSelector.extra", "x", None),
        (f"{P}.containers", [CONTAINER, {"name": "b", "image": "registry.example.com/b:1"}], None),
        (f"{P}.imagePullSecrets", [{"name": "a"}], None),
        (f"{C}.tty", True, "as a DeviceConfig, spec.daemonSets[0].tty: unknown field 'tty'"),
        (f"{C}.name", "other", None),
        ("metadata.namespace", "elsewhere", "nothing of this name is rendered"),
        (f"{P}.terminationGracePeriodSeconds", 31, None),
        (f"{P}.serviceAccountName", "default", None),
        (f"{P}.hostNetwork", False, None),
    ],
)
def test_a_field_of_a_consumer_is_expressed_or_named(path: str, value: Any, why: str | None) -> None:
    exporter = edited(EXPORTER, (path, value))
    whole = import_modules([GPU, exporter], SETTINGS)
    if why is None:
        config_of(whole)
        return
    (kept,) = whole.kept
    assert kept.manifest["metadata"]["name"] == "gpu-metrics"
    assert [reason.startswith(why) for reason in kept.reasons] == [True], kept.reasons
    assert "daemonSets" not in whole.conversions[0].config["spec"]


@pytest.mark.parametrize(
    ("gpu", "why"),
    [
        (edited(GPU, ("spec.imageRebuildTriggerGeneration", 3)), "spec.imageRebuildTriggerGeneration: a DeviceConfig "),
        (edited(GPU, ("spec.moduleLoader.container.modprobe.dirName", "")), "spec.moduleLoader.container.modprobe.dir"),
        (edited(GPU, ("spec.moduleLoader", DROP)), "it loads nothing and starts nothing"),
        (edited(GPU, ("spec.moduleLoader.container.modprobe", {})), "as a DeviceConfig, spec.moduleName: "),
    ],
)
def test_a_module_that_cannot_be_expressed_stays_with_its_consumers(gpu: Manifest, why: str) -> None:
    found = reasons(gpu, EXPORTER)
    assert found["gpu"][0].startswith(why), found
    assert found["gpu-metrics"] == ("its Module stays as it is",)


def test_a_consumer_without_its_module_stays() -> None:
    assert reasons(EXPORTER) == {"gpu-metrics": ("its Module kmm/gpu is not in the input",)}


def test_what_is_kept_is_without_what_the_server_sets() -> None:
    (kept,) = import_modules([DUMPED_EXPORTER], SETTINGS).kept
    assert set(kept.manifest["metadata"]) == {"name", "namespace"}
    assert "status" not in kept.manifest


def test_other_objects_are_counted() -> None:
    own = edited(
        EXPORTER, ("metadata.name", "x"), (("metadata", "labels", "kmm.node.kubernetes.io/module.name"), "gpu")
    )
    other = edited(EXPORTER, ("metadata.name", "y"), (f"{P}.nodeSelector", {"a": "b"}))
    whole = import_modules([GPU, own, other, manifest("v1", "Secret")], SETTINGS)
    assert (len(whole.conversions[0].objects), whole.kept, whole.others) == (1, (), 3)


@pytest.mark.parametrize(
    "container",
    [
        {"containerImage": "example.com/gpu:1-$KERNEL_FULL_VERSION", "kernelMappings": [EVERY_KERNEL]},
        {"inTreeModuleToRemove": "old"},
    ],
)
def test_another_way_to_write_the_same_is_named(container: dict[str, Any]) -> None:
    gpu = module(name="gpu", **container)
    whole = import_modules([gpu], SETTINGS)
    config_of(whole)
    assert {difference.reason for _, difference in whole.conversions[0].differences} == {
        "it is written in each kernel mapping, or as a list: KMM reads both the same way"
    }


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
    for one in import_modules([gpu], SETTINGS).conversions:
        made = generated(rendered([one.config], SETTINGS))
        assert resolver(Module(made[0]))("6.1.0-test") == resolver(Module(gpu))("6.1.0-test")


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
    whole = import_modules([gpu], SETTINGS)
    config_of(whole)
    (made,) = generated(rendered([whole.conversions[0].config], SETTINGS))
    before, after = Module(gpu), Module(made)
    assert is_insecure(after, after.mappings[0]) is is_insecure(before, before.mappings[0])


def test_an_empty_tls_setting_over_an_insecure_container_cannot_be_expressed() -> None:
    """It verifies TLS for one mapping, and nothing that is rendered would."""
    gpu = module({**EVERY_KERNEL, "registryTLS": {}}, name="gpu", registryTLS={"insecure": True})
    (why,) = reasons(gpu)["gpu"]
    assert why == "spec.moduleLoader.container.kernelMappings[0].registryTLS: a DeviceConfig has no field for it"


def test_empty_arguments_stay_since_kmm_would_reload_without_them() -> None:
    whole = import_modules([module(name="gpu", modprobe={"moduleName": "gpu", "args": {}})], SETTINGS)
    assert config_of(whole)["spec"]["loadArgs"] == []
    assert whole.conversions[0].differences == ()


def test_pods_that_no_config_can_leave_as_they_are_stay_by_hand() -> None:
    for path, value in ((f"{C}.securityContext", {}), (f"{P}.serviceAccountName", "default")):
        whole = import_modules([GPU, edited(EXPORTER, (path, value))], SETTINGS, keeps_pods=True)
        assert [reason.partition(":")[0] for one in whole.kept for reason in one.reasons] != []


def test_an_empty_list_that_counts_cannot_be_expressed() -> None:
    gpu = module({**EVERY_KERNEL, "inTreeModulesToRemove": []}, name="gpu", inTreeModulesToRemove=["a"])
    (why,) = reasons(gpu)["gpu"]
    assert why.endswith("inTreeModulesToRemove: must not be empty; leave the field out if it is not needed")


def test_older_versions_of_an_ordered_upgrade_are_retained() -> None:
    spec = SPEC | {"driverVersion": "1.1", "upgrade": {"ordered": True, "retain": ["1.0"]}, "daemonSets": [AGENT]}
    made = generated(applied(deviceconfig, device_config(spec)))
    assert config_of(import_modules(made, SETTINGS))["spec"] == spec
    image = "spec.template.spec.containers[0].image"
    changed = [
        edited(one, (image, "registry.example.com/agent:0")) if one["metadata"]["name"] == "dc-agent-1-0" else one
        for one in made
    ]
    assert set(reasons(*changed)) == {"dc-agent-1-0"}


def test_labels_that_we_have_ourselves_are_replaced_and_named() -> None:
    gpu = edited(GPU, (("metadata", "labels"), {"app.kubernetes.io/name": "mine"}))
    exporter = edited(
        EXPORTER,
        (("spec", "selector", "matchLabels"), {"app.kubernetes.io/name": "mine"}),
        (("spec", "template", "metadata", "labels"), {"app.kubernetes.io/name": "mine"}),
    )
    whole = import_modules([gpu, exporter], SETTINGS)
    config_of(whole)
    ours = "krmfn sets this on every object that it generates"
    (conversion,) = whole.conversions
    why = {(ref.kind, difference.change.path): difference.reason for ref, difference in conversion.differences}
    assert why.pop(("DaemonSet", f"{P}.nodeSelector.gpu"))
    assert why == {("Module", "metadata.labels[app.kubernetes.io/name]"): ours}, "pods keep what they are selected by"


def test_a_consumer_of_any_version_is_one_for_all_versions() -> None:
    versioned = module(name="gpu", version="1.0")
    whole = import_modules([versioned, EXPORTER], SETTINGS)
    assert whole.kept == () and config_of(whole)["spec"]["daemonSets"][0]["perVersion"] is False


def test_a_consumer_that_waits_for_another_kind_of_module_stays_alone() -> None:
    """It is not what keeps the Module from being expressed."""
    gate = "kmm.node.kubernetes.io/version-module.kmm.gpu"
    waiting = edited(EXPORTER, (("spec", "template", "spec", "nodeSelector", gate), "1.0"))
    whole = import_modules([GPU, waiting], SETTINGS)
    assert (len(whole.conversions), whole.kept[0].reasons) == (1, ("it waits for a version, and its Module has none",))


OWNER = [{"apiVersion": "amd.com/v1alpha1", "kind": "DeviceConfig", "name": "cr", "uid": "1", "controller": True}]


def test_what_belongs_to_the_owner_of_a_module_is_imported_also_where_it_does_not_wait() -> None:
    labeller = edited(
        EXPORTER,
        ("metadata", {"name": "gpu-labeller", "namespace": "kmm", "ownerReferences": OWNER}),
        (f"{P}.nodeSelector", {"gpu": "a"}),
    )
    owned = edited(GPU, ("metadata.ownerReferences", OWNER))
    (entry,) = config_of(import_modules([owned, labeller], SETTINGS))["spec"]["daemonSets"]
    assert (entry["name"], entry["waitsForModule"]) == ("labeller", False)
    of_another = edited(labeller, ("metadata.ownerReferences", [{**OWNER[0], "name": "other"}]))
    elsewhere = edited(labeller, ("metadata.namespace", "other"))
    for stranger in (of_another, elsewhere, edited(labeller, ("metadata.ownerReferences", []))):
        whole = import_modules([owned, stranger], SETTINGS)
        assert "daemonSets" not in config_of(whole)["spec"] and whole.others == 1


def test_drivers_that_share_nodes_have_a_profile_each() -> None:
    nic = edited(module(name="nic", selector={"gpu": "a"}), ("spec.moduleLoader.container.modprobe.moduleName", "nic"))
    configs, shared = assembly.assemble(import_modules([GPU, nic], SETTINGS).conversions, SETTINGS)
    assert shared is not None
    assert shared["spec"]["profiles"] == {"simple": {"moduleName": "simple"}, "nic": {"moduleName": "nic"}}
    assert assembly.errors(configs, SETTINGS, shared) == []


def test_a_profile_that_is_there_is_used_and_stays_where_it_is() -> None:
    existing = function_config(profiles={"gpu": {"moduleName": "simple"}})
    configs, new = assembly.assemble(import_modules([GPU], SETTINGS, existing).conversions, SETTINGS, existing)
    assert ([config["spec"].get("profile") for config in configs], new) == (["gpu"], None)
    assert assembly.errors(configs, SETTINGS, new, existing) == []


def test_a_profile_has_what_configs_of_a_driver_share() -> None:
    plugin = {"devicePlugin": {"container": {"image": "registry.example.com/plugin:1", "args": ["-v"]}}}
    gpus = [
        edited(module(name=name, selector={"gpu": name}), *((f"spec.{key}", value) for key, value in plugin.items()))
        for name in ("a", "b")
    ]
    gpus[1] = edited(gpus[1], ("spec.devicePlugin.container.image", "registry.example.com/plugin:2"))
    configs, shared = assembly.assemble(import_modules(gpus, SETTINGS).conversions, SETTINGS)
    assert shared is not None
    assert shared["spec"]["profiles"] == {
        "simple": {
            "driverImage": "example.com/simple:$KERNEL_FULL_VERSION",
            "moduleName": "simple",
            "devicePlugin": {"args": ["-v"]},
        }
    }
    own = [config["spec"] for config in configs]
    assert own[0] == {
        "profile": "simple",
        "nodeSelector": {"gpu": "a"},
        "devicePlugin": {"image": "registry.example.com/plugin:1"},
    }


def test_the_kmm_version_reaches_the_render_and_the_function_config() -> None:
    gpu = module(name="gpu", version="1.0")
    settings = Settings(RENDER, flags={"kmm-version": "2.4"})
    _, shared = assembly.assemble(import_modules([gpu], settings).conversions, settings)
    assert shared is not None
    assert shared["spec"] == {"kmm": {"version": "2.4"}}


def test_a_module_for_the_spokes_of_a_hub_is_expressed() -> None:
    hub = {"spokeNamespace": "kmm", "clusterSelector": {"region": "eu"}}
    spec = {name: value for name, value in SPEC.items() if name != "daemonSets"} | {"hub": hub}
    made = generated(applied(deviceconfig, device_config(spec)))
    assert config_of(import_modules(made, SETTINGS))["spec"] == spec
    folded = edited(made[0], ("spec.moduleSpec.moduleLoader.container.containerImage", "example.com/gpu:1"))
    assert import_modules([folded], SETTINGS).kept == ()
    odd = edited(made[0], ("spec.moduleSpec.imageRebuildTriggerGeneration", 1))
    assert reasons(odd)["dc"] == ("spec.moduleSpec.imageRebuildTriggerGeneration: a DeviceConfig has no field for it",)


def test_what_a_config_gives_to_all_its_objects_is_named() -> None:
    gpu = edited(GPU, ("metadata.annotations", {"contact": "x"}), ("spec.imageRepoSecret", {"name": "pull"}))
    whole = import_modules([gpu, EXPORTER], SETTINGS)
    config_of(whole)
    why = {difference.change.path: difference.reason for _, difference in whole.conversions[0].differences}
    assert why["metadata.annotations.contact"] == "annotations of a config are set on all its objects"
    assert why[f"{P}.imagePullSecrets"] == "the pull secret of a config is for all its images"


def owned(kind: str, name: str, api: str = "v1", **more: Any) -> Manifest:
    return {
        "apiVersion": api,
        "kind": kind,
        "metadata": {"name": name, "namespace": "kmm", "ownerReferences": OWNER},
        **more,
    }


def test_the_mark_of_a_profile_that_a_config_without_one_does_not_make_is_told_as_gone() -> None:
    whole = import_modules([edited(module(), ("metadata.annotations", {"krmfn.dev/profile": "amd-gpu"}))], SETTINGS)
    told = report([ClusterImport("there", "", whole)], None)
    assert "krmfn sets this where a Profile makes the object, and here none does:\n" in told
    assert 'metadata.annotations[krmfn.dev/profile]: "amd-gpu" -> (none)\n' in told


def test_what_else_belongs_to_the_owner_is_in_the_profile_of_the_config() -> None:
    gpu, nic = (
        edited(
            module(name=name, selector={"gpu": name}),
            ("metadata.ownerReferences", [{**OWNER[0], "name": f"cr-{name}"}]),
            ("spec.moduleLoader.container.modprobe.moduleName", "drv"),
        )
        for name in ("gpu", "nic")
    )
    settings, secret = owned("ConfigMap", "settings", data={"a": "b"}), owned("Secret", "keys", data={"a": "Yg=="})
    theirs = [{**OWNER[0], "name": "cr-gpu"}]
    role = owned("ClusterRole", "wide", "rbac.authorization.k8s.io/v1", rules=[])
    del role["metadata"]["namespace"]
    beside = [edited(one, ("metadata.ownerReferences", theirs)) for one in (settings, secret, role)]
    whole = import_modules([gpu, nic, *beside, owned("ConfigMap", "stranger", data={"a": "b"})], SETTINGS)
    assert [one.name for one in whole.siblings] == ["keys", "wide"] and whole.others == 3
    configs, shared = assembly.assemble(whole.conversions, SETTINGS)
    assert shared is not None
    made = [item.name for item in rendered(configs, SETTINGS, shared).items if item.kind == "ConfigMap"]
    assert made == ["settings"], "once, though both configs have one driver"
    assert "Secret" not in str(shared)


def test_tolerations_of_the_module_alone_are_the_loader_s() -> None:
    one, other = {"key": "gpu", "operator": "Exists"}, {"key": "other", "operator": "Exists"}
    gpu = edited(GPU, ("spec.tolerations", [one, other]))
    assert config_of(import_modules([gpu, EXPORTER], SETTINGS))["spec"]["loaderTolerations"] == [one, other]
    both = edited(EXPORTER, (f"{P}.tolerations", [other]))
    spec = config_of(import_modules([gpu, both], SETTINGS))["spec"]
    assert (spec["tolerations"], spec["loaderTolerations"]) == ([other], [one])
    assert config_of(import_modules([gpu], SETTINGS))["spec"]["tolerations"] == [one, other]


WHOLE = samples()[0]["spec"]
SET = {
    name: value for name, value in WHOLE["daemonSets"][0].items() if name not in ("serviceAccount", "keepPodTemplate")
}
TOGETHER = ("volumes", "volumeMounts", "initContainers", "ports", "service", "livenessProbe", "containers")
"""Fields of a DaemonSet that name each other."""


def some(fields: dict[str, Any], *needed: str) -> st.SearchStrategy[dict[str, Any]]:
    """Some of the fields, and those that are needed."""
    optional = {name: st.just(value) for name, value in fields.items() if name not in needed}
    return st.fixed_dictionaries({name: st.just(fields[name]) for name in needed}, optional=optional)


LEFT_OUT = ("profile", "driverImageParts", "allNodes", "inTreeDriver", "nodeSelector", "daemonSets", "serviceAccount")
"""Fields that say the same in another form, and objects that are neither Modules nor consumers."""
DAEMON_SETS = st.builds(
    lambda fields, group: fields | ({name: SET[name] for name in TOGETHER} if group else {}),
    some({name: value for name, value in SET.items() if name not in TOGETHER}, "name", "imageParts"),
    st.booleans(),
)
SPECS = st.builds(
    lambda fields, sets: SPEC | fields | ({"daemonSets": sets} if sets else {}),
    some({name: value for name, value in WHOLE.items() if name not in LEFT_OUT}),
    st.lists(DAEMON_SETS, max_size=1),
)


@given(SPECS)
def test_what_a_config_renders_is_imported_and_rendered_again(spec: dict[str, Any]) -> None:
    resources = applied(deviceconfig, device_config(spec), settings=SETTINGS)
    assume(not resources.failed)
    made = generated(resources)
    whole = import_modules(made, SETTINGS)
    again = generated(rendered([config_of(whole)], SETTINGS))
    assert [normal(one) for one in again] == [normal(one) for one in made]
    assert config_of(import_modules(again, SETTINGS)) == config_of(whole)


@given(SPECS, st.data())
def test_with_a_function_config_that_is_there_it_renders_the_same(spec: dict[str, Any], data: st.DataObject) -> None:
    resources = applied(deviceconfig, device_config(spec), settings=SETTINGS)
    assume(not resources.failed)
    made = generated(resources)
    shared = data.draw(st.sets(st.sampled_from(sorted(spec))), label="in the profile")
    others = data.draw(st.dictionaries(st.sampled_from(["firmwarePath", "dirName"]), st.just("/other")), label="other")
    profiles = {"some": {key: spec[key] for key in shared - {"nodeSelector", "daemonSets"}}, "other": others}
    existing = function_config(profiles=profiles, defaults=others if data.draw(st.booleans(), label="defaults") else {})
    assume(not rendered([], SETTINGS, existing).failed)
    whole = import_modules(made, SETTINGS, existing)
    configs, new = assembly.assemble(whole.conversions, SETTINGS, existing)
    again = rendered(configs, SETTINGS, with_settings(existing, **(new or {"spec": {}})["spec"]))
    taken = {ref(one).id for each in whole.conversions for one in each.objects}
    assert {ref(one).id for one in made} == taken | {ref(one.manifest).id for one in whole.kept}
    assert [normal(one) for one in generated(again)] == [normal(one) for one in made if ref(one).id in taken]


@given(SPECS)
def test_pod_templates_stay_as_they_are_where_that_is_asked_for(spec: dict[str, Any]) -> None:
    resources = applied(deviceconfig, device_config(spec), settings=SETTINGS)
    assume(not resources.failed)
    made = [one for one in generated(resources) if one["kind"] != "Service"]
    sets = [one for one in made if one["kind"] == "DaemonSet"]
    for one in made:  # as somebody else has made them
        for labels in (
            one["metadata"]["labels"],
            one["spec"].get("template", {}).get("metadata", {}).get("labels", {}),
        ):
            for key in [key for key in labels if key.startswith(("app.kubernetes.io/", "krmfn.dev/served"))]:
                labels[key] = "other"
    whole = import_modules(made, SETTINGS, keeps_pods=True)
    again = {ref(one).id: one for one in generated(rendered([config_of(whole)], SETTINGS))}
    for one in sets:
        new, old = (each["spec"]["template"] for each in (again[ref(one).id], one))
        assert new["metadata"] == old["metadata"]
        assert normal({"metadata": {}, "spec": {"template": new}}) == normal(
            {"metadata": {}, "spec": {"template": old}}
        )


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
    kept = {one.manifest["kind"]: one.manifest for one in import_modules([waiting, service], SETTINGS).kept}
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
    whole = import_modules([edited(GPU, (path, value)), EXPORTER], SETTINGS)
    assert {one.manifest["kind"] for one in whole.kept} == (set() if "owner" in path else {"Module", "DaemonSet"})


_MARKED = {"krmfn.dev/owner": "deviceconfig krmfn.dev|DeviceConfig|kmm|gpu apps|DaemonSet|kmm|gpu-metrics"}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("metadata.labels", ["x"]),
        ("spec.selector", ["x"]),
        ("spec.template.metadata", "x"),
        ("spec.template.metadata.labels", "x"),
        *(
            (f"{P}.{name}", 1)
            for name in ("containers", "initContainers", "volumes", "imagePullSecrets", "tolerations")
        ),
        *((f"{P}.{name}", ["x"]) for name in ("containers", "initContainers", "volumes", "imagePullSecrets")),
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
    one = edited(EXPORTER, ("metadata.annotations", marked), (path, value))
    whole = import_modules([GPU, one], SETTINGS, keeps_pods=keeps_pods)
    assert [each.manifest["kind"] for each in whole.kept] == ["DaemonSet"]
    assert len(whole.conversions) == 1


@pytest.mark.parametrize("metadata", [DROP, [], "x"], ids=["none", "list", "text"])
def test_an_object_without_metadata_stays_as_it_is(metadata: Any) -> None:
    (kept,) = import_modules([edited(GPU, ("metadata", metadata))], SETTINGS).kept
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
