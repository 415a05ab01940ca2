"""The webhook's rules about the host paths of DRA and device plugins.

Source: KMM main (2026-07-29) and the OpenShift fork's main, internal/webhook/module.go; v2.4.0 to v2.6.0 have none.
"""

from __future__ import annotations

from collections.abc import Iterator

from krmfn import Result
from krmfn.rule import Rule

from ..gotext import clean, quote
from ..lookup import Table, has, table, tables, text
from ..module import Module
from ..rule import prefixed, refused

HOST_PATHS = ("/dev", "/sys", "/var", "/opt", "/run")


def check(module: Module) -> Iterator[Result]:
    """Yield the findings about the volumes of both plugins, in the webhook's order."""
    for section, name, rule in (("dra", "DRA", "KMM017"), ("devicePlugin", "device plugin", "KMM018")):
        findings = _host_paths(f"spec.{section}.volumes", table(module.spec, section), rule)
        yield from prefixed(f"failed to validate {name} volumes: ", findings)


def _host_paths(where: str, plugin: Table, rule: str) -> Iterator[Result]:
    for index, volume in tables(plugin, "volumes"):
        path = text(volume.get("hostPath"), "path")
        if has(volume, "hostPath") and not _is_allowed(clean(path)):
            message = f"{where}[{index}]: hostPath {quote(path)} is not allowed; only /dev, /sys, /var, /opt and /run "
            yield refused(message + "paths are permitted", f"{where}[{index}].hostPath.path", path, rule=rule)


def _is_allowed(path: str) -> bool:
    return any(path == root or path.startswith(root + "/") for root in HOST_PATHS)


KMM017 = Rule(
    "KMM017",
    "host paths of the DRA plugin must be below /dev, /sys, /var, /opt or /run (after KMM 2.6)",
    good="""\
# kmm: main
spec:
  dra:
    driverName: gpu.example.com
    container: {image: "registry.example.com/dra:1.0"}
    volumes: [{name: devices, hostPath: {path: /dev}}]
""",
    bad="""\
# kmm: main
spec:
  dra:
    driverName: gpu.example.com
    container: {image: "registry.example.com/dra:1.0"}
    volumes: [{name: config, hostPath: {path: /etc/gpu}}]
""",
    remedy="Mount a path below one of these five directories, or mount a ConfigMap instead of a file of the node.",
)

KMM018 = Rule(
    "KMM018",
    "host paths of the device plugin must be below /dev, /sys, /var, /opt or /run (after KMM 2.6)",
    good="""\
# kmm: main
spec:
  devicePlugin:
    container: {image: "registry.example.com/plugin:1.0"}
    volumes: [{name: devices, hostPath: {path: /dev}}]
""",
    bad="""\
# kmm: main
spec:
  devicePlugin:
    container: {image: "registry.example.com/plugin:1.0"}
    volumes: [{name: config, hostPath: {path: /etc/gpu}}]
""",
    remedy="Mount a path below one of these five directories, or mount a ConfigMap instead of a file of the node.",
)

RULES = (KMM017, KMM018)
