"""What an edit did to an item's data, where it only wrote scalars and added keys, as nearly all do.

What was lent says it, so that nothing is read twice. The answer is None where anything else was done.
"""

from collections.abc import Iterator

from ..resource import same
from ..typed import Any
from . import lent
from .align import Known, Lists

__all__ = ["Change", "of_data", "of_other_data"]

_Path = tuple[str, ...]
Change = tuple[_Path, Known]
"""A mapping in which something was written, and what it held."""


class _Other(Exception):
    """Something else was done."""


def of_data(item: Any, lists: Lists) -> list[Change] | None:
    """Return the mappings of an item's data in which something was written, inner ones first; None for "not sure"."""
    try:
        return [*_written(item, (), lists)]
    except _Other:
        return None


def of_other_data(source: lent.Source, new: Any) -> list[Change] | None:
    """Return the same for data that took the place of what was read from a text, which nobody has changed since."""
    try:
        return [*_differing(source.root, new, ())] if source.is_intact else None
    except _Other:
        return None


def _written(data: Any, path: _Path, lists: Lists) -> Iterator[Change]:
    """Yield the mappings in which something was written. Raises _Other."""
    known = lists.get(id(data))
    if known is None or known.origin is not data or known.source or known.renamed:
        raise _Other
    is_list = isinstance(data, list)
    if len(data) < len(known.entries) or (is_list and len(data) != len(known.entries)):
        raise _Other
    is_written = len(data) > len(known.entries)
    for name, part in enumerate(known.entries) if is_list else known.entries.items():
        now = data[name] if is_list else data.get(name, known)
        if isinstance(part, (dict, list)):
            if now is not part:
                raise _Other
            yield from _written(part, (*path, str(name)), lists)
        elif now is not part and not same(now, part):
            if is_list or now is known or isinstance(now, (dict, list)):
                raise _Other
            is_written = True
    if is_written:
        added = (data[name] for name in data.keys() - known.entries.keys())
        if any(id(part) in lists for value in added for part in lent.parts(value)):  # it was lent before
            raise _Other
        yield path, known


def _differing(old: Any, new: Any, path: _Path) -> Iterator[Change]:
    """Yield the mappings in which new data differs from old. Raises _Other.

    What was lent, or is a copy of that, has lines of its own, which come along where it stands elsewhere now.
    """
    is_more = isinstance(old, dict) and isinstance(new, dict) and old.keys() <= new.keys()
    if not is_more or _is_from_elsewhere(new, old):
        raise _Other
    is_written = len(new) > len(old)
    for name, part in old.items():
        now = new[name]
        if same(part, now):
            continue
        if isinstance(part, (dict, list)) or isinstance(now, (dict, list)):
            yield from _differing(part, now, (*path, name))
        else:
            is_written = True
    if is_written:
        added = (new[name] for name in new.keys() - old.keys())
        if any(lent.source_of(part) for value in added for part in lent.parts(value)):
            raise _Other
        yield path, Known(new, old, new)


def _is_from_elsewhere(new: Any, old: Any) -> bool:
    """Return True for a collection that was lent, unless it is a copy of the old one."""
    source = lent.source_of(new)
    known = source.lists[id(new)] if source else None
    return known is not None and (known.origin is not old or bool(known.renamed))
