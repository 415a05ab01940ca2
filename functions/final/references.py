"""The names of other resources that pods, Modules and claims of devices hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from krmfn import Item, Manifest
from krmfn.fieldpath import FieldPath
from krmfn.resource import GroupKind

from ..kmm.lookup import listing, table, tables, text
from ..kmm.module import MODULE_GROUP, MODULE_KIND, Module
from . import pods
from .names import CONFIG_MAP, DEVICE_CLASS, PRIORITY_CLASS, SECRET, SERVICE_ACCOUNT

_CONTAINERS = ("initContainers", "containers", "ephemeralContainers")
_PLUGINS = ("devicePlugin", "dra")
_CLAIMS = {"ResourceClaim": ("spec", "devices"), "ResourceClaimTemplate": ("spec", "spec", "devices")}


class Reference(NamedTuple):
    """A field that names another resource, in the namespace of its own resource."""

    kind: GroupKind
    name: str
    path: FieldPath


def references(item: Item) -> Iterator[Reference]:
    """Yield the references of a resource that have to be there: an `optional: true` does not count."""
    group, kind = item.group, item.kind
    path, pod = pods.pod_of(group, kind, item.manifest)
    found = _of_pod(pod, path)
    if (group, kind) == (MODULE_GROUP, MODULE_KIND):
        found = _of_module(Module(item.manifest))
    elif group == "resource.k8s.io" and kind in _CLAIMS:
        found = _of_claim(table(item.manifest, *_CLAIMS[kind]), _CLAIMS[kind])
    elif (group, kind) == SERVICE_ACCOUNT:
        found = _of_list(SECRET, item.manifest, (), "imagePullSecrets")
    yield from (one for one in found if one.name)


def _of_pod(pod: Manifest, path: FieldPath) -> Iterator[Reference]:
    account = "serviceAccountName" if pod.get("serviceAccountName") else "serviceAccount"
    yield Reference(SERVICE_ACCOUNT, text(pod, account), (*path, account))
    yield Reference(PRIORITY_CLASS, text(pod, "priorityClassName"), (*path, "priorityClassName"))
    yield from _of_list(SECRET, pod, path, "imagePullSecrets")
    yield from _of_volumes(pod, path)
    for part in _CONTAINERS:
        for at, container in tables(pod, part):
            yield from _of_container(container, (*path, part, at))


def _of_volumes(holder: Manifest, path: FieldPath) -> Iterator[Reference]:
    for at, volume in tables(holder, "volumes"):
        where = (*path, "volumes", at)
        yield from _named(CONFIG_MAP, volume, where, "configMap", "name")
        yield from _named(SECRET, volume, where, "secret", "secretName")
        for number, source in tables(table(volume, "projected"), "sources"):
            inner = (*where, "projected", "sources", number)
            yield from _named(CONFIG_MAP, source, inner, "configMap", "name")
            yield from _named(SECRET, source, inner, "secret", "name")


def _of_container(container: Manifest, path: FieldPath) -> Iterator[Reference]:
    for at, variable in tables(container, "env"):
        where = (*path, "env", at, "valueFrom")
        yield from _named(CONFIG_MAP, table(variable, "valueFrom"), where, "configMapKeyRef", "name")
        yield from _named(SECRET, table(variable, "valueFrom"), where, "secretKeyRef", "name")
    for at, source in tables(container, "envFrom"):
        yield from _named(CONFIG_MAP, source, (*path, "envFrom", at), "configMapRef", "name")
        yield from _named(SECRET, source, (*path, "envFrom", at), "secretRef", "name")


def _of_module(module: Module) -> Iterator[Reference]:
    """Yield what a Module names in its own namespace, where KMM builds, signs, loads and runs its plugins."""
    spec = module.spec
    yield from _named(SECRET, spec, ("spec",), "imageRepoSecret", "name")
    for part in ("moduleLoader", *_PLUGINS):
        account = text(table(spec, part), "serviceAccountName")
        yield Reference(SERVICE_ACCOUNT, account, ("spec", part, "serviceAccountName"))
    for part in _PLUGINS:
        plugin = table(spec, part)
        yield from _of_volumes(plugin, ("spec", part))
        for container in ("initContainer", "container"):
            yield from _of_container(table(plugin, container), ("spec", part, container))
    loader: FieldPath = ("spec", "moduleLoader", "container")
    yield from _of_loader(module.container, loader)
    for at, mapping in enumerate(module.mappings):
        yield from _of_loader(mapping, (*loader, "kernelMappings", at))


def _of_loader(holder: Manifest, path: FieldPath) -> Iterator[Reference]:
    build, sign = table(holder, "build"), table(holder, "sign")
    yield from _named(CONFIG_MAP, build, (*path, "build"), "dockerfileConfigMap", "name")
    yield from _of_list(SECRET, build, (*path, "build"), "secrets")
    yield from _named(SECRET, sign, (*path, "sign"), "certSecret", "name")
    yield from _named(SECRET, sign, (*path, "sign"), "keySecret", "name")


def _of_claim(devices: Manifest, path: FieldPath) -> Iterator[Reference]:
    """Yield the DeviceClasses of a ResourceClaim, in each version of its API."""
    for at, request in tables(devices, "requests"):
        where = (*path, "requests", at)
        yield Reference(DEVICE_CLASS, text(request, "deviceClassName"), (*where, "deviceClassName"))
        exactly = text(table(request, "exactly"), "deviceClassName")
        yield Reference(DEVICE_CLASS, exactly, (*where, "exactly", "deviceClassName"))
        # of the alternatives one is enough: only a single one has to be there
        choices = listing(request, "firstAvailable") or []
        if len(choices) == 1:
            name = text(choices[0], "deviceClassName")
            yield Reference(DEVICE_CLASS, name, (*where, "firstAvailable", 0, "deviceClassName"))


def _named(kind: GroupKind, holder: Manifest, path: FieldPath, part: str, key: str) -> Iterator[Reference]:
    source = table(holder, part)
    if source.get("optional") is not True:
        yield Reference(kind, text(source, key), (*path, part, key))


def _of_list(kind: GroupKind, holder: Manifest, path: FieldPath, part: str) -> Iterator[Reference]:
    for at, entry in tables(holder, part):
        yield Reference(kind, text(entry, "name"), (*path, part, at, "name"))
