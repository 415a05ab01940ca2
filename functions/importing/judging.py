"""Render a draft through the pipeline, and say of each object why it is not what was there."""

from __future__ import annotations

from collections.abc import Iterable

from krmfn import Item, Manifest, Options, Ref, ResourceList, Result
from krmfn.resource import ref
from krmfn.yamltext import emit

from ..deviceconfig import deviceconfig
from ..kmm.lookup import table
from .comparing import Difference, compared, lost
from .drafts import MODULE, Draft

Reasons = dict[int, tuple[str, ...]]
"""Why objects cannot be expressed, by the numbers of the consumers, and MODULE."""


def judged(draft: Draft, options: Options) -> tuple[Reasons, tuple[tuple[Ref, Difference], ...]]:
    """Return why objects of a draft cannot be expressed, and the differences that are meant."""
    resources = rendered([draft.config], options)
    if resources.failed:
        return _refused(draft, resources.results), ()
    made = {item.ref.id: item.manifest for item in resources.items if item.kind != "DeviceConfig"}
    selector = table(draft.config, "spec", "nodeSelector")
    reasons: Reasons = {}
    differences: list[tuple[Ref, Difference]] = []
    for manifest, number in draft.wanted:
        new = made.pop(ref(manifest).id, None)
        found = compared(manifest, new, selector) if new else []
        differences += ((ref(manifest), one) for one in found)
        why = tuple(lost(one) for one in found if not one.why) if new else ("nothing of this name is rendered",)
        if why:
            reasons[number] = (*reasons.get(number, ()), *why)
    added = tuple(f"{kind} {namespace}/{name} would be added" for _, kind, namespace, name in made)
    if added and not reasons:
        reasons = dict.fromkeys(draft.older or (MODULE,), added)
    return reasons, tuple(differences)


def rendered(manifests: Iterable[Manifest], options: Options, function_config: Manifest | None = None) -> ResourceList:
    """Return a list of these manifests after the function that a render calls."""
    resources = ResourceList(map(_item, manifests), function_config)
    resources.options = options
    deviceconfig(resources)
    return resources


def _item(manifest: Manifest) -> Item:
    text = emit.dump_json(manifest).encode()
    return Item(text, 0, len(text), -2)


def _refused(draft: Draft, results: Iterable[Result]) -> Reasons:
    """Return the errors about a draft, each for the object that it is about."""
    reasons: Reasons = {}
    for result in results:
        if result.severity == "error":
            path = result.field.path if result.field else ""
            number = _number(draft, path)
            reasons[number] = (*reasons.get(number, ()), f"as a DeviceConfig, {path}: {result.message}")
    return reasons


def _number(draft: Draft, path: str) -> int:
    """Return the number of the consumer whose entry a field stands in; MODULE for other fields."""
    index = path.removeprefix("spec.daemonSets[").partition("]")[0]
    return draft.entries[int(index)] if path != index and index.isdigit() else MODULE
