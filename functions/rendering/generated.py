"""What the functions of this package give: objects with what they are generated from, claims and findings."""

from collections.abc import Callable, Mapping, Sequence

from krmfn import Item, Manifest, Ref, ResourceList, Result
from krmfn.ownership import Scope, stamp
from krmfn.resource import ref
from krmfn.typed import TYPE_CHECKING, NamedTuple

from .kinds import PROFILE_MARK
from .substitution import marked

if TYPE_CHECKING:
    from ..exclusivity import Claim
    from ..kmm.module import Module
    from .function_config import FunctionConfig

Finding = tuple[Ref | None, Result]
"""A finding, with the resource that may turn it off by an annotation; None for the functionConfig."""
Handwritten = tuple[Item, "Module"]
"""A Module in the list that this run does not generate, and the view of it."""


class Generated(NamedTuple):
    """A generated object, the item and the owner that it is generated from."""

    manifest: Manifest
    ref: Ref
    item: Item
    owner: Ref
    scope: Scope
    origin: Callable[[Result], Result | None]
    """The function that moves a finding about the manifest to the field that it comes from; None when there is none."""
    answered: frozenset[str] = frozenset()
    """Rules about Modules that rules about the owner stand for."""
    product: str = ""
    """NAME@VERSION of the Profile that it is made by; "" without one."""


def generated(
    manifest: Manifest,
    scope: Scope,
    item: Item,
    owner: Ref,
    origin: Callable[[Result], Result | None] = lambda finding: None,
    answered: frozenset[str] = frozenset(),
    product: str = "",
) -> Generated:
    """Return the manifest, with its marks, together with what it is generated from."""
    stamp(marked(manifest), scope.function, owner)
    if product:
        manifest["metadata"]["annotations"][PROFILE_MARK] = product
    return Generated(manifest, ref(manifest), item, owner, scope, origin, answered, product)


class Rendered(NamedTuple):
    """What the resources of one kind give."""

    objects: Sequence[Generated] = ()
    claims: Sequence["Claim"] = ()
    """The nodes that they select; for many clusters of a hub, the labels of the cluster too."""
    findings: Sequence[Finding] = ()
    owners: Mapping[Ref, Item] = {}  # read only
    """The resources, by the references in `findings`."""


Render = Callable[["ResourceList", "Sequence[Item]", "FunctionConfig"], Rendered]
"""Renders the resources of one kind: the list, those that fit their schema, the functionConfig."""


class Renderer(NamedTuple):
    """What turns resources of one kind into objects."""

    scope: Scope
    schemas: Mapping[tuple[str, str], str]
    """(group, kind) of the resources that it renders, and the name of each one's schema."""
    load: Callable[[], Render]
    """Import and return the function that renders them: lists that hold none of them do without."""
    hint: Callable[[Result], Result] = lambda finding: finding
    """Return a finding of the schema with what is known about a common mistake."""
    has_products: bool = False
    """Whether it also renders the kinds that Profiles are for."""

    def driving(self, kinds: frozenset[tuple[str, str]]) -> "Renderer":
        """Return the same with the kinds that Profiles are for, whose schemas the Profiles have."""
        if not kinds or not self.has_products:
            return self
        scope = self.scope._replace(owners=self.scope.owners | kinds)
        return self._replace(scope=scope, schemas={**dict.fromkeys(kinds, ""), **self.schemas})

    def marked(self, items: "Sequence[Item]") -> Scope:
        """Return the scope with each kind that the marks of some items name as an owner's: its Profile may be gone."""
        marks = [item.mark for item in items] if self.has_products else []
        kinds = {mark.owner[:2] for mark in marks if mark and mark.function == self.scope.function and mark.owner[0]}
        return self.scope._replace(owners=self.scope.owners | (kinds - self.scope.kinds))
