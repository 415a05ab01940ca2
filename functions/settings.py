"""The functionConfig: defaults, vendor profiles, and how to treat what is already there."""

from __future__ import annotations

from typing import Any, NamedTuple

from krmfn import KrmfnError, Manifest, ResourceList, Result, error, schema
from krmfn.resource import ref
from krmfn.results import Field

from .published import schema as published

GROUP, KIND = "krmfn.dev", "RenderDeviceConfigs"
PRUNE = ("auto", "always", "never")


class Settings(NamedTuple):
    """What a RenderDeviceConfigs says; the defaults here hold where it says nothing."""

    defaults: dict[str, Any] = {}  # noqa: RUF012  # read only
    profiles: dict[str, dict[str, Any]] = {}  # noqa: RUF012
    namespace: str = ""
    kmm_version: str = "2.6"
    exclusivity: str = "auto"
    adopt: bool = False
    prune: str = "auto"
    """What becomes of generated objects whose owner is not in the input: `auto`, `always` removed, `never`."""
    partial_view: bool = False
    annotations: dict[str, str] = {}  # noqa: RUF012
    """Annotations for every generated object."""
    ignore: dict[str, str] = {}  # noqa: RUF012
    """Rules that are turned off, each with the reason."""


def read(resources: ResourceList) -> tuple[Settings, list[Result]]:
    """The settings of a run, and what is wrong with them.

    From a RenderDeviceConfigs, from a ConfigMap whose keys are paths in its spec (kpt's habit:
    `exclusivity.mode: nodes`, `defaults.moduleName: drv`, all values strings), or from nothing;
    options of the command line win.
    """
    config = resources.function_config or {}
    about = ref(config)
    data: dict[str, Any] = {}
    if about.kind == "ConfigMap" and about.group == "":
        data = config.get("data") or {}
        if not isinstance(data, dict):
            message = "must be a mapping of settings to strings, such as `exclusivity.mode: nodes`"
            return Settings(), [error(message, rule="KRM110", ref=about, field=Field("data"))]
        config = {"apiVersion": f"{GROUP}/v1alpha1", "kind": KIND, "metadata": {"name": about.name or "function-input"}}
        config["spec"] = _nested(data)
    elif not config:
        config = {"apiVersion": f"{GROUP}/v1alpha1", "kind": KIND, "metadata": {"name": "function-input"}}
    elif (about.group, about.kind) != (GROUP, KIND):
        expected = f"{GROUP}/v1alpha1 {KIND}, a ConfigMap, or none"
        return Settings(), [
            error(f"functionConfig is {about.api_version} {about.kind}; expected {expected}", rule="KRM110")
        ]
    found = [
        _as_written(result, data)._replace(ref=about, message=f"{result.message} (in the functionConfig)")
        for result in schema.check(config, published("renderdeviceconfigs"), "KRM110")
    ]
    return (Settings(), found) if found else (_settings(config.get("spec") or {}, resources.options), [])


def _settings(spec: Manifest, options: dict[str, str]) -> Settings:
    return Settings(
        defaults=spec.get("defaults", {}),
        profiles=spec.get("profiles", {}),
        namespace=options.get("namespace") or spec.get("namespace") or options.get("fallback-namespace", ""),
        kmm_version=options.get("kmm-version") or spec.get("kmm", {}).get("version", "2.6"),
        exclusivity=spec.get("exclusivity", {}).get("mode", "auto"),
        adopt=spec.get("adopt", False),
        prune=_prune(options.get("prune") or spec.get("prune", "auto")),
        partial_view=spec.get("partialView", "refuse") == "allow",
        annotations=spec.get("annotations", {}),
        ignore=spec.get("ignore", {}),
    )


def _prune(value: str | bool) -> str:
    """The setting `prune` in today's words: false was, and is, never. Raises KrmfnError for an option's other value."""
    word = ("auto" if value else "never") if isinstance(value, bool) else value
    if word not in PRUNE:
        raise KrmfnError(f"--prune is {word!r}; it must be one of {', '.join(PRUNE)}")
    return word


def _as_written(result: Result, data: dict[str, Any]) -> Result:
    """A finding about a setting of a ConfigMap with the path it has there: `data[exclusivity.mode]`."""
    path = result.field.path.removeprefix("spec.") if result.field else ""
    near = [key for key in data if key == path or key.startswith(f"{path}.") or path.startswith(f"{key}.")]
    return result._replace(field=Field(f"data[{near[0]}]", data[near[0]])) if near else result


_BOOLEANS = frozenset({"adopt", "prune", "defaults.allNodes"})


def _nested(data: dict[str, Any]) -> dict[str, Any]:
    """{"kmm.version": "2.6"} as {"kmm": {"version": "2.6"}}; "true" and "false" where a boolean belongs."""
    spec: dict[str, Any] = {}
    for path, value in data.items():
        if path in _BOOLEANS and value in ("true", "false"):
            value = value == "true"
        *parents, last = path.split(".")
        level = spec
        for parent in parents:
            level = level.setdefault(parent, {})
            if not isinstance(level, dict):
                level = {}
        level[last] = value
    return spec


def merged(own: Manifest, profile: str, settings: Settings) -> dict[str, Any]:
    """A config's fields over its profile's over the defaults, field by field (a field is taken whole)."""
    return {**settings.defaults, **settings.profiles.get(profile, {}), **own}


def profile_findings(profile: str, field: str, settings: Settings) -> list[Result]:
    """An error when the functionConfig does not define `profile`."""
    if not profile or profile in settings.profiles:
        return []
    known = ", ".join(sorted(settings.profiles))
    there = f"the functionConfig's spec.profiles has: {known}" if known else "no functionConfig defines spec.profiles"
    message = f"profile {profile!r} is not defined; {there}"
    return [error(message, rule="KRM111", field=Field(field, profile))]
