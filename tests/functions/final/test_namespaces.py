"""Namespaces whose Pod Security level refuses the pods of drivers."""

from __future__ import annotations

from pathlib import Path

import pytest
from krmfn_functions.final.pod_security import above_baseline, above_restricted

from krmfn import Manifest
from tests.builders import edited, manifest, module

from .lists import judged, workload
from .test_against import OURS, run

ENFORCE = "pod-security.kubernetes.io/enforce"
READY = {"kmm.node.kubernetes.io/kmm.dc.ready": ""}
HARDENED = {
    "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
    "containers": [
        {"name": "c", "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}}
    ],
    "volumes": [{"name": "v", "emptyDir": {}}],
}


def namespace(level: str, label: str = ENFORCE, name: str = "kmm") -> Manifest:
    return edited(manifest("v1", "Namespace", name), ("metadata.labels", {label: level}), ("metadata.namespace", None))


def found(*manifests: Manifest) -> list[tuple[str, str]]:
    return [(str(row.ref), row.text) for row in judged(*manifests) if row.rule == "KRM717"]


@pytest.mark.parametrize("level", ["baseline", "restricted"])
def test_a_namespace_refuses_the_pods_of_a_module(level: str) -> None:
    assert found(module(), namespace(level)) == [
        (
            "Namespace kmm",
            f"the level {level} refuses the pods of Module kmm/simple, so nothing is loaded, and no status says why; "
            "write privileged",
        )
    ]


@pytest.mark.parametrize(
    "silent",
    [
        namespace("privileged"),
        namespace("restricted", "pod-security.kubernetes.io/warn"),
        namespace("restricted", "pod-security.kubernetes.io/audit"),
        namespace("restricted", name="other"),
        edited(namespace("x"), ("metadata.labels", {})),
    ],
)
def test_a_namespace_that_takes_them_or_says_nothing(silent: Manifest) -> None:
    assert found(module(), silent) == []


def test_a_namespace_that_stands_elsewhere_refuses_them_too(tmp_path: Path) -> None:
    elsewhere = f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: kmm, labels: {{{ENFORCE}: baseline}}}}\n"
    printed = run(tmp_path, "check", ours_a=OURS, theirs_b=elsewhere).ended(1).text
    assert "Module kmm/gpu: Namespace kmm: the level baseline refuses the pods" in printed
    printed = run(tmp_path, "check", ours_a=OURS, ours_n=elsewhere.replace("baseline", "privileged")).ended(1).text
    assert "KRM717" not in printed, "the one that is deployed here counts"


def test_a_module_of_spokes_has_its_pods_there() -> None:
    spec = {"moduleSpec": module()["spec"], "spokeNamespace": "kmm", "selector": {"a": "b"}}
    hub = edited(manifest("hub.kmm.sigs.x-k8s.io/v1beta1", "ManagedClusterModule", "m"), ("spec", spec))
    assert found(edited(hub, ("metadata.namespace", None)), namespace("restricted")) == []


def test_what_waits_for_a_driver_is_judged_by_its_level() -> None:
    plain = workload({"nodeSelector": READY, "containers": [{"name": "c"}]})
    for level, pods in (
        ("baseline", HARDENED),
        ("restricted", HARDENED),
        ("baseline", {"containers": [{"name": "c"}]}),
    ):
        assert found(workload({"nodeSelector": READY, **pods}), namespace(level)) == []
    assert "of DaemonSet kmm/user, so none of them starts" in found(plain, namespace("restricted"))[0][1]
    host = workload({"nodeSelector": READY, "hostPID": True})
    assert "of DaemonSet kmm/user, so none of them starts" in found(host, namespace("baseline"))[0][1]
    assert found(workload({"hostPID": True}), namespace("baseline")) == [], "of somebody else"


def context(**fields: object) -> Manifest:
    return {"containers": [{"name": "c", "securityContext": fields}]}


