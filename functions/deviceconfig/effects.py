"""Find fields that are written but have no effect."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain, groupby

from krmfn import Field, Ref, Result, warning
from krmfn.resource import annotations_of, join, split

from .. import oracles
from ..rendering.kinds import PROFILE_MARK
from ..rule import Rule
from . import generate
from .daemonsets import config_maps, pod_of
from .fields import OF_LOADER, DaemonSet, Service
from .layers import Layer, idle_switches, idle_unset, place
from .merging import OF_LOADED, stacked
from .model import DeviceConfig, value
from .names import account_name, entries, is_complete, named_image, plugins

Reason = tuple[str, str]
"""A field, such as `daemonSets[0].labels`, and the reason why it changes nothing."""

_OF_LOADER = ("driverVersion", *(name for name in OF_LOADER if name in OF_LOADED - {"kernelMappings"}), "upgrade")
"""Fields that only the loading of a kernel module needs. (The names of modules count for exclusivity all the same, and
the pull secret serves the device plugin and the DaemonSets, too.)"""

_OURS = (
    *("app.kubernetes.io/", "argocd.argoproj.io/", "config.kubernetes.io/", "kustomize.toolkit.fluxcd.io/"),
    "krmfn.dev/",
)
"""Prefixes of the labels and annotations that krmfn sets itself."""
_PASSED_ON = ("labels", "annotations")


def fields_have_an_effect(configs: Sequence[DeviceConfig]) -> Iterator[tuple[Ref, Result]]:
    """Yield a warning per field that is written and changes nothing.

    A field that several configs or pools share counts as used when one of them uses it.
    """
    idle: dict[tuple[int, str, str], list[tuple[DeviceConfig, str]]] = defaultdict(list)
    fingerprints = set[bytes]()  # the fingerprints of configs whose fields all have an effect
    for config in configs:
        if config.fingerprint in fingerprints:
            continue
        rows = [*_idle(config)]
        for layer, shared, path, reason in rows:
            idle[id(layer.source), shared, path].append((config, reason))
        if config.fingerprint and not rows and not keys_of_ours(config):
            fingerprints.add(config.fingerprint)
    users: Counter[tuple[int, str]] = Counter()  # of each layer, and of each field: how many configs and pools
    for config in configs if idle or any(config.pool for config in configs) else ():
        users.update((id(layer.source), layer.path) for layer in config.layers)
        for name in dict.fromkeys(name for layer in config.layers for name in layer.fields):
            users.update((id(layer.source), f"{layer.path}.{name}") for layer in config.effective_layers(name))
    for (source, shared, path), reasons in idle.items():
        if len(reasons) == users[source, shared]:
            yield from (_finding(config, path, reason) for config, reason in reasons)
    for _, group in groupby(configs, key=lambda config: id(config.item)):
        yield from _about_item(list(group), users)


def _idle(config: DeviceConfig) -> Iterator[tuple[Layer, str, str, str]]:
    """Yield what changes nothing in a config: its layer, the field or layer that others may use, its path, a reason."""
    for name, reason in unused(config):
        layer, path = place(config.layers, config.fields, name)
        if layer and value(config.spec, name) is not None:
            yield layer, f"{layer.path}.{split(name)[0]}", path, reason
    if config.has_switches:
        for layer, path, reason in (*idle_switches(config.layers), *idle_unset(config.layers)):
            yield layer, layer.path, path, reason


_INSTEAD = {
    "openshift": "write serviceAccountName, or remove it",
    "targetPort": "write the name of a port of its containers, or remove it",
    "loaderTolerations": "write those of DaemonSets in `tolerations`, or remove it",
}
"""What to do about a field without effect, by its last name; any other is removed."""


def _finding(config: DeviceConfig, path: str, reason: str) -> tuple[Ref, Result]:
    remedy = _INSTEAD.get(path.rpartition(".")[2], "remove it")
    finding = warning(f"has no effect: {reason}", rule="KRM142", field=Field(path), remedy=remedy)
    return config.ref, config.located(finding)


def _about_item(pools: list[DeviceConfig], users: Counter[tuple[int, str]]) -> Iterator[tuple[Ref, Result]]:
    """Yield findings about fields of a config that every pool replaces, and about a profile that is named twice."""
    config = pools[0]
    for layer in config.layers if config.pool and not config.modules else ():
        if layer.path != "spec":
            continue
        for name in layer.fields:
            if name != "nodeSelector" and not users[id(layer.source), f"spec.{name}"]:
                yield _finding(config, f"spec.{name}", "every pool has its own")
        if "nodeSelector" in layer.fields and "nodePools" not in layer.fields:
            node_pools = stacked(other.fields for other in config.layers[1:])["nodePools"]
            if all(pool["nodeSelector"].items() >= layer.fields["nodeSelector"].items() for pool in node_pools):
                yield _finding(config, "spec.nodeSelector", "every pool has these labels already")
    annotation = annotations_of(config.item.content.manifest).get(PROFILE_MARK)
    if isinstance(annotation, str) and annotation not in ("", config.profile):
        reason = f"spec.profile is {config.profile!r} and takes precedence"
        yield _finding(config, join(("metadata", "annotations", PROFILE_MARK)), reason)


def used_fields(groups: Sequence[Sequence[DeviceConfig]]) -> dict[str, set[str]]:
    """Return the fields of each layer of the functionConfig that have an effect in some config, by the layer's path."""
    used: dict[str, set[str]] = {}
    for config in chain.from_iterable(groups):
        for versioned in (config, *config.retained):
            for layer in (layer for layer in versioned.layers if layer.shared and layer.fields):
                names = used.setdefault(layer.path, set())
                for name in layer.fields.keys() - names:  # most have an effect in the first config, which takes long
                    if any(other is layer for other in versioned.effective_layers(name)):
                        names.add(name)
    return used


