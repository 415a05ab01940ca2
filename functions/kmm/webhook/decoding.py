"""Values that fit the CRD's schema and that the webhook's decoder refuses.

Source: k8s.io/api v0.32 and v0.35 (core/v1), seen by decoding with k8s.io/apimachinery of the same versions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from krmfn.fieldpath import join
from krmfn.resource import Manifest
from krmfn.results import Result

from ..lookup import table
from ..rule import Rules, refused
from ..versions import Target

Path = tuple[str | int, ...]

_INT32 = {
    ("awsElasticBlockStore", "partition"): "AWSElasticBlockStoreVolumeSource",
    ("gcePersistentDisk", "partition"): "GCEPersistentDiskVolumeSource",
    ("configMap", "defaultMode"): "ConfigMapVolumeSource",
    ("downwardAPI", "defaultMode"): "DownwardAPIVolumeSource",
    ("projected", "defaultMode"): "ProjectedVolumeSource",
    ("secret", "defaultMode"): "SecretVolumeSource",
    ("configMap", "mode"): "KeyToPath",
    ("secret", "mode"): "KeyToPath",
    ("downwardAPI", "mode"): "DownwardAPIVolumeFile",
    ("fc", "lun"): "FCVolumeSource",
    ("iscsi", "lun"): "ISCSIVolumeSource",
    ("podCertificate", "maxExpirationSeconds"): "PodCertificateProjection",
}
"""The 32-bit integers below a plugin: (owner, field) -> the Go struct that KMM's text names."""

_QUANTITY = re.compile(r"[+-]?[0-9.]+[eEinumkKMGTP]*[-+]?[0-9]*")
_EXPONENT = re.compile(r"[+-]?[0-9.]+[eE]([-+]?[0-9]+)")
_NOT_A_QUANTITY = r"quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


def integers_fit(module: Manifest, kmm: Target) -> Iterator[Result]:
    """KMM001: numbers below the plugins' volumes fit 32 bits. All KMM versions; the CRD lets larger ones through."""
    for path, value in _leaves(module):
        keys = [part for part in path if isinstance(part, str) and part != "items"]
        struct = _INT32.get((keys[-2], keys[-1]))
        if struct and type(value) is int and not -(2**31) <= value < 2**31:
            where = ".".join(part for part in path if isinstance(part, str)).replace(
                "volumes.", "volumes.VolumeSource."
            )
            message = f"json: cannot unmarshal number {value} into Go struct field {struct}.{where} of type int32"
            yield refused(message, join(path), value)


def quantities_parse(module: Manifest, kmm: Target) -> Iterator[Result]:
    """KMM040: exponents of quantities are whole and not huge. All KMM versions; the CRD's pattern takes `1e1.5`."""
    for path, value in _leaves(module):
        if not isinstance(value, str) or not (
            path[-1] in ("divisor", "sizeLimit") or path[-2] in ("limits", "requests")
        ):
            continue
        exponent = _EXPONENT.fullmatch(value)
        if not _QUANTITY.fullmatch(value):
            yield refused(_NOT_A_QUANTITY, join(path), value)
        elif exponent and not -(2**63) <= int(exponent[1]) < 2**63:
            yield refused("unable to parse quantity's suffix", join(path), value)


def _leaves(module: Manifest) -> Iterator[tuple[Path, Any]]:
    """Yield the scalars below the two plugins with their paths, in the order in which the API server sends them."""
    for plugin in ("devicePlugin", "dra"):
        for part in ("container", "initContainer", "volumes"):
            yield from _below(("spec", plugin, part), table(module, "spec", plugin).get(part))


def _below(path: Path, value: Any) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, dict):
        for key in sorted(value, key=str):
            yield from _below((*path, str(key)), value[key])
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from _below((*path, index), entry)
    else:
        yield path, value


RULES: Rules = (
    ("KMM001", integers_fit),
    ("KMM040", quantities_parse),
)
