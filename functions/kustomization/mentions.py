"""The fields of a kustomization that name a file, a folder, something remote, or hold it written out."""

from __future__ import annotations

from collections.abc import Iterator

from krmfn.resource import Manifest
from krmfn.typed import Any, Literal

Role = Literal["resource", "component", "function", "merge", "file", "text", "chart"]
Mention = tuple[str, str, Role]
"""A field, its value, and what may stand there."""

_LISTS: dict[str, Role] = {
    "resources": "resource",
    "bases": "resource",
    "components": "component",
    "generators": "function",
    "transformers": "function",
    "validators": "function",
    "patchesStrategicMerge": "merge",
    "configurations": "file",
    "crds": "file",
}


_LOADED = (
    *("path", "paths", "env", "envs", "files", "replacements", "targetFilePath"),
    *("valuesFile", "additionalValuesFiles", "chartHome"),
)
BUILTIN = {field.casefold(): field for field in _LOADED}
"""The fields of `builtin` by their small letters: kustomize decodes them as JSON, in any case."""


def named(manifest: Manifest) -> Iterator[Mention]:
    """Yield (field, text, role) of everything that a kustomization names; what has another type is passed over."""
    for field, role in _LISTS.items():
        yield from ((path, text, role) for path, text in _texts(manifest, field))
    for field in ("patches", "patchesJson6902", "replacements"):
        for path, entry in entries(manifest, field):
            yield from _one(entry, path, "path", "file")
            yield from _one(entry, path, "patch", "text")
    openapi = manifest.get("openapi")
    yield from _one(openapi, "openapi", "path", "file")
    for field in ("configMapGenerator", "secretGenerator"):
        for path, entry in entries(manifest, field):
            yield from _sources(entry, f"{path}.")
    yield from _charts(manifest)


def builtin(manifest: Manifest) -> Iterator[Mention]:
    """Yield the same of a configuration of one of kustomize's own plugins (`apiVersion: builtin`)."""
    yield from _one(manifest, "", "path", "file")
    yield from ((path, text, "merge") for path, text in _texts(manifest, "paths"))
    yield from _sources(manifest, "")
    for path, entry in entries(manifest, "replacements"):
        yield from _one(entry, path, "path", "file")
    yield from _one(manifest, "", "targetFilePath", "file")
    yield from _one(manifest, "", "valuesFile", "file")
    yield from ((path, text, "file") for path, text in _texts(manifest, "additionalValuesFiles"))
    if manifest.get("kind") == "HelmChartInflationGenerator":
        yield "chartHome", _chart(manifest, manifest.get("chartHome")), "chart"


def _texts(manifest: Any, field: str) -> Iterator[tuple[str, str]]:
    """Yield the strings of a list with their paths."""
    value = manifest.get(field)
    for at, text in enumerate(value if isinstance(value, list) else ()):
        if isinstance(text, str):
            yield f"{field}[{at}]", text


def entries(manifest: Manifest, field: str) -> Iterator[tuple[str, Manifest]]:
    """Yield the mappings of a list with their paths."""
    value = manifest.get(field)
    for at, entry in enumerate(value if isinstance(value, list) else ()):
        if isinstance(entry, dict):
            yield f"{field}[{at}]", entry


def _one(entry: Any, path: str, key: str, role: Role) -> Iterator[Mention]:
    """Yield the string under a key when it says something; an empty one counts as absent, as for kustomize."""
    text = entry.get(key) if isinstance(entry, dict) else None
    if isinstance(text, str) and text:
        yield (f"{path}.{key}" if path else key), text, role


def _sources(entry: Manifest, path: str) -> Iterator[Mention]:
    """Yield the files of a ConfigMap or Secret generator; `key=file` names the key as well."""
    yield from _one(entry, path.rstrip("."), "env", "file")
    yield from ((path + field, text, "file") for field, text in _texts(entry, "envs"))
    for field, text in _texts(entry, "files"):
        key, sign, file = text.rpartition("=")
        yield path + field, file if not sign or (key and "=" not in key) else "", "file"


def _charts(manifest: Manifest) -> Iterator[Mention]:
    """Yield the folders of helm charts, and the values files beside them."""
    options = manifest.get("helmGlobals")
    home = options.get("chartHome") if isinstance(options, dict) else None
    for path, chart in entries(manifest, "helmCharts"):
        yield path, _chart(chart, home), "chart"
        yield from _one(chart, path, "valuesFile", "file")
        yield from ((f"{path}.{field}", text, "file") for field, text in _texts(chart, "additionalValuesFiles"))
    for path, chart in entries(manifest, "helmChartInflationGenerator"):
        names = {
            "name": chart.get("chartName"),
            "version": chart.get("chartVersion"),
            "repo": chart.get("chartRepoUrl"),
        }
        yield path, _chart(names, chart.get("chartHome") or home), "chart"
        yield from _one(chart, path, "values", "file")


def _chart(chart: Manifest, home: Any) -> str:
    """Return the folder in which kustomize looks for a chart; one with a repo and a version has a folder of its own."""
    name = str(chart.get("name") or "")
    folder = f"{name}-{chart['version']}/{name}" if chart.get("version") and chart.get("repo") else name
    return f"{home or 'charts'}/{folder}" if name else ""
