"""Items and findings back into the text of a ResourceList; what was not touched is written as the bytes it came in."""

import re
from collections.abc import Iterator, Sequence
from functools import partial

from .envelope import Chunk, Envelope
from .errors import Refused
from .item import Item
from .itemtext import check_aliases
from .typed import Any
from .yamltext import emit, lineends

__all__ = ["chunks"]

_ANCHOR, _ALIAS = rb"&([0-9A-Za-z_-]+)", rb"\*([0-9A-Za-z_-]+)"


def chunks(envelope: Envelope, items: Sequence[Item], results: Sequence[dict[str, Any]]) -> list[Chunk]:
    """Return the list with these items, and these results (as the specification writes them) behind its own."""
    known = envelope.results() if results else []
    seen = set(map(_canonical, known))
    fresh = [result for result in results if not seen or _canonical(result) not in seen]
    if envelope.holds(items) and not fresh:
        return [envelope.data]
    if not envelope.holds(items[: len(envelope.items)]):
        _refuse_lost_anchors(envelope, items)
    all_results = [*known, *fresh] if fresh else None
    layout = _flow if envelope.cut.flow_root else _block
    written = [*layout(envelope, items, all_results)]
    is_of_windows = envelope.line_end == b"\r\n"
    return [lineends.ended(b"".join(written), envelope.line_end)] if is_of_windows else written


def _refuse_lost_anchors(envelope: Envelope, items: Sequence[Item]) -> None:
    """Raise KrmfnError, with the line, for an alias that needs an anchor of another item: that one may be gone.

    `items` are those that will be written. For nearly every list one search for a byte shows that there is none.
    """
    text = envelope.text
    shared = {*re.findall(_ANCHOR, text)} & {*re.findall(_ALIAS, text)} if b"&" in text else None
    if not shared:
        return
    for item in items:
        is_whole = item.is_read or item._origin  # it was read alone, before an edit and after it
        if not is_whole and not shared.isdisjoint(re.findall(_ALIAS, item.text)):
            check_aliases(item)
    for section in envelope.cut.sections:
        if section.key != "items" and not shared.isdisjoint(re.findall(_ALIAS, text[section.start : section.end])):
            from .yamltext import load

            envelope.read_section(section, load.compose)


def _block(envelope: Envelope, items: Sequence[Item], results: list[Any] | None) -> Iterator[Chunk]:
    view = memoryview(envelope.text)
    sections = envelope.cut.sections
    parts: dict[str, Chunk] = {section.key: view[section.start : section.end] for section in sections}
    if results is not None:
        behind = _lines_behind(bytes(parts.get("results", b"")))
        parts["results"] = emit.dump({"results": results}).encode() + behind
    yield envelope.data[: len(envelope.data) - len(envelope.text)]
    yield view[: sections[0].start]
    for key, part in parts.items():
        yield from _block_items(envelope, part, items) if key == "items" else (_with_line_end(part),)
    yield view[sections[-1].end :]


def _lines_behind(section: bytes) -> bytes:
    """Return the blank lines and comments at the end of a section: they are about what follows."""
    lines = section.splitlines(keepends=True)
    end = len(lines)
    while end and (lines[end - 1][:1] == b"#" or lines[end - 1].isspace()):
        end -= 1
    return b"".join(lines[end:])


def _block_items(envelope: Envelope, section: Chunk, items: Sequence[Item]) -> Iterator[Chunk]:
    if not items and not envelope.items:  # null, perhaps, and perhaps with comments
        yield _with_newline(section)
        return
    if items and envelope.items and envelope.cut.indent >= 0:  # as nearly all lists are
        yield section[: envelope.items[0].start - envelope.items[-1].end]
        yield from _runs(envelope, items)
        return
    from . import frame

    if envelope.cut.indent < 0:
        spans = (known[1:] for known in envelope.cut.sections if known.key == "items")
        yield _with_newline(frame.spliced(envelope, next(spans), items, partial(_item_text, envelope)))
    elif not envelope.items:
        yield frame.opened(bytes(section))
        yield from _runs(envelope, items)
    else:
        yield frame.emptied(bytes(section[: envelope.items[0].start - envelope.items[-1].end]))
        yield from map(_comments, envelope.items)


