"""What `explain` prints about resources in PATHs: the layers of a config, the options of a Profile."""

import json
import textwrap
from collections.abc import Sequence

from krmfn import Field, Item, KrmfnError, ResourceList, Result, schema
from krmfn.printing import did_you_mean, is_similar, joined, printable
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
from ..profile.product import Profile, product
from ..reference import effects
from ..reference.fields import Entry
from ..rendering import function_config, kinds, products
from ..rendering.function_config import FunctionConfig
from ..rendering.kinds import PROFILE
from ..run import note, run_of
from ..settings import READ
from ..sources import Sources

_WIDEST = 60
_UNSEEN = "no value that was tried changes what is made of a config; it may need another value or option"


def _context() -> Context:
    """Return the context in which PATHs are read as they are, with the default options."""
    return Context(RunOptions(), READ._replace(is_root_only=True), Log(), Sources())


def layers(path: str, name: str) -> str:
    """Return the fields of the config in PATH that is called NAME, or NAMESPACE/NAME.

    Raises KrmfnError when there is no such config, or when it or the functionConfig does not fit its schema.
    """
    resources = cluster_streams.render_single(_context(), path)
    config = products.read(resources, _function_config(resources, path))
    item = _config(resources, path, name, config)
    kind = SCHEMAS.get((item.group, item.kind))
    errors = list(map(item.located, schema.check(item.manifest, kinds.schema(kind), "KRM101") if kind else ()))
    profile = config.product(item)
    if profile and not profile.is_sound:
        errors += _profile_errors(profile.item)
    elif profile:
        findings = map(item.located, products.check_options(profile, item))
        errors += [finding for finding in findings if finding.severity == "error"]
    groups, problems = reading.from_items([item] if not errors else [], config)
    errors += problems.get(item, [])
    if errors:
        raise Unreadable(errors)
    sources = run_of(resources).sources
    return "\n".join(_layer_table(group, sources) for group in groups[0])


def _profile_errors(item: Item) -> list[Result]:
    """Return what is wrong with a Profile."""
    mistakes = products.mistakes(item, NEWEST)
    return [item.located(finding) for finding in mistakes if finding.severity == "error"]


def _function_config(resources: ResourceList, path: str) -> FunctionConfig:
    items = resources.where(kind="RenderDeviceConfigs", group="krmfn.dev")
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


def _config(resources: ResourceList, path: str, name: str, config: FunctionConfig) -> Item:
    """Return the config of this name. Raises KrmfnError for none and for several, with the names that there are."""
    items = [item for item in resources.items if (item.group, item.kind) in SCHEMAS or config.product(item)]
    matches = [item for item in items if name in (item.ref.name, f"{item.ref.namespace}/{item.ref.name}")]
    if len(matches) == 1:
        return matches[0]
    names = ", ".join(f"{item.ref.namespace}/{item.ref.name}".lstrip("/") for item in matches or items) or "none"
    subject = "several DeviceConfigs are" if matches else "no DeviceConfig is"
    raise KrmfnError(f"{subject} called {name} in {path}; it contains: {names}")


def _layer_table(config: DeviceConfig, sources: Sources) -> str:
    """Return the fields of a config, or of one of its pools, each with its value and the place that it comes from."""
    rows = [("FIELD", "VALUE", "FROM")]
    for parts, value in leaves(config.fields):
        name, text = join(parts), json.dumps(value, ensure_ascii=False)
        layer, path = place(config.layers, config.fields, name)
        source = "the he-sample operator's own code"
        if layer is not None:
            # in a kustomization the file is looked up: base, Profile, or the patch of an overlay
            written = sources.located(layer.source.located(Result("", field=Field(path))))
            source = f"{written.where}{path}"
        rows.append((name, text if len(text) <= _WIDEST else f"{text[: _WIDEST - 3]}...", source))
    head = f"{config.ref}" + (f", {'module' if config.modules else 'node pool'} {config.pool}" if config.pool else "")
    return "\n".join([printable(head), *columns.lines(rows, columns.terminal_width()), ""])


def has_profile(name: str, paths: Sequence[str]) -> bool:
    """Return True where the PATHs surely hold a Profile that a name begins with."""
    try:
        clusters = cluster_streams.render_all(_context(), paths).clusters
    except KrmfnError:
        return False
    items = (item for cluster in clusters for item in cluster.final.where(kind=PROFILE[1], group=PROFILE[0]))
    return any(f"{name}.".startswith(f"{item.ref.name}.") for item in items)


