"""A text as a node tree and as data: by its lines where these can be read, else by PyYAML."""

from ..typed import Any
from . import linetree

__all__ = ["read"]


def read(text: str) -> tuple[Any, Any]:
    """Return the node tree of a text, and its data; None for both where the text is empty."""
    if not text:
        return None, None
    simple = linetree.read(text)
    if simple is not None:
        return simple
    from . import load, values

    root = load.compose(text.encode())
    return root, values.build(root)
