"""The webhook's rules about spec.dra and about host paths of DRA and device plugins.

Source: KMM main (2026-07-29) and the OpenShift fork's main, internal/webhook/module.go; v2.4.0 to v2.6.0 have none.
"""

from __future__ import annotations

from collections.abc import Iterator

from krmfn.results import Result

from ..gotext import clean, quote
from ..lookup import Table, has, table, tables, text
from ..names import subdomain_errors
from ..rule import Rules, apply, refused
from ..versions import Target

Cluster = tuple[int, int]
"""The cluster's version, in the platform's own numbers: Kubernetes, or OpenShift for the fork."""

HOST_PATHS = ("/dev", "/sys", "/var", "/opt", "/run")


def check(spec: Table, target: Target, cluster: Cluster | None) -> Iterator[Result]:
    """Yield the findings about DRA, then about the volumes of both plugins, in the webhook's order."""
    if target.dra and has(spec, "dra"):
        dra = table(spec, "dra")
        yield from apply(DRA_RULES, dra, target, cluster, prefix="failed to validate DRA: ")
        seen: set[str] = set()
        for index, entry in tables(dra, "deviceClasses"):
            yield from apply(CLASS_RULES, entry, index, seen, prefix="failed to validate DRA: ")
            seen.add(text(entry, "name"))
        yield from apply(DRA_VOLUME_RULES, dra, target, prefix="failed to validate DRA volumes: ")
    plugin = table(spec, "devicePlugin")
    yield from apply(PLUGIN_VOLUME_RULES, plugin, target, prefix="failed to validate device plugin volumes: ")


def cluster_has_dra(dra: Table, target: Target, cluster: Cluster | None) -> Iterator[Result]:
    """KMM011: spec.dra needs Kubernetes 1.34 (the fork: OpenShift 4.21), when the version is known. KMM main."""
    if cluster is not None and cluster < target.dra_since:
        needed = f"{target.platform} {target.dra_since[0]}.{target.dra_since[1]}"
        yield refused(
            f"spec.dra requires {needed} or later; current cluster version is {cluster[0]}.{cluster[1]}", "spec.dra"
        )


def driver_is_named(dra: Table, target: Target, cluster: Cluster | None) -> Iterator[Result]:
    """KMM012: spec.dra names its driver. KMM main."""
    if not text(dra, "driverName"):
        yield refused("spec.dra.driverName is required", "spec.dra.driverName", dra.get("driverName"))


def driver_is_a_subdomain(dra: Table, target: Target, cluster: Cluster | None) -> Iterator[Result]:
    """KMM013: the DRA driver's name is a DNS subdomain. KMM main."""
    name = text(dra, "driverName")
    wrong = subdomain_errors(name) if name else []
    if wrong:
        message = f"spec.dra.driverName {quote(name)} is not a valid DNS subdomain: {'; '.join(wrong)}"
        yield refused(message, "spec.dra.driverName", name)


def class_is_named(entry: Table, index: int, seen: set[str]) -> Iterator[Result]:
    """KMM014: each DRA device class has a name. KMM main; the CRD's pattern refuses the empty one before."""
    if not text(entry, "name"):
        yield refused(f"spec.dra.deviceClasses[{index}].name is required", f"spec.dra.deviceClasses[{index}].name")


def class_is_a_subdomain(entry: Table, index: int, seen: set[str]) -> Iterator[Result]:
    """KMM015: a DRA device class's name is a DNS subdomain. KMM main; the CRD sees all but its length before."""
    name = text(entry, "name")
    wrong = subdomain_errors(name) if name else []
    if wrong:
        path = f"spec.dra.deviceClasses[{index}].name"
        yield refused(f"{path} {quote(name)} is not a valid DNS subdomain: {'; '.join(wrong)}", path, name)


def class_is_single(entry: Table, index: int, seen: set[str]) -> Iterator[Result]:
    """KMM016: no two DRA device classes have the same name. KMM main."""
    name = text(entry, "name")
    if name and name in seen:
        path = f"spec.dra.deviceClasses[{index}].name"
        yield refused(f"{path} {quote(name)} is a duplicate", path, name)


def dra_host_paths(dra: Table, target: Target) -> Iterator[Result]:
    """KMM017: the DRA plugin's host paths lie under /dev, /sys, /var, /opt or /run. KMM main."""
    yield from _host_paths("spec.dra.volumes", dra, target)


def plugin_host_paths(plugin: Table, target: Target) -> Iterator[Result]:
    """KMM018: the device plugin's host paths lie under /dev, /sys, /var, /opt or /run. KMM main."""
    yield from _host_paths("spec.devicePlugin.volumes", plugin, target)


def _host_paths(where: str, plugin: Table, target: Target) -> Iterator[Result]:
    for index, volume in tables(plugin, "volumes") if target.host_paths else ():
        path = text(volume.get("hostPath"), "path")
        if has(volume, "hostPath") and not _is_allowed(clean(path)):
            message = f"{where}[{index}]: hostPath {quote(path)} is not allowed; only /dev, /sys, /var, /opt and /run "
            yield refused(message + "paths are permitted", f"{where}[{index}].hostPath.path", path)


def _is_allowed(path: str) -> bool:
    return any(path == root or path.startswith(root + "/") for root in HOST_PATHS)


DRA_RULES: Rules = (
    ("KMM011", cluster_has_dra),
    ("KMM012", driver_is_named),
    ("KMM013", driver_is_a_subdomain),
)
CLASS_RULES: Rules = (
    ("KMM014", class_is_named),
    ("KMM015", class_is_a_subdomain),
    ("KMM016", class_is_single),
)
DRA_VOLUME_RULES: Rules = (("KMM017", dra_host_paths),)
PLUGIN_VOLUME_RULES: Rules = (("KMM018", plugin_host_paths),)
RULES: Rules = DRA_RULES + CLASS_RULES + DRA_VOLUME_RULES + PLUGIN_VOLUME_RULES