@pytest.mark.parametrize(
    ("pod", "text"),
    [
        ({"hostNetwork": True}, "hostNetwork"),
        ({"hostUsers": True}, ""),
        ({"volumes": [{"name": "d", "hostPath": {"path": "/dev"}}]}, "hostPath /dev"),
        ({"securityContext": {"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}}, "sysctl kernel.msgmax"),
        ({"securityContext": {"sysctls": [{"name": "net.ipv4.tcp_syncookies", "value": "1"}]}}, ""),
        ({"containers": [{"name": "c", "ports": [{"hostPort": 80}]}]}, "container c has hostPort 80"),
        (
            {"ephemeralContainers": [{"name": "e", "securityContext": {"privileged": True}}]},
            "container e is privileged",
        ),
        ({"initContainers": [{"name": "i", "securityContext": {"privileged": True}}]}, "container i is privileged"),
        (context(privileged=False), ""),
        (context(capabilities={"add": ["CHOWN"]}), ""),
        (context(capabilities={"add": ["SYS_ADMIN"]}), "container c has SYS_ADMIN"),
        (context(procMount="Unmasked"), "container c sees all of /proc (procMount Unmasked)"),
        (context(seccompProfile={"type": "Unconfined"}), "container c runs without seccomp (Unconfined)"),
        ({"securityContext": {"seccompProfile": {"type": "Unconfined"}}}, "the pod runs without seccomp (Unconfined)"),
        (context(seccompProfile={"type": "Localhost"}), ""),
        (context(appArmorProfile={"type": "Unconfined"}), "container c runs without AppArmor (Unconfined)"),
        (context(seLinuxOptions={"type": "spc_t"}), "container c has seLinuxOptions spc_t"),
        (context(seLinuxOptions={"level": "s0:c1,c2"}), ""),
        (context(windowsOptions={"hostProcess": True}), "container c is a process of the host"),
    ],
)
def test_what_baseline_refuses(pod: Manifest, text: str) -> None:
    assert [privilege.text for privilege in above_baseline(pod, {})] == ([text] if text else [])


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("container.apparmor.security.beta.kubernetes.io/c", "container c runs without AppArmor (Unconfined)"),
        ("container.seccomp.security.alpha.kubernetes.io/c", "container c runs without seccomp (Unconfined)"),
        ("seccomp.security.alpha.kubernetes.io/pod", "the pod runs without seccomp (Unconfined)"),
    ],
)
def test_the_annotations_of_before_the_fields(key: str, text: str) -> None:
    assert [privilege.text for privilege in above_baseline({}, {key: "unconfined"})] == [text]
    assert list(above_baseline({}, {key: "runtime/default"})) == []


@pytest.mark.parametrize(
    ("path", "value", "text"),
    [
        ("containers[0].securityContext.allowPrivilegeEscalation", None, "has no allowPrivilegeEscalation: false"),
        ("containers[0].securityContext.capabilities", {"drop": ["CHOWN"]}, "does not drop ALL capabilities"),
        ("securityContext.seccompProfile", None, "has no seccompProfile"),
        ("securityContext.runAsNonRoot", None, "may run as root"),
        ("securityContext.runAsUser", 0, "may run as root"),
        ("containers[0].securityContext.capabilities", {"drop": ["ALL"], "add": ["CHOWN"]}, "has CHOWN"),
        ("volumes[0]", {"name": "v", "nfs": {}}, "volume nfs"),
    ],
)
def test_what_restricted_refuses(path: str, value: object, text: str) -> None:
    assert list(above_restricted(HARDENED)) == []
    refused = list(above_restricted(edited(HARDENED, (path, value))))
    assert [privilege.text.removeprefix("container c ") for privilege in refused] == [text]


def test_restricted_lets_a_container_bind_low_ports() -> None:
    bind = {"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]}
    assert list(above_restricted(edited(HARDENED, ("containers[0].securityContext.capabilities", bind)))) == []


@pytest.mark.parametrize(("field", "value"), [("runAsUser", 0), ("runAsNonRoot", False)])
def test_restricted_judges_the_pod_even_if_each_container_says_something_else(field: str, value: object) -> None:
    own = "containers[0].securityContext"
    held = edited(HARDENED, (f"{own}.runAsUser", 1000), (f"{own}.runAsNonRoot", True))
    pod = edited(held, (f"securityContext.{field}", value))
    assert [privilege.text for privilege in above_restricted(pod)] == ["container c may run as root"]
