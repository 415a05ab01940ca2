"""The webhook's rules about spec.dra, and about the host paths of DRA and device plugins.

It also asks for a version of the cluster, which nothing here knows; the lint KRM209 says so.
Source: KMM main (2026-07-29; for probes its pull request #1322) and the OpenShift fork's main and release-2.7,
internal/webhook/module.go; v2.4.0 to v2.6.0 have none. The fork's release-2.5 (from 2.5.2) and release-2.6 (from 2.6.1)
bound the host paths, without /run.
"""

from collections.abc import Iterator

from krmfn import Result
from krmfn.typed import Any

from ... import oracles
from ...rule import Rule
from ..lookup import Table, has, table, tables, text
from ..module import Module
from ..names import subdomain_errors
from ..rule import clean, quote, refusal
from ..versions import Target

_DRA = "failed to validate DRA: "


def check(module: Module, kmm: Target) -> Iterator[Result]:
    """Yield the findings about the DRA driver, class by class, then about the host paths, in the webhook's order."""
    if kmm.dra and has(module.spec, "dra"):
        dra = module.spec["dra"]
        name = text(dra, "driverName")
        yield from _check_name(name, "spec.dra.driverName", dra.get("driverName"), ("KMM012", "KMM013"))
        seen: set[str] = set()
        for index, entry in tables(dra, "deviceClasses"):
            name, path = text(entry, "name"), f"spec.dra.deviceClasses[{index}].name"
            yield from _check_name(name, path, None, ("KMM014", "KMM015"))
            if name and name in seen:
                yield refusal(f"{_DRA}{path} {quote(name)} is a duplicate", path, name, rule="KMM016")
            seen.add(name)
        yield from _init_container_has_no_probes(dra, "dra", kmm, _DRA)
    if not kmm.host_paths:
        return
    folders = tuple(f"{folder}/" for folder in kmm.host_paths)
    permitted = f"only {', '.join(kmm.host_paths[:-1])} and {kmm.host_paths[-1]} paths are permitted"
    sections = (("dra", "DRA", "KMM017"), ("devicePlugin", "device plugin", "KMM018"))
    for section, plugin, rule in sections if kmm.dra else sections[1:]:
        for index, volume in tables(table(module.spec, section), "volumes"):
            where, path = f"spec.{section}.volumes[{index}]", text(volume.get("hostPath"), "path")
            if has(volume, "hostPath") and not f"{clean(path)}/".startswith(folders):
                reason = f"{where}: hostPath {quote(path)} is not allowed; {permitted}"
                message = f"failed to validate {plugin} volumes: {reason}"
                yield refusal(message, f"{where}.hostPath.path", path, rule=rule)
    yield from _init_container_has_no_probes(table(module.spec, "devicePlugin"), "devicePlugin", kmm)


def _init_container_has_no_probes(plugin: Table, section: str, kmm: Target, prefix: str = "") -> Iterator[Result]:
    """Yield the findings about probes of a plugin's initContainer, where the CRD has them."""
    for probe in ("startupProbe", "livenessProbe") if kmm.probes else ():
        if has(table(plugin, "initContainer"), probe):
            path = f"spec.{section}.initContainer.{probe}"
            yield refusal(f"{prefix}{path} is not supported", path, rule="KMM084")


def _check_name(name: str, path: str, current: Any, rules: tuple[str, str]) -> Iterator[Result]:
    """Yield the finding about a name that is missing, or that is no subdomain."""
    if not name:
        yield refusal(f"{_DRA}{path} is required", path, current, rule=rules[0])
    elif errors := subdomain_errors(name):
        message = f"{_DRA}{path} {quote(name)} is not a valid DNS subdomain: {'; '.join(errors)}"
        yield refusal(message, path, name, rule=rules[1])


KMM012 = Rule(
    "KMM012",
    "the dra section must name its driver (after KMM 2.6)",
    good="""\
# kmm: main
spec: {dra: {driverName: gpu.example.com, container: {image: "registry.example.com/dra:1.0"}}}
""",
    bad="""\
# kmm: main
spec: {dra: {driverName: "", container: {image: "registry.example.com/dra:1.0"}}}
""",
    remedy="Write the name under which the driver registers with the kubelet.",
    held=oracles.WEBHOOK,
)

