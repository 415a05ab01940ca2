"""Draft the DeviceConfig that should render a Module and its consumers, and find what it cannot express."""

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
from ..run import Run
from .comparing import Difference, compare, refusal, template_differences
from .consumers import Consumer, entry_of
from .normal import folded, normal, own_notes

MODULE = -1
"""The number of the Module; consumers are numbered from 0."""


class Draft(NamedTuple):
    """A DeviceConfig, and the objects that it should render."""

    config: Manifest
    objects: tuple[tuple[Manifest, int], ...]
    """The objects, each with the number of its consumer (a DaemonSet and its Service), or MODULE."""
    entries: tuple[int, ...]
    """The numbers of the consumers that the entries of daemonSets are made from."""
    older: tuple[int, ...]
    """The numbers of the consumers that wait for an older version of an ordered upgrade."""


def draft(module: Manifest, consumers: Sequence[Consumer], keeps_pods: bool = False) -> Draft:
    """Return the draft for a Module or ManagedClusterModule with its consumers; for `keeps_pods` see `entry_of`."""
    target, form = ref(module), normal(module)
    spec, hub = table(form, "spec"), dict[str, Any]()
    if target.kind == HUB_KIND:
        hub = {"spokeNamespace": spec.get("spokeNamespace"), "clusterSelector": table(spec, "selector")}
        spec, target = table(spec, "moduleSpec"), target._replace(namespace=str(spec.get("spokeNamespace")))
    spec = table(folded({"spec": spec}), "spec")
    version = str(table(spec, "moduleLoader", "container").get("version", ""))
    numbered = list(enumerate(consumers))
    current = [(number, consumer) for number, consumer in numbered if consumer.version in ("", version)]
    older = [(number, consumer) for number, consumer in numbered if consumer.version not in ("", version)]
    fields = fields_of(spec, table(form, "metadata")) | ({"hub": hub} if hub else {})
    if version and older:
        fields["upgrade"] = {"ordered": True, "retain": list(dict.fromkeys(consumer.version for _, consumer in older))}
    if secrets := _secrets(fields.get("imagePullSecret"), consumers):
        fields = {name: value for name, value in fields.items() if name != "imagePullSecret"}
        fields["imagePullSecrets"] = secrets
    fields |= _tolerations(fields.pop("tolerations", []), consumers)
    if current:
        fields["daemonSets"] = [entry_of(consumer, fields, target.name, keeps_pods) for _, consumer in current]
    names = list(Spec.__annotations__)
    metadata = {"name": target.name} | ({"namespace": target.namespace} if target.namespace else {})
    spec = dict(sorted(fields.items(), key=lambda field: names.index(field[0])))
    config = {"apiVersion": "krmfn.dev/v1alpha1", "kind": "DeviceConfig", "metadata": metadata, "spec": spec}
    objects = [(module, MODULE), *((consumer.manifest, number) for number, consumer in numbered)]
    objects += [(consumer.service, number) for number, consumer in current if consumer.service]
    return Draft(config, tuple(objects), tuple(number for number, _ in current), tuple(number for number, _ in older))


def _tolerations(tolerations: Any, consumers: Sequence[Consumer]) -> dict[str, Any]:
    """Return the Module's tolerations as `tolerations`, if all consumers have them, too, and `loaderTolerations`."""
    pods = [table(normal(consumer.manifest), "spec", "template", "spec") for consumer in consumers]
    lists = [listing(pod, "tolerations") or [] for pod in pods]
    entries = tolerations if isinstance(tolerations, list) else []
    shared = [entry for entry in entries if all(entry in others for others in lists)]
    return filled(tolerations=shared, loaderTolerations=[entry for entry in entries if entry not in shared])


def _secrets(module_secret: str | None, consumers: Sequence[Consumer]) -> list[Any]:
    """Return the names of the consumers' pull secrets, if all have the same several, and `module_secret` first."""
    pods = (table(consumer.manifest, "spec", "template", "spec") for consumer in consumers)
    lists = [[secret.get("name") for _, secret in tables(pod, "imagePullSecrets")] for pod in pods]
    names = lists[0] if lists and all(others == lists[0] for others in lists) else []
    return names if len(names) > 1 and names[0] == module_secret else []


