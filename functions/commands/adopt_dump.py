"""What `adopt` compares, and the loop of kubectl that writes a dump with it."""

from collections.abc import Iterable, Iterator

from krmfn import Item, Ref, ResourceList

from ..adoption.steps import resource
from ..cluster.deployed import deployed_items
from ..fleet import dumped_kinds
from ..run import run_of

_OLM = "operators.coreos.com"
OPERATORS = ("deployments.apps", f"clusterserviceversions.{_OLM}", f"subscriptions.{_OLM}")


def script(lists: Iterable[ResourceList]) -> str:
    """Return the loop that writes a dump with all that is compared."""
    kinds = [name for resources in lists for name in _refs_to_dump(resources)]
    return dumped_kinds.script((*map(resource, kinds), *OPERATORS), "--show-managed-fields")


def _refs_to_dump(resources: ResourceList) -> Iterator[Ref]:
    """Yield whose kinds a dump has to have: what is deployed, but for Secrets, and the operators' configs."""
    driven = run_of(resources).driven
    ids = {id(item) for item in objects(resources) if (item.group, item.kind) != ("", "Secret")}
    return (item.ref for item in resources.items if (item.group, item.kind) in driven or id(item) in ids)


def objects(resources: ResourceList) -> list[Item]:
    """Return the items that the operator made until now: those that are deployed, but for its configs."""
    driven = run_of(resources).driven
    return [item for item in deployed_items(resources) if (item.group, item.kind) not in driven]