KMM013 = Rule(
    "KMM013",
    "the name of the DRA driver must be a DNS subdomain (after KMM 2.6)",
    good="""\
# kmm: main
spec: {dra: {driverName: gpu.example.com, container: {image: "registry.example.com/dra:1.0"}}}
""",
    bad="""\
# kmm: main
spec: {dra: {driverName: GPU, container: {image: "registry.example.com/dra:1.0"}}}
""",
    remedy="Use only lowercase letters, digits, '-' and '.'.",
    held=oracles.WEBHOOK,
)

KMM014 = Rule(
    "KMM014",
    "a DRA device class must have a name; the CRD's pattern already refuses an empty one (after KMM 2.6)",
    good="""\
# kmm: main
spec:
  dra:
    driverName: gpu.example.com
    container: {image: "registry.example.com/dra:1.0"}
    deviceClasses: [{name: gpu.example.com}]
""",
    bad="""\
# kmm: main
spec:
  dra:
    driverName: gpu.example.com
    container: {image: "registry.example.com/dra:1.0"}
    deviceClasses: [{name: ""}]
""",
    remedy="Name the device class, or remove the entry.",
    held=oracles.WEBHOOK,
)

KMM015 = Rule(
    "KMM015",
    "the name of a DRA device class must be a DNS subdomain; the CRD already checks all but its length (after KMM 2.6)",
    good="""\
# kmm: main
spec:
  dra:
    driverName: gpu.example.com
    container: {image: "registry.example.com/dra:1.0"}
    deviceClasses: [{name: gpu.example.com}]
""",
    bad="""\
# kmm: main
spec:
  dra:
    driverName: gpu.example.com
    container: {image: "registry.example.com/dra:1.0"}
    deviceClasses: [{name: GPU.example.com}]
""",
    remedy="Use only lowercase letters, digits, '-' and '.', at most 253 characters.",
    held=oracles.WEBHOOK,
)

KMM016 = Rule(
    "KMM016",
    "DRA device classes must have different names (after KMM 2.6)",
    good="""\
# kmm: main
spec:
  dra:
    driverName: gpu.example.com
    container: {image: "registry.example.com/dra:1.0"}
    deviceClasses: [{name: gpu.example.com}, {name: small.gpu.example.com}]
""",
    bad="""\
# kmm: main
spec:
  dra:
    driverName: gpu.example.com
    container: {image: "registry.example.com/dra:1.0"}
    deviceClasses: [{name: gpu.example.com}, {name: gpu.example.com}]
""",
    remedy="Rename one of them, or remove it.",
    held=oracles.WEBHOOK,
)


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
    held=oracles.WEBHOOK,
)

KMM018 = Rule(
    "KMM018",
    "host paths of the device plugin must be below /dev, /sys, /var, /opt or /run (after KMM 2.6; OpenShift 2.5.2 and "
    "2.6.1: without /run)",
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
    remedy="Mount a path below one of these directories, or mount a ConfigMap instead of a file of the node.",
    held=oracles.WEBHOOK,
)

KMM084 = Rule(
    "KMM084",
    "the initContainer of a plugin must not have probes (after KMM 2.6)",
    good="""\
# kmm: main
spec:
  devicePlugin:
    container: {image: "registry.example.com/plugin:1.0", startupProbe: {exec: {command: [/ready]}}}
    initContainer: {image: "registry.example.com/setup:1.0"}
""",
    bad="""\
# kmm: main
spec:
  devicePlugin:
    container: {image: "registry.example.com/plugin:1.0"}
    initContainer: {image: "registry.example.com/setup:1.0", startupProbe: {exec: {command: [/ready]}}}
""",
    remedy="Remove the probe, or move it to the container.",
    held=oracles.WEBHOOK,
)

RULES = (KMM012, KMM013, KMM014, KMM015, KMM016, KMM017, KMM018, KMM084)