def unused(config: DeviceConfig) -> Iterator[Reason]:
    """Yield each field that changes nothing in a config or pool, whether it is written there or not."""
    filled_in = {"driverVersion"} if config.vendor.versions else set[str]()
    if config.has_variables:
        from .variables import source_fields  # here, since most configs have none

        filled_in |= source_fields(config.fields)
    yield from ((name, reason) for name, reason in _module_reasons(config) if name not in filled_in)
    spec, account, rows = config.spec, config.spec.serviceAccount, entries(config)
    has_effect = account and (account.create or account.openshift or account.rules or account.clusterRules)
    if not config.loads and not has_effect and all(account_name(pool, entry, entry.name) for pool, _, entry in rows):
        yield "serviceAccountName", "nothing is loaded, and no DaemonSet runs under it"
    users = [plugin.serviceAccountName for _, plugin in plugins(config)]
    users += [account_name(config, entry, entry.name) or spec.serviceAccountName for entry in spec.daemonSets]
    for name in ("rules", "clusterRules"):
        if getattr(account, name, None) and spec.serviceAccountName not in ("", *users):
            yield f"serviceAccount.{name}", f"no DaemonSet and no plugin runs under {spec.serviceAccountName}"
    if account and account.openshift and not spec.serviceAccountName:
        yield "serviceAccount.openshift", "no account is named that could get the right"
    if not rows:
        for index in range(1, len(spec.imagePullSecrets)):
            yield f"imagePullSecrets[{index}]", "a Module takes one pull secret, the first, and there are no daemonSets"
        yield "upgrade.retain", "it keeps DaemonSets of earlier versions, and there are no daemonSets"
    if not config.has_module:
        yield "loaderTolerations", "no Module is generated"
    for index, entry in enumerate(spec.daemonSets):
        yield from ((f"daemonSets[{index}].{name}", reason) for name, reason in _daemon_set_reasons(config, entry))
    if keys := keys_of_ours(config):
        yield from _overwritten(config, keys)


def _module_reasons(config: DeviceConfig) -> Iterator[Reason]:
    spec, mappings = config.spec, config.mappings
    if not config.loads:
        yield from ((name, "inTreeDriver loads nothing, so there is no image and no modprobe") for name in _OF_LOADER)
        yield "serviceAccount.podSecurity", "inTreeDriver loads nothing, so there are no privileged worker pods"
        return
    if spec.rawLoadArgs:
        for name in ("parameters", "loadArgs", "unloadArgs"):
            yield name, "modprobe gets rawLoadArgs and rawUnloadArgs, and nothing else"
    for name in ("registryTLS", "inTreeModulesToRemove"):
        if spec.hub and name == "registryTLS":
            continue  # that of a mapping does not reach the spokes
        if all(getattr(mapping, name) for mapping in mappings):
            yield name, "every kernel mapping has its own"
    ordered = "" if config.version else ", and no ordered upgrade needs a version"
    if all(mapping.image for mapping in mappings):
        reason = "every kernel mapping has an image of its own"
        yield from ((name, reason) for name in ("driverImage", "driverImageParts"))
        if ordered:
            yield "driverVersion", reason + ordered
    elif ordered and is_complete(named_image(spec)):
        yield "driverVersion", f"the image has a tag, a digest or variables already{ordered}"


