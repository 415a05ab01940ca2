"""What `explain PATH NAME` says of a config: each field's value, and the layer that gives it, with file and line."""

from __future__ import annotations

import json
from collections.abc import Iterator

from krmfn import Item, KrmfnError, ResourceList, Result, schema
from krmfn.fieldpath import join
from krmfn.log import Log
from krmfn.results import Field, printable
from krmfn.typed import Any

from ..cluster import cluster_streams
from ..command import Context
from ..deviceconfig import SCHEMAS, reading
from ..deviceconfig.layers import place
from ..deviceconfig.model import DeviceConfig
from ..fleet.table import aligned
from ..kmm.lookup import leaves
from ..options import RunOptions
from ..rendering import function_config, kinds
from ..rendering.function_config import FunctionConfig, profile_findings
from ..run import note
from ..settings import READ

_WIDEST = 60


def text(path: str, name: str) -> str:
    """Return the fields of the config in PATH that is called NAME, or NAMESPACE/NAME.

    Raises KrmfnError when there is no such config, or when it or the functionConfig does not fit its schema.
    """
    context = Context(RunOptions(), READ._replace(is_root_only=True), Log())
    resources = cluster_streams.only(context, path)
    config = _function_config(resources, path)
    item = _named(resources, path, name)
    errors = schema.check(item.manifest, kinds.schema(SCHEMAS[item.group, item.kind]), "KRM101")
    errors += profile_findings(reading.profile_of(item), "spec.profile", config)
    if errors:
        raise KrmfnError(*(str(item.located(error)) for error in errors))
    parts = [_part(one) for one in reading.from_item(item, config)]
    return "\n".join(parts)


def _function_config(resources: ResourceList, path: str) -> FunctionConfig:
    items = resources.select("RenderDeviceConfigs", "krmfn.dev")
    if len(items) > 1:
        names = ", ".join(str(item.ref) for item in items)
        raise KrmfnError(f"{path} holds {len(items)} functionConfigs: {names}; pass a PATH with only one")
    for item in items:
        note(resources, config_item=item)
        resources.function_config = item.manifest
    config, errors = function_config.read(resources)
    if errors:
        raise KrmfnError(*map(str, errors))
    return config


def _named(resources: ResourceList, path: str, name: str) -> Item:
    """Return the config of this name. Raises KrmfnError, with those that there are, when there is not one."""
    items = [item for item in resources.items if (item.group, item.kind) in SCHEMAS]
    found = [item for item in items if name in (item.ref.name, f"{item.ref.namespace}/{item.ref.name}")]
    if len(found) == 1:
        return found[0]
    known = ", ".join(f"{item.ref.namespace}/{item.ref.name}".lstrip("/") for item in found or items) or "none"
    count = "several DeviceConfigs are" if found else "no DeviceConfig is"
    raise KrmfnError(f"{count} called {name} in {path}; it contains: {known}")


def _part(config: DeviceConfig) -> str:
    rows = [("FIELD", "VALUE", "FROM"), *_rows(config)]
    lines = ("  ".join(row).rstrip() for row in aligned(rows))
    head = f"{config.ref}" + (f", {'module' if config.modules else 'node pool'} {config.pool}" if config.pool else "")
    return "\n".join([*map(printable, (head, *lines)), ""])


def _rows(config: DeviceConfig) -> Iterator[tuple[str, str, str]]:
    for parts, value in leaves(config.fields):
        name = join(parts)
        layer, path = place(config.layers, config.fields, name)
        if layer is None:
            where = "the he-sample operator's own code"
        else:
            located = layer.source.located(Result("", field=Field(path)))
            where = f"{located.where}{path}"
        yield name, _short(value), where


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 3]}..."
