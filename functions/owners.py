"""Which kinds a function handles, and which items of a list were made for them."""

from __future__ import annotations

from krmfn import Item, ResourceList
from krmfn.ownership import OWNER, owner_id

Owners = frozenset[tuple[str, str]]
"""The (group, kind) pairs whose children a function handles."""


def owned(resources: ResourceList, owners: Owners) -> list[Item]:
    """The items that were generated for one of `owners`."""
    marked = [item for item in resources.items if item.mentions(OWNER)]
    return [item for item in marked if (owner_id(item.annotations) or ())[:2] in owners]
