"""The final list of a cluster as the rules see it: what is deployed, what stays behind, and what was renamed."""

from collections.abc import Mapping, Sequence

from krmfn import Item, Place, Ref, Result
from krmfn.typed import NamedTuple

from ..kmm.module import HUB_KIND, MODULE_KIND, MODULE_KINDS, Module, module_of
from ..rendering.value_places import place_of
from ..run import Run


class Final(NamedTuple):
    """What reaches one cluster."""

    deployed: Sequence[Item]
    inputs: Sequence[Item]
    """What was read and is left out of a render: configs, functionConfigs, Nodes, local-config."""
    owners: Mapping[tuple[str, str, str, str], Item]
    """The resources that objects can be made from, by their ids."""
    modules: Sequence[tuple[Item, Module]]
    """The Modules, also those that a ManagedClusterModule brings to its clusters."""
    run: Run
    created: frozenset[Ref]
    """What this run has made."""

    @property
    def theirs(self) -> Sequence[Item]:
        """What the cluster gets from elsewhere: it is there for references, and is not judged."""
        return self.run.external.items if self.run.external else ()

    def owner(self, item: Item) -> Item | None:
        """Return the resource that an item was made from; None for one that is written by hand."""
        return self.owners.get(item.mark.owner) if item.mark else None

    def located(self, item: Item, result: Result) -> Result:
        """Return the finding with its resource and place; about what was made, at the field that the value is from."""
        result = item.located(result)
        owner = None if result.place else self.owner(item)
        return result._replace(place=self._origin(owner, result)) if owner else result

    def _origin(self, owner: Item, result: Result) -> Place | None:
        """Return the place of the field that a value comes from, in the owner or the functionConfig."""
        place = place_of(owner, result.field)
        config = self.run.config_item
        if place == owner.place and config:
            other = place_of(config, result.field)
            return place if other == config.place else other
        return place


def modules_of(items: Sequence[Item]) -> list[tuple[Item, Module]]:
    """Return the Modules among some items, also those that a ManagedClusterModule brings to its clusters."""
    kinds = (MODULE_KIND, HUB_KIND)  # a kind is known without a look at the group
    found = [item for item in items if item.kind in kinds and (item.group, item.kind) in MODULE_KINDS]
    return [(item, module) for item in found if (module := module_of(item.manifest))]
