"""What happens with each Module on nodes that are alike, and which others load or unload its kernel module at once."""

from collections.abc import Mapping, Sequence

from krmfn.ownership import Id
from krmfn.typed import NamedTuple

from ..kmm.scheduling import Event, Move, View
from .drivers import Driver


class Transition(NamedTuple):
    """What happens with one Module on nodes that are alike."""

    nodes: Sequence[str]
    driver: Driver
    """The one after the change, unless it is deleted."""
    move: Move
    old: View | None
    new: View
    old_driver: Driver | None = None
    """The one before the change."""
    rival: Driver | None = None
    """Another Module, of which KMM unloads or loads the same kernel module on these nodes at the same time."""


def with_rivals(group: list[Transition], known: Mapping[Id, frozenset[str]]) -> list[Transition]:
    """Return the transitions of some nodes, with the rivals among them; `known` has the images of the side before.

    One Module unloads what another loads. An image that KMM has not looked for yet puts the two in order: it looks for
    it while the first one unloads, unless that one waits for an image, too. One that it knows is loaded at once, beside
    the pod that unloads: if the loader is the first, it finds the kernel module there and does nothing, then the
    unloader takes that away. A Module that stays as it is loses its kernel module to the unloader in any case. One that
    loads it again takes nothing away.
    """
    unloads = {at: removed for at, moved in enumerate(group) if (removed := _removed(moved))}
    waiting = {at for at, moved in enumerate(group) if _waits(moved, known)} if unloads else set[int]()
    late = {at for at in waiting if not _is_relabelled(group[at])}  # a label that moves unloads at once
    for at, heir in enumerate(group) if unloads else ():
        if not heir.move.after:
            continue
        for other, removed in unloads.items():
            is_in_order = at in waiting and other not in late
            if other != at and not is_in_order and _has_loaded(heir) & removed:
                group[at] = group[at]._replace(rival=group[other].driver)
                if heir.move.events:
                    group[other] = group[other]._replace(rival=heir.driver)
    return group


def _is_relabelled(transition: Transition) -> bool:
    """Return True where the version label of a Module has moved."""
    old, new = transition.old, transition.new
    return bool(old and new.version and old.label != new.label)


def _has_loaded(transition: Transition) -> frozenset[str]:
    """Return the kernel modules that a Module has loaded after its move: those of before where KMM leaves them."""
    is_left = not transition.move.events and transition.old_driver
    return (is_left or transition.driver).module.loads


def _waits(transition: Transition, known: Mapping[Id, frozenset[str]]) -> bool:
    """Return True for a Module whose new image KMM has to look for, before it loads it or unloads what is there."""
    move = transition.move
    loads = not all(map(_is_unload, move.events))
    return bool(loads and move.after and move.after["containerImage"] not in known.get(transition.driver.ref.id, ()))


def _removed(transition: Transition) -> frozenset[str]:
    """Return the kernel modules that a Module unloads and does not load again."""
    move = transition.move
    if not any(map(_is_unload, move.events)):
        return frozenset()
    old, new = transition.old_driver or transition.driver, transition.driver
    is_loaded_again = move.after is not None and not all(map(_is_unload, move.events))
    return old.module.loads - (new.module.loads if is_loaded_again else frozenset())


def _is_unload(event: Event) -> bool:
    return event.action == "Unload"
