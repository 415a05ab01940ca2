"""The text of an item after edits, which is read back: comments first, where they stand, then the data."""

from .errors import KrmfnError, Refused
from .itemtext import lines_before
from .resource import check_plain, join, same
from .typed import Any
from .yamltext import edit, lent

__all__ = ["text_of"]


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
        if is_written:
            return text
        if content._pending:
            written = edit.written_in(
                text, content.manifest, content.indent, content._pending, not content._remarks and content.is_by_lines
            )
            if written is not None:
                return written
            content.lend(())  # the exact way needs to know all
        known = lent.known_in(content.manifest, content._lent.lists if content._lent else {})
        return edit.updated(text, content.manifest, content.indent, known, content.is_replaced)
    except KrmfnError as failure:
        parts = getattr(failure, "parts", ()) or content._written
        at = item.at(parts) if parts else item
        raise Refused(str(failure), at, f"{item.ref}: {join(parts) or 'it'} ") from failure


def _with_remarks(content: Any, item: Any) -> tuple[bytes, bool]:
    """Return the text with the comments that were written, and whether it has all that was edited."""
    from .yamltext import remarks

    text = remarks.with_comments(content.text.decode(), content.node, content._remarks).encode()
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
