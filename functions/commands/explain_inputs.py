"""What `explain` says of what stands in PATHs: of a config its layers, of a Profile its options."""

import json
import textwrap
from collections.abc import Sequence

from krmfn import Field, Item, KrmfnError, ResourceList, Result, schema
from krmfn.printing import did_you_mean, printable
from krmfn.resource import join
from krmfn.streams import Log

from ..cluster import cluster_streams
from ..command import Context
from ..deviceconfig import SCHEMAS, reading
from ..deviceconfig.layers import place
from ..deviceconfig.model import DeviceConfig
from ..formats import columns
from ..kmm.lookup import leaves
from ..kmm.versions import NEWEST
from ..options import RunOptions
from ..paths.failures import Unreadable
from ..profile.product import GROUP, KIND, Profile, product
from ..reference import effects
from ..reference.fields import Entry
from ..rendering import function_config, kinds, products
from ..rendering.function_config import FunctionConfig
from ..rendering.kinds import is_similar
from ..run import note
from ..settings import READ

_WIDEST = 60
_UNSEEN = "no value that was tried changes what is made of a config; it may need another value or option"


_CONTEXT = Context(RunOptions(), READ._replace(is_root_only=True), Log())
"""What stands in PATHs is read as it is, with the options that a run has by itself."""


def layers(path: str, name: str) -> str:
    """Return the fields of the config in PATH that is called NAME, or NAMESPACE/NAME.

    Raises KrmfnError when there is no such config, or when it or the functionConfig does not fit its schema.
    """
    resources = cluster_streams.render_single(_CONTEXT, path)
    config = products.read(resources, _function_config(resources, path))
    item = _named(resources, path, name, config)
    own, problems = SCHEMAS.get((item.group, item.kind)), dict[Item, list[Result]]()
    errors = list(map(item.located, schema.check(item.manifest, kinds.schema(own), "KRM101") if own else ()))
    if (product := config.product(item)) and not product.is_sound:
        errors += (
            product.item.located(one) for one in products.mistakes(product.item, NEWEST) if one.severity == "error"
        )
    elif product:
        errors += map(item.located, products.check_options(product, item))
    groups = reading.from_items([item], config, problems) if not errors else []
    errors += problems.get(item, [])
    if errors:
        raise Unreadable(errors)
    return "\n".join(map(_part, groups[0]))


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
        raise Unreadable(list(errors))
    return config


def _named(resources: ResourceList, path: str, name: str, config: FunctionConfig) -> Item:
    """Return the config of this name. Raises KrmfnError, with those that there are, when there is not one."""
    items = [item for item in resources.items if (item.group, item.kind) in SCHEMAS or config.product(item)]
    found = [item for item in items if name in (item.ref.name, f"{item.ref.namespace}/{item.ref.name}")]
    if len(found) == 1:
        return found[0]
    known = ", ".join(f"{item.ref.namespace}/{item.ref.name}".lstrip("/") for item in found or items) or "none"
    count = "several DeviceConfigs are" if found else "no DeviceConfig is"
    raise KrmfnError(f"{count} called {name} in {path}; it contains: {known}")


def _part(config: DeviceConfig) -> str:
    rows = [("FIELD", "VALUE", "FROM")]
    for parts, value in leaves(config.fields):
        name, written = join(parts), json.dumps(value, ensure_ascii=False)
        layer, path = place(config.layers, config.fields, name)
        where = "the he-sample operator's own code"
        if layer is not None:
            where = f"{layer.source.located(Result('', field=Field(path))).where}{path}"
        rows.append((name, written if len(written) <= _WIDEST else f"{written[: _WIDEST - 3]}...", where))
    head = f"{config.ref}" + (f", {'module' if config.modules else 'node pool'} {config.pool}" if config.pool else "")
    return "\n".join([printable(head), *columns.lines(rows), ""])


def named(name: str, paths: Sequence[str]) -> tuple[Profile, str]:
    """Return the Profile that a name such as `amd-gpu.spec.port` begins with, and the rest of it.

    Raises KrmfnError when the PATHs have none of that name or two that differ, when something there cannot be read, and
    for a Profile with errors.
    """
    items = [
        item for one in cluster_streams.render_all(_CONTEXT, paths).clusters for item in one.final.select(KIND, GROUP)
    ]
    known = {item.ref.name: item for item in items}
    found = max((one for one in known if f"{name}.".startswith(f"{one}.")), key=len, default="")
    if not found:
        head = name.partition(".")[0]
        hint = did_you_mean(head, known, f"Profiles there: {', '.join(sorted(known)) or 'none'}")
        raise KrmfnError(f"no Profile in {', '.join(paths)} is called {head}{hint}")
    item = known[found]
    if any(one.ref.name == found and one.manifest["spec"] != item.manifest["spec"] for one in items):
        raise KrmfnError(f"{', '.join(paths)} hold several Profiles called {found}; pass the PATH of one of them")
    if wrong := [one for one in products.mistakes(item, NEWEST) if one.severity == "error"]:
        raise Unreadable(list(map(item.located, wrong)))
    return product(item), name[len(found) :].lstrip(".")


def profile(name: str, paths: Sequence[str], width: int) -> str:
    """Return a Profile's options as a table, or what one of them sets. Raises KrmfnError as `named`, and without it."""
    found, rest = named(name, paths)
    every = list(effects.options(found))
    if not rest:
        return _table(found, every, width)
    option = next((one for one in every if one.name == rest), None)
    if option is None:
        within = [one for one in every if one.name.startswith(f"{rest}.")]
        if within:
            return _table(found, within, width)
        close = [one.name for one in every if is_similar(one.path[-1], rest.rpartition(".")[2])][:3]
        hint = f"did you mean {' or '.join(f'{found.name}.{one}' for one in close)}?" if close else ""
        there = f"`krmfn explain {found.name} {' '.join(paths)}` prints its options"
        raise KrmfnError(f"{found.name} has no option {rest}; {hint or there}")
    return _option(found, option, width)


def _table(found: Profile, every: Sequence[Entry], width: int) -> str:
    about = [found.title, *textwrap.wrap(found.spec.get("description", ""), width)]
    if found.kind:
        group, kind = found.kind
        about.append(f"for {kind} of {', '.join(f'{group}/{version}' for version in found.versions)}")
    rows = [("OPTION", "TYPE", "DEFAULT", "ABOUT")]
    rows += [(one.name, one.type.replace("`", ""), _default(one), " ".join(one.about.split())) for one in every]
    return "\n".join([*map(printable, about), "", *columns.lines(rows), ""])


def _default(option: Entry) -> str:
    return json.dumps(option.node["default"], ensure_ascii=False) if "default" in option.node else "-"


def _option(found: Profile, option: Entry, width: int) -> str:
    lines = [f"{found.title} {option.name}", *textwrap.wrap(option.about, width, initial_indent="  ")]
    lines += [f"  type     {option.type.replace('`', '')}", f"  default  {_default(option)}"]
    ignored = found.spec.get("ignored", {})
    reason = next((why for path, why in ignored.items() if f"{option.name}.".startswith(f"{path}.")), "")
    lines += [f"  ignored  {reason}"] if reason else []
    sets = effects.effects(found, option)
    lines += ["", "sets, in what is made of a config called x:" if sets else _UNSEEN]
    for switch in dict.fromkeys(one.switch for one in sets):
        lines += [f"  with {switch}"] if switch else []
        there = [one for one in sets if one.switch == switch]
        lines += [f"  {'  ' if switch else ''}{one.object}  {one.path or '(the whole object)'}" for one in there]
    return "\n".join([*map(printable, lines), ""])
