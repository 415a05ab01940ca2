"""From a commit to a cluster with a whole Argo CD: what is created, refused and removed, and in which order."""

from __future__ import annotations

from typing import Any

from .argo_loop import APPS, KMM, Loop

CONFIG = """\
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata: {{name: {name}}}
spec:
  driverImage: registry.example.com/gpu/driver
  driverVersion: "{version}"
  moduleName: {name}
  nodeSelector: {{example.com/gpu: "{nodes}"}}
  daemonSets: [{{name: metrics, image: "registry.example.com/gpu/exporter:1"}}]
"""
SETTINGS = """\
apiVersion: krmfn.dev/v1alpha1
kind: RenderDeviceConfigs
metadata: {name: settings}
spec: {defaults: {annotations: {lab: "two"}}}
"""


SENTENCE = (
    "gpu.yaml:8:3: error: DeviceConfig clash/gpu: spec.nodeSelector: DeviceConfig clash/gpu (spec.nodeSelector) and "
    "DeviceConfig clash/other (other.yaml:8, spec.nodeSelector) can select the same node, for example one with the "
    "label example.com/gpu=a; give each driver a profile of its own (`profile` in its spec), since they load gpu and "
    "other"
)


def config(name: str = "gpu", version: str = "1.0", nodes: str = "a") -> str:
    return CONFIG.format(name=name, version=version, nodes=nodes)


def module(loop: Loop, name: str, of: str = "gpu") -> dict[str, Any]:
    return loop.get(KMM, "Module", name, of)


def exporter(loop: Loop, name: str, of: str = "gpu") -> dict[str, Any]:
    return loop.get(APPS, "DaemonSet", name, f"{of}-metrics")


def is_going(manifest: dict[str, Any]) -> bool:
    return "deletionTimestamp" in manifest["metadata"]


def settled(loop: Loop, name: str) -> bool:
    """Return True when what Git says is there and healthy, and no sync runs."""
    status = loop.status(name)
    done = status.get("operationState", {}).get("phase") == "Succeeded"
    return done and (status["sync"]["status"], status["health"]["status"]) == ("Synced", "Healthy")


def deploy(loop: Loop, name: str, *configs: str, **parameters: str) -> None:
    """Let an Application get to where all is healthy, and Argo CD has nothing left to do."""
    loop.application(name, **parameters)
    configs = configs or ("gpu",)
    loop.until("the Modules are created", name, lambda: all(module(loop, name, driver) for driver in configs))
    for driver in configs:
        loop.load(name, driver)
    loop.until("the DaemonSets are created", name, lambda: all(exporter(loop, name, driver) for driver in configs))
    for driver in configs:
        loop.roll_out(name, f"{driver}-metrics")
    loop.until("all is healthy", name, lambda: settled(loop, name))
    loop.refresh(name)
    loop.until("all is healthy after another look", name, lambda: settled(loop, name))


def errors(loop: Loop, name: str) -> list[str]:
    """Return why Argo CD cannot say what an Application shall be."""
    conditions = loop.status(name).get("conditions", [])
    return [condition["message"] for condition in conditions if condition["type"] == "ComparisonError"]


def objects(loop: Loop, name: str) -> list[dict[str, Any]]:
    """Return the metadata of what an Application has made; any change of it is a new resourceVersion there."""
    return [read(loop, name)["metadata"] for read in (module, exporter)]


def test_a_commit_becomes_a_module_and_then_a_daemonset(loop: Loop) -> None:
    """The DaemonSet waits until KMM has loaded the driver everywhere: health.lua of the shipped argocd-cm."""
    loop.commit("one config", first__gpu=config())
    loop.application("first")
    loop.until("the Module is created", "first", lambda: bool(module(loop, "first")))

    def waits() -> bool:
        message = loop.status("first").get("operationState", {}).get("message", "")
        return "waiting for healthy state of kmm.sigs.x-k8s.io/Module/gpu" in message

    loop.until("Argo CD waits for the Module", "first", waits)
    loop.load("first", "gpu", available=2)
    loop.refresh("first")
    assert not exporter(loop, "first")
    loop.load("first", "gpu")
    loop.until("the DaemonSet is created", "first", lambda: bool(exporter(loop, "first")))


def test_what_is_synced_stays_as_it_is(loop: Loop) -> None:
    """Self-heal is on, and the API server has filled in its defaults."""
    loop.commit("one config", calm__gpu=config())
    deploy(loop, "calm")
    before = objects(loop, "calm")
    synced = loop.status("calm")["operationState"]["finishedAt"]
    for _ in range(2):
        loop.refresh("calm")
        assert settled(loop, "calm")
    assert loop.status("calm")["operationState"]["finishedAt"] == synced
    assert objects(loop, "calm") == before


def test_health_follows_the_status_of_the_module(loop: Loop) -> None:
    loop.commit("one config", health__gpu=config())
    deploy(loop, "health")
    loop.load("health", "gpu", available=1)
    loop.until("it waits", "health", lambda: loop.status("health")["health"]["status"] == "Progressing")
    loop.load("health", "gpu")
    loop.until("it is well", "health", lambda: loop.status("health")["health"]["status"] == "Healthy")


def test_a_new_driver_version_is_synced(loop: Loop) -> None:
    loop.commit("one config", update__gpu=config())
    deploy(loop, "update")
    loop.commit("a new driver", update__gpu=config(version="2.0"))
    loop.refresh("update")
    loop.until("the Module has the new image", "update", lambda: ":2.0-" in str(module(loop, "update")["spec"]))


