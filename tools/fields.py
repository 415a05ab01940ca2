"""Write docs/reference/fields.md from the schemas, the merge table and what is rendered: `python tools/fields.py`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from krmfn_functions.kmm.versions import TARGETS
from krmfn_functions.reference import ends, fields
from krmfn_functions.reference.fields import Entry

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "fields.md"
HEAD = """\
# All fields

Each field of DeviceConfig, Ptemplate, the functionConfig and NodeInventory: its type, how layers merge it, and where \
it ends up. `krmfn explain deviceconfig.spec.devicePlugin` prints an entry with its example. Written by \
`python tools/fields.py` from the schemas and from what is rendered; do not edit.

* Of a field that two of defaults, profile, its version, config and node pool have, the stronger one's counts; the row \
says where it is merged instead ([how layers merge](deviceconfig.md#profiles)).
* *Ends up in* is seen by rendering two values of the field; without an entry the field decides what is checked or \
merged. A value after `=` is what stands there without the field.
* Every KMM version that krmfn knows has the field in its Module, unless the row says since when.
* An entry of a list has `[]`. Fields that several fields share (`env`, `volumes`, `build`) are shown in the first of \
them. [In an editor](deviceconfig.md#in-an-editor) the same comes with the schema.
"""
_TITLES = {
    "deviceconfig": "DeviceConfig",
    "ptemplate": "Ptemplate",
    "renderdeviceconfigs": "RenderDeviceConfigs",
    "nodeinventory": "NodeInventory",
}
_COLUMNS = ("field", "is", "type", "ends up in", "example")
_WIDEST = 60
_USUAL = "the stronger one's"
_OLDEST = next(iter(TARGETS))


def page() -> str:
    """Return the page: a chapter for each kind, a table for each of its fields that holds others."""
    parts = [HEAD, ""]
    for kind, title in _TITLES.items():
        entries = [entry for entry in fields.entries(kind) if len(entry.path) > 1]
        parts.append(f"## {title}\n")
        parts.append(_table([entry for entry in entries if len(entry.path) == 2]))
        for top in dict.fromkeys(entry.path[1] for entry in entries if len(entry.path) > 2):
            inside = [entry for entry in _unrepeated(entries) if entry.path[1] == top and len(entry.path) > 2]
            parts.append(f"### {kind}.spec.{top}\n")
            parts.append(_table(inside))
    heads = [part.strip("# \n") for part in parts if part.startswith("##")]
    parts[1] = f"{''.join(map(_entry, heads)).lstrip()}\n"
    return "\n".join(parts)


def _unrepeated(entries: Sequence[Entry]) -> Iterator[Entry]:
    """Yield the fields but for those inside a definition whose fields stand somewhere before."""
    seen: dict[str, tuple[str, ...]] = {}
    for entry in entries:
        name = ".".join(entry.path).replace("[]", "")
        inside = [definition for definition, path in seen.items() if name.startswith(f"{'.'.join(path)}.")]
        if any(seen[definition] != _first(entries, definition) for definition in inside):
            continue
        yield entry
        if entry.definition:
            seen[f"{entry.definition} {name}"] = tuple(name.split("."))


def _first(entries: Sequence[Entry], key: str) -> tuple[str, ...]:
    """Return where the fields of a definition are shown: in the first field, outside of nodePools, that has it."""
    definition = key.partition(" ")[0]
    candidates = [entry for entry in entries if entry.definition == definition]
    shown_entry = next((entry for entry in candidates if "nodePools[]" not in entry.path), candidates[0])
    return tuple(".".join(shown_entry.path).replace("[]", "").split("."))


def _entry(head: str) -> str:
    """Return the line of the contents for a table: a kind begins one, and its fields follow on it."""
    anchor = re.sub(r"[^\w-]", "", head.lower())
    kind, _, field = head.partition(".spec.")
    return f" [{field}](#{anchor})" if field else f"\n* **[{kind}](#{anchor})**:"


def _table(entries: Sequence[Entry]) -> str:
    """Return a table with the columns in which something stands."""
    rows = [_row(entry) for entry in entries]
    filled = [at for at in range(len(_COLUMNS)) if any(row[at] for row in rows)]
    lines = [[_COLUMNS[at] for at in filled], ["---"] * len(filled), *([row[at] for at in filled] for row in rows)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines).replace("| ---", "|---").replace("--- ", "---")


def _row(entry: Entry) -> tuple[str, ...]:
    effects = ends.ends(entry)
    default = ends.default(entry, effects)
    value = json.dumps(fields.specimen(entry.node, fields.definitions(entry.kind), entry.path[-1]))
    merge = entry.merge.removeprefix(_USUAL).removeprefix(", ")
    since = ends.since(effects)
    merge = merge.replace("also over ", "replaces a weaker ")
    merge = f"merged {merge}" if merge.startswith(("key by key", "entry by entry")) else merge
    notes = (merge, f"since KMM {since}" if since not in ("", _OLDEST) else "")
    cells = (
        f"`{'.'.join(entry.path[1:])}`",
        f"{entry.about}{''.join(f' ({note})' for note in notes if note)}",
        entry.type + (", required" if entry.required else ""),
        ", ".join(f"{end.kind} `{end.path}`" if end.path else end.kind for end in effects)
        + ("" if default is None else f" = `{default}`"),
        f"`{value}`" if len(value) <= _WIDEST else "",
    )
    return tuple(cell.replace("|", "&#124;") for cell in cells)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
