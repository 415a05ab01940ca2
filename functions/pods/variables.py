"""What the API server says of the variables of a container, and of what they are taken from.

Source: Kubernetes v1.34, pkg/apis/core/validation (ValidateEnv, validateEnvVarValueFrom, ValidateEnvFrom),
pkg/apis/core/pods (ConvertDownwardAPIFieldLabel).
"""

import re
from collections.abc import Iterator

from krmfn.typed import Any

from ..mistake import FieldMistake, Mistake
from .shapes import MOST_OF_SUBDOMAIN, is_qualified, is_subdomain, tables, text

_SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")
_OBJECTS = {
    "configMapRef": "ConfigMap",
    "secretRef": "Secret",
    "configMapKeyRef": "ConfigMap",
    "secretKeyRef": "Secret",
}
_FIELDS = (
    *("metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName"),
    *("status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"),
)
_OLD_FIELDS = ("spec.host",)
"""The names that the API server takes for others of today."""
_PART = re.compile(r"metadata\.(labels|annotations)\['(.*)'\]", re.DOTALL).fullmatch
_RESOURCES = tuple(
    f"{kind}.{name}" for kind in ("limits", "requests") for name in ("cpu", "memory", "ephemeral-storage")
)
_HUGE = ("limits.hugepages-", "requests.hugepages-")
_KEY = re.compile(r"[-._a-zA-Z0-9]+").fullmatch


def check(container: Any) -> Iterator[FieldMistake]:
    """Yield what is refused in the env and the envFrom of a container."""
    for index, variable in tables(container, "env"):
        path = ("env", index)
        if not _is_variable(text(variable, "name")):
            yield (
                (*path, "name"),
                Mistake(f"is {text(variable, 'name')!r}", "write printable ASCII characters without ="),
            )
        source = variable.get("valueFrom")
        if isinstance(source, dict):
            if variable.get("value"):
                yield (*path, "valueFrom"), Mistake("cannot be combined with value", "write one of the two")
            yield from (((*path, "valueFrom", *field), mistake) for field, mistake in _source(source))
    for index, source in tables(container, "envFrom"):
        yield from ((("envFrom", index, *field), mistake) for field, mistake in _all_of(source))


def _is_variable(name: str) -> bool:
    return bool(name) and "=" not in name and name.isascii() and name.isprintable()


def _source(source: Any) -> Iterator[FieldMistake]:
    """Yield what is refused in the valueFrom of a variable."""
    if len([word for word in _SOURCES if source.get(word) is not None]) != 1:
        yield (), Mistake(f"must have exactly one of {', '.join(_SOURCES[:4])}")
    for word in ("configMapKeyRef", "secretKeyRef"):
        if isinstance(source.get(word), dict):
            yield from _object(word, source[word])
            yield from (((word, "key"), mistake) for mistake in _key(text(source[word], "key")))
    if isinstance(source.get("fieldRef"), dict):
        yield from _field(source["fieldRef"])
    if isinstance(source.get("resourceFieldRef"), dict):
        resource, path = text(source["resourceFieldRef"], "resource"), ("resourceFieldRef", "resource")
        if not resource:
            yield path, Mistake("is missing", "write which resource of the container, such as limits.cpu")
        elif resource not in _RESOURCES and not resource.startswith(_HUGE):
            yield path, Mistake(f"is {resource!r}", f"write one of {', '.join(_RESOURCES)}")


def _all_of(source: Any) -> Iterator[FieldMistake]:
    """Yield what is refused in an entry of envFrom."""
    prefix = text(source, "prefix")
    if prefix and not _is_variable(prefix):
        yield ("prefix",), Mistake(f"is {prefix!r}", "write printable ASCII characters without =")
    words = [word for word in ("configMapRef", "secretRef") if isinstance(source.get(word), dict)]
    if len(words) != 1:
        yield (), Mistake("must have exactly one of configMapRef, secretRef")
    for word in words:
        yield from _object(word, source[word])


def _object(word: str, reference: Any) -> Iterator[FieldMistake]:
    """Yield what is refused in the name of a ConfigMap or a Secret."""
    name = text(reference, "name")
    if not name:
        yield (word, "name"), Mistake("is missing", f"write which {_OBJECTS[word]}")
    elif not is_subdomain(name):
        yield (word, "name"), Mistake(f"is {name!r}", "write lower case letters, digits, - and .")


def _key(key: str) -> Iterator[Mistake]:
    """Yield what is wrong with the key of a ConfigMap or a Secret."""
    if not key:
        yield Mistake("is missing", "write which key to take")
    elif not _KEY(key) or len(key) > MOST_OF_SUBDOMAIN or key == "." or key.startswith(".."):
        yield Mistake(f"is {key!r}", "write letters, digits, '-', '_' and '.'")


def _field(reference: Any) -> Iterator[FieldMistake]:
    """Yield what is refused in a reference to a field of the pod."""
    field, part = text(reference, "fieldPath"), _PART(text(reference, "fieldPath"))
    if text(reference, "apiVersion") not in ("", "v1"):
        yield (
            ("fieldRef", "fieldPath"),
            Mistake(f"the pod has no version {reference['apiVersion']!r}", "write apiVersion: v1"),
        )
    elif not field:
        yield ("fieldRef", "fieldPath"), Mistake("is missing", "write which field of the pod, such as spec.nodeName")
    elif part and not is_qualified(part[2].lower() if part[1] == "annotations" else part[2]):
        yield ("fieldRef", "fieldPath"), Mistake(f"{part[2]!r} is no key of {part[1]}", "write name, or subdomain/name")
    elif not part and field not in (*_FIELDS, *_OLD_FIELDS):
        examples = "metadata.name, spec.nodeName, status.podIP or metadata.labels['KEY']"
        yield (
            ("fieldRef", "fieldPath"),
            Mistake(f"is {field!r}", f"write a field that a variable can have, such as {examples}"),
        )
