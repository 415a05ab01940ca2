"""Fields that are written and have no effect: a finding for each, with the reason."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from krmfn import Manifest, Ref, Result, warning
from krmfn.fieldpath import join
from krmfn.results import Field
from krmfn.rule import Rule

from . import generate
from .fields import OF_LOADER
from .images import is_complete, named_image
from .layers import Layer, idle_switches
from .model import DeviceConfig, value
from .names import entries
from .reading import PROFILE

Reason = tuple[str, str]
"""A field, such as `daemonSets[0].labels`, and why it changes nothing."""

_OF_ALL = ("moduleName", "modulesLoadingOrder", "kernelMappings", "imagePullSecret", "imagePullSecrets")
_OF_LOADER = (
    "driverVersion",
    *(name for name in OF_LOADER if name not in _OF_ALL),
    "upgrade",
)
"""What only the loading of a kernel module needs. (Which modules are in use counts for exclusivity all the same,
and the pull secret serves the device plugin and the DaemonSets, too.)"""

_OURS = (
    *("app.kubernetes.io/", "argocd.argoproj.io/", "config.kubernetes.io/", "kustomize.toolkit.fluxcd.io/"),
    "krmfn.dev/",
)
"""How the labels and annotations begin that every function of ours sets itself."""


def fields_have_an_effect(configs: Sequence[DeviceConfig]) -> Iterator[tuple[Ref, Result]]:
    """Yield a warning per field that is written and changes nothing.

    A field that several configs or pools share counts as used when one of them uses it.
    """
    idle: dict[tuple[int, str], list[tuple[DeviceConfig, str]]] = defaultdict(list)
    useful = set[bytes]()  # the likenesses of configs whose fields all have an effect
    for config in configs:
        if config.likeness in useful:
            continue
        found = [(name, why) for name, why in unused(config) if value(config.spec, name) is not None]
        for name, why in found:
            holder = config.layer(name)
            if holder:
                idle[id(holder.source), config.at(name)].append((config, why))
        if config.likeness and not found and not _keys_of_ours(config):
            useful.add(config.likeness)
    users = _users(configs) if idle or any(config.pool for config in configs) else Counter()
    for (source, path), idle_here in idle.items():
        if len(idle_here) == users[source, _top(idle_here[0][0], path)]:
            yield from (_finding(config, path, why) for config, why in idle_here)
    for config in filter(lambda config: config.has_switches, configs):
        for _, path, why in idle_switches(config.layers):
            yield _finding(config, path, why)
    for _, group in groupby(configs, key=lambda config: id(config.item)):
        yield from _beside(list(group), users)


def _users(configs: Sequence[DeviceConfig]) -> Counter[tuple[int, str]]:
    """Return how many configs and pools take each field, by what it is written in and its path there."""
    return Counter((id(layer.source), f"{layer.path}.{name}") for config in configs for layer, name in _fields(config))


def _fields(config: DeviceConfig) -> Iterator[tuple[Layer, str]]:
    """Yield the fields of the config, each with the layer that it comes from."""
    for name in {name: None for layer in config.layers for name in layer.fields}:
        for layer in config.givers(name):
            yield layer, name


def _top(config: DeviceConfig, path: str) -> str:
    """Return the path of the field of a spec, pool or profile that holds the one at `path`."""
    paths = (f"{layer.path}.{name}" for layer, name in _fields(config))
    return max((top for top in paths if path == top or path.startswith((f"{top}.", f"{top}["))), key=len)


def _finding(config: DeviceConfig, path: str, why: str) -> tuple[Ref, Result]:
    return config.ref, config.located(warning(f"has no effect: {why}", rule="KRM142", field=Field(path)))


def _beside(pools: list[DeviceConfig], users: Counter[tuple[int, str]]) -> Iterator[tuple[Ref, Result]]:
    """Yield findings about fields of a config that every pool replaces, and about a profile that is named twice."""
    config = pools[0]
    own = next(layer for layer in config.layers if layer.path == "spec") if config.pool else None
    for name in own.fields if own else ():
        if own and name != "nodeSelector" and not users[id(own.source), f"spec.{name}"]:
            yield _finding(config, f"spec.{name}", "every pool has its own")
    annotated = config.item.annotations.get(PROFILE, config.profile)
    if annotated != config.profile:
        why = f"spec.profile is {config.profile!r} and takes precedence"
        yield _finding(config, join(("metadata", "annotations", PROFILE)), why)


def unused(config: DeviceConfig) -> Iterator[Reason]:
    """Yield each field that would change nothing in a config or pool, whether it is there or not."""
    of_the_module = _of_the_module(config) if config.loads else _of_no_module()
    filled_in = _filled_in(config)
    yield from ((name, why) for name, why in of_the_module if name not in filled_in)
    yield from _of_accounts(config)
    if not entries(config):
        for index in range(1, len(config.spec.imagePullSecrets)):
            yield f"imagePullSecrets[{index}]", "a Module takes one pull secret, the first, and there are no daemonSets"
        yield "upgrade.retain", "it keeps DaemonSets of earlier versions, and there are no daemonSets"
    yield from _of_services(config)
    yield from _overwritten(config)


def _filled_in(config: DeviceConfig) -> set[str]:
    """Return the fields that reach a generated object through a variable, or through a version of the profile."""
    version = {"driverVersion"} if config.vendor.versions else set()
    if not config.has_variables:
        return version
    from .variables import used  # here, since most configs have none

    return used(config.fields) | version


def _of_no_module() -> Iterator[Reason]:
    for name in _OF_LOADER:
        yield name, "inTreeDriver loads nothing, so there is no image and no modprobe"
    yield "serviceAccount.podSecurity", "inTreeDriver loads nothing, so there are no privileged worker pods"


def _of_the_module(config: DeviceConfig) -> Iterator[Reason]:
    spec, mappings = config.spec, config.mappings
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
    account = config.spec.serviceAccount
    given = account and (account.create or account.openshift or account.rules or account.clusterRules)
    if not config.loads and not given and all(entry.serviceAccountName for _, _, entry in entries(config)):
        yield "serviceAccountName", "nothing is loaded, and no DaemonSet runs under it"
    for name in ("rules", "clusterRules"):
        if getattr(account, name, None) and not _runs_under(config, config.spec.serviceAccountName):
            yield f"serviceAccount.{name}", f"no DaemonSet and no plugin runs under {config.spec.serviceAccountName}"
    if account and account.openshift and not config.spec.serviceAccountName:
        yield "serviceAccount.openshift", "no account is named that could get the right; write serviceAccountName"


def _runs_under(config: DeviceConfig, account: str) -> bool:
    """Return True when pods that are there for longer than loading takes run under an account, or none is named."""
    plugins = [one for one in (config.spec.devicePlugin, config.spec.dra) if one]
    own = [entry.serviceAccountName or account for entry in config.spec.daemonSets]
    return not account or account in [*own, *(plugin.serviceAccountName for plugin in plugins)]


def _of_services(config: DeviceConfig) -> Iterator[Reason]:
    for index, entry in enumerate(config.spec.daemonSets):
        known = [
            port.get("name") for ports in (entry.ports, *(one.ports for one in entry.containers)) for port in ports
        ]
        path = f"daemonSets[{index}].service"
        targets = [(f"{path}.targetPort", entry.service.targetPort)] if entry.service else []
        for number, port in enumerate(entry.service.ports if entry.service else ()):
            targets.append((f"{path}.ports[{number}].targetPort", port.get("targetPort")))
        for field, target in targets:
            if isinstance(target, str) and target not in known:
                yield field, f"no port of its containers is called {target!r}, so the Service leads nowhere"


def _overwritten(config: DeviceConfig) -> Iterator[Reason]:
    """Yield labels and annotations that no generated object carries, since each gets ours in their place."""
    suspects = _keys_of_ours(config)
    if not suspects:
        return
    carried = {pair for one in generate.objects([config], {}) for pair in _metadata(one.manifest)}
    for name, key, text in suspects:
        if (key, text) not in carried:
            yield f"{name}[{key}]", "krmfn sets this key on the generated objects"


def _keys_of_ours(config: DeviceConfig) -> list[tuple[str, str, str]]:
    """Return the labels and annotations that may get a value of ours, which has names in it: field, key, value."""
    written = [(name, getattr(config.spec, name)) for name in ("labels", "annotations")]
    for index, entry in enumerate(config.spec.daemonSets):
        names = ("labels", "annotations", "podLabels", "podAnnotations")
        written += [(f"daemonSets[{index}].{name}", getattr(entry, name)) for name in names]
        written += [(f"daemonSets[{index}].service.annotations", entry.service.annotations)] if entry.service else []
    for index, entry in enumerate(config.spec.extraObjects):
        kept = ((name, entry["metadata"].get(name)) for name in ("labels", "annotations"))
        written += [(f"extraObjects[{index}].metadata.{name}", given) for name, given in kept]
    return [
        (name, key, text) for name, given in written for key, text in (given or {}).items() if key.startswith(_OURS)
    ]


def _metadata(manifest: Manifest) -> Iterator[tuple[str, str]]:
    """Yield all labels and annotations of an object and of its pods."""
    pods: dict[str, Any] = manifest["spec"]["template"]["metadata"] if manifest["kind"] == "DaemonSet" else {}
    for metadata in (manifest["metadata"], pods):
        for name in ("labels", "annotations"):
            yield from metadata.get(name, {}).items()


RULES = (
    Rule(
        "KRM142",
        "a field that is written has an effect",
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
        remedy="Remove the field, or write it where it counts; the finding says why it does not count here.",
    ),
)
"""The rule about fields without effect; `rendering.generated_checks` and `ptemplate.render` report it, too."""
