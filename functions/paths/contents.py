"""Look into files before their resources are read: whether there are any, and the usual files of a folder as one text.

That text is divided in one pass, and libyaml checks its syntax as one stream. When it is large, a second process checks
the greater part of it, while this one reads the head of each resource.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from operator import attrgetter

from krmfn import itemtext
from krmfn.errors import KrmfnError, TooLarge
from krmfn.item import Item
from krmfn.itemtext import Words, mentions
from krmfn.resource import Place, Ref
from krmfn.typed import NamedTuple
from krmfn.yamltext import documents

from . import division, templates, workers
from .division import Span
from .files import POINTER
from .unchecked import Unchecked, not_yaml

_LARGE = 1 << 21
"""The size from which a second process helps: to start one takes as long as to check a tenth of this."""
_KEYS = [re.compile(rb"(?m)^['\"]?(?:%s)['\"]? *:" % key) for key in (b"apiVersion", b"kind", b"metadata|items")]
_ACTION = re.compile(
    rb"""^[^"'#\n]*\{\{-?[ \t]*(?:[.$/(\"`]|(?:if|else|end|range|with|include|template|define|block|toYaml)\b)""",
    re.MULTILINE,
)
"""The beginning of an action outside of quotes. Source: Go's text/template, Actions; Helm, Chart Template Guide."""


def has_resource(text: bytes) -> bool:
    """Return True when a file holds a resource, or what may have been meant as one.

    That is a document with apiVersion, or with kind and metadata or items, at its top; also a file that mentions these
    and cannot be read, or that Git LFS keeps. Other YAML files (values, CI files, mkdocs.yml) are ignored.
    """
    if b"\0" in text or text.startswith(POINTER):
        return True
    text = text.removeprefix(b"\xef\xbb\xbf")
    version, kind, rest = (key.search(text) for key in _KEYS)
    if version or (kind and rest):
        return True
    holds = partial(mentions, text, 0, len(text))
    is_half = holds(b"kind") and (holds(b"metadata") or holds(b"items"))
    if not is_half and not holds(b"apiVersion"):
        return False
    try:
        parts = [document.text for document in documents.documents(text)]
        if documents.misread(text):
            # kubectl and Argo CD take off white space of any kind before a brace
            parts += [*re.split(rb"(?m)^---.*$", text), text.decode(errors="replace").lstrip().encode()]
        tops = [_top_keys(part) for part in parts]
    except KrmfnError:
        return True
    return any("apiVersion" in top or "<<" in top or ("kind" in top and top & {"metadata", "items"}) for top in tops)


def _top_keys(text: bytes) -> set[str]:
    """Return the keys at the top of a document; of one that is too large to be parsed, as they are spelled."""
    from krmfn.yamltext import load, split_exact  # late: they take PyYAML

    try:
        data = load.read(text)
    except TooLarge:
        is_list = text.lstrip().startswith((b"[", b"- "))
        return set() if is_list else {section.key for section in split_exact.exact(text).sections}
    return set(data) if isinstance(data, dict) else set()


def explain(failure: KrmfnError, text: bytes) -> KrmfnError:
    """Return the reason why a text is not YAML; for a template, with what to do about it.

    It is a `Template` where nothing of ours stands in it.
    """
    if isinstance(failure, TooLarge):
        return failure
    is_template = templates.is_template(text)
    if not (is_template or _ACTION.search(text)):
        return failure
    hint = (
        "the file looks like a template, as Helm's charts hold them, and krmfn runs no templates: keep what "
        "`helm template` prints instead, or leave the file out with `exclude` in .krmfn.yaml"
    )
    *lines, last = failure.args
    lines.append(f"{last}; {hint}")
    explained = templates.Template(text, *lines) if is_template else type(failure)(*lines)
    explained.file, explained.line, explained.subject = failure.file, failure.line, failure.subject
    return explained


class Sheet(NamedTuple):
    """Some files as one text."""

    text: bytes
    spans: Sequence[Span]
    """The documents of all files."""
    words: Words
    dubious: set[int]
    """The indexes of the documents that `peek` does not read."""
    heads: Sequence[Ref | None]
    """The head of each document, where it is easy to read."""
    files: dict[str, tuple[int, int, int]]
    """Of each file whose documents are all YAML: its start, and the range of indexes of its documents."""

    def documents(self, name: str, items: Sequence[Item]) -> Iterator[tuple[Item, Place, bool]]:
        """Yield the documents of a file, each with its place and whether it has a head; `items` are earlier ones."""
        text, line = self.text, 1
        seen, first, last = self.files[name]
        for index in range(first, last):
            span = self.spans[index]
            line += text.count(b"\n", seen, span.start)
            seen = span.start
            place = Place(name, len(items), line)
            item = Item(text, span.start, span.end, -2, index not in self.dubious, place if name else None)
            itemtext.note_look(item, self.words, span.keys)
            head = self.heads[index]
            if head:
                itemtext.note_ref(item, head)
            yield item, place, head is not None


def read(files: Sequence[tuple[str, bytes]], unchecked: Unchecked | None = None) -> Sheet:
    """Return usual files (see `division`), by name and text, as one text, without those that some reader refuses.

    A large text is added to `unchecked`, if there is one; its documents count as YAML until somebody has checked that.
    """
    text, starts = division.joined([text for _, text in files])
    spans = division.divide(text)
    firsts = [bisect_left(spans, start - 1, key=attrgetter("start")) for start in starts]
    places = [*zip(files, starts, firsts, [*firsts[1:], len(spans)], strict=True)]
    for (_, content), start, first, last in places:
        if first < last:  # without the newlines of the divider
            spans[first] = spans[first]._replace(start=max(start, spans[first].start))
            spans[last - 1] = spans[last - 1]._replace(end=min(start + len(content), spans[last - 1].end))
    with _checking(text, spans, unchecked) as find_invalid:
        dubious = division.dubious(text, spans)
        heads = [None if index in dubious else division.head(text, span) for index, span in enumerate(spans)]
        invalid = find_invalid()
    invalid |= {index for index, span in enumerate(spans) if span.is_misread}
    ranges = {
        name: (start, first, last) for (name, _), start, first, last in places if invalid.isdisjoint(range(first, last))
    }
    words = Words(text, [(span.start, span.end) for span in spans])
    return Sheet(text, spans, words, dubious, heads, ranges)


@contextmanager
def _checking(text: bytes, spans: Sequence[Span], unchecked: Unchecked | None) -> Iterator[Callable[[], set[int]]]:
    """Check the documents of a text; yield a function that returns the indexes of those that are not YAML.

    Of a large text a second process checks two thirds during the block: to check the rest and to read all heads takes
    as long. Where there is an `unchecked`, it gets that text, and no document is known to be wrong.
    """
    if unchecked is not None and len(text) >= _LARGE:
        unchecked.add(text, spans)
        yield lambda: set[int]()
        return
    boundary = bisect_left(spans, len(text) * 2 // 3, key=attrgetter("start")) if len(text) >= _LARGE else 0
    check = partial(workers.second_process, lambda: not not_yaml(text, spans[:boundary]))
    with check() if boundary else nullcontext(lambda: True) as is_sound:

        def find_invalid() -> set[int]:
            last = {boundary + index for index in not_yaml(text, spans[boundary:])}
            return last if is_sound() else last | not_yaml(text, spans[:boundary])

        yield find_invalid
