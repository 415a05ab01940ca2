"""What the API server says of the nodes that a pod asks for: tolerations and nodeAffinity.

Source: Kubernetes v1.34, pkg/apis/core/validation (ValidateTolerations, ValidateNodeSelector and its neighbours,
ValidatePreferredSchedulingTerms).
"""

from collections.abc import Iterator
from itertools import chain

from krmfn.typed import Any

from ..mistake import FieldMistake, Mistake
from .shapes import is_label_value, is_qualified, is_subdomain, label_values, number, table, tables, text

_EFFECTS = ("", "NoSchedule", "PreferNoSchedule", "NoExecute")
_TOLERATED = ("Equal", "Exists")
_REQUIRED, _PREFERRED = (f"{start}DuringSchedulingIgnoredDuringExecution" for start in ("required", "preferred"))
_COUNTS = {"In": "some", "NotIn": "some", "Exists": "no", "DoesNotExist": "no", "Gt": "one", "Lt": "one"}
"""How many values an operator takes."""
_OF_FIELDS = ("In", "NotIn")
_NAME = "metadata.name"
"""The one field of a node that can be asked for."""
_MOST_WEIGHT = 100


def check(spec: Any) -> Iterator[FieldMistake]:
    """Yield what is refused in the tolerations and in the nodeAffinity of a PodSpec."""
    yield from _tolerations(spec)
    affinity = table(table(spec, "affinity"), "nodeAffinity")
    for path, mistake in chain(_required(affinity), _preferred(affinity)):
        yield ("affinity", "nodeAffinity", *path), mistake


def _tolerations(spec: Any) -> Iterator[FieldMistake]:
    for index, toleration in tables(spec, "tolerations"):
        yield from ((("tolerations", index, *path), mistake) for path, mistake in _toleration(toleration))


def _toleration(toleration: Any) -> Iterator[FieldMistake]:
    key, value, effect = (text(toleration, name) for name in ("key", "value", "effect"))
    operator = text(toleration, "operator") or "Equal"
    if key and not is_qualified(key):
        yield ("key",), Mistake(f"{key!r} is no key of a taint", "write name, or subdomain/name")
    if operator not in _TOLERATED:
        yield ("operator",), Mistake(f"is {operator!r}", f"write one of {', '.join(_TOLERATED)}")
    elif not key and operator != "Exists":
        yield ("operator",), Mistake("must be Exists where there is no key")
    if operator == "Exists" and value:
        yield ("value",), Mistake(f"is {value!r}, and Exists takes no value", "remove it, or write Equal")
    if operator == "Equal" and not is_label_value(value):
        yield ("value",), Mistake(f"is {value!r}, which no taint has", "write letters, digits, '-', '_' and '.'")
    if effect not in _EFFECTS:
        yield ("effect",), Mistake(f"is {effect!r}", f"write one of {', '.join(_EFFECTS[1:])}")
    elif toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
        yield ("effect",), Mistake("must be NoExecute with tolerationSeconds")


def _required(affinity: Any) -> Iterator[FieldMistake]:
    """Yield what is refused in the terms that a node must fit."""
    selector = affinity.get(_REQUIRED)
    if not isinstance(selector, dict):
        return
    if not selector.get("nodeSelectorTerms"):
        state = "is empty" if "nodeSelectorTerms" in selector else "is missing"
        yield (_REQUIRED, "nodeSelectorTerms"), Mistake(state, "write a term that a node must fit")
    for index, term in tables(selector, "nodeSelectorTerms"):
        path = (_REQUIRED, "nodeSelectorTerms", index)
        yield from (((*path, *field), mistake) for field, mistake in chain(_term(term), _values(term)))


def _preferred(affinity: Any) -> Iterator[FieldMistake]:
    """Yield what is refused in the terms that a node should fit; here a value may be that of no label."""
    for index, term in tables(affinity, _PREFERRED):
        weight = number(term, "weight") or 0
        if not 0 < weight <= _MOST_WEIGHT:
            yield (_PREFERRED, index, "weight"), Mistake(f"is {weight}; must be a number from 1 to {_MOST_WEIGHT}")
        for field, mistake in _term(table(term, "preference")):
            yield (_PREFERRED, index, "preference", *field), mistake


def _term(term: Any) -> Iterator[FieldMistake]:
    for index, part in tables(term, "matchExpressions"):
        yield from ((("matchExpressions", index, *path), mistake) for path, mistake in _expression(part))
    for index, part in tables(term, "matchFields"):
        yield from ((("matchFields", index, *path), mistake) for path, mistake in _field(part))


def _expression(part: Any) -> Iterator[FieldMistake]:
    """Yield what is refused in an expression about a node's labels, beside its values themselves."""
    key, operator, count = text(part, "key"), text(part, "operator"), len(_list(part))
    needed = _COUNTS.get(operator)
    if not needed:
        yield ("operator",), Mistake(f"is {operator!r}", f"write one of {', '.join(_COUNTS)}")
    elif needed == "some" and not count:
        yield ("values",), Mistake(f"{operator} needs values", "write one")
    elif needed == "no" and count:
        yield ("values",), Mistake(f"{operator} takes no values", "remove them")
    elif needed == "one" and count != 1:
        yield ("values",), Mistake(f"{operator} takes one value, a whole number, and there are {count}", "write one")
    if not is_qualified(key):
        yield ("key",), Mistake(f"{key!r} is no key of a label", "write name, or subdomain/name")


def _values(term: Any) -> Iterator[FieldMistake]:
    """Yield the values in a term that no label of a node can have."""
    for index, part in tables(term, "matchExpressions"):
        yield from ((("matchExpressions", index, *path), mistake) for path, mistake in label_values(part))


def _field(part: Any) -> Iterator[FieldMistake]:
    """Yield what is refused in an expression about the fields of a node, which has one: its name."""
    key, operator, values = text(part, "key"), text(part, "operator"), _list(part)
    if operator not in _OF_FIELDS:
        yield ("operator",), Mistake(f"is {operator!r}", f"write one of {', '.join(_OF_FIELDS)}")
    elif len(values) != 1:
        yield (
            ("values",),
            Mistake(f"{operator} takes one name of a node here, and there are {len(values)}", "write one"),
        )
    if key != _NAME:
        yield ("key",), Mistake(f"is {key!r}", f"write {_NAME}, or ask for a label in matchExpressions")
        return
    for index, value in enumerate(values):
        if isinstance(value, str) and not is_subdomain(value):
            yield (
                ("values", index),
                Mistake(f"is {value!r}", "write the name of a node: lower case letters, digits, - and ."),
            )


def _list(part: Any) -> list[Any]:
    values = part.get("values")
    return values if isinstance(values, list) else []
