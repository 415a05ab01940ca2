"""Values that fit the CRD's schema and that the webhook's decoder refuses.

Source: k8s.io/api v0.32 and v0.35 (core/v1), seen by decoding with k8s.io/apimachinery of the same versions.
"""

import re
from collections.abc import Iterator

from krmfn import Result
from krmfn.resource import FieldPath, join
from krmfn.typed import Any

from ... import oracles
from ...rule import Rule, apply
from ..lookup import table
from ..module import PLUGINS, Module
from ..rule import refusal

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

_QUANTITY = re.compile(r"[+-]?[0-9.]+(?:[eEinumkKMGTP]+[-+]?[0-9]*|[-+][0-9]*)?")
_EXPONENT = re.compile(r"[+-]?[0-9.]+[eE]([-+]?[0-9]+)")
_NOT_A_QUANTITY = r"quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


def check(module: Module) -> Iterator[Result]:
    """Yield the findings about the scalars below the two plugins, in the order in which the API server sends them."""
    places = [("spec", plugin, part) for plugin in PLUGINS for part in ("container", "initContainer", "volumes")]
    leaves = [leaf for path in places for leaf in _scalars(path, table(module.spec, path[1]).get(path[2]))]
    yield from apply(RULES, leaves)


def _integers_fit(leaves: list[tuple[FieldPath, Any]]) -> Iterator[Result]:
    for path, value in leaves:
        if type(value) is not int or -(2**31) <= value < 2**31:
            continue
        keys = [part for part in path if isinstance(part, str) and part != "items"]
        if struct := _INT32.get((keys[-2], keys[-1])):
            names = ".".join(part for part in path if isinstance(part, str))
            where = names.replace("volumes.", "volumes.VolumeSource.")
            message = f"json: cannot unmarshal number {value} into Go struct field {struct}.{where} of type int32"
            yield refusal(message, join(path), value)


KMM001 = Rule(
    "KMM001",
    "a number in a plugin's volumes must fit into 32 bits; the CRD accepts larger ones (all KMM versions)",
    good="""\
spec:
  devicePlugin:
    container: {image: "registry.example.com/plugin:1.0"}
    volumes: [{name: config, configMap: {name: gpu, defaultMode: 420}}]
""",
    bad="""\
spec:
  devicePlugin:
    container: {image: "registry.example.com/plugin:1.0"}
    volumes: [{name: config, configMap: {name: gpu, defaultMode: 4200000000}}]
""",
    remedy="Write a number between -2147483648 and 2147483647.",
    held=oracles.DECODING,
    check=_integers_fit,
)


def _quantities_parse(leaves: list[tuple[FieldPath, Any]]) -> Iterator[Result]:
    for path, value in leaves:
        is_quantity = path[-1] in ("divisor", "sizeLimit") or path[-2] in ("limits", "requests")
        if not isinstance(value, str) or not is_quantity:
            continue
        exponent = _EXPONENT.fullmatch(value)
        if not _QUANTITY.fullmatch(value):
            yield refusal(_NOT_A_QUANTITY, join(path), value)
        elif exponent and not -(2**63) <= int(exponent[1]) < 2**63:
            yield refusal("unable to parse quantity's suffix", join(path), value)


KMM040 = Rule(
    "KMM040",
    "the exponent of a quantity must be a whole number and not huge; the CRD's pattern accepts `1e1.5` (all KMM "
    "versions)",
    good="""\
spec:
  devicePlugin:
    container: {image: "registry.example.com/plugin:1.0", resources: {limits: {memory: 1e9}}}
""",
    bad="""\
spec:
  devicePlugin:
    container: {image: "registry.example.com/plugin:1.0", resources: {limits: {memory: 1e1.5}}}
""",
    remedy="Write the quantity with a unit, such as 100Mi, or with a whole exponent.",
    held=oracles.DECODING,
    check=_quantities_parse,
)

RULES = (KMM001, KMM040)


def _scalars(path: FieldPath, value: Any) -> Iterator[tuple[FieldPath, Any]]:
    if isinstance(value, dict):
        for key in sorted(value, key=str):
            yield from _scalars((*path, str(key)), value[key])
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from _scalars((*path, index), entry)
    else:
        yield path, value
