"""The API server's rules about a Module's name, namespace, labels and annotations.

Source: k8s.io/apimachinery v0.34, pkg/api/validation (ValidateObjectMeta).
"""

from __future__ import annotations

from collections.abc import Iterator

from krmfn import Manifest, Result
from krmfn.fieldpath import join
from krmfn.rule import Rule

from ..gotext import size
from ..lookup import table, text
from ..names import dns_label_errors, label_key_errors, label_value_errors, subdomain_errors
from ..rule import refused
from .apitext import invalid

NAME_IS_REQUIRED = "metadata.name: Required value: name or generateName is required"
ANNOTATIONS_LIMIT = 256 * 1024
_GENERATED = 58
"""A generated name is so much of generateName and five characters."""


def check(module: Manifest) -> Iterator[Result]:
    """Yield what the API server refuses in a Module's metadata, but for owners, finalizers and managedFields."""
    written, metadata = module.get("metadata"), table(module, "metadata")
    name, start, namespace = (text(metadata, key) for key in ("name", "generateName", "namespace"))
    if start:
        errors = subdomain_errors(_without_dash(start))
        yield from invalid("KMM061", "metadata.generateName", start, errors, current=start)
    if (written is None or metadata == written) and not metadata.get("name") and not metadata.get("generateName"):
        yield refused(NAME_IS_REQUIRED, "metadata.name", rule="KMM061")
    full_name = name or (f"{start[:_GENERATED]}xxxxx" if start else "")
    if full_name:
        yield from invalid("KMM061", "metadata.name", full_name, subdomain_errors(full_name), current=name or None)
    if namespace:
        yield from invalid("KMM062", "metadata.namespace", namespace, dns_label_errors(namespace), current=namespace)
    for key, value in table(metadata, "labels").items():
        path = join(("metadata", "labels", key))
        yield from invalid("KMM063", "metadata.labels", key, label_key_errors(key), path)
        if isinstance(value, str):
            yield from invalid("KMM063", "metadata.labels", value, label_value_errors(value), path, value)
    annotations = table(metadata, "annotations")
    for key in annotations:
        path = join(("metadata", "annotations", key))
        yield from invalid("KMM064", "metadata.annotations", key, label_key_errors(key.lower()), path)
    if sum(size(key) + size(text(annotations, key)) for key in annotations) > ANNOTATIONS_LIMIT:
        message = f"metadata.annotations: Too long: may not be more than {ANNOTATIONS_LIMIT} bytes"
        yield refused(message, "metadata.annotations", rule="KMM067")


def _without_dash(start: str) -> str:
    """Return the start of a name as the API server validates it: one dash at the end is fine."""
    return f"{start[:-2]}a" if len(start) > 1 and start.endswith("-") else start


KMM061 = Rule(
    "KMM061",
    "a Module must have a name or a generateName that is a DNS subdomain",
    good="metadata: {name: gpu}\n",
    bad="metadata: {name: GPU}\n",
    remedy="Use only lowercase letters, digits, '-' and '.', with a letter or digit at both ends.",
)

KMM062 = Rule(
    "KMM062",
    "a Module's namespace must be a DNS label, if the manifest names one",
    good="metadata: {namespace: kmm}\n",
    bad="metadata: {namespace: kmm.drivers}\n",
    remedy="Use only lowercase letters, digits and '-', at most 63 characters.",
)

KMM063 = Rule(
    "KMM063",
    "a Module's labels must have valid label keys and label values",
    good="metadata: {labels: {example.com/team: gpu-drivers}}\n",
    bad="metadata: {labels: {example.com/team: gpu drivers}}\n",
    remedy="Correct the key or the value; put free text into an annotation.",
)

KMM064 = Rule(
    "KMM064",
    "a Module's annotation keys must be valid label keys, but their prefixes may have capital letters",
    good="metadata: {annotations: {example.com/team: the GPU team}}\n",
    bad="metadata: {annotations: {the team: the GPU team}}\n",
    remedy="Write a name without spaces, or a prefix, a slash and such a name.",
)

KMM067 = Rule(
    "KMM067",
    "keys and values of a Module's annotations must not exceed 256 KiB in total",
    good="""\
# LETTERS is 1024 letters
metadata: {annotations: {example.com/notes: LETTERS}}
""",
    bad="""\
# LETTERS is 262144 letters
metadata: {annotations: {example.com/notes: LETTERS}}
""",
    remedy="Move long texts elsewhere, for example into a ConfigMap.",
)

RULES = (KMM061, KMM062, KMM063, KMM064, KMM067)
