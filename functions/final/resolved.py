"""The names of other resources that pods, Modules and claims of devices hold, held against those in the list."""

from collections.abc import Iterable, Iterator, Sequence

from krmfn import Field, Item, Result, error, warning
from krmfn.printing import some
from krmfn.resource import FieldPath, GroupKind, join
from krmfn.results import Rule
from krmfn.typed import Any

from ..kmm.lookup import POD_KINDS, table
from ..kmm.module import MODULE_GROUP, MODULE_KIND, PLUGINS
from .stream import CLUSTER_SCOPED, KINDS, Final, Names, modules_of, twin

SECRET, CONFIG_MAP, SERVICE_ACCOUNT, PRIORITY_CLASS, DEVICE_CLASS = KINDS
_HASHED = (SECRET, CONFIG_MAP)
_TELL = "tell it about this field: list what `krmfn kustomize-config` prints under `configurations:`"
_OUT_OF_REACH = (
    "it treats a DeviceClass as namespaced, and does not update names across namespaces: list it in a "
    "kustomization without prefix and suffix"
)
_SHOWN = 3
"""How many of the names that are there a finding shows."""


Fields = tuple[tuple[GroupKind, str], ...]
"""What fields name, with their paths; `[]` is each entry of a list, `[0]` that of a list with one."""


def _below(holders: Iterable[str], fields: Fields) -> Fields:
    return tuple((kind, f"{holder}.{path}") for holder in holders for kind, path in fields)


_OLD_ACCOUNT = "serviceAccount"
"""The older name of serviceAccountName: it counts where that is not there."""
_PULLING: Fields = ((SECRET, "imagePullSecrets[].name"),)
_OF_CONTAINER: Fields = (
    (CONFIG_MAP, "env[].valueFrom.configMapKeyRef.name"),
    (SECRET, "env[].valueFrom.secretKeyRef.name"),
    (CONFIG_MAP, "envFrom[].configMapRef.name"),
    (SECRET, "envFrom[].secretRef.name"),
)
_OF_VOLUMES: Fields = (
    (CONFIG_MAP, "volumes[].configMap.name"),
    (SECRET, "volumes[].secret.secretName"),
    (CONFIG_MAP, "volumes[].projected.sources[].configMap.name"),
    (SECRET, "volumes[].projected.sources[].secret.name"),
)
_OF_POD: Fields = (
    *((SERVICE_ACCOUNT, "serviceAccountName"), (SERVICE_ACCOUNT, _OLD_ACCOUNT)),
    (PRIORITY_CLASS, "priorityClassName"),
    *(*_PULLING, *_OF_VOLUMES),
    *_below(("initContainers[]", "containers[]", "ephemeralContainers[]"), _OF_CONTAINER),
)
_OF_LOADER: Fields = (
    (CONFIG_MAP, "build.dockerfileConfigMap.name"),
    (SECRET, "build.secrets[].name"),
    (SECRET, "sign.certSecret.name"),
    (SECRET, "sign.keySecret.name"),
)
_OF_MODULE: Fields = (
    (SECRET, "imageRepoSecret.name"),
    *_below(("moduleLoader", *PLUGINS), ((SERVICE_ACCOUNT, "serviceAccountName"),)),
    *_below(PLUGINS, (*_OF_VOLUMES, *_below(("initContainer", "container"), _OF_CONTAINER))),
    *_below(("moduleLoader.container", "moduleLoader.container.kernelMappings[]"), _OF_LOADER),
)
"""What a Module names in its own namespace, where KMM builds, signs, loads and runs its plugins."""
_OF_CLAIM: Fields = (
    *_below(("requests[]", "requests[].exactly"), ((DEVICE_CLASS, "deviceClassName"),)),
    (DEVICE_CLASS, "requests[].firstAvailable[0].deviceClassName"),  # of several one is enough
)
"""The DeviceClasses of a ResourceClaim, in each version of its API."""
_HOLDERS: dict[GroupKind, tuple[tuple[str, ...], Fields]] = {
    (MODULE_GROUP, MODULE_KIND): (("spec",), _OF_MODULE),
    SERVICE_ACCOUNT: ((), _PULLING),
    ("resource.k8s.io", "ResourceClaim"): (("spec", "devices"), _OF_CLAIM),
    ("resource.k8s.io", "ResourceClaimTemplate"): (("spec", "spec", "devices"), _OF_CLAIM),
    **{kind: (path, _OF_POD) for kind, path in POD_KINDS.items()},
}
"""Where each kind has such fields."""


