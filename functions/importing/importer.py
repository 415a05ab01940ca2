"""The import: each Module with its consumers becomes a DeviceConfig, which is rendered and compared with them."""

from collections.abc import Iterable, Sequence

from krmfn import Manifest, Ref
from krmfn.resource import ref
from krmfn.typed import Any, NamedTuple

from ..grouping import grouped
from ..kmm.lookup import table
from ..kmm.module import MODULE_KINDS, PLUGINS
from ..rendering.kinds import EXTRA
from ..settings import Settings
from .comparing import Difference, compared
from .consumers import Consumer, consumer
from .drafts import MODULE, draft, judged, rendered
from .normal import cleaned, owner, unaddressed


class Kept(NamedTuple):
    """An object that stays as it is written, without what the server has set, and why."""

    manifest: Manifest
    reasons: tuple[str, ...]


class Taken(NamedTuple):
    """A Module that a DeviceConfig renders, with its consumers."""

    config: Manifest
    objects: tuple[Manifest, ...]
    """The hand-written objects that the config renders."""
    differences: tuple[tuple[Ref, Difference], ...] = ()
    """What differs, and is meant."""
    extras: tuple[Manifest, ...] = ()
    """Those among `objects` that are neither Modules nor consumers: extraObjects of its profile."""


class Imported(NamedTuple):
    """What an import gives."""

    taken: tuple[Taken, ...]
    kept: tuple[Kept, ...]
    others: int
    """How many objects are neither Modules nor their consumers."""
    left: tuple[Ref, ...] = ()
    """Those among them that belong to the owner of a Module."""


def imported(
    manifests: Sequence[Manifest], settings: Settings, existing: Manifest | None = None, keeps_pods: bool = False
) -> Imported:
    """Return the DeviceConfigs of all Modules that can be expressed, and what stays hand-written.

    `settings` are those of a render, `existing` is its functionConfig, if there is one already. Each config is rendered
    by itself: an object is taken only when what is rendered in its place means the same, but for differences that are
    named with their reason. With `keeps_pods` nothing is added to the pods of DaemonSets.
    """
    services = {(own.namespace, own.name): one for one in manifests if (own := ref(one)).kind == "Service"}
    modules = [one for one in manifests if (ref(one).group, ref(one).kind) in MODULE_KINDS]
    owned = _owned(modules)
    consumers = [found for one in manifests if (found := consumer(one, services, owned))]
    waiting = grouped((found.module, found) for found in consumers)
    known = {id(one) for one in (*modules, *(part for one in consumers for part in (one.manifest, one.service)))}
    rest = ((one, owned.get((ref(one).namespace, owner(one)))) for one in manifests if id(one) not in known)
    beside = grouped((module, one) for one, module in rest if module)
    theirs = [ref(one) for group in beside.values() for one in group]
    taken, kept = list[Taken](), list[Kept]()
    for module in modules:
        place = (ref(module).namespace, ref(module).name)
        one, stay = _attempt(module, waiting.pop(place, []), settings, existing, keeps_pods)
        taken += [_with_extras(one, beside.pop(place, []), settings, existing)] if one else []
        kept += stay
    for (namespace, name), lonely in waiting.items():
        kept += _kept(lonely, f"its Module {namespace}/{name} is not in the input")
    fronts = {id(one.service) for one in consumers if one.service}
    made = {ref(manifest).id for one in taken for manifest in one.objects}
    kept = list({ref(one.manifest).id: one for one in kept if ref(one.manifest).id not in made}.values())
    extras = sum(len(one.extras) for one in taken)
    others = len(manifests) - len(modules) - len(consumers) - len(fronts) - extras
    return Imported(tuple(taken), tuple(kept), others, tuple(one for one in theirs if one.id not in made))


def _owned(modules: Sequence[Manifest]) -> dict[tuple[str, str], tuple[str, str]]:
    """Return the Module that each owner has, by the namespace of the owner's other objects, and the owner."""
    return {
        (namespace, owner(one)): (ref(one).namespace, ref(one).name)
        for one in reversed(modules)
        for namespace in (ref(one).namespace, "")  # a cluster-wide owner has cluster-wide objects, too
        if owner(one)
    }