Reasons = dict[int, tuple[str, ...]]
"""Why objects cannot be expressed, by the numbers of the consumers, and MODULE."""


Differences = tuple[tuple[Ref, Difference], ...]
"""Differences, each with the object that has it."""


def judge(draft: Draft, run: Run, existing: Manifest | None = None) -> tuple[Reasons, Differences]:
    """Return why objects of a draft cannot be expressed, and all differences between written and rendered objects."""
    resources = rendered([draft.config], run, existing)
    if resources.failed:
        return _errors(draft, resources.results), ()
    manifests = {item.ref.id: item.manifest for item in resources.items if item.kind != "DeviceConfig"}
    selector = table(draft.config, "spec", "nodeSelector")
    entries = zip(draft.entries, draft.config["spec"].get("daemonSets", ()), strict=True)
    kept = {number for number, entry in entries if "keepPodTemplate" in entry}
    reasons: Reasons = {}
    pairs: list[tuple[Ref, Difference]] = []
    for manifest, number in draft.objects:
        new = manifests.pop(ref(manifest).id, None)
        differences = compare(manifest, new, selector) if new else []
        if new and number in kept and new["kind"] == "DaemonSet":
            differences = [entry for entry in differences if entry.change.parts[:2] != ("spec", "template")]
            differences += template_differences(manifest, new)
        pairs += ((ref(manifest), difference) for difference in differences)
        refusals = tuple(refusal(difference.change) for difference in differences if not difference.reason)
        if refusals or not new:
            reasons[number] = (*reasons.get(number, ()), *(refusals or ("nothing of this name is rendered",)))
    added = tuple(f"{kind} {namespace}/{name} would be added" for _, kind, namespace, name in manifests)
    if added and not reasons:
        reasons = dict.fromkeys(draft.older or (MODULE,), added)
    return reasons, tuple(pairs)


def rendered(manifests: Iterable[Manifest], run: Run, config: Manifest | None = None) -> ResourceList:
    """Return these manifests and the functionConfig `config` as a ResourceList on which `deviceconfig` has run.

    Its profiles count as used: with one for each of many configs, all would be judged anew with each config.
    """
    texts = (emit.dump_json(manifest).encode() for manifest in manifests)
    run = run._replace(used=run.used.union(table(config, "spec", "profiles")))
    resources = ResourceList((Item(text, 0, len(text), -2) for text in texts), config, run)
    deviceconfig(resources)
    return resources


def _errors(draft: Draft, results: Iterable[Result]) -> Reasons:
    """Return the errors about a draft, by the numbers of the consumers that they are about, or MODULE."""
    reasons: Reasons = {}
    for result in results:
        if result.severity == "error":
            path = result.field.path if result.field else ""
            index = path.removeprefix("spec.daemonSets[").partition("]")[0]
            number = draft.entries[int(index)] if path != index and index.isdecimal() else MODULE
            reasons[number] = (*reasons.get(number, ()), f"as a DeviceConfig, {path}: {result.text}")
    return reasons


_VERSIONED = re.compile(r"([^@$]+):([A-Za-z0-9][A-Za-z0-9._-]{0,62})-\$KERNEL_FULL_VERSION")
"""The image that `driverImage` and `driverVersion` make."""
_EVERY_KERNEL = [{"regexp": "^.+$"}]
_OF_MODPROBE = ("parameters", "modulesLoadingOrder", "dirName", "firmwarePath", "modprobedDir")
_OF_CONTAINER = ("inTreeModulesToRemove", "build", "sign", "registryTLS", "imagePullPolicy")


def fields_of(spec: dict[str, Any], metadata: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a DeviceConfig that renders this ModuleSpec, as far as possible; `judge` finds the rest.

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
        **{name: modprobe.get(name) for name in _OF_MODPROBE},
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
    """Return driverImage, driverVersion and kernelMappings; an image that all mappings share becomes driverImage."""
    names, entries = {"containerImage": "image"}, tables(container, "kernelMappings")
    mappings = [{names.get(name, name): value for name, value in mapping.items()} for _, mapping in entries]
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
    """Return devicePlugin or dra, which hold the fields of their container themselves."""
    if not isinstance(section, dict):
        return None
    rest = {name: value for name, value in section.items() if name != "container"}
    return {**table(section, "container"), **rest}
