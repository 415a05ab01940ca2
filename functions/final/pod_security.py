"""What the levels of Pod Security refuse of a pod.

Source: Kubernetes 1.34, Pod Security Standards, and k8s.io/pod-security-admission/policy; the hosts of probes, which
1.34 refuses first, are not judged, nor are pods for Windows.
"""

from collections.abc import Iterator

from krmfn import Manifest
from krmfn.resource import FieldPath
from krmfn.typed import Any, NamedTuple

from ..kmm.lookup import Table, at, table, tables, text, texts

ENFORCE = "pod-security.kubernetes.io/enforce"
"""The label of a Namespace with the level that its pods must fit; `warn` and `audit` refuse nothing."""
PRIVILEGED, BASELINE, RESTRICTED = "privileged", "baseline", "restricted"
"""The levels: the first refuses nothing, the last the most."""

SECURITY = "securityContext"
CONTAINERS = ("containers", "initContainers", "ephemeralContainers")
HOST = ("hostNetwork", "hostPID", "hostIPC")
_CAPABILITIES = frozenset(
    {
        *("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE"),
        *("SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"),
    }
)
"""Those that baseline lets a container add."""
_OF_LOW_PORTS = "NET_BIND_SERVICE"
"""The one that restricted lets it add."""
_SELINUX_TYPES = frozenset({"", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"})
_SYSCTLS = frozenset(
    {
        *("kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.ip_local_reserved_ports"),
        *("net.ipv4.ip_unprivileged_port_start", "net.ipv4.ping_group_range", "net.ipv4.tcp_fin_timeout"),
        *("net.ipv4.tcp_keepalive_intvl", "net.ipv4.tcp_keepalive_probes", "net.ipv4.tcp_keepalive_time"),
        *("net.ipv4.tcp_rmem", "net.ipv4.tcp_syncookies", "net.ipv4.tcp_wmem"),
    }
)
"""Those that concern the pod alone."""
_VOLUMES = frozenset(
    {
        *("name", "configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image"),
        *("persistentVolumeClaim", "projected", "secret"),
    }
)
"""What restricted takes of a volume."""
_APPARMOR, _SECCOMP = (
    "container.apparmor.security.beta.kubernetes.io/",
    "container.seccomp.security.alpha.kubernetes.io/",
)
_SECCOMP_OF_POD = "seccomp.security.alpha.kubernetes.io/pod"


class Privilege(NamedTuple):
    """Something of a pod that a level refuses."""

    path: FieldPath
    """The field, below the spec of the pod; the annotation, for one of the older form."""
    text: str
    """What it is, in words that stay the same wherever the container stands in its list."""


def above_baseline(pod: Manifest, annotations: Table) -> Iterator[Privilege]:
    """Yield what baseline, and so restricted, refuses of a PodSpec with these annotations beside it."""
    yield from (Privilege((name,), name) for name in HOST if pod.get(name) is True)
    for index, volume in tables(pod, "volumes"):
        if isinstance(volume.get("hostPath"), dict):
            yield Privilege(("volumes", index, "hostPath"), f"hostPath {text(volume['hostPath'], 'path')}")
    for index, sysctl in tables(table(pod, SECURITY), "sysctls"):
        if (name := text(sysctl, "name")) not in _SYSCTLS:
            yield Privilege((SECURITY, "sysctls", index), f"sysctl {name}")
    for path, subject, holder in contexts(pod):
        yield from _of_context((*path, SECURITY), subject, table(holder, SECURITY))
    for path, container in containers(pod):
        name = f"container {text(container, 'name')} "
        for index, port in tables(container, "ports"):
            if port.get("hostPort"):
                yield Privilege((*path, "ports", index, "hostPort"), f"{name}has hostPort {port['hostPort']}")
    yield from _of_annotations(annotations)


def above_restricted(pod: Manifest) -> Iterator[Privilege]:
    """Yield what restricted refuses of a PodSpec beyond what baseline does."""
    for index, volume in tables(pod, "volumes"):
        if kinds := sorted(volume.keys() - _VOLUMES - {"hostPath"}):
            yield Privilege(("volumes", index), f"volume {kinds[0]}")
    of_pod = table(pod, SECURITY)
    # refused even where each container says something else
    is_root = of_pod.get("runAsNonRoot") is False or of_pod.get("runAsUser") == 0
    for path, container in containers(pod):
        name, context = f"container {text(container, 'name')}", table(container, SECURITY)
        path = (*path, SECURITY)
        if context.get("allowPrivilegeEscalation") is not False:
            yield Privilege((*path, "allowPrivilegeEscalation"), f"{name} has no allowPrivilegeEscalation: false")
        if "ALL" not in texts(table(context, "capabilities"), "drop"):
            yield Privilege((*path, "capabilities"), f"{name} does not drop ALL capabilities")
        for index, capability in enumerate(texts(table(context, "capabilities"), "add")):
            if capability in _CAPABILITIES - {_OF_LOW_PORTS}:  # baseline refuses others
                yield Privilege((*path, "capabilities", "add", index), f"{name} has {capability}")
        if not text(table(context, "seccompProfile"), "type") and not text(table(of_pod, "seccompProfile"), "type"):
            yield Privilege((*path, "seccompProfile"), f"{name} has no seccompProfile")
        if pod.get("hostUsers") is not False:  # else root in the pod is not root on the node
            is_held = context.get("runAsNonRoot", of_pod.get("runAsNonRoot")) is True
            if is_root or not is_held or context.get("runAsUser") == 0:
                yield Privilege((*path, "runAsNonRoot"), f"{name} may run as root")


def containers(pod: Manifest) -> Iterator[tuple[FieldPath, Table]]:
    """Yield every container of a PodSpec with its path."""
    for part in CONTAINERS:
        yield from (((part, index), container) for index, container in tables(pod, part))


def contexts(pod: Manifest) -> Iterator[tuple[FieldPath, str, Table]]:
    """Yield what has a securityContext: the PodSpec, then each container; with its path and the words for it."""
    yield (), "the pod ", pod
    for path, container in containers(pod):
        yield path, f"container {text(container, 'name')} ", container


_UNSAFE: tuple[tuple[tuple[str, ...], Any, str], ...] = (
    (("privileged",), (True,), "is privileged"),
    (("windowsOptions", "hostProcess"), (True,), "is a process of the host"),
    (("procMount",), ("Unmasked",), "sees all of /proc (procMount Unmasked)"),
    (("seccompProfile", "type"), ("Unconfined",), "runs without seccomp (Unconfined)"),
    (("appArmorProfile", "type"), ("Unconfined",), "runs without AppArmor (Unconfined)"),
)
"""Fields of a securityContext, their values that baseline refuses, and the words for that."""


def _of_context(path: FieldPath, subject: str, context: Table) -> Iterator[Privilege]:
    for field, values, words in _UNSAFE:
        if at(context, field) in values:
            yield Privilege((*path, *field), f"{subject}{words}")
    options = table(context, "seLinuxOptions")
    if text(options, "type") not in _SELINUX_TYPES or text(options, "user") or text(options, "role"):
        words = ":".join(text(options, key) for key in ("user", "role", "type") if text(options, key))
        yield Privilege((*path, "seLinuxOptions"), f"{subject}has seLinuxOptions {words}")
    for index, capability in enumerate(texts(table(context, "capabilities"), "add")):
        if capability not in _CAPABILITIES:
            yield Privilege((*path, "capabilities", "add", index), f"{subject}has {capability}")


def _of_annotations(annotations: Table) -> Iterator[Privilege]:
    """Yield what the annotations of before Kubernetes 1.19 (seccomp) and 1.30 (AppArmor) turn off."""
    for key, value in annotations.items():
        if value == "unconfined" and key.startswith((_APPARMOR, _SECCOMP, _SECCOMP_OF_POD)):
            subject = f"container {key.rpartition('/')[2]}" if key != _SECCOMP_OF_POD else "the pod"
            module = "AppArmor" if key.startswith(_APPARMOR) else "seccomp"
            yield Privilege((key,), f"{subject} runs without {module} (Unconfined)")
