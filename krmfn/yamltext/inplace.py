"""Edits that only write scalars and add keys, as nearly all do: of the text nothing but their mappings is walked.

What was lent says which mappings changed, so nothing is compared and nothing is read twice. The answer is None where
anything else was done, or where the text is not simple; `nodewise` then makes the edit, and would make the same one.
"""

from collections.abc import Iterable

from ..resource import same
from ..typed import Any
from . import linetree, losses, nodewise, remarks, simple
from .align import Known
from .blocks import NotSimple
from .changes import Change
from .inline import TooMuch

__all__ = ["patched"]


def patched(text: str, data: Any, changes: Iterable[Change]) -> str | None:
    """Return `text` changed to the data of one item, alone or in a list of one; None for "not sure".

    `changes` are the mappings in which something was written, inner ones first. What comes out was read back.
    """
    changes = [*changes]
    try:
        root = linetree.tree(text)
        walk = nodewise.Walk("", {id(known.value): known for _, known in changes}, may_rewrite=False)
        walk.take(text, root)
        for path, known in changes:
            _write(walk, root.value[0] if isinstance(data, list) else root, path, known)
    except (TooMuch, NotSimple, losses.WouldLose):
        return None
    edited = remarks.patched(text, walk.patches)
    return edited if same(simple.read(edited), data) else None


def _write(walk: nodewise.Walk, node: Any, path: tuple[str, ...], known: Known) -> None:
    """Add the patches of a mapping. Raises TooMuch where it stands in brackets, or an alias is on the way."""
    for part in path:
        key, node = _child(node, part)
        if id(node) in walk.shared:
            raise TooMuch
        walk.kept.add(id(key or node))
    if node.id != "mapping" or node.flow_style:
        raise TooMuch
    walk.path = [*path]
    walk.mapping(node, known.entries, known.value)


def _child(node: Any, part: str) -> tuple[Any, Any]:
    """Return the key, None in a list, and the value at a part of a path. Raises TooMuch for none."""
    if node.id == "sequence":
        return None, node.value[int(part)]
    for key, value in node.value if node.id == "mapping" else ():
        if key.value == part:
            return key, value
    raise TooMuch
