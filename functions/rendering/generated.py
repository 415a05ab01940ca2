"""What the functions of this package give: objects with their metadata, claims, and findings at what they come from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from krmfn import Field, Item, Manifest, Place, Ref, ResourceList, Result
from krmfn.ownership import PASSED_ON, Id, stamp
from krmfn.resource import FieldPath, fingerprint, join, ref, same, split
from krmfn.typed import TYPE_CHECKING, Any, NamedTuple

from ..exclusivity import Claim
from ..kmm.lookup import at, leaves, strings
from ..kmm.module import MODULE_GROUP, MODULE_KIND, Module
from .kinds import PROFILE_MARK, Scope

if TYPE_CHECKING:
    from .function_config import FunctionConfig
SUBSTITUTE, DISABLED = "kustomize.toolkit.fluxcd.io/substitute", "disabled"
"""The annotation that keeps Flux's variable substitution (`postBuild`) out of an object.

Source: fluxcd/pkg, kustomize 1.35 and envsubst 1.7. It works on an object's text: `${` opens a variable, `$$` becomes
`$`, and nothing else counts.
"""
MODULE_ORDER = {"argocd.argoproj.io/sync-wave": "0", SUBSTITUTE: DISABLED}
"""On a Module: Argo CD applies it first and deletes it last; Flux leaves its $KERNEL_FULL_VERSION alone."""
Finding = tuple[Ref | None, Result]
"""A finding, with the resource that may turn it off by an annotation; None for the functionConfig."""
Judged = tuple[Iterable[Finding], Mapping[Ref, Item]]
"""Findings, and the resources that may turn them off."""
Written = Sequence[tuple[Item, Module]]
"""The Modules in the list that this run does not generate, and the views of them."""


class Generated:
    """A generated object with its marks, and the item and the owner that it is generated from."""

    def __init__(
        self,
        manifest: Manifest,
        scope: Scope,
        item: Item,
        owner: Ref,
        origin: Callable[[Result], Result | None] = lambda finding: None,
        answered: frozenset[str] = frozenset(),
        product: str = "",
    ) -> None:
        """Mark the manifest, which is new.

        `origin` moves a finding about the manifest to the field that it comes from, None when there is none. `answered`
        are rules about Modules that rules about the owner stand for, `product` is the NAME@VERSION of the Profile that
        it is made by.
        """
        annotations = manifest["metadata"]["annotations"]
        if SUBSTITUTE not in annotations and b"$" in (fingerprint(manifest) or b"$") and changed_at(manifest):
            annotations[SUBSTITUTE] = DISABLED  # a walk takes five times as long as the bytes, which rarely have a $
        stamp(manifest, scope.function, owner)
        if product:
            annotations[PROFILE_MARK] = product
        self.manifest, self.ref, self.scope, self.item, self.owner = manifest, ref(manifest), scope, item, owner
        self.origin, self.answered, self.product = origin, answered, product


class Rendered(NamedTuple):
    """What the resources of one kind give."""

    objects: Sequence[Generated] = ()
    claims: Sequence[Claim] = ()
    """The nodes that they select; for many clusters of a hub, the labels of the cluster too."""
    findings: Sequence[Finding] = ()
    owners: Mapping[Ref, Item] = {}  # read only
    """The resources, by the references in `findings`."""


Render = Callable[[ResourceList, Sequence[Item], "FunctionConfig"], Rendered]
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

    def marked(self, items: Sequence[Item]) -> Scope:
        """Return the scope with each kind that the marks of some items name as an owner's: its Profile may be gone."""
        marks = [item.mark for item in items] if self.has_products else []
        kinds = {mark.owner[:2] for mark in marks if mark and mark.function == self.scope.function and mark.owner[0]}
        return self.scope._replace(owners=self.scope.owners | (kinds - self.scope.kinds))


def daemonset_order(namespace: str, *modules: str) -> dict[str, str]:
    """Return the annotations that apply a DaemonSet after its Modules: Argo CD's next wave, cli-utils' depends-on.

    Without any there is no such annotation: nothing can depend on what is not there.
    """
    order = {"argocd.argoproj.io/sync-wave": "1"}
    needs = ",".join(f"{MODULE_GROUP}/namespaces/{namespace}/{MODULE_KIND}/{module}" for module in modules)
    return {**order, "config.kubernetes.io/depends-on": needs} if needs else order