def _daemon_set_reasons(config: DeviceConfig, entry: DaemonSet) -> Iterator[Reason]:
    """Yield each field of an entry of daemonSets that changes nothing, by its path in the entry."""
    if entry.perVersion is not None and (not config.version or entry.waitsForModule is False):
        reason = "it does not wait for the module" if config.version else "only an ordered upgrade has versions"
        yield "perVersion", f"{reason}, so there is one DaemonSet in any case"
    if entry.rollOnConfigChange and not config_maps(config, pod_of(config, entry)):
        yield "rollOnConfigChange", "its pods use no ConfigMap of extraObjects"
    if entry.waitsForModule is not None and not config.loads:
        yield "waitsForModule", "inTreeDriver loads nothing, so nothing waits for it"
    known = [port.get("name") for container in (entry, *entry.containers) for port in container.ports]
    service = entry.service or Service()
    targets = [(f"ports[{index}].targetPort", port.get("targetPort")) for index, port in enumerate(service.ports)]
    for name, target in [("targetPort", service.targetPort), *targets]:
        if isinstance(target, str) and target not in ("", *known):
            yield f"service.{name}", f"no port of its containers is called {target!r}, so the Service leads nowhere"


def _overwritten(config: DeviceConfig, keys: Sequence[tuple[str, str, str]]) -> Iterator[Reason]:
    """Yield the labels and annotations among `keys` that no generated object has, since krmfn overwrites them."""
    manifests = [generated.manifest for generated in generate.objects([config], {})]
    pods = [manifest["spec"]["template"] for manifest in manifests if manifest["kind"] == "DaemonSet"]
    mappings = [holder["metadata"].get(name, {}) for holder in (*manifests, *pods) for name in _PASSED_ON]
    for name, key, text in keys:
        if not any(mapping.get(key) == text for mapping in mappings):
            yield f"{name}[{key}]", "krmfn sets this key on the generated objects"


def keys_of_ours(config: DeviceConfig) -> list[tuple[str, str, str]]:
    """Return the labels and annotations with a key that krmfn may set itself: field, key, value."""
    fields = [(name, getattr(config.spec, name)) for name in _PASSED_ON]
    for index, entry in enumerate(config.spec.daemonSets):
        path = f"daemonSets[{index}]"
        fields += [(f"{path}.{name}", getattr(entry, name)) for name in (*_PASSED_ON, "podLabels", "podAnnotations")]
        fields += [(f"{path}.service.{name}", getattr(entry.service, name, None)) for name in _PASSED_ON]
    for index, entry in enumerate(config.spec.extraObjects):
        fields += [(f"extraObjects[{index}].metadata.{name}", entry["metadata"].get(name)) for name in _PASSED_ON]
    return [(name, key, text) for name, notes in fields for key, text in (notes or {}).items() if key.startswith(_OURS)]


RULES = (
    Rule(
        "KRM142",
        "a field should have an effect where it is written",
        good="""\
spec:
  driverImage: null
  driverVersion: null
  kernelMappings: [{regexp: ^.+$, image: "registry.example.com/gpu:1.0-${KERNEL_FULL_VERSION}"}]
""",
        bad="""\
spec:
  driverImage: registry.example.com/gpu:1.1
  driverVersion: null
  kernelMappings: [{regexp: ^.+$, image: "registry.example.com/gpu:1.0-${KERNEL_FULL_VERSION}"}]
""",
        remedy="Remove the field, or move it to where it has an effect; the finding says why it has none here.",
        held=oracles.OUR_KINDS,
        severities=("warning", "info"),
        advice=True,
    ),
)
"""The rule about fields without an effect, which `rendering.object_checks` and `ptemplate.render` report, too."""