def read_profile(name: str, paths: Sequence[str]) -> tuple[Profile, str]:
    """Return the Profile that a name such as `amd-gpu.spec.port` begins with, and the rest of the name.

    Raises KrmfnError when the PATHs have none of that name or two that differ, when something there cannot be read, and
    for a Profile with errors.
    """
    clusters = cluster_streams.render_all(_context(), paths).clusters
    items = [item for cluster in clusters for item in cluster.final.where(kind=PROFILE[1], group=PROFILE[0])]
    by_name = {item.ref.name: item for item in items}
    prefixes = [prefix for prefix in by_name if f"{name}.".startswith(f"{prefix}.")]
    if not prefixes:
        head = name.partition(".")[0]
        hint = did_you_mean(head, by_name, f"Profiles there: {', '.join(sorted(by_name)) or 'none'}")
        raise KrmfnError(joined(f"no Profile in {', '.join(paths)} is called {head}", hint))
    prefix = max(prefixes, key=len)
    profile = by_name[prefix]
    if any(item.ref.name == prefix and item.manifest["spec"] != profile.manifest["spec"] for item in items):
        raise KrmfnError(f"{', '.join(paths)} hold several Profiles called {prefix}; pass the PATH of one of them")
    if errors := _profile_errors(profile):
        raise Unreadable(errors)
    return product(profile), name[len(prefix) :].lstrip(".")


def options(name: str, paths: Sequence[str], width: int) -> str:
    """Return a Profile's options as a table, or what one of them sets.

    Raises KrmfnError as `read_profile`, and for an option that there is not.
    """
    profile, path = read_profile(name, paths)
    by_name = {option.name: (option, part) for part in profile.variants for option in effects.options(part)}
    known = [option for option, _ in by_name.values()]
    if not path:
        return _option_table(profile, known, width)
    if option := next((option for option in known if option.name == path), None):
        return _option(by_name[path][1], option, width)
    if children := [option for option in known if option.name.startswith(f"{path}.")]:
        return _option_table(profile, children, width)
    last = path.rpartition(".")[2]
    similar = [f"{profile.name}.{option.name}" for option in known if is_similar(option.path[-1], last)][:3]
    command = f"krmfn explain {profile.name} {' '.join(paths)}"
    hint = f"did you mean {' or '.join(similar)}?" if similar else f"`{command}` prints its options"
    raise KrmfnError(f"{profile.name} has no option {path}; {hint}")


def _option_table(profile: Profile, options: Sequence[Entry], width: int) -> str:
    about = [profile.title, *textwrap.wrap(profile.spec.get("description", ""), width)]
    if profile.kind:
        group, kind = profile.kind
        about.append(f"for {kind} of {', '.join(f'{group}/{version}' for version in profile.versions)}")
    rows = [("OPTION", "TYPE", "DEFAULT", "ABOUT")]
    rows += [(o.name, o.type.replace("`", ""), _default(o), " ".join(o.about.split())) for o in options]
    return "\n".join([*map(printable, about), "", *columns.lines(rows, columns.terminal_width()), ""])


def _default(option: Entry) -> str:
    return json.dumps(option.node["default"], ensure_ascii=False) if "default" in option.node else "-"


def _option(profile: Profile, option: Entry, width: int) -> str:
    lines = [f"{profile.title} {option.name}", *textwrap.wrap(option.about, width, initial_indent="  ")]
    lines += [f"  type     {option.type.replace('`', '')}", f"  default  {_default(option)}"]
    ignored = profile.spec.get("ignored", {})
    reason = next((text for path, text in ignored.items() if f"{option.name}.".startswith(f"{path}.")), "")
    lines += [f"  ignored  {reason}"] if reason else []
    fields = effects.effects(profile, option)
    lines += ["", "sets, in what is made of a config called x:" if fields else _UNSEEN]
    for switch in dict.fromkeys(field.switch for field in fields):
        lines += [f"  with {switch}"] if switch else []
        indent = "    " if switch else "  "
        lines += [f"{indent}{f.object}  {f.path or '(the whole object)'}" for f in fields if f.switch == switch]
    return "\n".join([*map(printable, lines), ""])
