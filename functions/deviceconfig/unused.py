"""The fields of a config or pool that would change nothing, each with the reason."""

from __future__ import annotations

from collections.abc import Iterator

from krmfn import Manifest
from krmfn.typed import Any

from . import generate
from .daemonsets import config_maps, pod_of
from .fields import OF_LOADER
from .images import is_complete, named_image
from .model import DeviceConfig
from .names import entries, of_account

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
"""How the labels and annotations begin that krmfn sets itself."""


def unused(config: DeviceConfig) -> Iterator[Reason]:
    """Yield each field that changes nothing in a config or pool, or would if it were written there."""
    of_the_module = _of_the_module(config) if config.loads else _of_no_module()
    filled_in = _filled_in(config)
    yield from ((name, why) for name, why in of_the_module if name not in filled_in)
    yield from _of_accounts(config)
    if not entries(config):
        for index in range(1, len(config.spec.imagePullSecrets)):
            yield f"imagePullSecrets[{index}]", "a Module takes one pull secret, the first, and there are no daemonSets"
        yield "upgrade.retain", "it keeps DaemonSets of earlier versions, and there are no daemonSets"
    if not config.has_module:
        yield "loaderTolerations", "no Module is generated, and DaemonSets have `tolerations`"
    for index, entry in enumerate(config.spec.daemonSets):
        if entry.perVersion is not None and (not config.version or entry.waitsForModule is False):
            why = "it does not wait for the module" if config.version else "only an ordered upgrade has versions"
            yield f"daemonSets[{index}].perVersion", f"{why}, so there is one DaemonSet in any case"
        if entry.rollOnConfigChange and not config_maps(config, pod_of(config, entry, "")):
            yield f"daemonSets[{index}].rollOnConfigChange", "its pods use no ConfigMap of extraObjects"
        if entry.waitsForModule is not None and not config.loads:
            yield f"daemonSets[{index}].waitsForModule", "inTreeDriver loads nothing, so nothing waits for it"
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
    if not config.loads and not given and all(of_account(one, entry, entry.name) for one, _, entry in entries(config)):
        yield "serviceAccountName", "nothing is loaded, and no DaemonSet runs under it"
    for name in ("rules", "clusterRules"):
        if getattr(account, name, None) and not _runs_under(config, config.spec.serviceAccountName):
            yield f"serviceAccount.{name}", f"no DaemonSet and no plugin runs under {config.spec.serviceAccountName}"
    if account and account.openshift and not config.spec.serviceAccountName:
        yield "serviceAccount.openshift", "no account is named that could get the right; write serviceAccountName"


def _runs_under(config: DeviceConfig, account: str) -> bool:
    """Return True when pods of a DaemonSet or a plugin run under an account, or when no account is named."""
    plugins = [one for one in (config.spec.devicePlugin, config.spec.dra) if one]
    own = [of_account(config, entry, entry.name) or account for entry in config.spec.daemonSets]
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
    """Yield the labels and annotations that no generated object has, since krmfn writes its own in their place."""
    suspects = keys_of_ours(config)
    if not suspects:
        return
    carried = {pair for one in generate.objects([config], {}) for pair in _metadata(one.manifest)}
    for name, key, text in suspects:
        if (key, text) not in carried:
            yield f"{name}[{key}]", "krmfn sets this key on the generated objects"


def keys_of_ours(config: DeviceConfig) -> list[tuple[str, str, str]]:
    """Return the labels and annotations with a key that krmfn may set itself: field, key, value."""
    written = [(name, getattr(config.spec, name)) for name in ("labels", "annotations")]
    for index, entry in enumerate(config.spec.daemonSets):
        names = ("labels", "annotations", "podLabels", "podAnnotations")
        written += [(f"daemonSets[{index}].{name}", getattr(entry, name)) for name in names]
        for name in ("labels", "annotations") if entry.service else ():
            written.append((f"daemonSets[{index}].service.{name}", getattr(entry.service, name)))
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
