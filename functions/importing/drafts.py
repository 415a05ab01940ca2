"""The DeviceConfig that should render a Module and its consumers, and why it does not where it does not."""

import re
from collections.abc import Iterable, Sequence

from krmfn import Item, Manifest, Ref, ResourceList, Result
from krmfn.resource import ref
from krmfn.typed import Any, NamedTuple
from krmfn.yamltext import emit

from ..deviceconfig import deviceconfig
from ..deviceconfig.fields import Spec
from ..deviceconfig.names import is_complete
from ..kmm.lookup import listing, table, tables, text
from ..kmm.module import HUB_KIND
from ..rendering.generated import filled
from ..run import note
from ..settings import Settings
from .comparing import Difference, compared, lost, rolling
from .consumers import Consumer, entry_of
from .normal import folded, normal, own_notes

MODULE = -1
"""The number of the Module, where consumers have theirs."""


class Draft(NamedTuple):
    """A DeviceConfig, and what it should render."""

    config: Manifest
    wanted: tuple[tuple[Manifest, int], ...]
    """The objects, each with the number of its consumer: a DaemonSet and its Service, or MODULE."""
    entries: tuple[int, ...]
    """The consumers that the entries of daemonSets are made from."""
    older: tuple[int, ...]
    """The consumers that wait for an older version of an ordered upgrade."""


def draft(module: Manifest, consumers: Sequence[Consumer], keeps_pods: bool = False) -> Draft:
    """Return the draft of a Module, or of one for the spokes of a hub, with its consumers (see `entry_of`)."""
    own, form = ref(module), normal(module)
    spec, hub = table(form, "spec"), dict[str, Any]()
    if own.kind == HUB_KIND:
        hub = {"spokeNamespace": spec.get("spokeNamespace"), "clusterSelector": table(spec, "selector")}
        spec, own = table(spec, "moduleSpec"), own._replace(namespace=str(spec.get("spokeNamespace")))
    spec = table(folded({"spec": spec}), "spec")
    version = str(table(spec, "moduleLoader", "container").get("version", ""))
    numbered = list(enumerate(consumers))
    current = [(number, one) for number, one in numbered if one.version in ("", version)]
    older = [(number, one) for number, one in numbered if one.version not in ("", version)]
    fields = fields_of(spec, table(form, "metadata")) | ({"hub": hub} if hub else {})
    if version and older:
        fields["upgrade"] = {"ordered": True, "retain": list(dict.fromkeys(one.version for _, one in older))}
    if several := _secrets(fields.get("imagePullSecret"), consumers):
        fields = {name: value for name, value in fields.items() if name != "imagePullSecret"}
        fields["imagePullSecrets"] = several
    fields |= _tolerations(fields.pop("tolerations", []), consumers)
    if current:
        fields["daemonSets"] = [entry_of(one, fields, own.name, keeps_pods) for _, one in current]
    names = list(Spec.__annotations__)
    metadata = {"name": own.name} | ({"namespace": own.namespace} if own.namespace else {})
    spec = dict(sorted(fields.items(), key=lambda field: names.index(field[0])))
    config = {"apiVersion": "krmfn.dev/v1alpha1", "kind": "DeviceConfig", "metadata": metadata, "spec": spec}
    objects = [(module, MODULE), *((one.manifest, number) for number, one in numbered)]
    objects += [(one.service, number) for number, one in current if one.service]
    return Draft(config, tuple(objects), tuple(number for number, _ in current), tuple(number for number, _ in older))


def _tolerations(whole: Any, consumers: Sequence[Consumer]) -> dict[str, Any]:
    """Return the Module's tolerations: those that all consumers have, too, and those of its own."""
    pods = [table(normal(one.manifest), "spec", "template", "spec") for one in consumers]
    lists = [listing(pod, "tolerations") or [] for pod in pods]
    own = whole if isinstance(whole, list) else []
    shared = [one for one in own if all(one in tolerations for tolerations in lists)]
    return filled(tolerations=shared, loaderTolerations=[one for one in own if one not in shared])


def _secrets(first: str | None, consumers: Sequence[Consumer]) -> list[Any]:
    """Return the pull secrets of the consumers when all have the same several, the Module's first."""
    pods = (table(found.manifest, "spec", "template", "spec") for found in consumers)
    lists = [[one.get("name") for _, one in tables(pod, "imagePullSecrets")] for pod in pods]
    same = lists[0] if lists and all(names == lists[0] for names in lists) else []
    return same if len(same) > 1 and same[0] == first else []


Reasons = dict[int, tuple[str, ...]]
"""Why objects cannot be expressed, by the numbers of the consumers, and MODULE."""


