"""The API server's rules about a Module's metadata.

Source: k8s.io/apimachinery v0.34, pkg/api/validation (ValidateObjectMeta); its decoding is in `objectmeta`.
"""

from __future__ import annotations

from collections.abc import Iterator

from krmfn.fieldpath import join
from krmfn.resource import Manifest
from krmfn.results import Result

from ..gotext import quote, size
from ..lookup import listing, table, text
from ..names import dns_label_errors, label_key_errors, label_value_errors, subdomain_errors
from ..rule import Rules, refused
from .apitext import as_json, unmergeable
from .objectmeta import RULES as DECODING_RULES
from .owner_references import RULES as OWNER_RULES

NAME_IS_REQUIRED = "metadata.name: Required value: name or generateName is required"
ANNOTATIONS_LIMIT = 256 * 1024
_GENERATED = 58
"""A generated name is so much of generateName and five characters."""


def name_is_a_subdomain(module: Manifest) -> Iterator[Result]:
    """KMM061: a Module has a name or a start of one, which is a DNS subdomain."""
    given = module.get("metadata")
    metadata = table(module, "metadata")
    name, start = text(metadata, "name"), text(metadata, "generateName")
    for wrong in subdomain_errors(_without_dash(start)) if start else ():
        yield refused(f"metadata.generateName: Invalid value: {quote(start)}: {wrong}", "metadata.generateName", start)
    if (given is None or metadata == given) and not metadata.get("name") and not metadata.get("generateName"):
        yield refused(NAME_IS_REQUIRED, "metadata.name")
    made = name or (f"{start[:_GENERATED]}xxxxx" if start else "")
    for wrong in subdomain_errors(made) if made else ():
        yield refused(f"metadata.name: Invalid value: {quote(made)}: {wrong}", "metadata.name", name or None)


def _without_dash(start: str) -> str:
    """Return the start of a name as the API server validates it: one dash at the end is fine."""
    return f"{start[:-2]}a" if len(start) > 1 and start.endswith("-") else start


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


def annotations_are_short(module: Manifest) -> Iterator[Result]:
    """KMM067: keys and values of a Module's annotations are 256 KiB at most, all together."""
    annotations = table(module, "metadata", "annotations")
    total = sum(size(key) + size(text(annotations, key)) for key in annotations)
    if total > ANNOTATIONS_LIMIT:
        yield refused(
            f"metadata.annotations: Too long: may not be more than {ANNOTATIONS_LIMIT} bytes", "metadata.annotations"
        )


def finalizers_are_qualified(module: Manifest) -> Iterator[Result]:
    """KMM071: a Module's finalizers are qualified names, and not both `orphan` and `foregroundDeletion`."""
    finalizers = listing(table(module, "metadata"), "finalizers") or []
    for index, entry in enumerate(finalizers):
        name = "" if entry is None else entry
        for wrong in label_key_errors(name) if isinstance(name, str) else ():
            path = join(("metadata", "finalizers", index))
            yield refused(f"metadata.finalizers: Invalid value: {quote(name)}: {wrong}", path, name)
    if "orphan" in finalizers and "foregroundDeletion" in finalizers:
        what = f"metadata.finalizers: Invalid value: {as_json(finalizers)}"
        yield refused(f"{what}: finalizer orphan and foregroundDeletion cannot be both set", "metadata.finalizers")


def finalizers_differ(module: Manifest) -> Iterator[Result]:
    """KMM072: no finalizer is there twice; server-side apply refuses it, a plain create does not."""
    finalizers = listing(table(module, "metadata"), "finalizers") or []
    for index, name in enumerate(finalizers):
        if isinstance(name, str) and name in finalizers[:index]:
            message = unmergeable(module, f".metadata.finalizers: duplicate entries for key [={quote(name)}]")
            yield refused(message, join(("metadata", "finalizers", index)), name)


def managed_fields_are_nil(module: Manifest) -> Iterator[Result]:
    """KMM073: a Module has no managedFields: those are the API server's; an apply refuses them, a create does not."""
    if isinstance(table(module, "metadata").get("managedFields"), list):
        yield refused("metadata.managedFields must be nil", "metadata.managedFields")


RULES: Rules = (
    *DECODING_RULES,
    ("KMM061", name_is_a_subdomain),
    ("KMM062", namespace_is_a_label),
    ("KMM063", labels_are_labels),
    ("KMM064", annotations_have_keys),
    ("KMM067", annotations_are_short),
    *OWNER_RULES,
    ("KMM071", finalizers_are_qualified),
    ("KMM072", finalizers_differ),
    ("KMM073", managed_fields_are_nil),
)
