"""The fields of a kustomization that name a file, a folder, something remote, or hold it written out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from krmfn.resource import Manifest
from krmfn.typed import Any, Literal

from ..kmm.lookup import listing, table, text

Role = Literal["resource", "component", "function", "merge", "yaml", "file", "text", "chart"]
Mention = tuple[str, str, Role]
"""A field, its value, and what may stand there."""
Roles = Mapping[str, Role]
"""What may stand in the fields of a mapping; behind the name of a list are brackets."""

_FIELDS: Roles = {
    "resources[]": "resource",
    "bases[]": "resource",
    "components[]": "component",
    "generators[]": "function",
    "transformers[]": "function",
    "validators[]": "function",
    "patchesStrategicMerge[]": "merge",
    "configurations[]": "yaml",
    "crds[]": "file",
}
_PATH: Roles = {"path": "yaml"}
_PATCH: Roles = {"path": "yaml", "patch": "text"}
_SOURCES: Roles = {"env": "file", "envs[]": "file", "files[]": "file"}
_VALUES: Roles = {"valuesFile": "file", "additionalValuesFiles[]": "file"}
_ENTRIES: Mapping[str, Roles] = {
    "patches": _PATCH,
    "patchesJson6902": _PATCH,
    "replacements": _PATH,
    "configMapGenerator": _SOURCES,
    "secretGenerator": _SOURCES,
    "helmCharts": _VALUES,
    "helmChartInflationGenerator": {"values": "file"},
}
"""The same of the entries of lists."""
_BUILTIN: Roles = {**_PATH, "paths[]": "merge", **_SOURCES, "targetFilePath": "file", **_VALUES}
BUILTIN = {
    name.casefold(): name for name in (*(field.removesuffix("[]") for field in _BUILTIN), "replacements", "chartHome")
}
"""The fields of `builtin` by their small letters: kustomize decodes them as JSON, in any case."""


def named(manifest: Manifest) -> Iterator[Mention]:
    """Yield (field, text, role) of everything that a kustomization names; what has another type is passed over."""
    yield from _named(manifest, _FIELDS)
    yield from _named(table(manifest, "openapi"), {"path": "file"}, "openapi.")
    home = table(manifest, "helmGlobals").get("chartHome")
    for field, roles in _ENTRIES.items():
        for path, entry in entries(manifest, field):
            if field == "helmCharts":
                yield path, _chart(entry, home), "chart"
            elif field == "helmChartInflationGenerator":
                names = {key: entry.get(f"chart{key.title()}") for key in ("name", "version")}
                names["repo"] = entry.get("chartRepoUrl")
                yield path, _chart(names, entry.get("chartHome") or home), "chart"
            yield from _named(entry, roles, f"{path}.")


def builtin(manifest: Manifest) -> Iterator[Mention]:
    """Yield the same of a configuration of one of kustomize's own plugins (`apiVersion: builtin`)."""
    yield from _named(manifest, _BUILTIN)
    for path, entry in entries(manifest, "replacements"):
        yield from _named(entry, _PATH, f"{path}.")
    if manifest.get("kind") == "HelmChartInflationGenerator":
        yield "chartHome", _chart(manifest, manifest.get("chartHome")), "chart"


def entries(manifest: Manifest, field: str) -> Iterator[tuple[str, Manifest]]:
    """Return the mappings of a list with their paths."""
    listed = enumerate(listing(manifest, field) or ())
    return ((f"{field}[{at}]", entry) for at, entry in listed if isinstance(entry, dict))


def _named(entry: Manifest, roles: Roles, path: str = "") -> Iterator[Mention]:
    """Yield what the fields of a mapping name; an empty string counts as absent, as for kustomize, but in a list."""
    for field, role in roles.items():
        name = field.removesuffix("[]")
        if name == field and (value := text(entry, name)):
            yield path + name, value, role
        for at, one in enumerate(listing(entry, name) or () if name != field else ()):
            if isinstance(one, str):
                yield f"{path}{name}[{at}]", _source(one) if name == "files" else one, role


def _source(entry: str) -> str:
    """Return the file of an entry under `files`, where `key=file` names the key as well; "" for none."""
    key, sign, file = entry.rpartition("=")
    return file if not sign or (key and "=" not in key) else ""


def _chart(chart: Manifest, home: Any) -> str:
    """Return the folder in which kustomize looks for a chart; one with a repo and a version has a folder of its own."""
    name = str(chart.get("name") or "")
    folder = f"{name}-{chart['version']}/{name}" if chart.get("version") and chart.get("repo") else name
    return f"{home or 'charts'}/{folder}" if name else ""
