"""Hold a generated object together with what it was made from."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from krmfn import Item, Manifest, Ref, Result
from krmfn.ownership import stamp


class Generated(NamedTuple):
    """A generated object and the item it was made from."""

    manifest: Manifest
    item: Item
    owner: Ref
    origin: Callable[[Result], Result | None]
    """A finding about the manifest as one about the field that it was made from; None where no field is to blame."""


def generated(
    manifest: Manifest,
    function: str,
    item: Item,
    owner: Ref,
    origin: Callable[[Result], Result | None] = lambda finding: None,
) -> Generated:
    """Return a generated object with its mark, and what it was made from."""
    return Generated(stamp(manifest, function, owner), item, owner, origin)
