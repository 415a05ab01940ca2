"""What the generated objects have in common: their metadata, and how they come into the list and leave it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from krmfn import Item, Manifest, Ref, ResourceList, Result, error
from krmfn.ownership import PASSED_ON, Scope, mark_of, stamp
from krmfn.resource import ref

from .settings import Settings

PARTIAL = "internal.config.k8s.io/kpt-resource-id"


MODULE_ORDER = {
    "argocd.argoproj.io/sync-wave": "0",
    "kustomize.toolkit.fluxcd.io/substitute": "disabled",
}
"""On a Module: Argo CD applies it first and deletes it last; Flux leaves its $KERNEL_FULL_VERSION alone."""


def consumer_order(namespace: str, module: str) -> dict[str, str]:
    """On a consumer of a Module: Argo CD's next wave, and cli-utils' reference to what it depends on."""
    needs = f"kmm.sigs.x-k8s.io/namespaces/{namespace}/Module/{module}"
    return {"argocd.argoproj.io/sync-wave": "1", "config.kubernetes.io/depends-on": needs}


def ready_label(namespace: str, module: str) -> str:
    """The label KMM puts on a node while the Module's kernel module is loaded there."""
    return f"kmm.node.kubernetes.io/{namespace}.{module}.ready"


class Child(NamedTuple):
    """A generated object and the item it was made from."""

    manifest: Manifest
    item: Item
    owner: Ref
    origin: Callable[[Result], Result | None]
    """A finding about the manifest as one about the field that it was made from; None where no field is to blame."""


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
    found: dict[str, Any] = {
        "name": name,
        "namespace": owner.namespace,
        "labels": {**labels, **ours},
        "annotations": {**annotations, **order},
    }
    passed = [f"labels/{key}" for key in labels if key not in ours]
    passed += [f"annotations/{key}" for key in annotations if key not in order]
    if passed:
        found["annotations"][PASSED_ON] = " ".join(sorted(passed))
    return found


def filled(**fields: Any) -> dict[str, Any]:
    """The fields that hold something: an empty string, list or mapping and None never reach a manifest."""
    return {key: value for key, value in fields.items() if value not in (None, "", [], {})}


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


def child(
    manifest: Manifest,
    function: str,
    item: Item,
    owner: Ref,
    origin: Callable[[Result], Result | None] = lambda finding: None,
) -> Child:
    """Return a generated object with its mark, and what it was made from."""
    return Child(stamp(manifest, function, owner), item, owner, origin)


def clashes(resources: ResourceList, children: Iterable[Child], scope: Scope, adopt: bool) -> list[Result]:
    """Children that two configs want, and objects in the list that somebody else made under a child's name."""
    children = list(children)
    kinds = {child.manifest["kind"] for child in children}
    present = {item.ref.id: item for item in resources.items if item.kind in kinds}
    first: dict[tuple[str, str, str, str], Child] = {}
    found: list[Result] = []
    for child in children:
        about = ref(child.manifest)
        other = first.setdefault(about.id, child)
        if other is not child:
            found.append(child.item.located(error(_twice(about, other), rule="KRM113")))
        existing = present.get(about.id)
        if existing and not adopt and not scope.names(mark_of(existing.annotations)):
            found.append(child.item.located(error(_foreign(about, existing), rule="KRM114")))
    return found


def settle(
    resources: ResourceList, children: Iterable[Child], scope: Scope, settings: Settings, left_over: Iterable[Item]
) -> None:
    """Put the generated objects in place of their former selves or at the end, and remove those nothing asks for.

    `left_over` stays: generated objects whose owner is not in the list.
    """
    wanted = [child.manifest for child in children]
    resources.upsert_owned(wanted)
    if settings.prune != "never":
        keep = [*wanted, *(item.manifest for item in left_over)]
        resources.prune(scope, keep, left_over=True, namespace=settings.namespace)


def _twice(about: Ref, other: Child) -> str:
    place = other.item.place
    where = f" ({place.path})" if place and place.path else ""
    return f"its {about} is also generated from {other.owner}{where}; rename one of the two"


def _foreign(about: Ref, existing: Item) -> str:
    place = existing.place
    where = f" ({place.path})" if place and place.path else ""
    mark = mark_of(existing.annotations)
    _, kind, namespace, name = mark.owner if mark else ("", "", "", "")
    function = f" by the function {mark.function}" if mark and mark.function else ""
    by = f"was made from {kind} {namespace}/{name}{function}" if mark else "was not generated by this function"
    return (
        f"{about} is already in the list{where} and {by}; it is not overwritten: rename one of the two, "
        "or take it over with `adopt: true` in the functionConfig"
    )
