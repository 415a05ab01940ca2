"""What a cluster gives back, against what stands in Git; tests/e2e/test_cluster_dump.py asks a real API server."""

from __future__ import annotations

import copy
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.programs import defaults

from krmfn import Manifest
from krmfn.cluster_dump import _number, is_dumped
from krmfn.plan import plan
from krmfn.yamltext import emit
from tests.builders import edited, manifest, module
from tests.commands import process

LIVE = {"uid": "1-2", "resourceVersion": "7", "creationTimestamp": "2026-01-01T00:00:00Z", "generation": 2}


def live(written: Manifest, *edits: Any, **metadata: Any) -> Manifest:
    """The object as a cluster gives it back."""
    made = copy.deepcopy(written)
    made["metadata"] |= {**LIVE, **metadata}
    return edited({**made, "status": {"a": 1}}, *edits)


def service(**spec: Any) -> Manifest:
    return {**manifest("v1", "Service"), "spec": {"selector": {"a": "b"}, "ports": [{"port": 80}], **spec}}


def changed(old: Manifest, new: Manifest) -> list[str]:
    """The paths that differ."""
    planned = plan([old], [new], defaults(), (is_dumped(old), is_dumped(new)))
    return [field.path for change in planned.changes for field in change.fields]


DUMP = (True, False)
"""The old list is a dump."""


def test_what_the_server_adds_to_all_objects_is_no_change() -> None:
    annotations = {"kubectl.kubernetes.io/last-applied-configuration": "{}", "argocd.argoproj.io/tracking-id": "x"}
    old = live(service(), annotations=annotations, managedFields=[{}], finalizers=["x"])
    assert changed(old, service()) == changed(service(), old) == []
    kept = live(service(), annotations={**annotations, "mine": "x"}, labels={"mine": "x"})
    assert set(changed(kept, service())) == {"metadata.labels", "metadata.annotations"}


def test_of_files_everything_counts() -> None:
    assert changed(service(type="ClusterIP"), service()) == ["spec.type"]
    assert changed({**service(), "status": {}}, service()) == ["status"]


ALLOCATED = {
    "clusterIP": "10.0.0.1",
    "clusterIPs": ["10.0.0.1"],
    "ipFamilies": ["IPv4"],
    "ipFamilyPolicy": "SingleStack",
}


@pytest.mark.parametrize(
    ("there", "written", "paths"),
    [
        ({**ALLOCATED, "type": "ClusterIP", "sessionAffinity": "None"}, {}, []),
        ({**ALLOCATED, "type": "NodePort"}, {}, ["spec.type"]),
        ({"clusterIP": "None", "clusterIPs": ["None"]}, {}, ["spec.clusterIP"]),
        (ALLOCATED, {"clusterIP": "None"}, ["spec.clusterIP"]),
        ({"ports": [{"port": 80, "targetPort": 80, "protocol": "TCP", "nodePort": 30001}]}, {}, []),
        ({"ports": [{"port": 80, "targetPort": 81, "protocol": "UDP"}]}, {}, ["targetPort", "protocol"]),
        ({}, {"ports": [{"port": 80, "nodePort": 30001}]}, ["spec.ports[0].nodePort"]),
        ({}, {"sessionAffinity": "ClientIP"}, ["spec.sessionAffinity"]),
        ({}, {"clusterIP": "10.0.0.9"}, ["spec.clusterIP"]),
    ],
)
def test_a_service(there: dict[str, Any], written: dict[str, Any], paths: list[str]) -> None:
    found = changed(live(service(**there)), service(**written))
    assert [path.endswith(wanted) for path, wanted in zip(found, paths, strict=True)] == [True] * len(paths)


def daemon_set(container: dict[str, Any], **pod: Any) -> Manifest:
    spec = {"containers": [{"name": "a", "image": "r/a:1", **container}], **pod}
    return {**manifest("apps/v1", "DaemonSet"), "spec": {"template": {"spec": spec}}}


