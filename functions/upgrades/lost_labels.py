"""Which label of a node has changed where a Module, whose selector has not, no longer selects the node."""

from krmfn import Item, Place, ResourceList
from krmfn.resource import join
from krmfn.typed import NamedTuple

from ..deviceconfig.reading import domain_of
from ..fleet.cluster import of_list
from ..kmm.lookup import table, tables, text
from ..kmm.scheduling import NOT_SELECTED
from ..plan import Effect


class LostLabel(NamedTuple):
    """A label that a node had for a selector and does not have any more."""

    place: Place | None
    """Where the node's label stands now, else the node."""
    remedy: str


def lost_label(before: ResourceList, after: ResourceList, effect: Effect) -> LostLabel | None:
    """Return the first label that took one of an effect's nodes from its Module; None where its selector changes, too.

    It is None as well where something else than a label takes the nodes.
    """
    if effect.word != "lost" or effect.reason != NOT_SELECTED:
        return None
    ref, nodes = effect.ref, frozenset(effect.nodes)
    old, new = (of_list(side, domain_of) for side in (before, after))
    old_driver, driver = (
        next((driver for driver in cluster.drivers if driver.ref.id == ref.id), None) for cluster in (old, new)
    )
    if driver is None or old_driver is None or driver.selector != old_driver.selector:
        return None
    for node in new.fleet.nodes:
        missing = driver.missing_labels(node.labels) if node.name in nodes and node.cluster is None else {}
        for key, value in missing.items():
            fact = f"has {key}={node.labels[key]}" if key in node.labels else f"lacks {key}"
            remedy = f"{node.name} {fact} now: give it {key}={value} again, or change the selector"
            return LostLabel(_place(after, node.name, key), remedy)
    return None


def _place(side: ResourceList, name: str, key: str) -> Place | None:
    """Return the place of a node's label in a list, else that of the node."""
    for item in side.select("NodeInventory", "krmfn.dev"):
        for index, group in tables(item.content.manifest.get("spec"), "groups"):
            names = [line.partition(" ")[0] for line in text(group, "nodes").split("\n")]
            if name in names:
                shared = ("spec", "groups", index, "labels", key)
                is_shared = key in table(group, "labels")
                return item.field_place(join(shared)) if is_shared else _of_line(item, index, names.index(name), name)
    objects = [item for item in side.select("Node", "") if item.name == name]
    return objects[0].field_place(join(("metadata", "labels"))) if objects else None


def _of_line(item: Item, group: int, number: int, name: str) -> Place | None:
    """Return the place of a node's line in the text of an inventory."""
    place, head = item.field_place(join(("spec", "groups", group, "nodes"))), item.place
    if place is None or head is None or head.finder:
        return place
    lines, line = item.text.splitlines(), place.line - head.line + 1 + number
    # a line of the text is one of the file in a block after `|`, and not in a quoted string
    is_there = 0 < line < len(lines) and lines[line].split()[:1] == [name.encode()]
    return place._replace(line=head.line + line, column=1) if is_there else place
