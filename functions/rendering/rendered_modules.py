"""Findings about Modules that kustomize had us generate: reported where those of any generated Module are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from krmfn import Item, Manifest
from krmfn.fieldpath import split
from krmfn.ownership import Id
from krmfn.resource import same
from krmfn.typed import Any

from .generated import Finding, Generated, Rendered
from .module_checks import at_origin


def unchanged(parts: Iterable[Rendered], modules: Sequence[Item]) -> Rendered:
    """Return what would be generated from the configs as they are now, with the claims that still are those of Modules.

    A Module whose selector was changed after the call claims its nodes by itself.
    """
    parts = list(parts)
    objects = [one for part in parts for one in part.objects]
    selectors = {one.ref.id: _at(one.manifest, "spec.selector") for one in objects}
    same_nodes = {
        (item.ref.namespace, item.ref.name)
        for item in modules
        if item.mark and same(selectors.get(item.ref.id), _at(item.manifest, "spec.selector"))
    }
    claims = [claim for part in parts for claim in part.claims if claim.of_hub or claim.module in same_nodes]
    return Rendered(objects, claims)


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
        path = finding.field.path if finding.field else ""
        if not (item and one and same(_at(item.manifest, path), _at(one.manifest, path))):
            yield owner, finding
        elif finding.rule not in one.answered:
            yield one.owner, at_origin(one, finding._replace(place=None))


def _at(manifest: Manifest, path: str) -> Any:
    """Return what stands at a path; what is missing is one and the same."""
    value: Any = manifest
    for part in split(path):
        if isinstance(value, dict) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            return "nothing"
    return value
