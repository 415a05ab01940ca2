"""Whether many documents are YAML, and large texts with which a run works on before it knows."""

from collections.abc import Sequence

from krmfn.errors import KrmfnError
from krmfn.yamltext import simple

from .division import Span

_SMALL = 1 << 17
"""The size up to which reading simple texts takes no longer than to import PyYAML."""


class Unchecked:
    """The large texts of a run that nobody has checked yet: a second process does while the run goes on.

    What the run concludes counts only once `are_sound` has said True; otherwise it is made again without this.
    """

    def __init__(self) -> None:
        """Begin without a text."""
        self._texts: list[tuple[bytes, Sequence[Span]]] = []

    def add(self, text: bytes, spans: Sequence[Span]) -> None:
        """Add the documents of a text that is `usual` (see `division`)."""
        self._texts.append((text, spans))

    def __bool__(self) -> bool:
        """Return True when there is a text."""
        return bool(self._texts)

    def are_sound(self) -> bool:
        """Return True when every document of all texts is YAML."""
        return not any(not_yaml(text, spans) for text, spans in self._texts)


def not_yaml(text: bytes, spans: Sequence[Span]) -> set[int]:
    """Return the indexes of those documents of a usual text (see `division`) that are not YAML."""
    if len(text) < _SMALL and not any(
        span.is_counted or simple.read(text[span.start : span.end].decode()) is None for span in spans
    ):
        return set()  # our simple reader has read them all, so they are YAML
    from . import syntax

    indexes: set[int] = set()
    for index in syntax.suspects(text, spans):
        try:
            syntax.check(text[spans[index].start : spans[index].end])
        except KrmfnError:
            indexes.add(index)
    return indexes
