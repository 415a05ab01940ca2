"""The inputs that are kept as files: what was once found, and what has to stay fine."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "corpus"
OPEN, CLOSE = "⟦".encode(), "⟧".encode()
"""What stands between these is repeated, to see how the work grows."""


class Seed(NamedTuple):
    """An input of a target; `pieces` are what stands before, within and after the brackets."""

    name: str
    text: bytes
    pieces: tuple[bytes, bytes, bytes] | None


def seeds(target: str) -> list[Seed]:
    """Return the inputs of a target by their names."""
    read = [(path.stem, path.read_bytes()) for path in sorted((FOLDER / target).iterdir())]
    return [_seed(name, text) for name, text in read]


def _seed(name: str, text: bytes) -> Seed:
    before, opened, rest = text.partition(OPEN)
    piece, _, after = rest.partition(CLOSE)
    return Seed(name, before + piece + after, (before, piece, after) if opened else None)
