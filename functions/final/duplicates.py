"""Resources that are in the final list a second time: an error, unless they do not concern krmfn."""

from collections.abc import Collection, Iterator

from krmfn import Item, Result, error, warning
from krmfn.ownership import Id
from krmfn.printing import counted
from krmfn.results import Related

from .. import oracles
from ..identity import object_id
from ..kmm.module import LABELS, MODULE_KINDS
from ..rendering.kinds import OWNERS, of_kinds
from ..rule import Rule
from .stream import FinalList


def ids_stand_once(final: FinalList) -> Iterator[Result]:
    """Yield an error per resource that is in the list a second time.

    In a whole repository, those that do not concern krmfn are one warning with a count: they may be for two clusters.
    """
    first: dict[Id, Item] = {}
    others = list[tuple[Item, str]]()
    namespaces = _our_namespaces(final)
    for item in final.deployed:
        if not item.name:
            continue  # generateName: each gets a name of its own
        other = first.setdefault(object_id(item.ref), item)
        if other is not item:
            place = _where(final, item, other)
            if final.run.is_repository and not _concerns_us(final, item, namespaces):
                others.append((item, place))
                continue
            message = f"appears here a second time{place}"
            yield final.located(
                item, error(message, related=_first_place(item, other), remedy="remove or rename one of the two")
            )
    if others:
        item, place = others[0]
        rest = f", and so do {counted(len(others) - 1, 'other resource')}" if others[1:] else ""
        message = f"appears here a second time{place}{rest}; if they are for two clusters, name these in .krmfn.yaml"
        yield final.located(item, warning(message))


def _where(final: FinalList, item: Item, other: Item) -> str:
    """Return the name that an item has in the end, and the two roots, or the place of the first; "" for none."""
    changed = final.run.transformed
    name = f" as {item.ref}" if changed.prefixes or changed.suffixes or changed.namespaces else ""
    roots = [final.run.roots.get(id(twin), "") for twin in (other, item)]
    if all(roots) and roots[0] != roots[1]:
        return f"{name} (in {roots[0]} and in {roots[1]})"
    place = f", first in {other.place.path}:{other.place.line}" if other.place and other.place.path else ""
    return f"{name}{place}"


def _first_place(item: Item, other: Item) -> tuple[Related, ...]:
    """Return the place where a resource stands first, for the finding at the second one."""
    if not (other.place and item.place and other.place.path and item.place.path and other.place.has_lines):
        return ()
    second = f"{item.place.path}:{item.place.line}" if item.place.line else item.place.path
    return (Related(other.place, f"appears a second time in {second}; remove or rename one of the two"),)


def _our_namespaces(final: FinalList) -> set[str]:
    """Return the namespaces of configs, and of Modules and what is generated with them."""
    configs = of_kinds(final.inputs, OWNERS | final.run.driven)
    ours = [*configs, *(item for item, _ in final.modules)]
    return {item.ref.namespace for item in ours if item.ref.namespace}


def _concerns_us(final: FinalList, item: Item, namespaces: Collection[str]) -> bool:
    """Return True for an object of ours or of KMM, for a consumer, and for what these may refer to."""
    ref = item.ref
    if item.mark or ref in final.created or (ref.group, ref.kind) in MODULE_KINDS or item.mentions(LABELS):
        return True
    name = ref.name if (ref.group, ref.kind) == ("", "Namespace") else ref.namespace
    return name in namespaces or ref.kind in ("ClusterRole", "ClusterRoleBinding")


RULES = (
    Rule(
        "KRM705",
        "a resource must be deployed only once",
        good="""\
kind: Module
---
# a.yaml
kind: ConfigMap
metadata: {name: settings}
---
# b.yaml
kind: ConfigMap
metadata: {name: others}
""",
        bad="""\
kind: Module
---
# a.yaml
kind: ConfigMap
metadata: {name: settings}
---
# b.yaml
kind: ConfigMap
metadata: {name: settings}
""",
        remedy="Remove or rename one of the two; if they are for two clusters, check the clusters one by one.",
        held=oracles.OUR_FILES,
        check=ids_stand_once,
        severities=("error", "warning"),
    ),
)
"""The rule about duplicates."""
