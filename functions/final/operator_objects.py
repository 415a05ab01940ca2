"""KMM's other objects: the configuration of its operator, PreflightValidations, BootModuleConfigs, wrapped Modules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from krmfn import Field, KrmfnError, Result, error, info
from krmfn.printing import closest, some
from krmfn.resource import join
from krmfn.results import Rule
from krmfn.typed import Any
from krmfn.yamltext import load

from ..kmm.lookup import members, table, text
from ..kmm.module import MODULE_GROUP, MODULE_KINDS, Module, module_of
from ..kmm.versions import DEFAULT, NEWEST
from ..rendering.kinds import CONFIG
from .stream import CONFIG_MAP, FinalList

CONFIG_NAME, _FILE = "kmm-operator-manager-config", "controller_config.yaml"
"""The ConfigMap that KMM's operator reads, and the key that it reads there."""
_KEYS: Mapping[str, Any] = {
    "healthProbeBindAddress": None,
    "job": {"gcDelay": None},
    "leaderElection": {"enabled": None, "resourceID": None},
    "metrics": {"bindAddress": None, "disableHTTP2": None, "enableAuthnAuthz": None, "secureServing": None},
    "webhook": {"disableHTTP2": None, "port": None},
    "webhookPort": None,
    "worker": {"firmwareHostPath": None, "runAsUser": None, "seLinuxType": None},
}
"""The keys of that file, those of KMM and of the OpenShift fork: None, or the keys below.

Source: KMM main (de3f8c9), internal/config/config.go, and the fork's at release-2.7.
"""
_RENAMED = {"setFirmwareClassPath": "firmwareHostPath"}
"""Keys that have another name since KMM 2.2."""


def operator_config_counts(final: FinalList) -> Iterator[Result]:
    """Yield an error per key that makes KMM's operator ignore the whole file of its settings."""
    for item in final.deployed:
        if (item.group, item.kind, item.name) != (*CONFIG_MAP, CONFIG_NAME):
            continue
        data = table(item.manifest, "data")
        if _FILE not in data:
            message = (
                f"KMM's operator reads the key {_FILE} of this ConfigMap, and it is not there: nothing here counts"
            )
            yield final.located(item, error(message, field=Field("data")))
            continue
        field = Field(join(("data", _FILE)))
        outcome = "KMM's operator then uses its defaults for everything in this file"
        try:
            settings = load.read(text(data, _FILE).encode()) or {}
        except KrmfnError as failure:
            yield final.located(item, error(f"is no YAML ({failure}): {outcome}", field=field))
            continue
        for path, known in _unknown(settings, _KEYS, ()):
            name = path[-1]
            other = _RENAMED.get(name) or closest(name, known)
            remedy = f"write {other}" if other else f"known here: {some(sorted(known), len(known))}"
            yield final.located(item, error(f"has the unknown key {join(path)}: {outcome}; {remedy}", field=field))


