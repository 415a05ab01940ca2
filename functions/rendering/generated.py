"""A generated object, and the resource that it is generated from."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from krmfn import Item, Manifest, Ref, Result
from krmfn.ownership import stamp


class Generated(NamedTuple):
    """A generated object, the item and the owner that it is generated from."""

    manifest: Manifest
    item: Item
    owner: Ref
    origin: Callable[[Result], Result | None]
    """The function that moves a finding about the manifest to the field that it comes from; None when there is none."""


def generated(
    manifest: Manifest,
    function: str,
    item: Item,
    owner: Ref,
    origin: Callable[[Result], Result | None] = lambda finding: None,
) -> Generated:
    """Return the manifest, with its ownership mark, together with what it is generated from."""
    return Generated(stamp(manifest, function, owner), item, owner, origin)
