"""Differences that Argo CD ignores: it does not see them, so it applies nothing because of them.

Source: Argo CD 3.2, docs/user-guide/diffing.md; docs/user-guide/sync-options.md, Respect ignore difference configs;
util/argo/normalizers/diff_normalizer.go: group and kind are patterns, a name or namespace that is empty is any.
"""

import re
from collections.abc import Iterator, Sequence

from krmfn import Manifest, Ref
from krmfn.typed import NamedTuple

from ..kmm.lookup import table, tables, text, texts
from . import globs

_STEP = re.compile(r'\.(?P<key>[A-Za-z_]\w*)|\.?\["(?P<text>[^"\\]*)"\]|\.?\[(?P<index>\d*)\]')
ANY = ""
"""The step of a path that is every entry of a list."""


class Ignored(NamedTuple):
    """Fields of some objects whose differences are ignored."""

    group: str
    kind: str
    name: str
    namespace: str
    paths: tuple[tuple[str, ...], ...] = ()
    """The fields, each with all below it."""
    unread: str = ""
    """What also says which fields these are, and is not read here: a jq expression, or managers."""
    source: str = ""
    """Who ignores them, with the file, where it is not the Application itself."""

    def is_about(self, ref: Ref) -> bool:
        """Return whether it is about an object."""
        is_kind = globs.matches(ref.group, self.group) and globs.matches(ref.kind, self.kind)
        return is_kind and self.name in ("", ref.name) and self.namespace in ("", ref.namespace)

    def covers(self, path: Sequence[str | int]) -> bool:
        """Return whether a field, given its keys and the indexes or names of entries, is one of these, or below one."""
        return any(
            len(ignored) <= len(path) and all(map(_is_step, ignored, path[: len(ignored)])) for ignored in self.paths
        )

    def as_unread(self) -> "Ignored":
        """Return it as what may not hold."""
        paths = ("/".join(("", *path)) for path in self.paths)
        return self._replace(paths=(), unread=", ".join(filter(None, (*paths, self.unread))))


def _is_step(step: str, part: str | int) -> bool:
    """Return whether a step of a path leads to a part, or may: which index an entry has that is named is not known."""
    is_named = "=" in str(part)
    if step == ANY:
        return is_named or isinstance(part, int)
    return step == str(part) or (is_named and step.isdecimal())


def ignored_of(spec: Manifest) -> tuple[Ignored, ...]:
    """Return what an Application ignores, given its spec."""
    return tuple(ignored_by(entry) for _, entry in tables(spec, "ignoreDifferences"))


def respects(spec: Manifest) -> bool:
    """Return whether a sync leaves the ignored fields as the cluster has them."""
    options = {option.replace(" ", "") for option in texts(table(spec, "syncPolicy"), "syncOptions")}
    return "RespectIgnoreDifferences=true" in options


def ignored_by(entry: Manifest, source: str = "") -> Ignored:
    """Return what an entry ignores; `source`: see `Ignored`."""
    pointers = [tuple(_unescaped(pointer)) for pointer in texts(entry, "jsonPointers") if pointer.startswith("/")]
    expressions = texts(entry, "jqPathExpressions")
    plain = [path for path in map(_plain, expressions) if path]
    managers = texts(entry, "managedFieldsManagers")
    unread = [expression for expression in expressions if not _plain(expression)]
    unread += [f"the fields of {manager}" for manager in managers]
    return Ignored(
        group=text(entry, "group"),
        kind=text(entry, "kind"),
        name=text(entry, "name"),
        namespace=text(entry, "namespace"),
        paths=(*pointers, *plain),
        unread=", ".join(unread),
        source=source,
    )


def _unescaped(pointer: str) -> Iterator[str]:
    """Yield the steps of a JSON pointer (RFC 6901)."""
    yield from (step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])


def _plain(expression: str) -> tuple[str, ...]:
    """Return the path that a jq expression of keys and indexes is; () for another one."""
    steps, at = list[str](), 0
    expression = expression.strip()
    while match := _STEP.match(expression, at):
        steps.append(next((value for value in match.groups() if value), ANY))
        at = match.end()
    return tuple(steps) if at == len(expression) else ()
