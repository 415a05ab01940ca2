"""Two functions in one run: what the other one renders, and the objects that it makes in that run."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from krmfn import Item, ResourceList
from krmfn.ownership import Id, Scope

if TYPE_CHECKING:
    from .function_config import FunctionConfig


class Beside(NamedTuple):
    """The function that runs on the same list, before or after the one that is given this."""

    scope: Scope
    handled: frozenset[tuple[str, str]]
    """(group, kind) of the resources that it checks and renders."""


def kinds(own: frozenset[tuple[str, str]], beside: Beside | None) -> frozenset[tuple[str, str]]:
    """Return the (group, kind) pairs that are rendered in this run."""
    return own | beside.handled if beside else own


def made_anew(resources: ResourceList, beside: Beside | None, config: FunctionConfig) -> dict[Id, Item]:
    """Return the objects in the list that the other function makes or removes in this run, by their ids.

    An object whose owner is not in the list is among them only if the other function removes it.
    """
    if beside is None:
        return {}
    from . import leftovers  # here, for the start-up of lists that have nothing to do with us

    left = leftovers.sort_out(resources, beside.scope, config, ())
    stays = {id(item) for item in (*left.kept, *left.refused)}
    return {item.ref.id: item for item in resources.made(beside.scope) if id(item) not in stays}
