"""What makes a command fail beside errors: `--fail-on`, which means the same in every command that has it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from krmfn import ResourceList, Result, error
from krmfn.counts import some
from krmfn.typed import TYPE_CHECKING

from ..formats.checked import of_cluster
from ..kmm.module import MODULE_KINDS

if TYPE_CHECKING:
    from ..plan import Comparison

_EFFECTS = {"lost": "lost", "reload": "reloaded", "blocked": "blocked"}
"""Words about nodes, with the effects of a change that they name; what is not known may be any of them."""


def uncovered(lists: Mapping[str, ResourceList], words: Collection[str]) -> Iterator[Result]:
    """Yield an error for nodes without a driver, and for a cluster of which that is not known, where it is asked for.

    What has errors fails by them.
    """
    if "uncovered" not in words:
        return
    from ..deviceconfig.reading import domain_of  # these late: few ask
    from ..fleet import table
    from ..report import local
    from .nodes import uncovered as of_rows

    has_modules = False
    for name, resources in lists.items():
        joined = local.join(resources, domain_of)
        has_modules |= bool(joined.whole.drivers) or resources.failed
        if resources.failed or not joined.whole.drivers:
            continue
        if not joined.groups:
            reason = joined.wrong[0] if joined.wrong else local.NO_NODES
            yield error(f"which nodes of {name} get no driver is not known: {reason}")
        rows = table.rows(joined.groups, joined.whole.every, table.Filter(problems=True))
        yield from of_cluster(name, of_rows(rows))
    if not has_modules:
        yield error(f"no Module is in {some(lists, len(lists))}, so no node can get one; is it the right PATH?")


def of_change(compared: Sequence[Comparison], words: Collection[str]) -> list[Result]:
    """Return an error for each change that is asked for, and for one of which that is not known."""
    found: list[Result] = []
    for one in compared:
        where = one.name or "the cluster"
        is_told = any(note.severity != "info" for note in one.notes)
        if "change" in words and (one.plan.changes or one.plan.effects or is_told):
            found.append(error(f"{where} changes (--fail-on change)"))
        for word in (word for word in _EFFECTS if word in words):
            alike = [effect for effect in one.plan.effects if effect.what in (_EFFECTS[word], "unknown")]
            about = (error(f"{effect.message} (--fail-on {word})", ref=effect.ref) for effect in alike)
            found += of_cluster(one.name, about)
            is_about = any((change.ref.group, change.ref.kind) in MODULE_KINDS for change in one.plan.changes)
            if is_about and not one.knows_nodes:
                why = "add a NodeInventory (`krmfn inventory`)"
                found.append(error(f"what happens on the nodes of {where} is not known (--fail-on {word}); {why}"))
    return found
