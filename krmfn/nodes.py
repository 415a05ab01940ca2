"""The node trees of items' texts; those of few items are kept, since they take more than the items."""

from functools import lru_cache, partial

from .errors import KrmfnError, NoData
from .itemtext import described, lines_before
from .typed import Any
from .yamltext import oddlines, simple

__all__ = ["by_lines", "composed", "read"]


def read(content: Any, text: str) -> tuple[Any, bool, bool]:
    """Return the data of a text of a `Content`, and whether its lines are simple, and whether most are, for the others.

    Raises KrmfnError when the text is no YAML, with the item's name or file.
    """
    data = simple.read(text)
    is_simple, is_odd = data is not None, False
    if not is_simple:
        data = oddlines.read(text)
        is_odd = data is not None
    if is_simple or is_odd:
        return data[0] if content.indent >= 0 else data, is_simple, is_odd
    from .yamltext import load, values

    try:
        build = partial(values.build, composed(content, content._text))
        return load.placed(build, partial(lines_before, content)), False, False
    except KrmfnError as failure:
        file, subject = described(content)
        subject += failure.subject
        raise NoData(*failure.args, file=failure.file or file, line=failure.line, subject=subject) from failure


@lru_cache(maxsize=16)
def by_lines(content: Any, _: bytes | None) -> Any:
    """Return the node tree of a simple text of a `Content`: it takes twenty kilobytes."""
    from .yamltext import linetree

    return linetree.tree(content.text.decode(), content.indent >= 0)


@lru_cache(maxsize=16)
def composed(content: Any, _: bytes | None) -> Any:
    """Return PyYAML's node tree of a text of a `Content`: it takes a hundred kilobytes."""
    from .yamltext import load

    tree = load.placed(partial(load.compose, content.text), partial(lines_before, content))
    return tree.value[0] if content.indent >= 0 and tree is not None else tree
