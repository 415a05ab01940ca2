"""Which label of a node has changed where a Module, whose selector has not, no longer selects the node."""

from collections.abc import Mapping, Sequence

from krmfn import Item, Place, ResourceList
from krmfn.resource import join
from krmfn.typed import NamedTuple

from ..deviceconfig.reading import domain_of
from ..exclusivity import Node
from ..fleet.cluster import of_list
from ..fleet.drivers import Driver
from ..kmm.lookup import table, tables, text
from ..plan import Effect


class LostLabel(NamedTuple):
    """A label that a node had for a selector and does not have any more."""

    place: Place | None
    """Where the node's label stands now, else the node."""
    remedy: str


def lost_labels(before: ResourceList, after: ResourceList, effects: Sequence[Effect]) -> dict[int, LostLabel]:
    """Return the first label that took a node from a Module, by the positions of the effects for which it did.

    There is none for an effect whose Module has another selector than before, nor where something else than a label
    takes the nodes. Both sides are read once, however many effects there are.
    """
    deselecting = {
        position: effect for position, effect in enumerate(effects) if effect.word == "lost" and effect.is_deselected
    }
    if not deselecting:
        return {}
    old, new = (of_list(side, domain_of) for side in (before, after))
    old_drivers, drivers = ({driver.ref.id: driver for driver in cluster.drivers} for cluster in (old, new))
    nodes = {node.name: node for node in reversed(new.fleet.nodes) if node.cluster is None}
    places = _Places.of(after)
    labels = dict[int, LostLabel]()
    for position, effect in deselecting.items():
        former, driver = old_drivers.get(effect.ref.id), drivers.get(effect.ref.id)
        if former and driver and former.selector == driver.selector:
            affected = [nodes[name] for name in effect.nodes if name in nodes]
            if label := _first_label(driver, affected, places):
                labels[position] = label
    return labels


def _first_label(driver: Driver, nodes: Sequence[Node], places: "_Places") -> LostLabel | None:
    """Return the first label of a Module's selector that the first of some nodes does not have."""
    for node in nodes:
        for key, value in driver.missing_labels(node.labels).items():
            fact = f"has {key}={node.labels[key]}" if key in node.labels else f"lacks {key}"
            remedy = f"{node.name} {fact} now: give it {key}={value} again, or change the selector"
            return LostLabel(places.of_label(node.name, key), remedy)
    return None


class _Line(NamedTuple):
    """Where an inventory has a node."""

    item: Item
    text: Sequence[bytes]
    """The lines of the whole item."""
    group: int
    """The position of the node's group in `spec.groups`."""
    number: int
    """The position of the node's line in the text of the group."""
    shared: Mapping[str, object]
    """The labels that all nodes of the group have."""


class _Places(NamedTuple):
    """Where a list has its nodes, by their names."""

    lines: Mapping[str, _Line]
    objects: Mapping[str, Item]

    @classmethod
    def of(cls, side: ResourceList) -> "_Places":
        """Return where a list has its nodes; of a node that is there twice the first place."""
        lines = dict[str, _Line]()
        for item in side.where(kind="NodeInventory", group="krmfn.dev"):
            item_lines = item.text.splitlines()
            for index, group in tables(item.content.manifest.get("spec"), "groups"):
                shared = table(group, "labels")
                for number, line in enumerate(text(group, "nodes").split("\n")):
                    name = line.partition(" ")[0]
                    lines.setdefault(name, _Line(item, item_lines, index, number, shared))
        return cls(lines, {item.name: item for item in reversed(side.where(kind="Node", group=""))})

    def of_label(self, name: str, key: str) -> Place | None:
        """Return the place of a node's label, else that of the node."""
        if line := self.lines.get(name):
            return _of_line(line, name, key)
        item = self.objects.get(name)
        return item.field_place(join(("metadata", "labels"))) if item else None


def _of_line(line: _Line, name: str, key: str) -> Place | None:
    """Return the place of a label of all nodes in a group, else that of a node's line in the text of an inventory."""
    if key in line.shared:
        return line.item.field_place(join(("spec", "groups", line.group, "labels", key)))
    place, head = line.item.field_place(join(("spec", "groups", line.group, "nodes"))), line.item.place
    if place is None or head is None or not head.has_lines:
        return place
    at = place.line - head.line + 1 + line.number
    # a line of the text is one of the file in a block after `|`, and not in a quoted string
    is_there = 0 < at < len(line.text) and line.text[at].split()[:1] == [name.encode()]
    return place._replace(line=head.line + at, column=1) if is_there else place
