"""Lists that stand as one item in a ResourceList: whoever calls the function has not taken them apart."""

from collections.abc import Iterator

from krmfn import Item, Result, error
from krmfn.printing import counted
from krmfn.resource import ref

from .kinds import KNOWN, Kinds


def check(items: list[Item], handled: Kinds) -> Iterator[Result]:
    """Yield an error per list that holds resources which a run renders or judges: they are passed over in it.

    What krmfn reads itself comes as resources of their own, and what kustomize lists; kyaml, and so kpt, takes apart
    only a `List` that is alone in its file. Source: kyaml v0.20.1, kio/byteio_reader.go (Read). The rule is KRM108.
    """
    for item in items:
        if item.kind.endswith("List") and not item.name and (number := _number(item, handled)):
            held = f"{counted(number, 'resource')} of krmfn or KMM"
            message = f"this {item.kind} is one item of the ResourceList, so nothing reads the {held} in it"
            yield item.located(error(message, rule="KRM108", remedy="pass each as an item of its own"))


def _number(item: Item, handled: Kinds) -> int:
    """Return how many resources of our kinds or KMM's are in a list; one without a kind has that of the list."""
    listed = item.manifest.get("items")
    head = {"apiVersion": item.api_version, "kind": item.kind.removesuffix("List")}
    refs = [ref({**head, **entry}) for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
    return sum((name.group, name.kind) in handled or name.kind in KNOWN.get(name.group, ()) for name in refs)
