"""Findings as values: what is wrong with which field of which resource."""

from collections.abc import Hashable

from .printing import joined, json_text, printable
from .resource import Place, Ref
from .typed import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from typing_extensions import TypedDict, Unpack

    class About(TypedDict, total=False):
        """What a finding is about, beside its message."""

        rule: str
        ref: Ref | None
        field: "Field | None"
        place: Place | None
        tags: tuple[tuple[str, str], ...]
        facts: "Facts"
        related: "tuple[Related, ...]"
        remedy: str
        at: "Located | None"
        proposed: Any


__all__ = ["MEND", "MOST", "NODES", "QUOTE", "REMOVE", "RENAME", "UNLISTED", "Facts", "Field", "Located", "Result"]
__all__ += ["Severity", "error"]
__all__ += ["Related", "info", "reference", "warning"]

Severity = Literal["error", "warning", "info"]

Facts = tuple[tuple[str, str | int | tuple[str, ...]], ...]
"""What a finding says, as (name, value) pairs: `(("mapping", "regexp ^5"), ("nodes", ("a", "b")))`."""
NODES = "nodes"
"""The fact with the names of some nodes: they come and go, so they make no other finding."""
MEND = "mend"
"""The fact that says how a finding is mended: RENAME, a key and the one that is meant; QUOTE; REMOVE, an entry."""
RENAME, QUOTE, REMOVE = "rename", "quote", "remove"

MOST = 1_000
"""How many findings of one rule in one file are listed."""
UNLISTED = "unlisted"
"""The tag of a finding that stands for others, which are not listed: how many they are."""


def reference(ref: Ref) -> dict[str, str]:
    """Return a reference as JSON data, the same in every report."""
    return {"apiVersion": ref.api_version, "kind": ref.kind, "namespace": ref.namespace, "name": ref.name}


class Field(NamedTuple):
    """A field by its path (`spec.daemonSets[0].image`), what it holds, and what it should hold (None: not known)."""

    path: str
    current: Any = None
    proposed: Any = None


class Related(NamedTuple):
    """Another place that a finding is about: a conflict has two."""

    place: Place
    message: str
    """What the finding says when it stands there."""


