"""All configs of an import together: their profiles, and the errors that only all of them have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from krmfn import Manifest, Options, ResourceList, Result

from .importer import Taken
from .judging import rendered
from .normal import normal
from .shared import with_profiles


def assembled(taken: Sequence[Taken], options: Options) -> tuple[list[Manifest], Manifest | None]:
    """Return the DeviceConfigs and, where there is something to say in it, the functionConfig with what they share.

    They are rendered together and must give what each gave by itself.
    """
    whole = [one.config for one in taken]
    configs, profiles = with_profiles(whole)
    version = options.own.get("kmm-version")
    settings = {**({"kmm": {"version": version}} if version else {}), **({"profiles": profiles} if profiles else {})}
    function_config = {
        "apiVersion": "krmfn.dev/v1alpha1",
        "kind": "RenderDeviceConfigs",
        "metadata": {"name": "imported"},
        "spec": settings,
    }
    apart = {**function_config, "spec": {**settings, "exclusivity": {"mode": "off"}}}
    together = _forms(rendered(configs, options, apart))
    if together != [form for config in whole for form in _forms(rendered([config], options))]:
        raise AssertionError("the profiles change what is rendered")
    return configs, function_config if settings else None


def errors(manifests: Iterable[Manifest], options: Options, function_config: Manifest | None) -> list[Result]:
    """Return the errors about the configs together with what stays hand-written: those about nodes, above all."""
    results = rendered(manifests, options, function_config).results
    return [result for result in results if result.severity == "error"]


def _forms(resources: ResourceList) -> list[Manifest]:
    """Return what was rendered, without marks."""
    return [normal(item.manifest) for item in resources.items if item.kind != "DeviceConfig"]
