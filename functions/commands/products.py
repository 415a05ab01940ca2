"""What `explain`, `schema` and `crd` say of a Profile in some PATHs: its options, what they set, its kind."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence

from krmfn.errors import KrmfnError
from krmfn.log import Log
from krmfn.results import json_text, printable
from krmfn.typed import Any
from krmfn.yamltext import emit

from ..cluster import cluster_streams
from ..command import Context
from ..fleet.table import aligned
from ..kmm.versions import NEWEST
from ..options import RunOptions
from ..paths.failures import Unreadable
from ..profile import structural
from ..profile.product import GROUP, KIND, Profile, product
from ..reference import effects
from ..reference.effects import Option
from ..rendering import kinds
from ..rendering.kinds import near
from ..rendering.products import mistakes
from ..settings import READ

_UNSEEN = "no value that was tried changes what is made of a config; it may need another value or option"


def named(name: str, paths: Sequence[str]) -> tuple[Profile, str]:
    """Return the Profile that a name such as `amd-gpu.spec.port` begins with, and the rest of it.

    Raises KrmfnError when the PATHs have none of that name or two that differ, when something there cannot be read, and
    for a Profile with errors.
    """
    context = Context(RunOptions(), READ._replace(is_root_only=True), Log())
    items = [item for one in cluster_streams.whole(context, paths).clusters for item in one.final.select(KIND, GROUP)]
    known = {item.ref.name: item for item in items}
    found = max((one for one in known if f"{name}.".startswith(f"{one}.")), key=len, default="")
    if not found:
        head = name.partition(".")[0]
        close = " or ".join(one for one in known if near(one, head))
        hint = f"did you mean {close}?" if close else f"Profiles there: {', '.join(sorted(known)) or 'none'}"
        raise KrmfnError(f"no Profile in {', '.join(paths)} is called {head}; {hint}")
    item = known[found]
    if any(one.ref.name == found and one.manifest["spec"] != item.manifest["spec"] for one in items):
        raise KrmfnError(f"{', '.join(paths)} hold several Profiles called {found}; pass the PATH of one of them")
    if wrong := [one for one in mistakes(item, NEWEST) if one.severity == "error"]:
        raise Unreadable(list(map(item.located, wrong)))
    return product(item), name[len(found) :].lstrip(".")


def text(name: str, paths: Sequence[str], width: int) -> str:
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
        close = [one.name for one in every if near(one.path[-1], rest.rpartition(".")[2])][:3]
        hint = f"did you mean {' or '.join(f'{found.name}.{one}' for one in close)}?" if close else ""
        there = f"`krmfn explain {found.name} {' '.join(paths)}` prints its options"
        raise KrmfnError(f"{found.name} has no option {rest}; {hint or there}")
    return _option(found, option, width)


def _table(found: Profile, every: Sequence[Option], width: int) -> str:
    about = [found.title, *textwrap.wrap(found.spec.get("description", ""), width)]
    if found.kind:
        group, kind = found.kind
        about.append(f"for {kind} of {', '.join(f'{group}/{version}' for version in found.versions)}")
    rows = [("OPTION", "TYPE", "DEFAULT", "ABOUT")]
    rows += [(one.name, one.type.replace("`", ""), _default(one), " ".join(one.about.split())) for one in every]
    return "\n".join([*map(printable, about), "", *(printable("  ".join(row).rstrip()) for row in aligned(rows)), ""])


def _default(option: Option) -> str:
    return "-" if option.default is structural.ABSENT else json.dumps(option.default, ensure_ascii=False)


def _option(found: Profile, option: Option, width: int) -> str:
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


def schema_text(name: str, paths: Sequence[str]) -> str:
    """Return the JSON Schema of the configs of a Profile, for editors. Raises KrmfnError as `named`."""
    found, rest = named(name, paths)
    _is_whole(found, rest)
    own = structural.json_schema(found.options)
    metadata = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}
    if found.kind:
        group, kind = found.kind
        versions = [f"{group}/{version}" for version in found.versions]
        head = {"apiVersion": {"enum": versions}, "kind": {"const": kind}, "metadata": metadata, "status": {}}
        own["properties"] = {**head, **own.get("properties", {})}
    else:
        options = own.get("properties", {}).get("spec", {"type": "object"})
        own = json.loads(kinds.text("deviceconfig.schema.json"))
        spec = own["properties"]["spec"]
        spec["properties"] |= {"profile": {"const": found.name}, "options": options}
        spec["required"] = [*spec.get("required", ()), "profile"]
    own["required"] = list(dict.fromkeys(["apiVersion", "kind", "metadata", *own.get("required", ())]))
    title = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": found.title}
    return json_text({**{key: value for key, value in own.items() if key not in ("$id", "title")}, **title}, 2) + "\n"


def crd_text(name: str, paths: Sequence[str]) -> str:
    """Return the CustomResourceDefinition of a Profile's kind. Raises KrmfnError as `named`, and where it has none."""
    found, rest = named(name, paths)
    _is_whole(found, rest)
    own = found.spec.get("for")
    if not own:
        raise KrmfnError(f"Profile {found.name} is for no kind of its own; its configs are DeviceConfigs of krmfn.dev")
    kind, lower = own["kind"], own["kind"].lower()
    plural = own.get("plural", f"{lower}s")
    known = {**found.options.get("properties", {})}
    known.setdefault("status", {"type": "object", "x-kubernetes-preserve-unknown-fields": True})
    head = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"}}
    whole = {**found.options, "properties": {**head, **known}}
    versions: list[dict[str, Any]] = [
        {
            "name": version,
            "served": True,
            "storage": version == found.versions[0],
            "subresources": {"status": {}},
            "schema": {"openAPIV3Schema": whole},
        }
        for version in found.versions
    ]
    return emit.dump(
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{own['group']}"},
            "spec": {
                "group": own["group"],
                "names": {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": lower},
                "scope": "Namespaced",
                "versions": versions,
            },
        }
    )


def _is_whole(found: Profile, rest: str) -> None:
    """Raise KrmfnError where an option is named and only a Profile is asked for."""
    if rest:
        raise KrmfnError(f"name the Profile alone: {found.name}")
