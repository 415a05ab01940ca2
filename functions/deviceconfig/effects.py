"""Fields that are written and have no effect: a finding for each, with the reason."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby

from krmfn import Field, Ref, Result, warning
from krmfn.resource import annotations_of, join, split
from krmfn.results import Rule

from ..rendering.kinds import PROFILE_MARK
from . import generate
from .daemonsets import config_maps, pod_of
from .fields import OF_LOADER, DaemonSet, Service
from .layers import Layer, idle_switches, idle_unset, place
from .merging import OF_LOADED, stacked
from .model import DeviceConfig, value
from .names import entries, is_complete, named_image, of_account

Reason = tuple[str, str]
"""A field, such as `daemonSets[0].labels`, and why it changes nothing."""

_OF_LOADER = ("driverVersion", *(name for name in OF_LOADER if name in OF_LOADED - {"kernelMappings"}), "upgrade")
"""What only the loading of a kernel module needs. (Which modules are in use counts for exclusivity all the same,
and the pull secret serves the device plugin and the DaemonSets, too.)"""

_OURS = (
    *("app.kubernetes.io/", "argocd.argoproj.io/", "config.kubernetes.io/", "kustomize.toolkit.fluxcd.io/"),
    "krmfn.dev/",
)
"""How the labels and annotations begin that krmfn sets itself."""
_PASSED_ON = ("labels", "annotations")


def fields_have_an_effect(configs: Sequence[DeviceConfig]) -> Iterator[tuple[Ref, Result]]:
    """Yield a warning per field that is written and changes nothing.

    A field that several configs or pools share counts as used when one of them uses it.
    """
    idle: dict[tuple[int, str, str], list[tuple[DeviceConfig, str]]] = defaultdict(list)
    useful = set[bytes]()  # the likenesses of configs whose fields all have an effect
    for config in configs:
        if config.likeness in useful:
            continue
        of_config = [*_idle(config)]
        for layer, shared, path, why in of_config:
            idle[id(layer.source), shared, path].append((config, why))
        if config.likeness and not of_config and not keys_of_ours(config):
            useful.add(config.likeness)
    users: Counter[tuple[int, str]] = Counter()  # how many configs and pools have each layer, and take each field
    for config in configs if idle or any(config.pool for config in configs) else ():
        users.update((id(layer.source), layer.path) for layer in config.layers)
        names = dict.fromkeys(name for layer in config.layers for name in layer.fields)
        taken = ((layer, name) for name in names for layer in config.givers(name))
        users.update((id(layer.source), f"{layer.path}.{name}") for layer, name in taken)
    for (source, shared, path), idle_here in idle.items():
        if len(idle_here) == users[source, shared]:
            yield from (_finding(config, path, why) for config, why in idle_here)
    for _, group in groupby(configs, key=lambda config: id(config.item)):
        yield from _beside(list(group), users)


def _idle(config: DeviceConfig) -> Iterator[tuple[Layer, str, str, str]]:
    """Yield what changes nothing in a config: its layer, what of that others may use, its path there, and why."""
    for name, why in unused(config):
        layer, path = place(config.layers, config.fields, name)
        if layer and value(config.spec, name) is not None:
            yield layer, f"{layer.path}.{split(name)[0]}", path, why
    if config.has_switches:
        for layer, path, why in (*idle_switches(config.layers), *idle_unset(config.layers)):
            yield layer, layer.path, path, why


def _finding(config: DeviceConfig, path: str, why: str) -> tuple[Ref, Result]:
    return config.ref, config.located(warning(f"has no effect: {why}", rule="KRM142", field=Field(path)))


def _beside(pools: list[DeviceConfig], users: Counter[tuple[int, str]]) -> Iterator[tuple[Ref, Result]]:
    """Yield findings about fields of a config that every pool replaces, and about a profile that is named twice."""
    config = pools[0]
    words = [layer for layer in config.layers if layer.path == "spec"] if config.pool and not config.modules else []
    for own in words:
        for name in own.fields:
            if name != "nodeSelector" and not users[id(own.source), f"spec.{name}"]:
                yield _finding(config, f"spec.{name}", "every pool has its own")
        if "nodeSelector" in own.fields and "nodePools" not in own.fields:
            known = [pool["nodeSelector"] for pool in stacked(layer.fields for layer in config.layers[1:])["nodePools"]]
            if all(selector.items() >= own.fields["nodeSelector"].items() for selector in known):
                yield _finding(config, "spec.nodeSelector", "every pool has these labels already")
    annotated = annotations_of(config.item.content.manifest).get(PROFILE_MARK)
    if isinstance(annotated, str) and annotated not in ("", config.profile):
        why = f"spec.profile is {config.profile!r} and takes precedence"
        yield _finding(config, join(("metadata", "annotations", PROFILE_MARK)), why)


def unused(config: DeviceConfig) -> Iterator[Reason]:
    """Yield each field that changes nothing in a config or pool, or would if it were written there."""
    filled_in = {"driverVersion"} if config.vendor.versions else set[str]()
    if config.has_variables:
        from .variables import used  # here, since most configs have none

        filled_in |= used(config.fields)
    yield from ((name, why) for name, why in _of_the_module(config) if name not in filled_in)
    yield from _of_accounts(config)
    if not entries(config):
        for index in range(1, len(config.spec.imagePullSecrets)):
            yield f"imagePullSecrets[{index}]", "a Module takes one pull secret, the first, and there are no daemonSets"
        yield "upgrade.retain", "it keeps DaemonSets of earlier versions, and there are no daemonSets"
    if not config.has_module:
        yield "loaderTolerations", "no Module is generated, and DaemonSets have `tolerations`"
    for index, entry in enumerate(config.spec.daemonSets):
        yield from ((f"daemonSets[{index}].{name}", why) for name, why in _of_daemon_set(config, entry))
    if suspects := keys_of_ours(config):
        yield from _overwritten(config, suspects)


def _of_the_module(config: DeviceConfig) -> Iterator[Reason]:
    spec, mappings = config.spec, config.mappings
    if not config.loads:
        yield from ((name, "inTreeDriver loads nothing, so there is no image and no modprobe") for name in _OF_LOADER)
        yield "serviceAccount.podSecurity", "inTreeDriver loads nothing, so there are no privileged worker pods"
        return
    if spec.rawLoadArgs:
        for name in ("parameters", "loadArgs", "unloadArgs"):
            yield name, "modprobe gets rawLoadArgs and rawUnloadArgs, and nothing else"
    for name in ("registryTLS", "inTreeModulesToRemove"):
        if all(getattr(mapping, name) for mapping in mappings):
            yield name, "every kernel mapping has its own"
    ordered = "" if config.version else ", and no ordered upgrade needs a version"
    if all(mapping.image for mapping in mappings):
        why = "every kernel mapping has an image of its own"
        yield from ((name, why) for name in ("driverImage", "driverImageParts"))
        if ordered:
            yield "driverVersion", why + ordered
    elif ordered and is_complete(named_image(spec)):
        yield "driverVersion", f"the image has a tag, a digest or variables already{ordered}"


def _of_accounts(config: DeviceConfig) -> Iterator[Reason]:
    spec, account = config.spec, config.spec.serviceAccount
    given = account and (account.create or account.openshift or account.rules or account.clusterRules)
    if not config.loads and not given and all(of_account(one, entry, entry.name) for one, _, entry in entries(config)):
        yield "serviceAccountName", "nothing is loaded, and no DaemonSet runs under it"
    users = [plugin.serviceAccountName for plugin in (spec.devicePlugin, spec.dra) if plugin]
    users += [of_account(config, entry, entry.name) or spec.serviceAccountName for entry in spec.daemonSets]
    for name in ("rules", "clusterRules"):
        if getattr(account, name, None) and spec.serviceAccountName not in ("", *users):
            yield f"serviceAccount.{name}", f"no DaemonSet and no plugin runs under {spec.serviceAccountName}"
    if account and account.openshift and not spec.serviceAccountName:
        yield "serviceAccount.openshift", "no account is named that could get the right; write serviceAccountName"


def _of_daemon_set(config: DeviceConfig, entry: DaemonSet) -> Iterator[Reason]:
    """Yield each field of an entry of daemonSets that changes nothing, by its path in the entry."""
    if entry.perVersion is not None and (not config.version or entry.waitsForModule is False):
        why = "it does not wait for the module" if config.version else "only an ordered upgrade has versions"
        yield "perVersion", f"{why}, so there is one DaemonSet in any case"
    if entry.rollOnConfigChange and not config_maps(config, pod_of(config, entry)):
        yield "rollOnConfigChange", "its pods use no ConfigMap of extraObjects"
    if entry.waitsForModule is not None and not config.loads:
        yield "waitsForModule", "inTreeDriver loads nothing, so nothing waits for it"
    known = [port.get("name") for container in (entry, *entry.containers) for port in container.ports]
    service = entry.service or Service()
    targets = [(f"ports[{at}].targetPort", port.get("targetPort")) for at, port in enumerate(service.ports)]
    for name, target in [("targetPort", service.targetPort), *targets]:
        if isinstance(target, str) and target not in ("", *known):
            yield f"service.{name}", f"no port of its containers is called {target!r}, so the Service leads nowhere"


def _overwritten(config: DeviceConfig, suspects: Sequence[tuple[str, str, str]]) -> Iterator[Reason]:
    """Yield those keys of ours that no generated object has as they are written: krmfn writes its own there."""
    manifests = [one.manifest for one in generate.objects([config], {})]
    pods = [manifest["spec"]["template"] for manifest in manifests if manifest["kind"] == "DaemonSet"]
    metadata = [of_object["metadata"].get(name, {}) for of_object in (*manifests, *pods) for name in _PASSED_ON]
    for name, key, text in suspects:
        if not any(carried.get(key) == text for carried in metadata):
            yield f"{name}[{key}]", "krmfn sets this key on the generated objects"


def keys_of_ours(config: DeviceConfig) -> list[tuple[str, str, str]]:
    """Return the labels and annotations with a key that krmfn may set itself: field, key, value."""
    written = [(name, getattr(config.spec, name)) for name in _PASSED_ON]
    for index, entry in enumerate(config.spec.daemonSets):
        path = f"daemonSets[{index}]"
        written += [(f"{path}.{name}", getattr(entry, name)) for name in (*_PASSED_ON, "podLabels", "podAnnotations")]
        written += [(f"{path}.service.{name}", getattr(entry.service, name, None)) for name in _PASSED_ON]
    for index, entry in enumerate(config.spec.extraObjects):
        written += [(f"extraObjects[{index}].metadata.{name}", entry["metadata"].get(name)) for name in _PASSED_ON]
    return [(name, key, text) for name, own in written for key, text in (own or {}).items() if key.startswith(_OURS)]


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
        severities=("warning", "info"),
        advice=True,
    ),
)
"""The rule about fields without effect; `rendering.object_checks` and `ptemplate.render` report it, too."""
