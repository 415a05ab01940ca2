"""Import Modules: each becomes a DeviceConfig with its consumers, which is rendered and compared with them."""

from collections.abc import Iterable, Sequence

from krmfn import Manifest, Ref
from krmfn.resource import ref
from krmfn.typed import Any, NamedTuple

from ..grouping import grouped
from ..kmm.lookup import table
from ..kmm.module import MODULE_KINDS, PLUGINS
from ..rendering.kinds import EXTRA
from ..run import Run
from .comparing import compare
from .consumers import Consumer, Key, consumer_of
from .drafts import MODULE, Differences, draft, judge, rendered
from .normal import cleaned, owner, unaddressed


class KeptObject(NamedTuple):
    """An object that stays as it is written, without the fields that the server sets, and why."""

    manifest: Manifest
    reasons: tuple[str, ...]


class Conversion(NamedTuple):
    """A DeviceConfig that renders a Module and its consumers."""

    config: Manifest
    objects: tuple[Manifest, ...]
    """The hand-written objects that the config renders."""
    differences: Differences = ()
    """The differences from these objects, each with its reason."""
    extras: tuple[Manifest, ...] = ()
    """Those among `objects` that are neither Modules nor consumers: extraObjects of the config's profile."""
    crds: tuple[Manifest, ...] = ()
    """The CRDs of KMM that its cluster is known to have."""


class Import(NamedTuple):
    """The result of an import."""

    conversions: tuple[Conversion, ...]
    kept: tuple[KeptObject, ...]
    others: int
    """How many objects are left out: neither Modules nor consumers nor extras."""
    siblings: tuple[Ref, ...] = ()
    """Those among them that belong to the owner of a Module."""


def import_modules(
    manifests: Sequence[Manifest], run: Run, existing: Manifest | None = None, keeps_pods: bool = False
) -> Import:
    """Return a DeviceConfig for each Module that can be expressed as one, and the objects that stay hand-written.

    `run` is that of a render, `existing` is its functionConfig, if there is one already. Each config is rendered
    by itself, and replaces an object only if the rendered one means the same, but for differences with a known reason.
    With `keeps_pods` nothing is added to the pods of DaemonSets.
    """
    pairs = [(ref(manifest), manifest) for manifest in manifests]
    services = {(target.namespace, target.name): manifest for target, manifest in pairs if target.kind == "Service"}
    modules = [manifest for target, manifest in pairs if (target.group, target.kind) in MODULE_KINDS]
    owned = _owned(modules)
    consumers = list(filter(None, (consumer_of(manifest, services, owned) for manifest in manifests)))
    groups = grouped((consumer.module, consumer) for consumer in consumers)
    parts = (part for consumer in consumers for part in (consumer.manifest, consumer.service))
    known = {id(manifest) for manifest in (*modules, *parts) if manifest is not None}
    rest = ((manifest, (target.namespace, owner(manifest))) for target, manifest in pairs if id(manifest) not in known)
    siblings = grouped((owned[key], manifest) for manifest, key in rest if key in owned)
    sibling_refs = [ref(manifest) for group in siblings.values() for manifest in group]
    conversions, kept = list[Conversion](), list[KeptObject]()
    for module in modules:
        place = (ref(module).namespace, ref(module).name)
        conversion, objects = _attempt(module, groups.pop(place, []), run, existing, keeps_pods)
        if conversion:
            conversions.append(_with_siblings(conversion, siblings.pop(place, []), run, existing))
        kept += objects
    for (namespace, name), group in groups.items():
        kept += _kept(group, f"its Module {namespace}/{name} is not in the input")
    converted_ids = {ref(manifest).id for conversion in conversions for manifest in conversion.objects}
    kept_by_id = {ref(entry.manifest).id: entry for entry in kept if ref(entry.manifest).id not in converted_ids}
    others = len(manifests) - len(known) - sum(len(conversion.extras) for conversion in conversions)
    left_out = tuple(sibling for sibling in sibling_refs if sibling.id not in converted_ids)
    return Import(tuple(conversions), tuple(kept_by_id.values()), others, left_out)


def _owned(modules: Sequence[Manifest]) -> dict[Key, Key]:
    """Return the first Module of each owner, by the namespace of the owner's other objects, and the owner."""
    owned: dict[Key, Key] = {}
    for target, name in ((ref(module), owner(module)) for module in modules):
        for namespace in (target.namespace, "") if name else ():  # a cluster-wide owner has cluster-wide objects, too
            owned.setdefault((namespace, name), (target.namespace, target.name))
    return owned


