"""Where a finding about a generated object belongs: at the field of the config that its value comes from."""

from collections.abc import Iterable, Iterator, Sequence

from krmfn import Field, Item, Place, Result
from krmfn.ownership import Id
from krmfn.resource import join, same, split
from krmfn.typed import Any

from ..exclusivity import Claim
from ..kmm.lookup import at, leaves
from .generated import Finding, Generated, Rendered


def claims_of(rendered: Rendered, modules: Sequence[Item]) -> list[Claim]:
    """Return the claims of the configs as they are now, as far as they still are those of Modules.

    A Module whose selector was changed after the call claims its nodes by itself.
    """
    selectors = {one.ref.id: at(one.manifest, ("spec", "selector")) for one in rendered.objects}
    same_nodes = {
        (item.ref.namespace, item.ref.name)
        for item in modules
        if item.mark and same(selectors.get(item.ref.id), at(item.manifest, ("spec", "selector")))
    }
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
