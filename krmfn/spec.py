"""What the functionConfig of a function looks like."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Doc", "Rest", "Spec"]


class Doc(NamedTuple):
    """What a field of a config means, for `--help` and `--schema`: `Annotated[str, Doc("image without tag")]`."""

    text: str


class Rest(NamedTuple):
    """Mark the field that takes what no other one does of a ConfigMap's data: `Annotated[dict[str, str], Rest()]`."""


class Spec(NamedTuple):
    """What a functionConfig looks like."""

    config: type | None
    """A dataclass; None for a function without a config."""
    kinds: tuple[str, ...]
    """The first is the usual one."""
    group: str
    version: str
    top: bool
    """Whether the fields stand beside `metadata`, not below `spec`."""
    name: str
    """The function's own name, with dashes."""
    doc: str
