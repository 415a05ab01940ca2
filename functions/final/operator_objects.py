"""KMM's other objects: the configuration of its operator, PreflightValidations, BootModuleConfigs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from krmfn import Field, KrmfnError, Result, error
from krmfn.printing import closest, some
from krmfn.resource import join
from krmfn.typed import Any

from .. import oracles
from ..kmm.lookup import table, text
from ..kmm.module import MODULE_GROUP
from ..rule import Rule
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
        from krmfn.yamltext import load

        field = Field(join(("data", _FILE)))
        outcome = "KMM's operator then uses its defaults for everything in this file"
        try:
            settings = load.read(text(data, _FILE).encode()) or {}
        except KrmfnError as failure:
            yield final.located(item, error(f"is no YAML ({failure}): {outcome}", field=field))
            continue
        if not isinstance(settings, dict):
            remedy = "write keys such as `worker:`"
            yield final.located(item, error(f"is no mapping of settings: {outcome}", field=field, remedy=remedy))
            continue
        for path, known in _unknown(settings, _KEYS, ()):
            name = path[-1]
            other = _RENAMED.get(name) or closest(name, known)
            remedy = f"write {other}" if other else f"known here: {some(sorted(known), len(known))}"
            message = f"has the unknown key {join(path)}: {outcome}"
            yield final.located(item, error(message, field=field, remedy=remedy))


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
            yield final.located(item, error(message, field=field, remedy="write it as `uname -r` prints it"))


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
            message = f"{image!r} has a tag or digest, and each node adds its kernel version as the tag"
            yield final.located(item, error(message, field=Field("spec.kernelModuleImage", image), remedy="remove it"))


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

KRM530 = Rule(
    "KRM530",
    "the settings of KMM's operator must have only keys that it knows: with one other it uses its defaults for all",
    good=_CONFIG,
    bad=_CONFIG.replace("firmwareHostPath", "setFirmwareClassPath"),
    remedy="Correct the key, or remove it; then restart the operator, which reads its settings once.",
    held=oracles.OPERATOR_CONFIG,
    check=operator_config_counts,
)

KRM531 = Rule(
    "KRM531",
    "the kernel version of a preflight validation must have three parts",
    good=_PREFLIGHT,
    bad=_PREFLIGHT.replace("5.14.0-570.12.1.el9_6.x86_64", "el9"),
    remedy="Write the version of the new kernel, as `uname -r` prints it.",
    held=oracles.PREFLIGHT,
    check=preflight_kernels_are_versions,
)

KRM532 = Rule(
    "KRM532",
    "the image of a BootModuleConfig must have no tag: each node adds its kernel version as the tag",
    good=_BOOT,
    bad=_BOOT.replace("registry.example.com/kmod", "registry.example.com/kmod:1.0"),
    remedy="Remove the tag, and push the image with a tag for each kernel version.",
    held=oracles.BOOT_MODULES,
    check=boot_images_have_no_tag,
)

RULES = (KRM530, KRM531, KRM532)
