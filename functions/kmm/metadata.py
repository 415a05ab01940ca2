"""What the API server says to a Module's metadata.

Source: k8s.io/apimachinery v0.34, pkg/api/validation (ValidateObjectMeta) and the decoding of ObjectMeta.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from krmfn.fieldpath import join
from krmfn.resource import Manifest
from krmfn.results import Result

from .gotext import quote
from .lookup import Table, table, text
from .names import dns_label_errors, label_key_errors, label_value_errors, subdomain_errors
from .rules import Rules, refused

FIELDS = (
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "managedFields",
)
_GO_TYPES = {bool: "bool", int: "number", float: "number", dict: "object", list: "array", str: "string"}


def name_is_a_subdomain(module: Manifest) -> Iterator[Result]:
    """KMM061: a Module has a name, which is a DNS subdomain."""
    metadata = table(module, "metadata")
    name = text(metadata, "name")
    if not metadata.get("name") and not metadata.get("generateName"):
        yield refused("metadata.name: Required value: name or generateName is required", "metadata.name")
    for wrong in subdomain_errors(name) if name else ():
        yield refused(f"metadata.name: Invalid value: {quote(name)}: {wrong}", "metadata.name", name)


def namespace_is_a_label(module: Manifest) -> Iterator[Result]:
    """KMM062: a Module's namespace is a DNS label; none at all is a matter of who applies it."""
    namespace = text(table(module, "metadata"), "namespace")
    for wrong in dns_label_errors(namespace) if namespace else ():
        yield refused(
            f"metadata.namespace: Invalid value: {quote(namespace)}: {wrong}", "metadata.namespace", namespace
        )


def labels_are_labels(module: Manifest) -> Iterator[Result]:
    """KMM063: a Module's labels are label keys with label values."""
    for key, value in table(module, "metadata", "labels").items():
        path = join(("metadata", "labels", key))
        for wrong in label_key_errors(key):
            yield refused(f"metadata.labels: Invalid value: {quote(key)}: {wrong}", path)
        for wrong in label_value_errors(value) if isinstance(value, str) else ():
            yield refused(f"metadata.labels: Invalid value: {quote(value)}: {wrong}", path, value)


def annotations_have_keys(module: Manifest) -> Iterator[Result]:
    """KMM064: the keys of a Module's annotations are label keys, but for capitals in their prefix."""
    for key in table(module, "metadata", "annotations"):
        for wrong in label_key_errors(key.lower()):
            path = join(("metadata", "annotations", key))
            yield refused(f"metadata.annotations: Invalid value: {quote(key)}: {wrong}", path)


def metadata_decodes(module: Manifest) -> Iterator[Result]:
    """KMM065: name and namespace are strings, labels and annotations map strings to strings."""
    metadata = table(module, "metadata")
    for key in ("name", "generateName", "namespace"):
        yield from _string(metadata, key, f"metadata.{key}", key)
    for key in ("labels", "annotations"):
        value = metadata.get(key)
        if isinstance(value, dict):
            for name in value:
                yield from _string(value, name, join(("metadata", key, name)), key)
        elif value is not None:
            yield refused(_undecodable(value, key, "map[string]string"), f"metadata.{key}")


def metadata_field_is_known(module: Manifest) -> Iterator[Result]:
    """KMM066: metadata has no field that Kubernetes does not know."""
    for key in table(module, "metadata"):
        if key not in FIELDS:
            yield refused(f'strict decoding error: unknown field "metadata.{key}"', join(("metadata", key)))


def _string(holder: Table, key: str, path: str, field: str) -> Iterator[Result]:
    value = holder.get(key)
    if value is not None and not isinstance(value, str):
        hint = "" if isinstance(value, (dict, list)) else "write it in quotes"
        yield refused(_undecodable(value, field, "string"), path, None if not hint else value, hint)


def _undecodable(value: Any, field: str, wanted: str) -> str:
    given = _GO_TYPES.get(type(value), "string")
    return f"json: cannot unmarshal {given} into Go struct field ObjectMeta.{field} of type {wanted}"


RULES: Rules = (
    ("KMM061", name_is_a_subdomain),
    ("KMM062", namespace_is_a_label),
    ("KMM063", labels_are_labels),
    ("KMM064", annotations_have_keys),
    ("KMM065", metadata_decodes),
    ("KMM066", metadata_field_is_known),
)
