"""The output of rendering: generated objects with their metadata, claims, and findings at the fields they come from."""

from __future__ import annotations

import marshal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from krmfn import Field, Item, Manifest, Place, Ref, ResourceList, Result
from krmfn.ownership import PASSED_ON, Id, stamp
from krmfn.resource import FieldPath, join, ref, same, split
from krmfn.typed import TYPE_CHECKING, Any, NamedTuple

from ..exclusivity import Claim
from ..finding import Origin
from ..kmm.lookup import at, leaves, strings
from ..kmm.module import MODULE_GROUP, MODULE_KIND, Module
from ..sources import of_field
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
OWNER_FACT = "owner"
"""The fact with the resource that the object of a finding is generated from."""
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
        origin: Origin | None = None,
        covered_rules: frozenset[str] = frozenset(),
        product: str = "",
    ) -> None:
        """Mark the manifest, which is new, as generated.

        `origin` says from which fields, where that is known. `covered_rules` are rules about Modules whose findings the
        owner already gets under other rules. `product` is the NAME@VERSION of the Profile that generates the object.
        """
        annotations = manifest["metadata"]["annotations"]
        if SUBSTITUTE not in annotations and _may_change(manifest) and changed_at(manifest):
            annotations[SUBSTITUTE] = DISABLED
        stamp(manifest, scope.function, owner)
        if product:
            annotations[PROFILE_MARK] = product
        self.manifest, self.ref, self.scope, self.item, self.owner = manifest, ref(manifest), scope, item, owner
        self.origin, self.covered_rules, self.product = origin, covered_rules, product

    def moved(self, finding: Result) -> Result | None:
        """Return a finding about the object at the field that it comes from; None where there is none."""
        return self.origin.moved(finding) if self.origin else None


class Rendered(NamedTuple):
    """The output for the resources of one kind, or of all kinds."""

    objects: Sequence[Generated] = ()
    claims: Sequence[Claim] = ()
    """The nodes that they select; for the clusters of a hub, also the labels of the clusters."""
    findings: Sequence[Finding] = ()
    owners: Mapping[Ref, Item] = {}  # read only
    """The resources, by the references in `findings`."""


Render = Callable[[ResourceList, Sequence[Item], "FunctionConfig"], Rendered]
"""Renders the resources of one kind: the list, those that fit their schema, the functionConfig."""


class Renderer(NamedTuple):
    """Turns resources of one kind into objects."""

    scope: Scope
    schemas: Mapping[tuple[str, str], str]
    """(group, kind) of the resources that it renders, and the name of each one's schema."""
    load: Callable[[], Render]
    """Imports and returns the function that renders them: a list without them does not import it."""
    hint: Callable[[Result], Result] = lambda finding: finding
    """Adds to a finding of the schema a hint about a common mistake."""
    has_products: bool = False
    """Whether it also renders the kinds that Profiles are for."""

    def with_kinds(self, kinds: Iterable[tuple[str, str]]) -> Renderer:
        """Return the renderer with the kinds that Profiles are for, whose schemas the Profiles have."""
        return self._replace(schemas={**dict.fromkeys(kinds, ""), **self.schemas}) if self.has_products else self

    def marked(self, items: Sequence[Item]) -> Scope:
        """Return the scope with each kind that the marks of some items name as an owner: its Profile may be gone."""
        marks = [item.mark for item in items] if self.has_products else []
        kinds = {mark.owner[:2] for mark in marks if mark and mark.function == self.scope.function and mark.owner[0]}
        return self.scope._replace(owners=self.scope.owners | (kinds - self.scope.kinds))


def daemonset_order(namespace: str, *modules: str) -> dict[str, str]:
    """Return the annotations that apply a DaemonSet after its Modules: Argo CD's next wave, cli-utils' depends-on.

    Without Modules there is no depends-on.
    """
    order = {"argocd.argoproj.io/sync-wave": "1"}
    dependencies = ",".join(f"{MODULE_GROUP}/namespaces/{namespace}/{MODULE_KIND}/{module}" for module in modules)
    return {**order, "config.kubernetes.io/depends-on": dependencies} if dependencies else order