def judged(
    draft: Draft, settings: Settings, existing: Manifest | None = None
) -> tuple[Reasons, tuple[tuple[Ref, Difference], ...]]:
    """Return why objects of a draft cannot be expressed, and the differences that are meant."""
    resources = rendered([draft.config], settings, existing)
    if resources.failed:
        return _refused(draft, resources.results), ()
    made = {item.ref.id: item.manifest for item in resources.items if item.kind != "DeviceConfig"}
    selector = table(draft.config, "spec", "nodeSelector")
    entries = zip(draft.entries, draft.config["spec"].get("daemonSets", ()), strict=True)
    kept = {number for number, entry in entries if "keepPodTemplate" in entry}
    reasons: Reasons = {}
    differences: list[tuple[Ref, Difference]] = []
    for manifest, number in draft.wanted:
        new = made.pop(ref(manifest).id, None)
        found = compared(manifest, new, selector) if new else []
        if new and number in kept and new["kind"] == "DaemonSet":
            found = [one for one in found if one.change.parts[:2] != ("spec", "template")] + rolling(manifest, new)
        differences += ((ref(manifest), one) for one in found)
        why = tuple(lost(one) for one in found if not one.why) if new else ("nothing of this name is rendered",)
        if why:
            reasons[number] = (*reasons.get(number, ()), *why)
    added = tuple(f"{kind} {namespace}/{name} would be added" for _, kind, namespace, name in made)
    if added and not reasons:
        reasons = dict.fromkeys(draft.older or (MODULE,), added)
    return reasons, tuple(differences)


def rendered(
    manifests: Iterable[Manifest], settings: Settings, function_config: Manifest | None = None
) -> ResourceList:
    """Return a list of these manifests after the function that a render calls."""
    texts = (emit.dump_json(manifest).encode() for manifest in manifests)
    resources = ResourceList((Item(text, 0, len(text), -2) for text in texts), function_config)
    note(resources, settings=settings)
    deviceconfig(resources)
    return resources


def _refused(draft: Draft, results: Iterable[Result]) -> Reasons:
    """Return the errors about a draft, each for the object that it is about."""
    reasons: Reasons = {}
    for result in results:
        if result.severity == "error":
            path = result.field.path if result.field else ""
            index = path.removeprefix("spec.daemonSets[").partition("]")[0]
            number = draft.entries[int(index)] if path != index and index.isdecimal() else MODULE
            reasons[number] = (*reasons.get(number, ()), f"as a DeviceConfig, {path}: {result.message}")
    return reasons


_VERSIONED = re.compile(r"([^@$]+):([A-Za-z0-9][A-Za-z0-9._-]{0,62})-\$KERNEL_FULL_VERSION")
"""The image that `driverImage` and `driverVersion` make."""
_EVERY_KERNEL = [{"regexp": "^.+$"}]
_OF_CONTAINER = ("inTreeModulesToRemove", "build", "sign", "registryTLS", "imagePullPolicy")


def fields_of(spec: dict[str, Any], metadata: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that give the ModuleSpec back; what has no field of its own is left out, and seen later.

    `spec` and `metadata` are of a manifest in the form of `normal.folded`.
    """
    container = table(spec, "moduleLoader", "container")
    modprobe = table(container, "modprobe")
    raw = table(modprobe, "rawArgs")
    selector = spec.get("selector")
    return filled(
        **_image(container),
        allNodes=True if selector == {} else None,
        moduleName=modprobe.get("moduleName"),
        **{name: modprobe.get(name) for name in ("parameters", "modulesLoadingOrder", "dirName", "firmwarePath")},
        loadArgs=table(modprobe, "args").get("load"),
        unloadArgs=table(modprobe, "args").get("unload"),
        rawLoadArgs=raw.get("load"),
        rawUnloadArgs=raw.get("unload"),
        inTreeDriver=None if "moduleLoader" in spec else True,
        **{name: container.get(name) for name in _OF_CONTAINER},
        imagePullSecret=table(spec, "imageRepoSecret").get("name"),
        upgrade={"ordered": True} if container.get("version") else None,
        tolerations=spec.get("tolerations"),
        serviceAccountName=table(spec, "moduleLoader").get("serviceAccountName"),
        devicePlugin=_plugin(spec.get("devicePlugin")),
        dra=_plugin(spec.get("dra")),
        labels=own_notes(metadata, "labels"),
        annotations=own_notes(metadata, "annotations"),
    ) | {
        **({"nodeSelector": selector} if isinstance(selector, dict) else {}),
        **({"loadArgs": []} if modprobe.get("args") == {} else {}),
    }


def _image(container: dict[str, Any]) -> dict[str, Any]:
    """Return driverImage, driverVersion and kernelMappings: an image that all mappings share stands once."""
    written, names = tables(container, "kernelMappings"), {"containerImage": "image"}
    mappings = [{names.get(name, name): value for name, value in mapping.items()} for _, mapping in written]
    version = container.get("version")
    images = {text(mapping, "image") for mapping in mappings}
    (image,) = images if len(images) == 1 else ("",)
    if not is_complete(image):
        return {"kernelMappings": mappings, "driverVersion": version}
    parts = _VERSIONED.fullmatch(image)
    if parts and version in (None, parts[2]) and not is_complete(parts[1]):
        image, version = parts[1], parts[2]
    rest = [{name: value for name, value in mapping.items() if name != "image"} for mapping in mappings]
    return {"driverImage": image, "driverVersion": version, "kernelMappings": rest if rest != _EVERY_KERNEL else None}


def _plugin(section: Any) -> dict[str, Any] | None:
    """Return devicePlugin or dra: the fields of its container stand in it."""
    if not isinstance(section, dict):
        return None
    rest = {name: value for name, value in section.items() if name != "container"}
    return {**table(section, "container"), **rest}
