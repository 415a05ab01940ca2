"""Check the input before anything is made of it: resources that stand twice, items that kpt hides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from krmfn import Item, ResourceList, Result, error

from .function_config import Settings

PARTIAL = "internal.config.k8s.io/kpt-resource-id"


def clean(resources: ResourceList, findings: Iterable[Result]) -> bool:
    """Report findings about one resource; True when no error is among them."""
    found = list(findings)
    resources.report(found)
    return not any(finding.severity == "error" for finding in found)


def distinct(items: list[Item]) -> list[Item]:
    """The first item of each name: what is wrong with a repeated one is that it is there."""
    first: dict[tuple[str, str, str, str], Item] = {}
    for item in items:
        first.setdefault(item.ref.id, item)
    return list(first.values())


def repeated(items: list[Item]) -> Iterator[Result]:
    """An error for each resource that stands twice in the list."""
    first: dict[tuple[str, str, str, str], Item] = {}
    for item in items:
        other = first.setdefault(item.ref.id, item)
        if other is not item:
            where = f" (the other one: {other.place.path})" if other.place and other.place.path else ""
            message = f"this {item.kind} stands twice{where}; remove or rename one"
            yield item.located(error(message, rule="KRM103"))


def partial_view(resources: ResourceList, settings: Settings) -> list[Result]:
    """An error when kpt's selectors hide items: children that are not seen would be appended again at every render."""
    if settings.partial_view or not any(
        item.mentions(PARTIAL) and PARTIAL in item.annotations for item in resources.items
    ):
        return []
    message = (
        "kpt shows only the items that its selectors pick, so generated objects cannot be told from missing ones; "
        "remove `selectors` and `exclude` from this function in the Kptfile, or set `partialView: allow` in the "
        "functionConfig when they pick the generated kinds too"
    )
    return [error(message, rule="KRM112")]
