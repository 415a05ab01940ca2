"""What a dump says of nodes, and of the pods that KMM runs on them, in the cluster's words."""

from __future__ import annotations

from typing import Any

import pytest
from krmfn_functions.fleet import live

from krmfn import KrmfnError, Manifest
from tests.builders import manifest, node

WORKER = {"kmm.node.kubernetes.io/worker-action": "Load", "kmm.node.kubernetes.io/module.name": "gpu"}
PLUGIN = {"kmm.node.kubernetes.io/role": "device-plugin", "kmm.node.kubernetes.io/module.name": "gpu"}
PULL = {"state": {"waiting": {"reason": "ImagePullBackOff", "message": "not found"}}}
CRASH = {"lastState": {"terminated": {"reason": "Error", "message": "no device"}}}


def pod(labels: dict[str, str], **status: Any) -> Manifest:
    head = manifest("v1", "Pod", "p", labels=labels, uid="1")
    return {**head, "spec": {"nodeName": "n", "nodeSelector": {"gpu": "a"}}, "status": status}


def event(when: str, reason: str, uid: str = "1") -> Manifest:
    about = {"namespace": "kmm", "name": "p", "uid": uid}
    head = manifest("v1", "Event", reason)
    return {**head, "type": "Warning", "involvedObject": about, "lastTimestamp": when, "reason": reason, "message": "m"}


@pytest.mark.parametrize(
    ("status", "worker", "plugin"),
    [
        ({"phase": "Running"}, "is at work", ""),
        ({"phase": "Pending"}, "says New: m", "says New: m"),
        ({"phase": "Succeeded"}, "completed, and KMM has not recorded it", "completed, and KMM has not recorded it"),
        ({"phase": "Failed", "reason": "Evicted"}, "failed: Evicted", "failed: Evicted"),
        *(
            ({"phase": "Running", part: [{**entry, "ready": part[0] == "i"}]}, f"says {text}", plugin)
            for entry, text in ((PULL, "ImagePullBackOff: not found"), (CRASH, "Error: no device"))
            for part, plugin in (("containerStatuses", f"says {text}"), ("initContainerStatuses", ""))
        ),
        ({"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}]}, "is at work", "is not ready"),
    ],
)
def test_a_pod_of_kmm_s_says_what_it_waits_for(status: dict[str, Any], worker: str, plugin: str) -> None:
    events = [event("2", "New"), event("1", "Old"), event("3", "Other", uid="2")]
    seen = live.read([node("n"), pod(WORKER, **status), *events], "")
    of_module = seen.workers["n", "kmm", "gpu"]
    assert (of_module.pod, of_module.action, of_module.status.sentence()) == ("kmm/p", "Load", worker)
    assert seen.pods == {}
    seen = live.read([node("n"), *events, pod(PLUGIN, **status)], "")
    ((of_plugin,),) = seen.objects.pods_of.values()
    assert (of_plugin.role, of_plugin.is_ready) == ("device-plugin", not plugin)
    assert of_plugin.is_ready or of_plugin.status.sentence("is not ready") == plugin
    has_ended = status["phase"] in ("Succeeded", "Failed")
    assert seen.pods == ({} if has_ended else {"n": [("kmm/p", frozenset({"gpu"}))]})


@pytest.mark.parametrize(
    ("ready", "troubles"),
    [
        ({"status": "True", "message": "posting"}, []),
        ({"status": "Unknown", "reason": "a", "message": "b"}, ["the node is NotReady (b)"]),
        ({"status": "Unknown", "reason": "a"}, ["the node is NotReady (a)"]),
        ({"status": "Unknown"}, ["the node is NotReady (Unknown)"]),
    ],
)
def test_what_is_wrong_with_a_node_itself(ready: dict[str, str], troubles: list[str]) -> None:
    conditions = [{"type": "DiskPressure", "status": "False"}, {"type": "Ready", **ready}]
    seen = live.read([node("m"), {**node("n"), "status": {"conditions": conditions}}], "")
    assert seen.troubles["m"] == []
    assert [trouble.partition(";")[0] for trouble in seen.troubles["n"]] == troubles


@pytest.mark.parametrize(
    ("kind", "uids", "is_one"),
    [
        ("ServiceAccount", ("1", "2"), False),
        ("Module", ("1", "2"), False),
        ("Module", ("1", "1"), True),
        ("Module", ("1", ""), True),
        ("Module", ("", ""), False),
        ("Namespace", ("", ""), False),
        ("Pod", ("", ""), True),
        ("Pod", ("1", "2"), True),
    ],
)
def test_two_clusters_in_one_file_are_known_by_the_uids_of_a_name(
    kind: str, uids: tuple[str, str], is_one: bool
) -> None:
    """kube-system is in no dump of KMM's kinds alone; a pod may have gone and come again while kubectl printed."""
    version = "kmm.sigs.x-k8s.io/v1beta1" if kind == "Module" else "v1"
    twins = [manifest(version, kind, "gpu", **({"uid": uid} if uid else {})) for uid in uids]
    try:
        live.read([node("n1"), *twins], "")
    except KrmfnError as failure:
        assert not is_one
        reason = "has two uids" if all(uids) else "is there twice, without a uid"
        assert str(failure) == f"it holds two dumps ({kind} kmm/gpu {reason}); pass one file for each cluster"
    else:
        assert is_one