def metadata(
    name: str, owner: Ref, component: str, order: dict[str, str], labels: dict[str, str], annotations: dict[str, str]
) -> dict[str, Any]:
    """Return fresh metadata for a generated object: the owner's own labels and annotations, then ours over them.

    `order` holds the annotations that tell Argo CD, Flux and kpt when to apply and prune (reference: Argo CD sync
    waves, Flux substitution, cli-utils depends-on). Nothing else of the owner's metadata is inherited, the
    local-config mark in particular.
    """
    known = {"name": owner.name, "component": component, "part-of": owner.name, "managed-by": "krmfn"}
    ours = {f"app.kubernetes.io/{key}": value for key, value in known.items()}
    passed = [f"labels/{key}" for key in labels if key not in ours]
    passed += [f"annotations/{key}" for key in annotations if key not in order]
    notes = {**annotations, **order, **({PASSED_ON: " ".join(sorted(passed))} if passed else {})}
    return {"name": name, "namespace": owner.namespace, "labels": {**labels, **ours}, "annotations": notes}


def filled(**fields: Any) -> dict[str, Any]:
    """Return the fields that hold something, 0 and False included: None, empty texts, lists, mappings are left out."""
    return {key: value for key, value in fields.items() if value or value == 0}


def changed_at(value: Any) -> FieldPath | None:
    """Return the path of the first text that Flux's variable substitution would change; None when there is none."""
    return next((path for path, text, _ in strings(value) if "${" in text or "$$" in text), None)


def claims_of(rendered: Rendered, modules: Sequence[Item]) -> list[Claim]:
    """Return the claims of the configs as they are now, as far as they still are those of Modules.

    A Module whose selector was changed after the call claims its nodes by itself.
    """
    path = ("spec", "selector")
    selectors = {one.ref.id: at(one.manifest, path) for one in rendered.objects}
    own = [item for item in modules if item.mark and same(selectors.get(item.ref.id), at(item.manifest, path))]
    same_nodes = {(item.ref.namespace, item.ref.name) for item in own}
    return [claim for claim in rendered.claims if claim.of_hub or claim.module in same_nodes]


def at_origins(findings: Iterable[Finding], modules: Sequence[Item], made: Iterable[Generated]) -> Iterator[Finding]:
    """Yield the findings, those about a field that we have generated at the field of the config that it comes from.

    `made` is what would be generated from the configs as they are now. A field that has another value in the list was
    changed after the call, and its finding stays where it is.
    """
    items: dict[Id, Item] = {item.ref.id: item for item in modules if item.mark}
    objects = {one.ref.id: one for one in made}
    for owner, finding in findings:
        item = items.get(finding.ref.id) if finding.ref else None
        one = objects.get(item.ref.id) if item else None
        path = split(finding.field.path) if finding.field else ()
        if not (item and one and same(at(item.manifest, path), at(one.manifest, path))):
            yield owner, finding
        elif finding.rule not in one.answered:
            yield one.owner, at_origin(one, finding._replace(place=None))


def at_origin(one: Generated, finding: Result) -> Result:
    """Return a finding about a generated object at the field that it comes from, else at what it is generated from."""
    moved = one.origin(finding)
    if moved:
        return moved._replace(message=f"in the generated {one.manifest['kind']}: {moved.message}")
    message = f"generated from {one.owner}: {finding.message}"
    return finding._replace(ref=one.ref, place=one.item.place, message=message)


def place_of(item: Item, field: Field | None) -> Place | None:
    """Return the place of the one field in the item's spec with the value of a field that was generated from it.

    Without one it is the item's own place.
    """
    spec = {"spec": item.manifest.get("spec")}
    path = of_value(spec, field.current, split(field.path)[-1]) if field and item.file else ""
    return item.field_place(path) if path else item.place


def place_of_field(item: Item, path: str) -> Place | None:
    """Return the place of a field of an item, for a finding about something else."""
    place = item.field_place(path)
    if place and (find := place.finder):  # it looks for the field of the finding
        about = Result("", ref=item.ref, field=Field(path))
        return place._replace(finder=lambda finding: finding._replace(place=find(about).place))
    return place


def of_value(data: Any, value: Any, key: str) -> str:
    """Return the path of the one field in `data` that holds a text; of several, that of the one with the key `key`.

    "" when there is none, when that still leaves several, and for what is no text.
    """
    paths = [path for path, text in leaves(data) if text == value] if isinstance(value, str) and value else []
    paths = paths if len(paths) < 2 else [path for path in paths if path[-1] == key]
    return join(paths[0]) if len(paths) == 1 else ""
