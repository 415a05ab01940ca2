"""The API server's rules about what it and its controllers write into metadata: finalizers and managedFields.

Source: k8s.io/apimachinery v0.34, pkg/api/validation (ValidateObjectMeta).
"""

from __future__ import annotations

from collections.abc import Iterator

from krmfn import Manifest, Result
from krmfn.fieldpath import join
from krmfn.rule import Rule

from ..gotext import quote
from ..lookup import listing, table
from ..names import label_key_errors
from ..rule import refused
from .apitext import as_json, invalid, unmergeable


def _finalizers_are_qualified(module: Manifest) -> Iterator[Result]:
    finalizers = listing(table(module, "metadata"), "finalizers") or []
    for index, entry in enumerate(finalizers):
        name = "" if entry is None else entry
        if isinstance(name, str):
            path = join(("metadata", "finalizers", index))
            yield from invalid("metadata.finalizers", name, label_key_errors(name), path, name)
    if "orphan" in finalizers and "foregroundDeletion" in finalizers:
        what = f"metadata.finalizers: Invalid value: {as_json(finalizers)}"
        yield refused(f"{what}: finalizer orphan and foregroundDeletion cannot be both set", "metadata.finalizers")


KMM071 = Rule(
    "KMM071",
    "a Module's finalizers must be qualified names, and must not include both `orphan` and `foregroundDeletion`",
    good="metadata: {finalizers: [example.com/keep]}\n",
    bad="metadata: {finalizers: [keep this]}\n",
    remedy="Remove finalizers: controllers add their own.",
    check=_finalizers_are_qualified,
)


def _finalizers_differ(module: Manifest) -> Iterator[Result]:
    finalizers = listing(table(module, "metadata"), "finalizers") or []
    for index, name in enumerate(finalizers):
        if isinstance(name, str) and name in finalizers[:index]:
            message = unmergeable(module, f".metadata.finalizers: duplicate entries for key [={quote(name)}]")
            yield refused(message, join(("metadata", "finalizers", index)), name)


KMM072 = Rule(
    "KMM072",
    "a finalizer must not be listed twice; server-side apply refuses it, a plain create does not",
    good="metadata: {finalizers: [example.com/keep]}\n",
    bad="metadata: {finalizers: [example.com/keep, example.com/keep]}\n",
    remedy="Remove the repeated finalizer.",
    check=_finalizers_differ,
)


def _managed_fields_are_nil(module: Manifest) -> Iterator[Result]:
    if isinstance(table(module, "metadata").get("managedFields"), list):
        yield refused("metadata.managedFields must be nil", "metadata.managedFields")


KMM073 = Rule(
    "KMM073",
    "a Module must not have managedFields, which only the API server sets; an apply refuses them, a create does not",
    good="metadata: {labels: {app: gpu}}\n",
    bad="metadata: {managedFields: []}\n",
    remedy="Remove managedFields, as `kubectl get -o yaml` does.",
    check=_managed_fields_are_nil,
)

RULES = (KMM071, KMM072, KMM073)