class Result(NamedTuple):
    """One finding, in the terms of the KRM Functions Specification v1 (results)."""

    message: str
    severity: Severity = "error"
    rule: str = ""
    """The rule's id, `KRM101`; it travels as the tag `rule`."""
    ref: Ref | None = None
    field: Field | None = None
    place: Place | None = None
    tags: tuple[tuple[str, str], ...] = ()
    """Further tags as (key, value) pairs."""
    facts: Facts = ()
    """What the message says, as values. Those that tell two findings about one field apart have to be among them."""
    related: tuple[Related, ...] = ()
    """The other places that it is about."""
    remedy: str = ""
    """What to do about it in this case, as a clause: `remove one of the two`; "" where nobody can say it."""
    sentence: tuple[Hashable, ...] = ()
    """The message in its parts, words and counts as values, where it counts something; else ()."""

    @property
    def text(self) -> str:
        """Return the message and, behind a semicolon, the remedy: for readers that have one field for both."""
        return joined(self.message, self.remedy)

    @property
    def line(self) -> str:
        """Return one line for people without the remedy: place, severity, resource, field, message and rule."""
        return self._line(self.message)

    @property
    def identity(self) -> tuple[Any, ...]:
        """Return what makes two findings the same one: rule, resource or file, field and facts but numbers and nodes.

        It is stable over wordings, lines and commits. The message counts where there is no rule, and where nothing else
        says what the finding is about.
        """
        facts = tuple(pair for pair in self.facts if pair[0] not in (NODES, MEND) and not isinstance(pair[1], int))
        subject = self.ref.id if self.ref else self.place.path if self.place else ""
        path = self.field.path if self.field else ""
        return self.rule or self.message, subject or path or facts or self.message, path, facts

    @property
    def id(self) -> str:
        """Return the identity as sixteen hexadecimal digits, for files and programs."""
        from hashlib import sha256  # here: it loads OpenSSL, and most runs print no id

        return sha256(repr(self.identity).encode(errors="surrogatepass")).hexdigest()[:16]

    def to_manifest(self) -> dict[str, Any]:
        """Return an entry of `results`; severity is always written, since kpt reads a missing one as info."""
        out: dict[str, Any] = {"message": self.text, "severity": self.severity}
        if self.ref:
            named = {"apiVersion": self.ref.api_version, "kind": self.ref.kind, "name": self.ref.name}
            out["resourceRef"] = named | ({"namespace": self.ref.namespace} if self.ref.namespace else {})
        if self.ref and self.field:  # the specification allows a field only beside a resourceRef
            values = {"currentValue": self.field.current, "proposedValue": self.field.proposed}
            out["field"] = {"path": self.field.path} | {k: v for k, v in values.items() if v is not None}
        if self.place and self.place.path:
            out["file"] = {"path": self.place.path, "index": self.place.position}
        tags = ({"rule": self.rule} if self.rule else {}) | dict(self.tags)
        return out | ({"tags": tags} if tags else {})

    @property
    def unlisted(self) -> int:
        """Return for how many findings it stands that are not listed (see `Findings`); 0: it is a finding itself."""
        number = dict(self.tags).get(UNLISTED, "") if self.tags else ""
        return int(number) if number.isdecimal() else 0

    @property
    def where(self) -> str:
        """Return the place with a colon at its end, as a line begins with it: `a.yaml:3:7: `; "" without a file."""
        if not (self.place and self.place.path):
            return ""
        numbers = (str(number) for number in (self.place.line, self.place.column) if number)
        return ":".join([self.place.path, *numbers, " "])

    @property
    def subject(self) -> str:
        """Return the resource and the field, each with a colon, as a message begins with them; "" without both."""
        return "".join(f"{part}: " for part in (self.ref, self.field and self.field.path) if part)

    def __str__(self) -> str:
        """Return one line for people: place, severity, resource, field, message, and the remedy or proposed value."""
        proposed = self.field.proposed if self.field and not self.remedy else None
        if proposed is None:
            return self._line(self.text)
        value = proposed if isinstance(proposed, str) else json_text(proposed)
        return self._line(joined(self.text, f"proposed: {value}"))

    def _line(self, text: str) -> str:
        message = " ".join(text.split("\n"))
        rule = f" [{self.rule}]" if self.rule else ""
        return printable(f"{self.where}{self.severity}: {self.subject}{message}{rule}")


class Located(Protocol):
    """What a finding can be about: an item, or a field of one."""

    def located(self, result: Result) -> Result:
        """Return the finding with the reference, field and place of this."""


def error(message: "str | tuple[Hashable, ...]", **about: "Unpack[About]") -> Result:
    """Return a finding that stops the run: nothing is generated, the exit code is 1.

    `message` is a text, or its parts: words and counts as values, each of which says itself by `str`.
    `about` is what it is about: `at`, an item or a field of one, which gives the reference, the field and the place; or
    `ref`, `field`, `place` one by one; `proposed`, what the field should hold; `rule`, `tags` and `remedy`. Raises
    ValueError for a `proposed` without a field.
    """
    return _result(message, "error", **about)


def warning(message: "str | tuple[Hashable, ...]", **about: "Unpack[About]") -> Result:
    """Return a finding that does not stop the run; `about` as for `error`."""
    return _result(message, "warning", **about)


def info(message: "str | tuple[Hashable, ...]", **about: "Unpack[About]") -> Result:
    """Return a finding that is worth knowing and no problem; `about` as for `error`."""
    return _result(message, "info", **about)


def _result(
    message: "str | tuple[Hashable, ...]",
    severity: Severity,
    at: "Located | None" = None,
    proposed: Any = None,
    **about: Any,
) -> Result:
    sentence = () if isinstance(message, str) else message
    text = message if isinstance(message, str) else "".join(map(str, message))
    result = Result(text, severity, **about, sentence=sentence)
    result = at.located(result) if at else result
    if proposed is None:
        return result
    if result.field is None:
        raise ValueError(f"{proposed!r} is proposed for no field; pass at=field: {result}")
    return result._replace(field=result.field._replace(proposed=proposed))
