"""The order of the final list: what a resource depends on, and the sync waves of both."""

from __future__ import annotations

import re
from collections.abc import Iterator

from krmfn import Field, Item, Result, warning
from krmfn.ownership import Id

from .stream import Final

DEPENDS, WAVE = "config.kubernetes.io/depends-on", "argocd.argoproj.io/sync-wave"
_FIELD = f"metadata.annotations[{DEPENDS}]"
_OBJECT = re.compile(r"(?P<group>[^/\s]*)/(?:namespaces/(?P<namespace>[^/\s]+)/)?(?P<kind>[^/\s]+)/(?P<name>[^/\s]+)")
"""Source: cli-utils, pkg/object/dependson (group/namespaces/namespace/kind/name, or group/kind/name)."""


def dependencies_come_first(final: Final) -> Iterator[Result]:
    """Yield a warning per depends-on whose object is not there, or comes in a later sync wave of Argo CD."""
    present: dict[Id, Item] = {}
    for item in final.deployed:
        if not item.mentions("depends-on") or DEPENDS not in item.annotations:
            continue
        present = present or {other.ref.id: other for other in final.deployed}
        text = item.annotations[DEPENDS]
        for one in filter(None, map(str.strip, text.split(","))):
            match = _OBJECT.fullmatch(one)
            message = _message(item, present, match.groupdict()) if match else _malformed(one)
            if message:
                yield final.located(item, warning(message, field=Field(_FIELD, text)))


def _message(item: Item, present: dict[Id, Item], parts: dict[str, str | None]) -> str:
    group, namespace = parts["group"] or "", parts["namespace"] or ""
    kind, name = parts["kind"] or "", parts["name"] or ""
    other = present.get((group, kind, namespace, name))
    shown = f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}"
    if not other:
        return f"{shown} is not among what is deployed; kpt refuses to apply what depends on it"
    own, theirs = wave(item), wave(other)
    if own < theirs:
        return (
            f"depends on {shown}, which Argo CD applies later, in wave {theirs} and not by {own}; "
            f"give it the annotation {WAVE} with {theirs} or more"
        )
    return ""


def _malformed(one: str) -> str:
    return f"{one!r} names no object; write group/namespaces/namespace/Kind/name, or group/Kind/name"


def wave(item: Item) -> int:
    """Return the sync wave; Argo CD takes 0 for what is no number."""
    try:
        return int(item.annotations.get(WAVE, "0"))
    except ValueError:
        return 0
