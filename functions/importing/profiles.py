"""The profiles of an import: those that there are, and those with what else belongs to the owner of a Module."""

from collections.abc import Sequence

from krmfn import Manifest, ResourceList
from krmfn.resource import ref
from krmfn.typed import Any

from ..kmm.lookup import table
from ..rendering.kinds import EXTRA
from ..settings import Settings
from .comparing import Difference, compared
from .drafts import rendered
from .normal import cleaned, normal

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
        attempt = {**config, "spec": {"profile": name, **config["spec"]}}
        for field in profile if isinstance(profile, dict) and _is_same(attempt, whole, settings, existing) else ():
            less = {**config, "spec": {key: value for key, value in attempt["spec"].items() if key != field}}
            if field in attempt["spec"] and _is_same(less, whole, settings, existing):
                attempt = less
        is_its_driver = not any(field in attempt["spec"] for field in OF_DRIVER if field in profile)
        if is_its_driver and len(attempt["spec"]) < fewest:
            best, fewest = attempt, len(attempt["spec"])
    return best


def _is_same(config: Manifest, whole: list[Manifest], settings: Settings, existing: Manifest) -> bool:
    resources = rendered([config], settings, existing)
    return not resources.failed and forms(resources) == whole


def forms(resources: ResourceList) -> list[Manifest]:
    """Return what was rendered, without marks."""
    return [normal(item.manifest) for item in resources.items if item.kind != "DeviceConfig"]


def extra_of(manifest: Manifest) -> dict[str, Any]:
    """Return the entry of extraObjects that gives the object back; its namespace is filled in."""
    entry = cleaned(manifest)
    metadata = entry["metadata"]
    kept = {name: metadata[name] for name in ("name", "labels", "annotations") if name in metadata}
    return {**entry, "metadata": kept}


def taken_as_extras(
    config: Manifest, manifests: Sequence[Manifest], settings: Settings, existing: Manifest | None = None
) -> list[tuple[Manifest, list[Difference]]]:
    """Return those objects that a profile of the config gives back, each with the differences that are meant."""
    taken = []
    for manifest in manifests:
        own = ref(manifest)
        if (own.group, own.kind) in EXTRA:
            named, profiles = with_extras(config, {}, [manifest])
            made = rendered([named], settings, with_settings(existing, profiles=profiles))
            new = next((item.manifest for item in made.items if item.ref.id == own.id), None)
            found = compared(manifest, new, {}) if new and not made.failed else None
            if found is not None and all(one.why for one in found):
                taken.append((manifest, found))
    return taken


def with_extras(
    config: Manifest, profiles: dict[str, dict[str, Any]], extras: Sequence[Manifest]
) -> tuple[Manifest, dict[str, dict[str, Any]]]:
    """Return the config with a profile of its own that has these objects, and the profiles with that one."""
    if not extras:
        return config, profiles
    inherited, name = config["spec"].get("profile", ""), config["metadata"]["name"]
    own = f"{inherited}-{name}" if inherited else name
    profile = {**profiles.get(inherited, {}), "extraObjects": [extra_of(one) for one in extras]}
    return {**config, "spec": {**config["spec"], "profile": own}}, {**profiles, own: profile}
