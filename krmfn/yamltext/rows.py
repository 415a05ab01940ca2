"""Where the lines of keys and entries begin and end in a text, comment lines above them included."""

from ..typed import Any
from . import remarks
from .aliases import Aliases

__all__ = ["Rows"]


class Rows:
    """The lines of a text with its node tree."""

    def __init__(self, text: str, root: Any) -> None:
        """Take both."""
        self.text, self.root, self.aliases = text, root, Aliases(text, root)

    def alias(self, node: Any, number: int) -> tuple[int, int] | None:
        """Return where the alias stands that is a part of a collection (see `aliases.Places`), None for no alias."""
        return self.aliases.find(node, number)

    def dash(self, node: Any, number: int, entry: Any) -> int:
        """Return where the dash of an entry is; -1 for none."""
        alias = self.alias(node, number)
        return remarks.dash(self.text, node, alias[0] if alias else entry.start_mark.index)

    def begin(self, at: int) -> int:
        """Return where the lines of a key or dash begin: comment lines above belong to it."""
        above = remarks.above(self.text, self.root, at)
        rows = [self.text.rfind("\n", 0, place) + 1 for place in (at, above)]
        dashed = self.text[rows[0] : at].strip() or self.text[rows[1] : above].strip()
        return at if dashed else rows[1]

    def end(self, entry: tuple[Any, Any]) -> int:
        """Return where the lines of a key or entry with its value end."""
        key, node = entry
        alias = 0
        while not alias and not (key is not None and node.start_mark.index < key.start_mark.index):
            if node.id == "scalar" or node.flow_style:
                break
            last, parent = node.value[-1], node
            key, node = last if isinstance(last, tuple) else (None, last)
            last_alias = self.alias(parent, len(parent.value) - 1) if key is None else None
            alias = last_alias[1] if last_alias else 0
        is_key = key is not None and node.start_mark.index < key.start_mark.index
        at = int(alias or (key if is_key else node).end_mark.index)
        return at if at and self.text[at - 1] == "\n" else self.text.find("\n", at) + 1 or len(self.text)
