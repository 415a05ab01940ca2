"""What the API server refuses of a DaemonSet beside the types of its fields and its rolling update.

Source: Kubernetes v1.34, pkg/apis/apps/validation (ValidateDaemonSetSpec), pkg/apis/core/validation
(ValidatePodTemplateSpec); tests/functions/pods/recorded.jsonl is what a real server said. Not judged: fileKeyRef, the
divisor of resourceFieldRef, affinity, topologySpreadConstraints, dnsConfig but for its nameservers, resourceClaims,
sysctls, ephemeral and projected volumes beside their modes, Windows.
"""

from collections.abc import Iterator
from itertools import chain

from krmfn import Field, Manifest, Result, error
from krmfn.resource import join, ref
from krmfn.typed import Any

from . import containers, volumes
from .shapes import Problem, is_label_value, is_qualified, is_subdomain, number, table, tables, text

RULE = "KRM191"
_NOTHING: list[Problem] = [((), "is missing; write the selector and the template of the pods")]
_DNS = ("", "ClusterFirst", "ClusterFirstWithHostNet", "Default", "None")
_OPERATORS = {"In": True, "NotIn": True, "Exists": False, "DoesNotExist": False}


def check(daemon_set: Manifest) -> Iterator[Result]:
    """Yield an error per field that the API server refuses; the rule is KRM191."""
    spec = table(daemon_set, "spec")
    for path, message in chain(_spec(spec), _template(spec)) if spec else _NOTHING:
        yield error(message, rule=RULE, ref=ref(daemon_set), field=Field(join(("spec", *path))))


def is_mount(path: str) -> bool:
    """Return True for the path of the name of a mount, which must be that of a volume."""
    return ".volumeMounts[" in path and path.endswith(".name")


def _spec(spec: Any) -> Iterator[Problem]:
    """Yield what is refused beside the template: the selector, the strategy."""
    selector, labels = table(spec, "selector"), table(table(table(spec, "template"), "metadata"), "labels")
    yield from (mistakes := list(_selector(selector, is_written=spec.get("selector") is not None)))
    wrong = [key for key, value in table(selector, "matchLabels").items() if labels.get(key) != value]
    wrong += [text(part, "key") for _, part in tables(selector, "matchExpressions") if not _matches(part, labels)]
    if wrong and not mistakes and table(spec, "template"):
        path = ("template", "metadata", "labels")
        yield path, f"the selector asks for another {wrong[0]}; give the pods the labels that it selects"
    kind = text(table(spec, "updateStrategy"), "type")
    if kind not in ("", "RollingUpdate", "OnDelete"):
        yield ("updateStrategy", "type"), f"is {kind!r}; write RollingUpdate or OnDelete"
    for name in ("minReadySeconds", "revisionHistoryLimit"):
        if (number(spec, name) or 0) < 0:
            yield (name,), f"is {spec[name]}; must not be negative"


def _selector(selector: Any, is_written: bool) -> Iterator[Problem]:
    if not is_written:
        yield ("selector",), "is missing; name the labels of the pods"
    elif not selector.get("matchLabels") and not selector.get("matchExpressions"):
        yield ("selector",), "is empty; name the labels of the pods"
    yield from _labels(table(selector, "matchLabels"), ("selector", "matchLabels"))
    for index, part in tables(selector, "matchExpressions"):
        path, operator = ("selector", "matchExpressions", index), text(part, "operator")
        if operator not in _OPERATORS:
            yield (*path, "operator"), f"is {operator!r}; write one of {', '.join(_OPERATORS)}"
        elif bool(part.get("values")) != _OPERATORS[operator]:
            remedy = "write one" if _OPERATORS[operator] else "remove them"
            yield (*path, "values"), f"{operator} {'needs' if _OPERATORS[operator] else 'takes no'} values; {remedy}"


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


def _labels(labels: Any, path: tuple[str, ...]) -> Iterator[Problem]:
    for key, value in labels.items():
        if not is_qualified(str(key)):
            yield (*path, key), f"{key!r} is no key of a label; write name, or subdomain/name"
        elif isinstance(value, str) and not is_label_value(value):
            yield (*path, key), f"is {value!r}; write at most 63 letters, digits, '-', '_' and '.'"


def _template(daemon_set: Any) -> Iterator[Problem]:
    """Yield what is refused in the template of the pods; `daemon_set` is the spec of the DaemonSet."""
    template = table(daemon_set, "template")
    if not template:
        yield ("template",), "is missing; write the labels and the spec of the pods"
        return
    spec = table(template, "spec")
    yield from _labels(table(table(template, "metadata"), "labels"), ("template", "metadata", "labels"))
    yield from _labels(table(spec, "nodeSelector"), ("template", "spec", "nodeSelector"))
    parts = (volumes.check(spec), containers.check(spec, volumes.names_of(spec)), _pod(spec), _tolerations(spec))
    yield from ((("template", "spec", *path), message) for path, message in chain(*parts))


def _pod(spec: Any) -> Iterator[Problem]:
    """Yield what is refused in the fields of a PodSpec itself."""
    if text(spec, "restartPolicy") not in ("", "Always"):
        yield ("restartPolicy",), f"is {spec['restartPolicy']!r}; the pods of a DaemonSet always restart: write Always"
    if spec.get("activeDeadlineSeconds") is not None:
        yield ("activeDeadlineSeconds",), "is not for a DaemonSet, whose pods do not end; remove it"
    for name in ("serviceAccountName", "priorityClassName", "runtimeClassName"):
        if text(spec, name) and not is_subdomain(text(spec, name)):
            yield (name,), f"is {spec[name]!r}; write lower case letters, digits, - and ."
    if text(spec, "dnsPolicy") not in _DNS:
        yield ("dnsPolicy",), f"is {spec['dnsPolicy']!r}; write one of {', '.join(_DNS[1:])}"
    if text(spec, "dnsPolicy") == "None" and not table(spec, "dnsConfig").get("nameservers"):
        yield ("dnsConfig", "nameservers"), "is missing; dnsPolicy None needs a nameserver"
    if spec.get("hostPID") is True and spec.get("shareProcessNamespace") is True:
        yield ("shareProcessNamespace",), "contradicts hostPID; remove one of the two"


def _tolerations(spec: Any) -> Iterator[Problem]:
    """Yield what is refused in the tolerations of a pod."""
    for index, toleration in tables(spec, "tolerations"):
        path, key, value = ("tolerations", index), text(toleration, "key"), text(toleration, "value")
        operator = text(toleration, "operator") or "Equal"
        if key and not is_qualified(key):
            yield (*path, "key"), f"{key!r} is no key of a taint; write name, or subdomain/name"
        if not key and operator != "Exists":
            yield (*path, "operator"), "must be Exists where there is no key"
        if operator == "Exists" and value:
            yield (*path, "operator"), f"Exists takes no value; remove the value {value!r}, or write Equal"
        if operator == "Equal" and not is_label_value(value):
            yield (
                (*path, "operator"),
                f"the value {value!r} is none of a taint; write letters, digits, '-', '_' and '.'",
            )
        if toleration.get("tolerationSeconds") is not None and text(toleration, "effect") != "NoExecute":
            yield (*path, "effect"), "must be NoExecute beside tolerationSeconds"
