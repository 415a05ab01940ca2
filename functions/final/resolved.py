"""References of the final list, held against the names in it."""

from __future__ import annotations

from collections.abc import Iterator

from krmfn import Field, Item, Result, error, warning
from krmfn.counts import some
from krmfn.fieldpath import join

from .names import CLUSTER_SCOPED, CONFIG_MAP, DEVICE_CLASS, PRIORITY_CLASS, SECRET, SERVICE_ACCOUNT, Names, twin
from .references import Reference, references
from .stream import Final, modules_of

_KINDS = (SERVICE_ACCOUNT, SECRET, CONFIG_MAP, PRIORITY_CLASS, DEVICE_CLASS)
_HASHED = (SECRET, CONFIG_MAP)
_TELL = "tell it of this field: list what `krmfn kustomize-config` prints under `configurations:`"
_OUT_OF_REACH = (
    "it takes a DeviceClass for a resource of a namespace, and mends no name across namespaces: list it in a "
    "kustomization without prefix and suffix"
)
_SHOWN = 3
"""How many of the names that are there a finding shows."""


def names_are_there(final: Final) -> Iterator[Result]:
    """Yield a finding per reference to what is not deployed: an error where kustomize has renamed it.

    Without anything of that kind in the namespace, whoever deploys it is somebody else: nothing is said.
    """
    names = Names(final.deployed, final.modules)
    if not names.has_any(*_KINDS):
        return
    theirs = Names(final.theirs, modules_of(final.theirs))
    for item in final.deployed:
        for one in references(item):
            finding = _judged(item, one, names, final)
            if finding and not theirs.is_there(one.kind, item.ref.namespace, one.name):
                yield final.located(item, finding)


def _judged(item: Item, one: Reference, names: Names, final: Final) -> Result | None:
    namespace = item.ref.namespace
    present = names.near(one.kind, namespace)
    if not present or names.is_there(one.kind, namespace, one.name):
        return None
    noun, field = one.kind[1], Field(join(one.path), one.name)
    where = "" if one.kind in CLUSTER_SCOPED or not namespace else f" in the namespace {namespace}"
    other = twin(one.name, present, final.transformed, one.kind in _HASHED)
    if other:
        way = _OUT_OF_REACH if one.kind == DEVICE_CLASS else _TELL
        message = f"names the {noun} {one.name}, which kustomize calls {other}; {way}"
        return error(message, field=field._replace(proposed=other))
    others = some(sorted(present), len(present), _SHOWN)
    message = f"no {noun} {one.name} is among what is deployed{where}, where others are ({others})"
    return warning(message, field=field)
