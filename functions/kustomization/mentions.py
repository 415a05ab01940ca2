"""The fields of a kustomization that name a file, a folder or something remote, or hold its content inline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from krmfn.resource import Manifest
from krmfn.typed import Any, Literal

from ..kmm.lookup import listing, table, text
from .spelling import usual_manifest

Role = Literal["resource", "component", "function", "merge", "yaml", "file", "text", "chart"]
Mention = tuple[str, str, Role]
"""A field, its value, and its role."""
Roles = Mapping[str, Role]
"""The roles of the fields of a mapping; the name of a list ends with brackets."""

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
"""The same for the entries of lists."""
_BUILTIN: Roles = {**_PATH, "paths[]": "merge", **_SOURCES, "targetFilePath": "file", **_VALUES}
_NAMES = [*(field.removesuffix("[]") for field in _BUILTIN), "replacements", "chartHome", "name", "version", "repo"]
BUILTIN = {name.casefold(): name for name in _NAMES}
"""The fields of `read_plugin` by their names in lower case: kustomize decodes them as JSON, in any case."""


def read(manifest: Manifest) -> Iterator[Mention]:
    """Yield the mentions in a kustomization; values of a wrong type are skipped."""
    yield from _read(manifest, _FIELDS)
    yield from _read(table(manifest, "openapi"), {"path": "file"}, "openapi.")
    home = table(manifest, "helmGlobals").get("chartHome")
    for field, roles in _ENTRIES.items():
        for path, entry in entries(manifest, field):
            if field == "helmCharts":
                yield path, _chart(entry, home), "chart"
            elif field == "helmChartInflationGenerator":
                names = {key: entry.get(f"chart{key.title()}") for key in ("name", "version")}
                names["repo"] = entry.get("chartRepoUrl")
                yield path, _chart(names, entry.get("chartHome") or home), "chart"
            yield from _read(entry, roles, f"{path}.")


def read_plugin(manifest: Manifest) -> Iterator[Mention]:
    """Yield the mentions in the configuration of one of kustomize's own plugins (`apiVersion: builtin`)."""
    yield from _read(manifest, _BUILTIN)
    for path, entry in entries(manifest, "replacements"):
        yield from _read(entry, _PATH, f"{path}.")
    if manifest.get("kind") == "HelmChartInflationGenerator":
        yield "chartHome", _chart(manifest, manifest.get("chartHome")), "chart"


def usual_plugin(manifest: Manifest) -> Manifest:
    """Return such a configuration with the fields of `read_plugin` in their usual case."""
    usual = usual_manifest(manifest, BUILTIN)
    listed = listing(usual, "replacements")
    parts = [usual_manifest(entry, BUILTIN) if isinstance(entry, dict) else entry for entry in listed or ()]
    return {**usual, "replacements": parts} if listed else usual


def entries(manifest: Manifest, field: str) -> Iterator[tuple[str, Manifest]]:
    """Return the mappings of a list with their paths."""
    members = enumerate(listing(manifest, field) or ())
    return ((f"{field}[{index}]", entry) for index, entry in members if isinstance(entry, dict))


def _read(entry: Manifest, roles: Roles, path: str = "") -> Iterator[Mention]:
    """Yield the mentions in the fields of a mapping; as for kustomize an empty string counts only in a list."""
    for field, role in roles.items():
        name = field.removesuffix("[]")
        if name == field and (value := text(entry, name)):
            yield path + name, value, role
        for index, member in enumerate(listing(entry, name) or () if name != field else ()):
            if isinstance(member, str):
                yield f"{path}{name}[{index}]", _source(member) if name == "files" else member, role


def _source(entry: str) -> str:
    """Return the file of an entry of `files`, which may be `key=file`; "" for none."""
    key, sign, file = entry.rpartition("=")
    return file if not sign or (key and "=" not in key) else ""


def _chart(chart: Manifest, home: Any) -> str:
    """Return the folder in which kustomize looks for a chart; with a repo the version is part of it."""
    name = str(chart.get("name") or "")
    folder = f"{name}-{chart['version']}/{name}" if chart.get("version") and chart.get("repo") else name
    return f"{home or 'charts'}/{folder}" if name else ""