@pytest.mark.parametrize(
    ("there", "written", "paths"),
    [
        ({"imagePullPolicy": "IfNotPresent"}, {}, []),
        ({"imagePullPolicy": "Always"}, {}, ["imagePullPolicy"]),
        ({"imagePullPolicy": "Always", "image": "r:5000/a"}, {"image": "r:5000/a"}, []),
        ({"imagePullPolicy": "Always", "image": "r/a@sha256:0"}, {"image": "r/a@sha256:0"}, ["imagePullPolicy"]),
        ({"resources": {"limits": {"cpu": "500m"}}}, {"resources": {"limits": {"cpu": 0.5}}}, []),
        ({"resources": {"limits": {"cpu": "500m"}}}, {"resources": {"limits": {"cpu": "0.6"}}}, ["cpu"]),
        ({"resources": {}}, {}, []),
        ({}, {"resources": {"limits": {}}}, []),
        ({"env": [{"name": "A"}]}, {"env": [{"name": "A", "value": ""}]}, []),
        ({"env": [{"name": "A"}]}, {"env": [{"name": "A", "value": "1"}]}, ["value"]),
        ({"env": [{"name": "A", "value": "500m"}]}, {"env": [{"name": "A", "value": "0.5"}]}, ["value"]),
        ({"securityContext": {"privileged": True}}, {}, ["securityContext"]),
        ({}, {"securityContext": {"privileged": True}}, ["securityContext"]),
        ({}, {"imagePullPolicy": "IfNotPresent"}, ["imagePullPolicy"]),
    ],
)
def test_a_container(there: dict[str, Any], written: dict[str, Any], paths: list[str]) -> None:
    found = changed(live(daemon_set(there)), daemon_set(written))
    assert [path.endswith(wanted) for path, wanted in zip(found, paths, strict=True)] == [True] * len(paths)


def test_what_an_empty_map_means() -> None:
    """A label without a value is a label; a volume that is empty is not the one before."""
    assert changed(live(daemon_set({})), daemon_set({}, nodeSelector={})) == []
    assert changed(live(daemon_set({}, nodeSelector={"a": ""})), daemon_set({})) != []
    assert changed(live(daemon_set({})), daemon_set({}, nodeSelector={"a": ""})) != []
    volumes = [{"name": "v", "emptyDir": {}}]
    assert changed(live(daemon_set({}, volumes=volumes)), daemon_set({}, volumes=[{"name": "v"}])) == []
    other = [{"name": "v", "hostPath": {"path": "/a"}}]
    assert len(changed(live(daemon_set({}, volumes=volumes)), daemon_set({}, volumes=other))) >= 1
    policy = {
        **manifest("networking.k8s.io/v1", "NetworkPolicy"),
        "spec": {"ingress": [{"from": [{"podSelector": {}}]}]},
    }
    wider = edited(policy, ("spec.ingress[0].from[0]", {"namespaceSelector": {}}))
    assert changed(live(wider), policy) != []


def test_a_module() -> None:
    written = module({"regexp": "^.+$", "containerImage": "a:b"})
    modprobe = "spec.moduleLoader.container.modprobe"
    old = live(written, (modprobe, {**written["spec"]["moduleLoader"]["container"]["modprobe"], "dirName": "/opt"}))
    assert changed(old, written) == []
    other = live(written, (modprobe, {**written["spec"]["moduleLoader"]["container"]["modprobe"], "dirName": "/usr"}))
    assert changed(other, written) == [f"{modprobe}.dirName"]
    empty = edited(written, ("spec.moduleLoader.container.inTreeModulesToRemove", []))
    assert changed(live(written), empty) != [], "KMM takes an empty list for one that is set"