def references(item: Item) -> Iterator[tuple[GroupKind, Field]]:
    """Yield the fields that name what has to be in the resource's namespace: an `optional: true` does not count."""
    path, fields = _HOLDERS.get((item.group, item.kind), ((), ()))
    holder = table(item.manifest, *path) if fields else {}
    for kind, field in fields:
        if field != _OLD_ACCOUNT or not holder.get("serviceAccountName"):
            yield from ((kind, Field(join(where), name)) for where, name in _at(holder, path, field.split(".")))


def _at(holder: Any, path: FieldPath, parts: Sequence[str]) -> Iterator[tuple[FieldPath, str]]:
    """Yield the texts at a path, each with its own path; those beside an `optional: true` are left out.

    An entry of firstAvailable has no such field: there it says nothing.
    """
    part, *rest = parts
    key, bracket, index = part.partition("[")
    value = holder.get(key) if isinstance(holder, dict) else None
    if not rest:
        if isinstance(value, str) and value and (holder.get("optional") is not True or "firstAvailable" in path):
            yield (*path, key), value
    elif not bracket:
        yield from _at(value, (*path, key), rest)
    elif isinstance(value, list) and (index == "]" or len(value) == 1):
        for at, entry in enumerate(value):
            yield from _at(entry, (*path, key, at), rest)


def names_are_there(final: Final) -> Iterator[Result]:
    """Yield a finding per reference to what is not deployed: an error where kustomize has renamed it.

    Without anything of that kind in the namespace, whoever deploys it is somebody else: nothing is said.
    """
    names = Names(final.deployed, final.modules)
    if not any(names.near(kind, "") for kind in KINDS):
        return
    theirs = Names(final.theirs, modules_of(final.theirs))
    for item in final.deployed:
        for kind, field in references(item):
            (_, noun), namespace, name = kind, item.ref.namespace, field.current
            present = names.near(kind, namespace)
            if not present or any(each.is_there(kind, namespace, name) for each in (names, theirs)):
                continue
            if other := twin(name, present, final.run.transformed, kind in _HASHED):
                way = _OUT_OF_REACH if kind == DEVICE_CLASS else _TELL
                message = f"names the {noun} {name}, which kustomize renamed to {other}; {way}"
                yield final.located(item, error(message, field=field._replace(proposed=other)))
            else:
                where = "" if kind in CLUSTER_SCOPED or not namespace else f" in the namespace {namespace}"
                others = some(sorted(present), len(present), _SHOWN)
                message = f"no {noun} {name} is among the deployed objects{where}; there are: {others}"
                yield final.located(item, warning(message, field=field))


KRM703 = Rule(
    "KRM703",
    "a ServiceAccount, Secret, ConfigMap, PriorityClass or DeviceClass that is named should be deployed, too",
    good="""\
apiVersion: v1
kind: ServiceAccount
metadata: {name: gpu-loader, namespace: kmm}
---
kind: Module
spec: {moduleLoader: {serviceAccountName: gpu-loader}}
""",
    bad="""\
apiVersion: v1
kind: ServiceAccount
metadata: {name: gpu-loader, namespace: kmm}
---
kind: Module
spec: {moduleLoader: {serviceAccountName: gpu-lodaer}}
""",
    remedy="Correct the name. If kustomize changed it, list what `krmfn kustomize-config` prints under "
    "`configurations:`. Turn the rule off if it is deployed from elsewhere.",
    check=names_are_there,
    severities=("warning", "error"),
    advice=True,
)

RULES = (KRM703,)
"""The rules about names of other resources."""
