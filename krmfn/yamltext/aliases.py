"""Where the aliases of a text stand: a node tree has the anchor's node in their places."""

from functools import cached_property

from ..typed import Any
from . import positions

__all__ = ["Aliases", "Places"]

Places = dict[tuple[int, int], tuple[int, int]]
"""Where an alias begins and ends, by the id of the collection that holds it and its number there: keys and values of a
mapping are numbered in their order."""


class Aliases:
    """The aliases of a text; they are looked for when somebody asks."""

    def __init__(self, text: str, root: Any) -> None:
        """Take the text with its node tree."""
        self.text, self.root = text, root

    @cached_property
    def _places(self) -> Places:
        return _places(self.text, self.root)

    def find(self, node: Any, number: int) -> tuple[int, int] | None:
        """Return where the alias stands that is a part of a collection (see `Places`), None for no alias."""
        if "*" not in self.text or not node.value:
            return None
        known: Any = getattr(node, "aliases", None)  # nodes that were made of lines know them (see `linetree`)
        place: tuple[int, int] | None = self._places.get((id(node), number)) if known is None else known.get(number)
        return place

    def of(self, node: Any, name: str, entry: tuple[Any, Any]) -> tuple[int, int] | None:
        """Return the same of the part of a name: of a value with its key, or of an entry of a list, None as its key."""
        key, value = entry
        if "*" not in self.text or (key is not None and value.start_mark.index >= key.end_mark.index):
            return None
        if key is None:
            return self.find(node, int(name))
        return self.find(node, next(2 * at + 1 for at, (other, _) in enumerate(node.value) if other is key))


def _places(text: str, root: Any) -> Places:
    """Return the places of a text's aliases."""
    if "&" not in text or root is None:
        return {}
    import yaml

    from . import load

    events = (event for event in load.events(text.encode()) if isinstance(event, yaml.AliasEvent))
    marks: Places = {}
    seen: set[int] = set()

    def visit(node: Any) -> None:
        seen.add(id(node))
        for number, part in enumerate(positions.parts(node)):
            if id(part) in seen:
                event: Any = next(events)
                marks[id(node), number] = event.start_mark.index, event.end_mark.index
            else:
                visit(part)

    visit(root)
    return marks
