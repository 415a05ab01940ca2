"""What else belongs to the owner of a Module: as extraObjects of the profile of its config."""

from __future__ import annotations

from collections.abc import Sequence

from krmfn import Manifest
from krmfn.resource import ref
from krmfn.typed import Any

from ..rendering.kinds import EXTRA
from ..settings import Settings
from .comparing import Difference, compared
from .drafts import rendered
from .existing import with_settings
from .normal import cleaned


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
