"""The API server's rules about what it and its controllers write into metadata: finalizers and managedFields.

Source: k8s.io/apimachinery v0.34, pkg/api/validation (ValidateObjectMeta).
"""

from __future__ import annotations

from collections.abc import Iterator

from krmfn import Manifest, Result
from krmfn.rule import Rule

from ..gotext import quote
from ..lookup import listing, table
from ..names import label_key_errors
from ..rule import refused
from .apitext import as_json, invalid, unmergeable


def check(module: Manifest) -> Iterator[Result]:
    """Yield what the API server refuses in the finalizers and managedFields of a Module."""
    metadata, where = table(module, "metadata"), "metadata.finalizers"
    finalizers = listing(metadata, "finalizers") or []
    for index, entry in enumerate(finalizers):
        name = "" if entry is None else entry
        if isinstance(name, str):
            yield from invalid("KMM071", where, name, label_key_errors(name), f"{where}[{index}]", name)
    if "orphan" in finalizers and "foregroundDeletion" in finalizers:
        both = "finalizer orphan and foregroundDeletion cannot be both set"
        yield refused(f"{where}: Invalid value: {as_json(finalizers)}: {both}", where, rule="KMM071")
    first = {name: index for index, name in reversed(list(enumerate(finalizers))) if isinstance(name, str)}
    for index, name in enumerate(finalizers):
        if isinstance(name, str) and first[name] < index:
            message = unmergeable(module, f".{where}: duplicate entries for key [={quote(name)}]")
            yield refused(message, f"{where}[{index}]", name, rule="KMM072")
    if isinstance(metadata.get("managedFields"), list):
        yield refused("metadata.managedFields must be nil", "metadata.managedFields", rule="KMM073")


KMM071 = Rule(
    "KMM071",
    "a Module's finalizers must be qualified names, and must not include both `orphan` and `foregroundDeletion`",
    good="metadata: {finalizers: [example.com/keep]}\n",
    bad="metadata: {finalizers: [keep this]}\n",
    remedy="Remove finalizers: controllers add their own.",
)

KMM072 = Rule(
    "KMM072",
    "a finalizer must not be listed twice; server-side apply refuses it, a plain create does not",
    good="metadata: {finalizers: [example.com/keep]}\n",
    bad="metadata: {finalizers: [example.com/keep, example.com/keep]}\n",
    remedy="Remove the repeated finalizer.",
)

KMM073 = Rule(
    "KMM073",
    "a Module must not have managedFields, which only the API server sets; an apply refuses them, a create does not",
    good="metadata: {labels: {app: gpu}}\n",
    bad="metadata: {managedFields: []}\n",
    remedy="Remove managedFields, as `kubectl get -o yaml` does.",
)

RULES = (KMM071, KMM072, KMM073)
