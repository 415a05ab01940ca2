"""Where the aliases of a text stand: a node tree has the anchor's node in their places."""

from ..typed import Any
from . import positions

__all__ = ["Places", "places"]

Places = dict[tuple[int, int], tuple[int, int]]
"""Where an alias begins and ends, by the id of the collection that holds it and its number there: keys and values of a
mapping are numbered in their order."""


def places(text: str, root: Any) -> Places:
    """Return the places of a text's aliases."""
    if "*" not in text or root is None:
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