def _with_extras(taken: Taken, manifests: Sequence[Manifest], settings: Settings, existing: Manifest | None) -> Taken:
    """Return what is taken with those objects of the Module's owner that a profile of the config gives back."""
    for manifest in (one for one in manifests if (ref(one).group, ref(one).kind) in EXTRA):
        named, profiles = with_extras(taken.config, {}, [manifest])
        made = rendered([named], settings, with_settings(existing, profiles=profiles))
        new = next((item.manifest for item in made.items if item.ref.id == ref(manifest).id), None)
        if not new or made.failed:
            continue
        found = compared(manifest, new, {})
        if all(one.why for one in found):
            differences = (*taken.differences, *((ref(manifest), one) for one in found))
            objects, extras = (*taken.objects, manifest), (*taken.extras, manifest)
            taken = taken._replace(objects=objects, differences=differences, extras=extras)
    return taken


_NEW = {"apiVersion": "krmfn.dev/v1alpha1", "kind": "RenderDeviceConfigs", "metadata": {"name": "imported"}}


def with_settings(existing: Manifest | None, **spec: Any) -> Manifest:
    """Return the functionConfig with more settings; the profiles are added to those that it has."""
    head = existing or _NEW
    own = table(head, "spec")
    if "profiles" in spec:
        spec["profiles"] = {**table(own, "profiles"), **spec["profiles"]}
    return {**head, "spec": {**own, **spec}}


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


def extra_of(manifest: Manifest) -> dict[str, Any]:
    """Return the entry of extraObjects that gives the object back; its namespace is filled in.

    Of a Service it has no address; that it has two families stays, which no API server chooses.
    """
    entry = unaddressed(cleaned(manifest))
    policy = table(manifest, "spec").get("ipFamilyPolicy")
    if policy in ("PreferDualStack", "RequireDualStack"):
        entry = {**entry, "spec": {**entry["spec"], "ipFamilyPolicy": policy}}
    metadata = entry["metadata"]
    kept = {name: metadata[name] for name in ("name", "labels", "annotations") if name in metadata}
    return {**entry, "metadata": kept}


def _attempt(
    module: Manifest, consumers: Sequence[Consumer], settings: Settings, existing: Manifest | None, keeps_pods: bool
) -> tuple[Taken | None, list[Kept]]:
    """Return what becomes of a Module with its consumers: the config, and what of it stays hand-written.

    A consumer that cannot be expressed is left out of the config, and what remains is tried again.
    """
    specs = {*table(module, "spec"), *table(module, "spec", "moduleSpec")}
    if specs.isdisjoint(("moduleLoader", *PLUGINS)):
        nothing = "it loads nothing and starts nothing, so it is not needed"
        return None, [Kept(cleaned(module), (nothing,)), *_kept(consumers, "its Module stays as it is")]
    spec = table(module, "spec", "moduleSpec") or table(module, "spec")
    version = table(spec, "moduleLoader", "container").get("version")
    rest = [one for one in consumers if version or not one.version]
    stay = _kept((one for one in consumers if one not in rest), "it waits for a version, and its Module has none")
    while True:
        attempt = draft(module, rest, keeps_pods)
        reasons, differences = judged(attempt, settings, existing)
        if not reasons:
            return Taken(attempt.config, tuple(manifest for manifest, _ in attempt.wanted), differences), stay
        if MODULE in reasons and rest:  # is it the Module itself, or what waits for it?
            stay += _kept(rest, f"with it, {reasons[MODULE][0]}")
            rest = []
            continue
        if MODULE in reasons:
            stay = [one._replace(reasons=("its Module stays as it is",)) for one in stay]
            return None, [Kept(cleaned(module), reasons[MODULE]), *stay]
        for number, why in reasons.items():
            stay += _kept([rest[number]], *why)
        rest = [one for number, one in enumerate(rest) if number not in reasons]


def _kept(consumers: Iterable[Consumer], *why: str) -> list[Kept]:
    """Return the DaemonSets, and the Services in front of them, as they stay."""
    manifests = [one for found in consumers for one in (found.manifest, found.service) if one]
    return [Kept(cleaned(manifest), why) for manifest in manifests]