def metadata(
    name: str, owner: Ref, component: str, order: dict[str, str], labels: dict[str, str], annotations: dict[str, str]
) -> dict[str, Any]:
    """Return fresh metadata for a generated object: the owner's own labels and annotations, then ours over them.

    `order` holds the annotations that tell Argo CD, Flux and kpt when to apply and prune (reference: Argo CD sync
    waves, Flux substitution, cli-utils depends-on). Nothing else of the owner's metadata is inherited, the
    local-config mark in particular.
    """
    common = {"name": owner.name, "component": component, "part-of": owner.name, "managed-by": "krmfn"}
    ours = {f"app.kubernetes.io/{key}": value for key, value in common.items()}
    inherited = [f"labels/{key}" for key in labels if key not in ours]
    inherited += [f"annotations/{key}" for key in annotations if key not in order]
    notes = {**annotations, **order, **({PASSED_ON: " ".join(sorted(inherited))} if inherited else {})}
    return {"name": name, "namespace": owner.namespace, "labels": {**labels, **ours}, "annotations": notes}


def filled(**fields: Any) -> dict[str, Any]:
    """Return the fields without those that are None or empty (texts, lists, mappings); 0 and False stay."""
    return {key: value for key, value in fields.items() if value or value == 0}


def changed_at(value: Any) -> FieldPath | None:
    """Return the path of the first text that Flux's variable substitution would change; None when there is none."""
    return next((path for path, text, _ in strings(value) if "${" in text or "$$" in text), None)


def _may_change(manifest: Manifest) -> bool:
    """Return False where no text has what Flux substitutes: the bytes are searched, a walk takes ten times as long."""
    try:
        data = marshal.dumps(manifest)
    except ValueError:  # a plain date
        return True
    return b"${" in data or b"$$" in data


def claims_of(rendered: Rendered, modules: Sequence[Item]) -> list[Claim]:
    """Return the claims of the configs, but for those whose Module has another selector in the list.

    Such a Module was changed after the function was called, and claims its nodes by itself.
    """
    path = ("spec", "selector")
    selectors = {obj.ref.id: at(obj.manifest, path) for obj in rendered.objects}
    unchanged = [item for item in modules if item.mark and same(selectors.get(item.ref.id), at(item.manifest, path))]
    names = {(item.ref.namespace, item.ref.name) for item in unchanged}
    return [claim for claim in rendered.claims if claim.of_hub or claim.module in names]


def at_origins(findings: Iterable[Finding], modules: Sequence[Item], objects: Iterable[Generated]) -> Iterator[Finding]:
    """Yield the findings; one about a generated field stands at the field of the config that it comes from.

    `objects` are those that the configs give now. A field that has another value in the list was changed after the
    function was called, and its finding is yielded as it is.
    """
    items: dict[Id, Item] = {item.ref.id: item for item in modules if item.mark}
    by_id = {obj.ref.id: obj for obj in objects}
    for owner, finding in findings:
        item = items.get(finding.ref.id) if finding.ref else None
        obj = by_id.get(item.ref.id) if item else None
        path = split(finding.field.path) if finding.field else ()
        if not (item and obj and same(at(item.manifest, path), at(obj.manifest, path))):
            yield owner, finding
        elif finding.rule not in obj.covered_rules:
            yield obj.owner, at_origin(obj, finding._replace(place=None))


def at_origin(obj: Generated, finding: Result) -> Result:
    """Return a finding about a generated object at the field that it comes from, else at what it is generated from."""
    moved = obj.moved(finding)
    if moved:
        return moved._replace(message=f"in the generated {obj.manifest['kind']}: {moved.message}")
    return generated_from(obj.owner, finding)._replace(ref=obj.ref, place=obj.item.place)


def generated_from(owner: Ref, finding: Result) -> Result:
    """Return a finding about an object with the resource that it is generated from, in the message and as a fact."""
    facts = (*finding.facts, (OWNER_FACT, str(owner)))
    return finding._replace(message=f"generated from {owner}: {finding.message}", facts=facts)


def place_of(item: Item, field: Field | None) -> Place | None:
    """Return the place of the one field in the item's spec that has the value of `field`, which was generated from it.

    When no field has it, or several do, it is the place of the item.
    """
    spec = {"spec": item.manifest.get("spec")}
    path = of_value(spec, field.current, split(field.path)[-1]) if field and item.file else ""
    return item.field_place(path) if path else item.place


def place_of_field(item: Item, path: str) -> Place | None:
    """Return the place of a field of an item, for a finding about something else."""
    place = item.field_place(path)
    return place and of_field(place, item.ref, path)


def of_value(data: Any, value: Any, key: str) -> str:
    """Return the path of the one field in `data` with the text `value`; of several, of the one with the key `key`.

    It is "" when there is none, when several have the key, and when `value` is no text.
    """
    paths = [path for path, text in leaves(data) if text == value] if isinstance(value, str) and value else []
    paths = paths if len(paths) < 2 else [path for path in paths if path[-1] == key]
    return join(paths[0]) if len(paths) == 1 else ""
