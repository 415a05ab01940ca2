"""How a scalar stands in a text: its comments and its spelling; and how it gets the spelling that it had."""

from functools import lru_cache

from .resource import same
from .strays import Parts, Stray
from .typed import Any, NamedTuple
from .yamltext import edit, positions, remarks, simple, trees

__all__ = ["Standing", "node_at", "spell", "standing_of", "tree_of"]

_QUOTES = ("'", '"')


class Standing(NamedTuple):
    """How a scalar stood in its text."""

    comment: str
    head: str
    spelled: str
    """With its quotes, or the word for a boolean that has a comment; "" for what is written as any other one."""

    @property
    def has_comments(self) -> bool:
        """Return True where it had one."""
        return bool(self.comment or self.head)


def standing_of(stray: Stray) -> Standing:
    """Return how a scalar stood in the text from which it went; of one that others took the place of what is there."""
    if stray.text is None:
        field = stray.item.at(stray.parts)
        return Standing(field.comment, field.head_comment, "")
    text, root = stray.text, tree_of(stray.text, stray.item.indent >= 0)
    node = node_at(root, stray.parts)
    comment, head = remarks.comment(text, root, stray.parts), remarks.head(text, root, stray.parts)
    raw = text[node.start_mark.index : node.end_mark.index] if node else ""
    is_own = (raw[:1] in _QUOTES and "\n" not in raw) or ((comment or head) and raw in simple.OLD)
    return Standing(comment, head, raw if is_own else "")


@lru_cache(maxsize=16)
def tree_of(text: str, is_item: bool) -> Any:
    """Return the node tree of a text; many scalars go from one."""
    root = trees.read(text)[0]
    return root.value[0] if is_item and root is not None and root.id == "sequence" else root


def node_at(root: Any, parts: Parts) -> Any:
    """Return the node at a path; None without one."""
    for part in parts:
        known = positions.children(root) if root is not None and root.id != "scalar" else {}
        root = known[part][1] if part in known else None
    return root


def spell(target: Stray, spelled: str) -> None:
    """Write a scalar with the quotes that it had, or as the word."""
    content = target.item.content
    text, node = content.text.decode(), node_at(content.node, target.parts)
    if not spelled or node is None or node.style in ("|", ">") or not same(edit.parse(spelled), target.value):
        return
    span = (int(node.start_mark.index), int(node.end_mark.index))
    if text[span[0] : span[1]] != spelled:
        content.settled(remarks.patched(text, [(*span, spelled)]).encode())