def _runs(envelope: Envelope, items: Sequence[Item]) -> Iterator[Chunk]:
    """Yield the items' bytes, untouched neighbours in one piece; comments behind removed items stay."""
    view = memoryview(envelope.text)
    unended = envelope.items[-1] if envelope.items and envelope.text[-1:] != b"\n" else None
    order, before = {id(item): at for at, item in enumerate(envelope.items)}, [*envelope.items, None]
    kept = {id(item._origin or item) for item in items}
    has_removed = not kept >= order.keys()
    start = end = upcoming = 0
    for item in items:
        if item is before[upcoming] and item.start == end and item is not unended:  # as nearly all are
            end, upcoming = item.end, upcoming + 1
            continue
        is_ours = item.data is envelope.text and item is not unended
        at = order.get(id(item._origin or item), upcoming)
        removed = envelope.items[upcoming:at] if has_removed else ()
        comments = b"".join(_comments(old) for old in removed if id(old) not in kept) if removed else b""
        upcoming = max(upcoming, at)
        if is_ours and item.start == end and not comments:
            end = item.end
            continue
        if end > start:
            yield _with_newline(view[start:end])
        if comments:
            yield comments
        start, end = (item.start, item.end) if is_ours else (0, 0)
        if not is_ours:
            text = view[item.start : item.end] if item is unended else _item_text(envelope, item)
            yield _with_line_end(text, item.indent)
    yield _with_newline(view[start:end])
    yield from (_comments(old) for old in envelope.items[upcoming:] if id(old) not in kept)


def _flow(envelope: Envelope, items: Sequence[Item], results: list[Any] | None) -> list[Chunk]:
    from . import frame

    findings = b"" if results is None else emit.dump_json(results).encode()
    written, at = [envelope.data[: len(envelope.data) - len(envelope.text)]], 0
    for key, start, end in envelope.cut.sections:
        written.append(envelope.text[at:start])
        if key == "items":
            written.append(frame.spliced(envelope, (start, end), items, partial(_item_text, envelope)))
        else:
            written.append(findings if findings and key == "results" else envelope.text[start:end])
        at = end
    is_new = findings and not envelope.section("results")
    tail = frame.behind(envelope, at, envelope.text[at:], [b'"results": ' + findings] if is_new else [])
    return [*written, _with_newline(tail)]


def _item_text(envelope: Envelope, item: Item) -> bytes:
    """Return an item's text in this list's layout: one from another list or a file may have to be written anew."""
    if item.data is envelope.text:  # after an error not what was edited
        return item.data[item.start : item.end]
    if item._fits is envelope.text:
        return item.text
    if envelope.cut.indent < 0:
        _refuse_comments(item)
        return emit.dump_json(item.manifest).encode()
    text = lineends.ended(item.text, envelope.line_end)
    if item.indent == envelope.cut.indent:
        check_aliases(item)
        return text
    from .yamltext import edit

    return edit.dashed(text, item.manifest, item.indent, envelope.cut.indent)


def _refuse_comments(item: Item) -> None:
    """Raise Refused for an item with a comment, which has no place in brackets."""
    if b"#" not in item.text:
        return
    from .yamltext import edit, load, losses

    data = item.text[: edit.trailer(item.text, item.indent)] if item.indent >= 0 else item.text
    text = data.decode()
    for start, end in losses.comments(text, load.compose(data), 0, len(text)):
        problem = (
            f"cannot stand in brackets: its comment {text[start:end].strip()[:40]!r} would be lost; clear it first"
        )
        raise Refused(problem, item, f"{item.ref} ")


def _canonical(result: Any) -> str:
    """Return a text that is equal for equal findings, whatever the order of their keys."""
    import json  # here: most lists have no findings

    return json.dumps(result, sort_keys=True, default=str)


def _with_line_end(chunk: Chunk, indent: int = -2) -> Chunk:
    """Return a section or item with a line end that does not change the meaning of a literal there."""
    if chunk[-1:] in (b"\n", b""):
        return chunk
    from .yamltext.edit import with_line_end

    return with_line_end(bytes(chunk), indent)


def _with_newline(chunk: Chunk) -> Chunk:
    return chunk if chunk[-1:] in (b"\n", b"") else bytes(chunk) + b"\n"


def _comments(item: Item) -> bytes:
    """Return the comment lines behind a removed item: they belong to what follows."""
    from .yamltext.edit import trailer

    text = item.data[item.start : item.end]  # edits, perhaps some that cannot be written, went with the item
    tail = text[trailer(text, item.indent) :] if item.indent >= 0 else b""
    start = tail.find(b"#")  # empty lines before it would become text of a literal that keeps them
    return bytes(_with_newline(tail[tail.rfind(b"\n", 0, start) + 1 :])) if start >= 0 else b""
