"""The API server's rules about a Module's metadata: the types of its fields, its name, namespace, labels, annotations.

Source: k8s.io/apimachinery v0.34, pkg/apis/meta/v1/types.go, pkg/api/validation (ValidateObjectMeta); the messages
about types are those of Go's encoding/json.
"""

from collections.abc import Iterator

from krmfn import Manifest, Result
from krmfn.resource import FieldPath, join
from krmfn.typed import Any

from ... import oracles
from ...rule import Rule
from ..lookup import table, text
from ..names import dns_label_errors, label_key_errors, label_value_errors, subdomain_errors
from ..rule import refusal, size
from .apitext import quoting_hint, refusals, scalar, type_name, unknown_field

MAP, ANYTHING = "map[string]string", "v1.FieldsV1"
_FIELDS = {
    # Times come first: what cannot be a time ends the decoding, anything else is reported after it.
    "v1.ObjectMeta": "creationTimestamp string; deletionTimestamp string; annotations map[string]string; "
    "deletionGracePeriodSeconds int64; finalizers []string; generateName string; generation int64; "
    "labels map[string]string; managedFields []v1.ManagedFieldsEntry; name string; namespace string; "
    "ownerReferences []v1.OwnerReference; resourceVersion string; selfLink string; uid types.UID",
    "v1.OwnerReference": "apiVersion string; blockOwnerDeletion bool; controller bool; kind string; name string; "
    "uid types.UID",
    "v1.ManagedFieldsEntry": "time string; apiVersion string; fieldsType string; fieldsV1 v1.FieldsV1; manager string; "
    "operation v1.ManagedFieldsOperationType; subresource string",
}
STRUCTS = {name: dict(field.split() for field in fields.split("; ")) for name, fields in _FIELDS.items()}
"""The fields of each struct with their types, in the order in which the API server comes to them."""


_SHAPES = {**dict.fromkeys((MAP, *STRUCTS), "object"), "bool": "boolean", "int64": "integer"}
"""The JSON types that Go types are decoded from; a Go type that is no list and not here is a string in JSON."""


Slot = tuple[Any, str, FieldPath, str]
"""A value, the Go type that it must have, its path, and Go's name of the place: the innermost struct, then the fields
from the outermost one on, without keys and positions."""


def check_types(module: Manifest) -> Iterator[Result]:
    """Yield what the API server cannot decode in a Module's metadata, then the fields that it does not know there."""
    slots = list(_slots(module.get("metadata"), "v1.ObjectMeta", ("metadata",), "Go value"))
    for value, go_type, path, place in slots:
        actual = type_name(value)
        shape = "array" if go_type.startswith("[]") else _SHAPES.get(go_type, "string")
        if value is not None and go_type != ANYTHING and actual != shape:
            subject = {"boolean": "bool", "integer": "number"}.get(actual, actual)
            if go_type == "int64" and actual == "number":  # it does not fit into 64 bits
                subject = f"number {value}"
            text = f"json: cannot unmarshal {subject} into {place} of type {go_type}"
            yield refusal(text, join(path), scalar(value), quoting_hint(value, (shape,)), "KMM065")
    for value, go_type, path, _ in slots:
        for key in value if isinstance(value, dict) and go_type in STRUCTS else ():
            if key not in STRUCTS[go_type]:
                field_path = (*path, key)
                yield refusal(unknown_field(field_path), join(field_path), rule="KMM066")


KMM065 = Rule(
    "KMM065",
    "a field of metadata must have its type: names are strings, labels and annotations map strings to strings",
    good='metadata: {labels: {example.com/generation: "3"}}\n',
    bad="metadata: {labels: {example.com/generation: 3}}\n",
    remedy="Write the value with the type that the finding names; put quotes around text that looks like a number or a "
    "boolean.",
    held=oracles.APISERVER,
)

KMM066 = Rule(
    "KMM066",
    "metadata must not have fields that Kubernetes does not know",
    good="metadata: {labels: {app: gpu}}\n",
    bad="metadata: {label: {app: gpu}}\n",
    remedy="Correct the field's name, or remove the field.",
    held=oracles.APISERVER,
)