def _with_siblings(
    conversion: Conversion, manifests: Sequence[Manifest], run: Run, existing: Manifest | None
) -> Conversion:
    """Return the conversion with those objects of the Module's owner that a profile can render as extraObjects."""
    for target, manifest in ((ref(manifest), manifest) for manifest in manifests):
        if (target.group, target.kind) not in EXTRA:
            continue
        config, profiles = with_extras(conversion.config, {}, [manifest])
        resources = rendered([config], run, with_settings(existing, profiles=profiles))
        new = next((item.manifest for item in resources.items if item.ref.id == target.id), None)
        if not new or resources.failed:
            continue
        differences = compare(manifest, new, {})
        if all(difference.reason for difference in differences):
            known = (*conversion.differences, *((target, difference) for difference in differences))
            objects, extras = (*conversion.objects, manifest), (*conversion.extras, manifest)
            conversion = conversion._replace(objects=objects, differences=known, extras=extras)
    return conversion


_NEW = {"apiVersion": "krmfn.dev/v1alpha1", "kind": "RenderDeviceConfigs", "metadata": {"name": "imported"}}


def with_settings(existing: Manifest | None, **spec: Any) -> Manifest:
    """Return the functionConfig, or a new one, with these fields of `spec`; profiles are added to those that it has."""
    head = existing or _NEW
    fields = table(head, "spec")
    if "profiles" in spec:
        spec["profiles"] = {**table(fields, "profiles"), **spec["profiles"]}
    return {**head, "spec": {**fields, **spec}}


def with_extras(
    config: Manifest, profiles: dict[str, dict[str, Any]], extras: Sequence[Manifest]
) -> tuple[Manifest, dict[str, dict[str, Any]]]:
    """Return the config with its own profile, which has these objects, and the profiles with that one."""
    if not extras:
        return config, profiles
    inherited, name = config["spec"].get("profile", ""), config["metadata"]["name"]
    name = f"{inherited}-{name}" if inherited else name
    profile = {**profiles.get(inherited, {}), "extraObjects": [extra_of(manifest) for manifest in extras]}
    return {**config, "spec": {**config["spec"], "profile": name}}, {**profiles, name: profile}


def extra_of(manifest: Manifest) -> dict[str, Any]:
    """Return the entry of extraObjects that renders the object, without its namespace, which is filled in.

    A Service loses its addresses, but stays one with two IP families, since no API server chooses those itself.
    """
    entry = unaddressed(cleaned(manifest))
    policy = table(manifest, "spec").get("ipFamilyPolicy")
    if policy in ("PreferDualStack", "RequireDualStack"):
        entry = {**entry, "spec": {**entry["spec"], "ipFamilyPolicy": policy}}
    metadata = entry["metadata"]
    kept = {name: metadata[name] for name in ("name", "labels", "annotations") if name in metadata}
    return {**entry, "metadata": kept}


def _attempt(
    module: Manifest, consumers: Sequence[Consumer], run: Run, existing: Manifest | None, keeps_pods: bool
) -> tuple[Conversion | None, list[KeptObject]]:
    """Return the conversion of a Module with its consumers, if there is one, and the objects that stay hand-written.

    A consumer that cannot be expressed is left out of the config, and the rest is tried again.
    """
    names = {*table(module, "spec"), *table(module, "spec", "moduleSpec")}
    if names.isdisjoint(("moduleLoader", *PLUGINS)):
        reason = "it loads nothing and starts nothing, so it is not needed"
        return None, [KeptObject(cleaned(module), (reason,)), *_kept(consumers, "its Module stays as it is")]
    spec = table(module, "spec", "moduleSpec") or table(module, "spec")
    version = table(spec, "moduleLoader", "container").get("version")
    rest = [consumer for consumer in consumers if version or not consumer.version]
    versioned = [consumer for consumer in consumers if not version and consumer.version]
    kept = _kept(versioned, "it waits for a version, and its Module has none")
    while True:
        attempt = draft(module, rest, keeps_pods)
        reasons, differences = judge(attempt, run, existing)
        if not reasons:
            objects = tuple(manifest for manifest, _ in attempt.objects)
            return Conversion(attempt.config, objects, differences, crds=run.crds), kept
        if MODULE in reasons and rest:  # without its consumers the Module may be fine
            kept += _kept(rest, f"with it, {reasons[MODULE][0]}")
            rest = []
        elif MODULE in reasons:
            kept = [entry._replace(reasons=("its Module stays as it is",)) for entry in kept]
            return None, [KeptObject(cleaned(module), reasons[MODULE]), *kept]
        else:
            for number in reasons:
                kept += _kept([rest[number]], *reasons[number])
            rest = [consumer for number, consumer in enumerate(rest) if number not in reasons]


def _kept(consumers: Iterable[Consumer], *reasons: str) -> list[KeptObject]:
    """Return the DaemonSets, and the Services in front of them, as objects that stay."""
    manifests = [part for consumer in consumers for part in (consumer.manifest, consumer.service) if part]
    return [KeptObject(cleaned(manifest), reasons) for manifest in manifests]
