"""The text of an item after edits, which is read back: comments first, where they stand, then the data."""

from .errors import KrmfnError, Refused
from .itemtext import lines_before
from .resource import check_plain, join, same
from .typed import Any
from .yamltext import changes, lent, rowwise

__all__ = ["commented", "settle", "text_of"]


def settle(content: Any, item: Any) -> None:
    """Make what was edited the text of an item's content; note what went from the text before. Raises as `text_of`."""
    text = text_of(content, item)
    source = content._lent
    if source is None:
        content.settled(text)
        return
    from . import departures, strays  # here: most edits take nothing away

    source.text = commented(content)  # what was taken from it has the comments that were written before
    gone = departures.of(item) if strays.may_have_lost(content) else ()
    content.settled(text)
    content.departures += tuple(departure._replace(following=content._lent) for departure in gone)


def commented(content: Any) -> bytes:
    """Return the last text of an item's content with the comments that have been written since."""
    if not content._remarks:
        return content.text  # type: ignore[no-any-return]
    from .yamltext import remarks

    return remarks.with_comments(content.text.decode(), content.node, content._remarks).encode()


def text_of(content: Any, item: Any) -> bytes:
    """Return the text of an item's content with what was edited.

    Raises Refused, with item and path, for a value that JSON does not have, and for a comment that has no place.
    """
    try:
        if content.is_lent:  # else each value was looked at when it was written
            check_plain(content.manifest)
    except KrmfnError as failure:
        raise Refused(str(failure), item, f"{item.ref}: ") from failure
    text, is_written = _with_remarks(content, item) if content._remarks else (content.text, False)
    try:
        _check_edit(content)
        return text if is_written else _with_data(content, text)
    except KrmfnError as failure:
        parts = getattr(failure, "parts", ()) or content._written
        at = item.at(parts) if parts else item
        raise Refused(str(failure), at, f"{item.ref}: {join(parts) or 'it'} ") from failure


def _with_data(content: Any, text: bytes) -> bytes:
    """Return a text of an item's content changed to its data: row by row where that is enough, as it nearly always is.

    Raises KrmfnError where something would be lost.
    """
    data, indent, edits = content.manifest, content.indent, _changes(content) if content.is_by_lines else None
    if edits is not None and not content._remarks:
        edited = rowwise.patched(text.decode(), data, edits, indent + 2)
        if edited is not None:
            return edited.encode()
    from .yamltext import edit

    written = edit.written_in(text, data, indent, edits) if edits is not None else None
    if written is not None:
        return written
    content.lend(())  # the exact way needs to know all
    return edit.updated(text, data, indent, lent.known_in(data, content._lent.lists), content.is_replaced)


def _changes(content: Any) -> list[changes.Change] | None:
    """Return the mappings in which something was written, inner ones first; None where more was done, or may be."""
    if content._pending:
        return sorted(content._pending.values(), key=lambda change: -len(change[0]))
    source = content._lent
    if source is None or source.root is content.manifest:
        known = lent.known_in(content.manifest, source.lists if source else {})
        return changes.of_data(content.manifest, known)
    return changes.of_other_data(source, content.manifest)


def _with_remarks(content: Any, item: Any) -> tuple[bytes, bool]:
    """Return the text with the comments that were written, and whether it has all that was edited."""
    from .yamltext import edit

    text = commented(content)
    data = edit.parse(text.decode())
    data = data[0] if content.indent >= 0 else data
    is_written = same(data, content.manifest)
    if not is_written and not same(data, content._read()):
        raise item.at(join(next(iter(content._remarks))[0])).failure("has a comment that cannot be written")
    return text, is_written


def _check_edit(content: Any) -> None:
    """Raise KrmfnError where an edit of the text would lose what no reader of the manifest has seen."""
    problem = "" if content._is_mapping and content.manifest else "an item must be a mapping; mend or remove it"
    if not problem and content._text is None and (duplicates := content.duplicate_keys):
        problem = f"{duplicates[0]} stands twice in this item; remove one of them"
    if problem and not content.is_replaced:
        raise KrmfnError(problem, line=lines_before(content) + 1, subject="cannot be written: ")