def test_a_conflict_is_said_and_changes_nothing(loop: Loop) -> None:
    loop.commit("one config", clash__gpu=config())
    deploy(loop, "clash")
    before = objects(loop, "clash")
    loop.commit("a second one for the same nodes", clash__other=config("other"))
    loop.refresh("clash")
    loop.until("the conflict is said", "clash", lambda: any(SENTENCE in message for message in errors(loop, "clash")))
    assert objects(loop, "clash") == before
    assert not module(loop, "clash", "other")
    loop.commit("without the second one", clash__other=None)
    loop.refresh("clash")
    loop.until("all is healthy again", "clash", lambda: settled(loop, "clash") and not errors(loop, "clash"))


def test_a_removed_config_takes_the_daemonset_first(loop: Loop) -> None:
    loop.commit("two configs", removal__gpu=config(), removal__other=config("other", nodes="b"))
    deploy(loop, "removal", "gpu", "other")
    loop.commit("one of them goes", removal__gpu=None)
    loop.refresh("removal")
    loop.until("the DaemonSet is deleted", "removal", lambda: is_going(exporter(loop, "removal")))
    loop.refresh("removal")
    assert not is_going(module(loop, "removal")), "pods of the DaemonSet may still hold the driver"
    loop.collect("removal", "gpu-metrics")
    loop.until("the Module is deleted", "removal", lambda: is_going(module(loop, "removal")))
    loop.collect("removal", "gpu", KMM, "Module")
    loop.until("all is healthy without it", "removal", lambda: settled(loop, "removal"))
    assert not module(loop, "removal")
    assert module(loop, "removal", "other")
    assert exporter(loop, "removal", "other")


def test_a_renamed_config_is_another_driver(loop: Loop) -> None:
    """The old DaemonSet goes while the new Module comes, then the old Module, and then comes the new DaemonSet."""
    loop.commit("one config", rename__gpu=config())
    deploy(loop, "rename")
    loop.commit("another name", rename__gpu=config("npu"))
    loop.refresh("rename")
    loop.until("the new Module is created", "rename", lambda: bool(module(loop, "rename", "npu")))
    loop.load("rename", "npu")
    loop.until("the old DaemonSet is deleted", "rename", lambda: is_going(exporter(loop, "rename")))
    assert not is_going(module(loop, "rename"))
    assert not exporter(loop, "rename", "npu")
    loop.collect("rename", "gpu-metrics")
    loop.until("the old Module is deleted", "rename", lambda: is_going(module(loop, "rename")))
    loop.collect("rename", "gpu", KMM, "Module")
    loop.until("the new DaemonSet is created", "rename", lambda: bool(exporter(loop, "rename", "npu")))
    loop.roll_out("rename", "npu-metrics")
    loop.until("all is healthy", "rename", lambda: settled(loop, "rename"))


def test_another_application_has_another_function_config(loop: Loop) -> None:
    loop.commit("a shared config", own__gpu=config(), settings__two=SETTINGS)
    deploy(loop, "own", function_config="../settings/two.yaml")
    assert module(loop, "own")["metadata"]["annotations"]["lab"] == "two"


def test_a_parameter_of_the_wrong_name_is_said(loop: Loop) -> None:
    loop.commit("one config", wrong__gpu=config())
    loop.application("wrong", kmm_verson="2.6")
    known = "function-config, kmm-version, namespace, profiles-from, prune"
    sentence = f"krmfn has no parameter 'kmm-verson'; it has {known}"
    loop.until("it is said", "wrong", lambda: any(sentence in message for message in errors(loop, "wrong")))
    assert not module(loop, "wrong")


def test_a_revision_that_is_nowhere_is_said(loop: Loop) -> None:
    loop.commit("one config", nowhere__gpu=config())
    source = {"repoURL": f"file://{loop.repository}", "targetRevision": "nowhere", "path": "nowhere"}
    loop.create("nowhere", {"project": "default", "source": source | {"plugin": {"name": "krmfn"}}})
    sentence = "unable to resolve 'nowhere' to a commit SHA"
    loop.until("it is said", "nowhere", lambda: any(sentence in message for message in errors(loop, "nowhere")))
    assert not module(loop, "nowhere")


HUB = """\
  hub: {spokeNamespace: kmm, clusterSelector: {lab: "1"}}
"""


def test_a_kind_that_the_cluster_does_not_serve_is_said(loop: Loop) -> None:
    """By krmfn in the sidecar's log, with what Argo CD tells it of the cluster; by Argo CD in the Application."""
    without = config().partition("  daemonSets:")[0]
    loop.commit("for a hub", hub__gpu=without.replace("{name: gpu}", "{name: gpu, namespace: hub}") + HUB)
    loop.application("hub")
    kind = "hub.kmm.sigs.x-k8s.io/ManagedClusterModule"
    loop.until("Argo CD says so", "hub", lambda: f"could not find {kind}" in str(loop.status("hub")))
    log = (loop.repository.parent / "sidecar" / "krmfn" / "cmp.log").read_text()
    assert "the cluster does not serve ManagedClusterModule of hub.kmm.sigs.x-k8s.io/v1beta1 (KUBE_API_VERSIONS)" in log
    assert "the cluster does not serve Module" not in log
