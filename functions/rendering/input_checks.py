"""Checks of the whole input before anything is generated: repeated resources, items that kpt hides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from krmfn import Item, ResourceList, Result, error

from .function_config import FunctionConfig

PARTIAL = "internal.config.k8s.io/kpt-resource-id"


def clean(resources: ResourceList, findings: Iterable[Result]) -> bool:
    """Report the findings; return True when no error is among them."""
    findings = list(findings)
    resources.report(findings)
    return not any(finding.severity == "error" for finding in findings)


def distinct(items: list[Item]) -> list[Item]:
    """Return the first item of each id; `repeated` reports the others."""
    first: dict[tuple[str, str, str, str], Item] = {}
    for item in items:
        first.setdefault(item.ref.id, item)
    return list(first.values())


def repeated(items: list[Item]) -> Iterator[Result]:
    """Yield an error for each resource that stands twice in the list."""
    first: dict[tuple[str, str, str, str], Item] = {}
    for item in items:
        other = first.setdefault(item.ref.id, item)
        if other is not item:
            where = f" (the other one: {other.place.path})" if other.place and other.place.path else ""
            message = f"this {item.kind} stands twice{where}; remove or rename one"
            yield item.located(error(message, rule="KRM103"))


def partial_view(resources: ResourceList, config: FunctionConfig) -> list[Result]:
    """Return an error when kpt's selectors hide items: generated objects among them would be added twice."""
    if config.partial_view or not any(
        item.mentions(PARTIAL) and PARTIAL in item.annotations for item in resources.items
    ):
        return []
    message = (
        "kpt shows only the items that its selectors pick, so generated objects cannot be told from missing ones; "
        "remove `selectors` and `exclude` from this function in the Kptfile, or set `partialView: allow` in the "
        "functionConfig when they pick the generated kinds too"
    )
    return [error(message, rule="KRM112")]
