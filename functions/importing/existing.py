"""The functionConfig that is there already: what an import adds to it, and which of its profiles a config can use."""

from __future__ import annotations

from krmfn import Manifest, ResourceList
from krmfn.typed import Any

from ..kmm.lookup import table
from ..settings import Settings
from .drafts import rendered
from .normal import normal

OF_DRIVER = (
    *("moduleName", "modulesLoadingOrder", "dirName", "firmwarePath", "rawLoadArgs", "rawUnloadArgs", "inTreeDriver"),
)
"""Fields that are about the driver, and go into the profile of a single config."""


def with_settings(existing: Manifest | None, **spec: Any) -> Manifest:
    """Return the functionConfig with more settings; the profiles are added to those that it has."""
    head = existing or {
        "apiVersion": "krmfn.dev/v1alpha1",
        "kind": "RenderDeviceConfigs",
        "metadata": {"name": "imported"},
    }
    own = table(head, "spec")
    if "profiles" in spec:
        spec["profiles"] = {**table(own, "profiles"), **spec["profiles"]}
    return {**head, "spec": {**own, **spec}}


def on_a_profile(config: Manifest, settings: Settings, existing: Manifest) -> Manifest:
    """Return the config with the profile that leaves the least to write and renders the same; itself without one."""
    whole, best, fewest = forms(rendered([config], settings, existing)), config, len(config["spec"]) + 1
    for name, profile in table(existing, "spec", "profiles").items():
        attempt = _attempt({"profile": name, **config["spec"]}, config)
        for field in profile if isinstance(profile, dict) and _is_same(attempt, whole, settings, existing) else ():
            less = {key: value for key, value in attempt["spec"].items() if key != field}
            if len(less) < len(attempt["spec"]) and _is_same(_attempt(less, config), whole, settings, existing):
                attempt = _attempt(less, config)
        is_its_driver = not any(field in attempt["spec"] for field in OF_DRIVER if field in profile)
        if is_its_driver and len(attempt["spec"]) < fewest:
            best, fewest = attempt, len(attempt["spec"])
    return best


def _attempt(spec: dict[str, Any], config: Manifest) -> Manifest:
    return {**config, "spec": spec}


def _is_same(config: Manifest, whole: list[Manifest], settings: Settings, existing: Manifest) -> bool:
    resources = rendered([config], settings, existing)
    return not resources.failed and forms(resources) == whole


def forms(resources: ResourceList) -> list[Manifest]:
    """Return what was rendered, without marks."""
    return [normal(item.manifest) for item in resources.items if item.kind != "DeviceConfig"]