def _unknown(
    settings: Any, keys: Mapping[str, Any], path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Yield the path of each unknown key, with the keys that are known there."""
    for key, value in settings.items() if isinstance(settings, dict) else ():
        if str(key) not in keys:
            yield (*path, str(key)), keys
        elif below := keys[str(key)]:
            yield from _unknown(value, below, (*path, str(key)))


_PREFLIGHTS = ("PreflightValidation", "PreflightValidationOCP")


def preflight_kernels_are_versions(final: FinalList) -> Iterator[Result]:
    """Yield an error per preflight validation whose kernel version KMM refuses.

    Source: KMM v2.6.0, internal/webhook/preflightvalidation.go; the fork's, internal/webhook/preflight.go.
    """
    for item in final.deployed:
        if item.group != MODULE_GROUP or item.kind not in _PREFLIGHTS:
            continue
        spec = table(item.manifest, "spec")
        if "kernelVersion" not in spec and "releaseImage" in spec:
            continue  # the first version of the fork's kind
        kernel = text(spec, "kernelVersion")
        if len(re.split(r"[.,-]", kernel)) < 3:
            message = "KMM's webhook refuses a kernel version with fewer than three parts" if kernel else "is required"
            field = Field("spec.kernelVersion", kernel or None)
            yield final.located(item, error(f"{message}; write it as `uname -r` prints it", field=field))


def boot_images_have_no_tag(final: FinalList) -> Iterator[Result]:
    """Yield an error per BootModuleConfig whose image has a tag: the node adds its kernel's version as the tag.

    Source: the fork's documentation, docs/mkdocs/documentation/day1_limited_option.md.
    """
    for item in final.deployed:
        if (item.group, item.kind) != (MODULE_GROUP, "BootModuleConfig"):
            continue
        image = text(table(item.manifest, "spec"), "kernelModuleImage")
        name, at, _ = image.partition("@")
        if at or ":" in name.rpartition("/")[2]:
            message = f"{image!r} has a tag or digest, and each node adds its kernel version as the tag: remove it"
            yield final.located(item, error(message, field=Field("spec.kernelModuleImage", image)))


def wrapped_modules_are_right(final: FinalList) -> Iterator[Result]:
    """Yield the errors about a Module inside another object, such as a ManifestWork, and what is not judged of it."""
    for item in final.deployed:
        if not item.mentions(MODULE_GROUP) or (item.group, item.kind) in (*MODULE_KINDS, CONFIG):
            continue
        for path, manifest in _wrapped(item.manifest, ()):
            module = module_of(manifest)
            if module is None:
                continue
            field = Field(join(path))
            # a policy may name a part of a Module; a ManifestWork has it whole
            for finding in _refusals(module) if item.kind == "ManifestWork" else ():
                inner = f": {finding.field.path}" if finding.field else ""
                yield final.located(
                    item, error(f"{module.ref}{inner}: {finding.message} [{finding.rule}]", field=field)
                )
            message = f"{module.ref} in it is not judged with the nodes and Modules of this cluster"
            yield final.located(item, info(f"{message}; it reaches the cluster that this object names", field=field))


def _refusals(module: Module) -> Iterator[Result]:
    """Yield what each KMM version that we know refuses in a Module: which one the other cluster has is not known."""
    from ..rendering import module_checks  # here, since few lists have a wrapped one

    older, newest = (module_checks.of_written(module, version) for version in (DEFAULT, NEWEST))
    known = {(finding.rule, finding.field and finding.field.path) for finding in older if finding.severity == "error"}
    for finding in newest:
        if finding.severity == "error" and (finding.rule, finding.field and finding.field.path) in known:
            yield finding


def _wrapped(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], dict[str, Any]]]:
    """Yield the manifests below a value that have a kind of KMM's, each with its path."""
    if path and isinstance(value, dict) and text(value, "apiVersion").rpartition("/")[0] == MODULE_GROUP:
        yield path, value
        return
    for key, entry in members(value):
        yield from _wrapped(entry, (*path, key))


_CONFIG = """\
kind: Module
---
apiVersion: v1
kind: ConfigMap
metadata: {name: kmm-operator-manager-config, namespace: kmm-operator-system}
data:
  controller_config.yaml: |
    worker:
      firmwareHostPath: /var/lib/firmware
"""
_PREFLIGHT = """\
kind: Module
---
apiVersion: kmm.sigs.x-k8s.io/v1beta2
kind: PreflightValidation
metadata: {name: next}
spec: {kernelVersion: 5.14.0-570.12.1.el9_6.x86_64}
"""
_BOOT = """\
kind: Module
---
apiVersion: kmm.sigs.x-k8s.io/v1beta1
kind: BootModuleConfig
metadata: {name: day1, namespace: openshift-kmm}
spec:
  machineConfigName: 99-kmod
  machineConfigPoolName: worker
  kernelModuleImage: registry.example.com/kmod
  kernelModuleName: kmod
"""
_WORK = """\
kind: Module
---
apiVersion: work.open-cluster-management.io/v1
kind: ManifestWork
metadata: {name: drivers, namespace: edge-1}
spec:
  workload:
    manifests:
    - apiVersion: kmm.sigs.x-k8s.io/v1beta1
      kind: Module
      metadata: {name: gpu, namespace: kmm}
      spec:
        selector: {example.com/gpu: "true"}
        moduleLoader:
          container:
            modprobe: {moduleName: gpu}
            kernelMappings: [{regexp: ^.+$, containerImage: "registry.example.com/gpu:1.0-$KERNEL_FULL_VERSION"}]
"""

KRM530 = Rule(
    "KRM530",
    "the settings of KMM's operator must have only keys that it knows: with one other it uses its defaults for all",
    good=_CONFIG,
    bad=_CONFIG.replace("firmwareHostPath", "setFirmwareClassPath"),
    remedy="Correct the key, or remove it; then restart the operator, which reads its settings once.",
    check=operator_config_counts,
)

KRM531 = Rule(
    "KRM531",
    "the kernel version of a preflight validation must have three parts",
    good=_PREFLIGHT,
    bad=_PREFLIGHT.replace("5.14.0-570.12.1.el9_6.x86_64", "el9"),
    remedy="Write the version of the kernel to come, as `uname -r` prints it there.",
    check=preflight_kernels_are_versions,
)

KRM532 = Rule(
    "KRM532",
    "the image of a BootModuleConfig must have no tag: each node adds its kernel version as the tag",
    good=_BOOT,
    bad=_BOOT.replace("registry.example.com/kmod", "registry.example.com/kmod:1.0"),
    remedy="Remove the tag, and push the image with a tag for each kernel version.",
    check=boot_images_have_no_tag,
)

KRM533 = Rule(
    "KRM533",
    "a Module inside another object must be one that KMM takes; it is not judged with the cluster that has the object",
    good="kind: Module\n",
    bad=_WORK.replace("moduleName: gpu", "moduleNam: gpu"),
    remedy="Correct the Module where it is written, or bring it with a ManagedClusterModule.",
    check=wrapped_modules_are_right,
    severities=("error", "info"),
)

RULES = (KRM530, KRM531, KRM532, KRM533)
