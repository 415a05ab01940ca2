"""The node trees of items' texts; those of few items are kept, since they take more than the items."""

from functools import lru_cache, partial

from .itemtext import lines_before
from .typed import Any

__all__ = ["by_lines", "composed"]


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
