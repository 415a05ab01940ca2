"""Fields that are written and have no effect: a finding for each, with the reason."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from krmfn import Manifest, Ref, Result, warning
from krmfn.fieldpath import join
from krmfn.results import Field

from ..rendering.function_config import FunctionConfig
from ..rendering.generated import Generated
from . import generate
from .images import is_complete, named_image
from .model import PROFILE, DeviceConfig, Layer
from .origins import value

Reason = tuple[str, str]
"""A field, such as `daemonSets[0].labels`, and why it changes nothing."""

_OF_LOADER = (
    *("driverVersion", "parameters", "dirName", "firmwarePath", "loadArgs", "unloadArgs", "rawLoadArgs"),
    *("rawUnloadArgs", "inTreeModulesToRemove", "build", "sign", "registryTLS", "imagePullPolicy", "upgrade"),
)
"""What only the loading of a kernel module needs."""

_OURS = (
    *("app.kubernetes.io/", "argocd.argoproj.io/", "config.kubernetes.io/", "kustomize.toolkit.fluxcd.io/"),
    "krmfn.dev/",
)
"""How the labels and annotations begin that every function of ours sets itself."""


def fields_have_an_effect(configs: Sequence[DeviceConfig]) -> Iterator[tuple[Ref, Result]]:
    """KRM142: a field that is written has an effect.

    A field that several configs or pools share counts as used when one of them uses it.
    """
    idle: dict[tuple[int, str], list[tuple[DeviceConfig, str]]] = defaultdict(list)
    users: Counter[tuple[int, str]] = Counter()
    for config in configs:
        for layer, name in _fields(config):
            users[id(layer.source), f"{layer.path}.{name}"] += 1
        for name, why in unused(config):
            holder = config.layer(name)
            if holder and value(config.spec, name) is not None:
                idle[id(holder.source), config.at(name)].append((config, why))
    for (source, path), idle_here in idle.items():
        if len(idle_here) == users[source, _top(idle_here[0][0], path)]:
            yield from (_finding(config, path, why) for config, why in idle_here)
    for _, group in groupby(configs, key=lambda config: id(config.item)):
        yield from _beside(list(group), users)


def _fields(config: DeviceConfig) -> Iterator[tuple[Layer, str]]:
    """Yield the fields of the config, each with the layer that it comes from."""
    for name in {name: None for layer in config.layers for name in layer.fields}:
        layer = config.layer(name)
        if layer and (name in config.spec or name == "nodePools"):
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
    own = next(layer for layer in config.layers if layer.path == "spec")
    for name in own.fields if config.pool else ():
        if name != "nodeSelector" and not users[id(own.source), f"spec.{name}"]:
            yield _finding(config, f"spec.{name}", "every pool has its own")
    annotated = config.item.annotations.get(PROFILE, config.profile)
    if annotated != config.profile:
        why = f"spec.profile says {config.profile!r} and goes before it"
        yield _finding(config, join(("metadata", "annotations", PROFILE)), why)


def unused(config: DeviceConfig) -> Iterator[Reason]:
    """Yield each field that would change nothing in a config or pool, whether it is there or not."""
    yield from _of_the_module(config) if config.loads else _of_no_module()
    yield from _of_accounts(config)
    if not config.daemon_sets:
        yield "upgrade.retain", "it keeps DaemonSets of earlier versions, and there are no daemonSets"
    yield from _of_services(config)
    yield from _overwritten(config)


def _of_no_module() -> Iterator[Reason]:
    for name in _OF_LOADER:
        yield name, "inTreeDriver loads nothing, so there is no image and no modprobe"
    yield "serviceAccount.podSecurity", "inTreeDriver loads nothing, so there are no privileged worker pods"


def _of_the_module(config: DeviceConfig) -> Iterator[Reason]:
    spec, mappings = config.spec, config.mappings
    if "rawLoadArgs" in spec:
        for name in ("parameters", "loadArgs", "unloadArgs"):
            yield name, "modprobe gets rawLoadArgs and rawUnloadArgs, and nothing else"
    for name in ("registryTLS", "inTreeModulesToRemove"):
        if all(name in mapping for mapping in mappings):
            yield name, "every kernel mapping has its own"
    ordered = "" if config.version else ", and no ordered upgrade needs a version"
    if all("image" in mapping for mapping in mappings):
        why = "every kernel mapping has an image of its own"
        yield from ((name, why) for name in ("driverImage", "driverImageParts"))
        if ordered:
            yield "driverVersion", why + ordered
    elif ordered and is_complete(named_image(spec)):
        yield "driverVersion", f"the image has a tag, a digest or variables already{ordered}"


def _of_accounts(config: DeviceConfig) -> Iterator[Reason]:
    account = config.spec.get("serviceAccount", {})
    given = account.get("create") or account.get("openshift")
    if not config.loads and not given and all("serviceAccountName" in entry for entry in config.daemon_sets):
        yield "serviceAccountName", "nothing is loaded, and no DaemonSet runs under it"
    if account.get("openshift") and "serviceAccountName" not in config.spec:
        yield "serviceAccount.openshift", "no account is named that could get the right; write serviceAccountName"


def _of_services(config: DeviceConfig) -> Iterator[Reason]:
    for index, entry in enumerate(config.daemon_sets):
        target, ports = entry.get("service", {}).get("targetPort"), entry.get("ports", [])
        if isinstance(target, str) and target not in [port.get("name") for port in ports]:
            why = f"no port of the container is called {target!r}, so the Service leads nowhere"
            yield f"daemonSets[{index}].service.targetPort", why


def _overwritten(config: DeviceConfig) -> Iterator[Reason]:
    """Yield labels and annotations that no generated object carries, since each gets ours in their place."""
    written = [(name, config.spec.get(name, {})) for name in ("labels", "annotations")]
    for index, entry in enumerate(config.daemon_sets):
        names = ("labels", "annotations", "podLabels", "podAnnotations")
        written += [(f"daemonSets[{index}].{name}", entry.get(name, {})) for name in names]
    suspects = [(name, key, text) for name, given in written for key, text in given.items() if key.startswith(_OURS)]
    if not suspects:
        return
    carried = {pair for one in generate.objects([config]) for pair in _metadata(one.manifest)}
    for name, key, text in suspects:
        if (key, text) not in carried:
            yield f"{name}[{key}]", "the generated objects get this key from us, with a value of ours"


def _metadata(manifest: Manifest) -> Iterator[tuple[str, str]]:
    """Yield all labels and annotations of an object and of its pods."""
    pods: dict[str, Any] = manifest.get("spec", {}).get("template", {}).get("metadata", {})
    for metadata in (manifest["metadata"], pods):
        for name in ("labels", "annotations"):
            yield from metadata.get(name, {}).items()


def annotations_have_an_effect(objects: Sequence[Generated], function_config: FunctionConfig) -> Iterator[Result]:
    """Yield a finding (KRM142) per annotation of the functionConfig that no generated object carries as it is."""
    for key, text in function_config.annotations.items() if objects else ():
        if not any(one.manifest["metadata"]["annotations"].get(key) == text for one in objects):
            message = "has no effect: every generated object has a value of its own"
            field = Field(join(("spec", "annotations", key)))
            yield function_config.source.located(warning(message, rule="KRM142", field=field))