def test_a_secret_is_compared_as_it_is_stored_and_not_shown() -> None:
    secret = {**manifest("v1", "Secret"), "stringData": {"a": "hidden"}}
    stored = live({**manifest("v1", "Secret"), "data": {"a": "aGlkZGVu"}, "type": "Opaque"})
    assert changed(stored, secret) == []
    assert changed(stored, {**secret, "stringData": {"a": "other"}}) == ["data.a"]
    other = {**secret, "stringData": {"b": "hidden"}}
    shown = repr(plan([stored], [other], dumped=DUMP).changes) + repr(plan([stored], [secret], dumped=DUMP).changes)
    assert "hidden" not in shown
    assert "aGlk" not in shown


def test_two_dumps_differ_in_what_differs() -> None:
    assert changed(live(service(**ALLOCATED)), live(service(**ALLOCATED), resourceVersion="8")) == []
    assert changed(live(service(**ALLOCATED)), live(service())) != []


def test_what_the_cluster_makes_by_itself_is_not_deleted() -> None:
    owner = {"apiVersion": "kmm.sigs.x-k8s.io/v1beta1", "kind": "Module", "name": "a", "uid": "1", "controller": True}
    made = [
        live(manifest("v1", "ConfigMap", "kube-root-ca.crt")),
        live(manifest("v1", "ServiceAccount", "default")),
        live(manifest("apps/v1", "DaemonSet", "a-device-plugin"), ownerReferences=[owner]),
        live(
            manifest("rbac.authorization.k8s.io/v1", "ClusterRole", "x", ""),
            labels={"kubernetes.io/bootstrapping": "a"},
        ),
    ]
    assert plan(made, [], dumped=DUMP).changes == plan([], made, dumped=(False, True)).changes == ()
    assert len(plan(made, []).changes) == len(made), "in files it is what somebody wrote"
    mine = live(manifest("v1", "ConfigMap", "mine"), ownerReferences=[{**owner, "controller": False}])
    assert [change.what for change in plan([*made, mine], [], dumped=DUMP).changes] == ["deleted"]
    assert changed(live(manifest("v1", "ServiceAccount", "default")), manifest("v1", "ServiceAccount", "default")) == []


@pytest.mark.parametrize(
    "odd",
    [
        {"labels": [], "annotations": "x"},
        {"labels": None, "ownerReferences": None},
        {"finalizers": 1, "managedFields": {}},
    ],
)
def test_odd_metadata_is_no_crash(odd: dict[str, Any]) -> None:
    assert is_dumped(live(service(), **odd))
    plan([live(service(), **odd)], [service()], dumped=DUMP)
    plan([live(service(), **odd)], [], dumped=DUMP)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("1", 1, True),
        ("1000m", 1, True),
        ("1Gi", "1024Mi", True),
        ("1G", "1Gi", False),
        ("1e3", "1k", True),
        ("0.5", "500m", True),
        ("x", "x", False),
        ("", "0", False),
        ("1Zi", "1Zi", False),
        (True, 1, False),
    ],
)
def test_quantities(one: Any, other: Any, same: bool) -> None:
    assert (_number(one) == _number(other) is not None) == same


@given(st.text(max_size=6) | st.integers() | st.floats(allow_nan=False))
def test_any_text_is_a_quantity_or_none(value: Any) -> None:
    assert isinstance(_number(value), Decimal | None)


def test_the_command_reads_a_dump_and_renders_the_files(tmp_path: Path) -> None:
    config = Path(__file__).parents[2] / "examples" / "quickstart"
    rendered = process("krmfn", "render", str(config), "--output", "json")
    items = json.loads(rendered.out)["items"]
    dump = emit.dump({"apiVersion": "v1", "kind": "List", "items": [live(item) for item in items]})
    (tmp_path / "dump.yaml").write_text(dump)
    done = process("krmfn", "diff", "dump.yaml", str(config), cwd=tmp_path)
    assert (done.code, done.out) == (0, b"nothing changes, 2 unchanged\n")
    (tmp_path / "dump.yaml").write_text(dump.replace("1.16.2", "1.15.0"))
    done = process("krmfn", "diff", "dump.yaml", str(config), cwd=tmp_path)
    assert (done.code, "KRM401" in done.text, done.text.endswith("\n2 changed\n")) == (1, True, True)