def _slots(value: Any, go_type: str, path: FieldPath, place: str) -> Iterator[Slot]:
    """Yield the slot and all below it, in the order in which they are decoded."""
    yield value, go_type, path, place
    if isinstance(value, dict) and go_type in STRUCTS:
        _, _, fields = place.partition(".")
        for key, kind in STRUCTS[go_type].items():
            names = ".".join(filter(None, (go_type.removeprefix("v1."), fields, key)))
            yield from _slots(value.get(key), kind, (*path, key), f"Go struct field {names}")
    elif isinstance(value, dict) and go_type == MAP:
        for key in sorted(value, key=str):
            yield from _slots(value[key], "string", (*path, key), place)
    elif isinstance(value, list) and go_type.startswith("[]"):
        for index, entry in enumerate(value):
            yield from _slots(entry, go_type.removeprefix("[]"), (*path, index), place)


NAME_IS_REQUIRED = "metadata.name: Required value: name or generateName is required"
ANNOTATIONS_LIMIT = 256 * 1024
_GENERATED = 58
"""How many characters of generateName are in a generated name; five others follow."""


def check(module: Manifest) -> Iterator[Result]:
    """Yield what the API server refuses in a Module's metadata, but for what `server_fields` checks."""
    raw, metadata = module.get("metadata"), table(module, "metadata")
    name, prefix, namespace = (text(metadata, key) for key in ("name", "generateName", "namespace"))
    if prefix:
        # one dash at the end is fine
        errors = subdomain_errors(f"{prefix[:-2]}a" if len(prefix) > 1 and prefix.endswith("-") else prefix)
        yield from refusals("KMM061", "metadata.generateName", prefix, errors, current=prefix)
    if (raw is None or metadata == raw) and not metadata.get("name") and not metadata.get("generateName"):
        yield refusal(NAME_IS_REQUIRED, "metadata.name", rule="KMM061")
    if full_name := name or (f"{prefix[:_GENERATED]}xxxxx" if prefix else ""):
        yield from refusals("KMM061", "metadata.name", full_name, subdomain_errors(full_name), current=name or None)
    if namespace:
        yield from refusals("KMM062", "metadata.namespace", namespace, dns_label_errors(namespace), current=namespace)
    for key, value in table(metadata, "labels").items():
        path = join(("metadata", "labels", key))
        yield from refusals("KMM063", "metadata.labels", key, label_key_errors(key), path)
        if isinstance(value, str):
            yield from refusals("KMM063", "metadata.labels", value, label_value_errors(value), path, value)
    annotations = table(metadata, "annotations")
    for key in annotations:
        path = join(("metadata", "annotations", key))
        yield from refusals("KMM064", "metadata.annotations", key, label_key_errors(key.lower()), path)
    if sum(size(key) + size(text(annotations, key)) for key in annotations) > ANNOTATIONS_LIMIT:
        message = f"metadata.annotations: Too long: may not be more than {ANNOTATIONS_LIMIT} bytes"
        yield refusal(message, "metadata.annotations", rule="KMM067")


KMM061 = Rule(
    "KMM061",
    "a Module must have a name or a generateName that is a DNS subdomain",
    good="metadata: {name: gpu}\n",
    bad="metadata: {name: GPU}\n",
    remedy="Use only lowercase letters, digits, '-' and '.', with a letter or digit at both ends.",
    held=oracles.APISERVER,
)

KMM062 = Rule(
    "KMM062",
    "a Module's namespace must be a DNS label, if the manifest names one",
    good="metadata: {namespace: kmm}\n",
    bad="metadata: {namespace: kmm.drivers}\n",
    remedy="Use only lowercase letters, digits and '-', at most 63 characters.",
    held=oracles.META,
)

KMM063 = Rule(
    "KMM063",
    "a Module's labels must have valid label keys and label values",
    good="metadata: {labels: {example.com/team: gpu-drivers}}\n",
    bad="metadata: {labels: {example.com/team: gpu drivers}}\n",
    remedy="Correct the key or the value; put free text into an annotation.",
    held=oracles.APISERVER,
)

KMM064 = Rule(
    "KMM064",
    "a Module's annotation keys must be valid label keys, but their prefixes may have capital letters",
    good="metadata: {annotations: {example.com/team: the GPU team}}\n",
    bad="metadata: {annotations: {the team: the GPU team}}\n",
    remedy="Write a name without spaces, or a prefix, a slash and such a name.",
    held=oracles.APISERVER,
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
    held=oracles.META,
)

RULES = (KMM065, KMM066, KMM061, KMM062, KMM063, KMM064, KMM067)
