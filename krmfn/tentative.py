"""An edit of an item that may turn out to be none: what cannot be written leaves the item as it was."""

from collections.abc import Iterator
from contextlib import contextmanager

from .typed import Any

__all__ = ["tentative"]


@contextmanager
def tentative(item: Any) -> Iterator[None]:
    """Edit the item in a `with`; at its end the text is made. An error there, or in it, leaves the item as it was.

    The error comes through, Refused where an edit cannot be written: else that is known only when the function is done.
    Other items, and what was added to the list or removed from it, stay as the block left them.
    """
    from .yamltext import align  # here: few functions ask

    content = item.content
    content.settle(item)  # what was edited before is no part of it
    content.lend(())
    attributes = {**vars(content), "_remarks": dict(content._remarks)}
    lists, text = dict(content._lent.lists), content._lent.text
    names = (item._ref, item._kind, item._api_version, item._target)
    kept = [(known.value, known.entries) for _, known in align.collections(content.manifest)]
    try:
        yield
        content.settle(item)
    except BaseException:
        for value, before in kept:  # in place: fields, and callers, have these
            value.clear()
            if isinstance(value, dict):
                value.update(before)
            else:
                value.extend(before)
        vars(content).clear()
        vars(content).update(attributes)
        content._lent.lists, content._lent.text = lists, text
        item._ref, item._kind, item._api_version, item._target = names
        raise
