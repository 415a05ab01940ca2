"""The fields that Git makes of an object, compared with those that the cluster has."""

import json
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation

from krmfn import Manifest
from krmfn.typed import Any, Literal, NamedTuple

from ..differences import ABSENT, FieldChange, Part, differences
from ..importing import normal
from ..kmm.lookup import MISSING, at, table, text
from ..kmm.module import MODULE_KIND
from ..kmm.stored import stored
from .atomic import is_replaced
from .immutable import is_immutable

Outcome = Literal["changes", "stays", "goes", "refused"]

_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_OPTIONS = "argocd.argoproj.io/sync-options"
_NOT_COMPARED = ("apiVersion", "kind", "metadata", "status")
_TEXTS = ("data", "binaryData", "stringData")
"""Fields whose texts count as they are, also empty ones."""
_QUANTITIES = frozenset({"limits", "requests", "hard", "capacity"})
_BRACES = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}(?![A-Za-z0-9_])")
"""A variable in braces that it does not need."""
_NUMBERS = frozenset({"sizeLimit", "divisor", "port", "targetPort", "maxUnavailable", "maxSurge"})
_SUFFIXES = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}


class Differing(NamedTuple):
    """A field in which Git and the cluster differ, and what a sync does about it."""

    path: str
    live: Any
    """ABSENT where only Git has it."""
    git: Any
    """ABSENT where only the cluster has it."""
    outcome: Outcome


class Compared(NamedTuple):
    """An object compared: how many fields Git makes, how many of them the cluster has, and what differs."""

    fields: int
    equal: int
    differs: tuple[Differing, ...]


def compare(live: Manifest, git: Manifest, is_replaced_whole: bool = False) -> Compared:
    """Return how the fields outside of `metadata` and `status` compare; the API server's defaults are no difference.

    `is_replaced_whole` says that an engine puts Git's object in the place of the one that is there.
    """
    old, new = _form(live), _form(git)
    changes = list(differences(old, new))
    number = _leaves(new)
    unequal = sum(_leaves(change.new) for change in changes if change.new is not ABSENT)
    differs = (Differing(c.path, c.old, c.new, _outcome(c, live, git, is_replaced_whole)) for c in changes)
    return Compared(number, max(0, number - unequal), tuple(differs))


def _outcome(change: FieldChange, live: Manifest, git: Manifest, is_replaced_whole: bool) -> Outcome:
    """Return what a sync does about a field."""
    kind = text(git, "kind")
    if is_immutable(live, kind, change.parts):
        return "refused"
    if change.new is not ABSENT:
        return "changes"
    if is_replaced_whole or _replaces(git):
        return "goes"
    if is_replaced(kind, change.parts) or _holds(_last_applied(live), change.parts):
        return "goes"
    return "stays"


def _replaces(git: Manifest) -> bool:
    """Return whether Argo CD puts the object in the place of the one that is there."""
    options = text(table(git, "metadata", "annotations"), _OPTIONS)
    return "Replace=true" in [option.strip() for option in options.split(",")]


def _last_applied(live: Manifest) -> Any:
    """Return what a client-side apply has noted; None for nothing."""
    try:
        return json.loads(text(table(live, "metadata", "annotations"), _APPLIED) or "null")
    except ValueError:
        return None


def _holds(value: Any, parts: Sequence[Part]) -> bool:
    """Return whether a value has a field."""
    for part in parts:
        if isinstance(value, list) and isinstance(part, str):
            name = part.removeprefix("name=")
            value = next((entry for entry in value if table(entry).get("name") == name), MISSING)
        else:
            value = at(value, (part,))
        if value is MISSING:
            return False
    return True


def _form(manifest: Manifest) -> Any:
    """Return what is compared of an object, in a form that is equal for all spellings of one meaning."""
    fields = {key: value for key, value in normal.unaddressed(manifest).items() if key not in _NOT_COMPARED}
    if text(manifest, "kind") == MODULE_KIND:
        return _of_module(_numbers({**fields, "spec": stored(fields.get("spec") or {})}, ""), "")
    texts = {key: fields.pop(key) for key in _TEXTS if fields.get(key)}
    return {**_numbers(normal.without_defaults(fields), ""), **texts}


def _of_module(value: Any, holder: str) -> Any:
    """Return a Module's fields in one spelling: `${NAME}` as `$NAME`, and without the `{}` that Go writes."""
    if isinstance(value, str):
        return _BRACES.sub(r"$\1", value)
    if isinstance(value, list):
        return [_of_module(entry, holder) for entry in value]
    if not isinstance(value, dict):
        return value
    kept = {key: entry for key, entry in value.items() if not (entry == {} and normal.is_no_tls(holder, key))}
    return {key: _of_module(entry, key) for key, entry in kept.items()}


def _numbers(value: Any, holder: str) -> Any:
    """Return a value whose quantities, and numbers that may be texts, are in one spelling."""
    if isinstance(value, dict):
        is_quantity = holder in _QUANTITIES
        pairs = ((key, _numbers(entry, key)) for key, entry in value.items())
        return {key: _canonical(entry) if is_quantity or key in _NUMBERS else entry for key, entry in pairs}
    if isinstance(value, list):
        return [_numbers(entry, holder) for entry in value]
    return value


def _canonical(value: Any) -> Any:
    """Return a quantity or a number as its shortest decimal text; any other value as it is."""
    if isinstance(value, bool) or not isinstance(value, str | int | float) or len(str(value)) > 40:
        return value
    digits, factor = str(value).strip(), Decimal(1)
    if digits.endswith("i") and digits[-2:-1] in "KMGTPE" and digits[-2:-1]:
        factor, digits = Decimal(1024) ** ("KMGTPE".index(digits[-2]) + 1), digits[:-2]
    elif digits[-1:] in _SUFFIXES and digits[:-1][-1:].isdigit():
        factor, digits = Decimal(10) ** _SUFFIXES[digits[-1]], digits[:-1]
    try:
        number = Decimal(digits) * factor
    except InvalidOperation:
        return value
    is_ordinary = number.is_finite() and abs(number.adjusted()) < 60  # else its digits would be written out
    return format(number.normalize(), "f") if is_ordinary else value


def _leaves(value: Any) -> int:
    """Return how many innermost fields a value has; an empty mapping or list is one."""
    return sum(1 for _ in _leaf_paths(value))


def _leaf_paths(value: Any) -> Iterator[Any]:
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if not children:
        yield value
    for child in children:
        yield from _leaf_paths(child)
