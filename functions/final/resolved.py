"""References by name in pods, Modules and claims of devices, compared with the resources in the list."""

from collections.abc import Collection, Iterable, Iterator, Sequence

from krmfn import Field, Item, Result, error, warning
from krmfn.printing import some
from krmfn.resource import FieldPath, GroupKind, join
from krmfn.typed import Any, NamedTuple

from .. import oracles
from ..kmm.lookup import POD_KINDS, table
from ..kmm.module import MODULE_GROUP, MODULE_KIND, PLUGINS
from ..rule import Rule
from .stream import CLUSTER_SCOPED, KINDS, FinalList, Names, modules_of
from .twins import Twins

SECRET, CONFIG_MAP, SERVICE_ACCOUNT, PRIORITY_CLASS, DEVICE_CLASS = KINDS

_IN_REACH = "tell it about this field: list what `krmfn kustomize-config` prints under `configurations:`"
_OUT_OF_REACH = (
    "it treats a DeviceClass as namespaced, and does not update names across namespaces: list it in a "
    "kustomization without prefix and suffix"
)

Fields = tuple[tuple[GroupKind, str], ...]
"""The kinds that fields name, with the paths of the fields; `[]` is each entry of a list, `[0]` the only entry."""


def _below(holders: Iterable[str], fields: Fields) -> Fields:
    """Return the fields with each of the holders as a prefix of their paths."""
    return tuple((kind, f"{holder}.{path}") for holder in holders for kind, path in fields)


_OLD_ACCOUNT = "serviceAccount"
"""The older name of serviceAccountName, which is read where that is missing."""
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
"""The references of a Module in its own namespace, where KMM builds, signs, loads and runs its plugins."""
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
    """Yield the fields that name a resource, with its kind, but for those with `optional: true`."""
    start, fields = _HOLDERS.get((item.group, item.kind), ((), ()))
    holder = table(item.manifest, *start) if fields else {}
    for kind, field in fields:
        if field != _OLD_ACCOUNT or not holder.get("serviceAccountName"):
            yield from ((kind, Field(join(path), name)) for path, name in _at(holder, start, field.split(".")))


def _at(holder: Any, path: FieldPath, parts: Sequence[str]) -> Iterator[tuple[FieldPath, str]]:
    """Yield the texts at a path, each with its own path; those beside an `optional: true` are left out.

    An entry of firstAvailable has no field `optional`, so one there is ignored.
    """
    part, *rest = parts
    key, bracket, suffix = part.partition("[")
    value = holder.get(key) if isinstance(holder, dict) else None
    if not rest:
        if isinstance(value, str) and value and (holder.get("optional") is not True or "firstAvailable" in path):
            yield (*path, key), value
    elif not bracket:
        yield from _at(value, (*path, key), rest)
    elif isinstance(value, list) and (suffix == "]" or len(value) == 1):
        for index, entry in enumerate(value):
            yield from _at(entry, (*path, key, index), rest)


class _Scope(NamedTuple):
    """The names of a kind that a namespace sees: thousands of references may be held against thousands of them."""

    twins: Twins
    words: str
    """The first few of the names."""


def _scope(final: FinalList, kind: GroupKind, present: Collection[str]) -> _Scope:
    twins = Twins(present, final.run.transformed, hashed=kind in (SECRET, CONFIG_MAP))
    return _Scope(twins, some(sorted(present), len(present), limit=3))


def names_exist(final: FinalList) -> Iterator[Result]:
    """Yield a finding per reference to a resource that is not deployed: an error where kustomize has renamed it.

    Without any resource of that kind in the namespace there is no finding: somebody else deploys them.
    """
    names = Names(final.deployed, final.modules)
    if not any(names.visible(kind, "") for kind in KINDS):
        return
    external = Names(final.external, modules_of(final.external))
    scopes: dict[tuple[GroupKind, str], _Scope] = {}
    for item in final.deployed:
        for kind, field in references(item):
            (_, noun), namespace, name = kind, item.ref.namespace, field.current
            present = names.visible(kind, namespace)
            if not present or names.has(kind, namespace, name) or external.has(kind, namespace, name):
                continue
            if (kind, namespace) not in scopes:
                scopes[kind, namespace] = _scope(final, kind, present)
            if other := scopes[kind, namespace].twins.of(name):
                remedy = _OUT_OF_REACH if kind == DEVICE_CLASS else _IN_REACH
                message = f"names the {noun} {name}, which kustomize renamed to {other}"
                yield final.located(item, error(message, field=field._replace(proposed=other), remedy=remedy))
            else:
                scope = "" if kind in CLUSTER_SCOPED or not namespace else f" in the namespace {namespace}"
                others = scopes[kind, namespace].words
                message = f"no {noun} {name} is among the deployed objects{scope}"
                remedy = f"add it, or name one that is there: {others}"
                yield final.located(item, warning(message, field=field, remedy=remedy))


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
    held=oracles.KUSTOMIZE_CONFIG,
    check=names_exist,
    severities=("warning", "error"),
    advice=True,
)

RULES = (KRM703,)
"""The rules about names of other resources."""
