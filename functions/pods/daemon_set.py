"""What the API server refuses of a DaemonSet beside the types of its fields and its rolling update.

Source: Kubernetes v1.34, pkg/apis/apps/validation (ValidateDaemonSetSpec), pkg/apis/core/validation
(ValidatePodTemplateSpec); tests/functions/pods/recorded.jsonl is what a real server said. Not judged: fileKeyRef, the
divisor of resourceFieldRef, affinity between pods, topologySpreadConstraints, dnsConfig but for its nameservers,
resourceClaims, sysctls, the resources of a pod as a whole, ephemeral and projected volumes beside their modes, Windows.
"""

import marshal
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain

from krmfn import Field, Manifest, Result, error
from krmfn.resource import fingerprint, join, ref
from krmfn.typed import Any

from ..mistake import FieldMistake, Mistake
from . import containers, fields, rights, scheduling, volumes
from .shapes import is_label_value, is_qualified, label_values, number, table, tables, text

RULE = "KRM191"
_NOTHING: list[FieldMistake] = [((), Mistake("is missing", "write the selector and the template of the pods"))]
_OPERATORS = {"In": True, "NotIn": True, "Exists": False, "DoesNotExist": False}


def check(daemon_set: Manifest) -> Iterator[Result]:
    """Yield an error per field that the API server refuses; the rule is KRM191."""
    spec = table(daemon_set, "spec")
    for path, mistake in chain(_spec(spec), _template(spec)) if spec else _NOTHING:
        field = Field(join(("spec", *path)))
        yield error(mistake.message, rule=RULE, ref=ref(daemon_set), field=field, remedy=mistake.remedy)


def is_mount(path: str) -> bool:
    """Return True for the path of the name of a mount, which must be that of a volume."""
    return ".volumeMounts[" in path and path.endswith(".name")


def _spec(spec: Any) -> Iterator[FieldMistake]:
    """Yield what is refused beside the template: the selector, the strategy."""
    selector, labels = table(spec, "selector"), table(table(table(spec, "template"), "metadata"), "labels")
    yield from (mistakes := list(_selector(selector, is_written=spec.get("selector") is not None)))
    wrong = [key for key, value in table(selector, "matchLabels").items() if labels.get(key) != value]
    wrong += [text(part, "key") for _, part in tables(selector, "matchExpressions") if not _matches(part, labels)]
    if wrong and not mistakes and table(spec, "template"):
        path = ("template", "metadata", "labels")
        yield path, Mistake(f"the selector asks for another {wrong[0]}", "give the pods the labels that it selects")
    kind = text(table(spec, "updateStrategy"), "type")
    if kind not in ("", "RollingUpdate", "OnDelete"):
        yield ("updateStrategy", "type"), Mistake(f"is {kind!r}", "write RollingUpdate or OnDelete")
    for name in ("minReadySeconds", "revisionHistoryLimit"):
        if (number(spec, name) or 0) < 0:
            yield (name,), Mistake(f"is {spec[name]}; must not be negative")


def _selector(selector: Any, is_written: bool) -> Iterator[FieldMistake]:
    if not is_written:
        yield ("selector",), Mistake("is missing", "name the labels of the pods")
    elif not selector.get("matchLabels") and not selector.get("matchExpressions"):
        yield ("selector",), Mistake("is empty", "name the labels of the pods")
    yield from _labels(table(selector, "matchLabels"), ("selector", "matchLabels"))
    for index, part in tables(selector, "matchExpressions"):
        path, operator = ("selector", "matchExpressions", index), text(part, "operator")
        if operator not in _OPERATORS:
            yield (*path, "operator"), Mistake(f"is {operator!r}", f"write one of {', '.join(_OPERATORS)}")
        elif bool(part.get("values")) != _OPERATORS[operator]:
            remedy = "write one" if _OPERATORS[operator] else "remove them"
            yield (
                (*path, "values"),
                Mistake(f"{operator} {'needs' if _OPERATORS[operator] else 'takes no'} values", remedy),
            )
        if not is_qualified(text(part, "key")):
            yield (
                (*path, "key"),
                Mistake(f"{text(part, 'key')!r} is no key of a label", "write name, or subdomain/name"),
            )
        yield from (((*path, *place), mistake) for place, mistake in label_values(part))


def _matches(part: Any, labels: Any) -> bool:
    """Return True where labels fit an expression of a selector, or the expression is wrong by itself."""
    key, operator, values = text(part, "key"), text(part, "operator"), part.get("values")
    values = values if isinstance(values, list) else []
    answers = {
        "In": key in labels and labels[key] in values,
        "NotIn": key not in labels or labels[key] not in values,
        "Exists": key in labels,
        "DoesNotExist": key not in labels,
    }
    return answers.get(operator, True)


def _labels(labels: Any, path: tuple[str, ...]) -> Iterator[FieldMistake]:
    for key, value in labels.items():
        if not is_qualified(str(key)):
            yield (*path, key), Mistake(f"{key!r} is no key of a label", "write name, or subdomain/name")
        elif isinstance(value, str) and not is_label_value(value):
            yield (*path, key), Mistake(f"is {value!r}", "write at most 63 letters, digits, '-', '_' and '.'")


def _template(daemon_set: Any) -> Iterator[FieldMistake]:
    """Yield what is refused in the template of the pods; `daemon_set` is the spec of the DaemonSet."""
    template = table(daemon_set, "template")
    if not template:
        yield ("template",), Mistake("is missing", "write the labels and the spec of the pods")
        return
    spec = table(template, "spec")
    yield from _labels(table(table(template, "metadata"), "labels"), ("template", "metadata", "labels"))
    yield from _labels(table(spec, "nodeSelector"), ("template", "spec", "nodeSelector"))
    rest = {name: value for name, value in spec.items() if name != "nodeSelector"}
    mark = fingerprint(rest)
    for path, mistake in _kept(mark) if mark else _of_pod(rest):
        yield ("template", "spec", *path), mistake


@lru_cache(maxsize=64)
def _kept(mark: bytes) -> tuple[FieldMistake, ...]:
    """Return the same as `_of_pod` for a fingerprint: the pods of many DaemonSets differ only in their nodes."""
    return tuple(_of_pod(marshal.loads(mark)))


def _of_pod(spec: Any) -> Iterator[FieldMistake]:
    """Yield what is refused in a PodSpec beside its nodeSelector."""
    yield from volumes.check(spec)
    yield from containers.check(spec, volumes.names_of(spec))
    yield from fields.check(spec)
    yield from rights.of_pod(spec)
    yield from scheduling.check(spec)
