"""ConfigMaps of the repository with the variables of Flux's `postBuild`: those in the cluster of the Kustomization.

Source: kustomize-controller 1.9, docs/spec/v1/kustomizations.md: they are in the namespace of the Kustomization.
"""

import json
from collections.abc import Iterator, Sequence

from krmfn import Manifest
from krmfn.typed import Any

from ..kmm.lookup import table, tables, text
from .deployment import Declaration, Deployment, EngineObject, Repository
from .holders import reads

_PATCHES = ("patches", "patchesStrategicMerge", "patchesJson6902")
_CHANGING = ("namePrefix", "nameSuffix", "components", *_PATCHES)
"""What a Kustomization of Flux adds that may change a ConfigMap."""
_OF_KUSTOMIZE = (*_CHANGING, "replacements", "vars", "transformers", "configMapGenerator")

Key = tuple[Deployment, str]


def names(deployment: Deployment) -> Iterator[str]:
    """Yield the names of the ConfigMaps from which the Kustomization of a deployment takes variables."""
    for addition in deployment.declaration.additions:
        if addition.field == "postBuild":
            for _, source in tables(table(json.loads(addition.value)), "substituteFrom"):
                if text(source, "kind") == "ConfigMap":
                    yield text(source, "name")


def data(
    deployments: Sequence[Deployment], maps: Sequence[EngineObject], repository: Repository
) -> dict[Key, Manifest]:
    """Return the data of each ConfigMap that a deployment names, where there is one in its cluster that is known."""
    by_key = dict[Key, Manifest]()
    for deployment in deployments:
        for name in names(deployment):
            holders = _holders(deployment, deployments, repository)
            held = [item for item in maps if item.ref.name == name and _is_held(item, deployment, holders, repository)]
            values = table(held[0].manifest, "data") if len(held) == 1 else {}
            is_known = len(held) == 1 and _is_unchanged(held[0], holders, repository)
            if is_known and "$" not in json.dumps(values, default=str):
                by_key[deployment, name] = values
    return by_key


def _holders(
    deployment: Deployment, deployments: Sequence[Deployment], repository: Repository
) -> dict[Declaration, None]:
    """Return what is deployed to the cluster in which the object of a deployment is: it may name another other."""
    declaration = deployment.declaration
    clusters = {deployment.cluster}
    if declaration.target:
        clusters = {other.cluster for other in deployments if reads(other.declaration, declaration.file, repository)}
    return dict.fromkeys(other.declaration for other in deployments if other.cluster in clusters)


def _is_held(
    item: EngineObject, deployment: Deployment, holders: dict[Declaration, None], repository: Repository
) -> bool:
    """Return whether a ConfigMap is where the Kustomization of a deployment looks for it."""
    namespaces = {"", deployment.declaration.source.ref.namespace}
    is_near = item.ref.namespace in namespaces or namespaces == {""}
    return is_near and any(reads(holder, item.place.path, repository) for holder in holders)


def _is_unchanged(item: EngineObject, holders: dict[Declaration, None], repository: Repository) -> bool:
    """Return whether what deploys a ConfigMap leaves its name and data as they are in the file."""
    readers = [holder for holder in holders if reads(holder, item.place.path, repository)]
    return not any(reader.path in repository.changing or _changes(reader) for reader in readers)


def _changes(declaration: Declaration) -> bool:
    return any(addition.field in _CHANGING for addition in declaration.additions)


def may_change(manifest: Manifest) -> bool:
    """Return whether a kustomization may change the name or the data of a ConfigMap in a file that it lists."""
    patches = [patch for field in _PATCHES for patch in _entries(manifest.get(field))]
    others = [manifest.get(field) for field in _OF_KUSTOMIZE if field not in _PATCHES]
    generated = [entry for _, entry in tables(manifest, "configMapGenerator") if "behavior" in entry]
    return any(value for value in others[:-1]) or bool(generated) or any(map(_is_for_config_maps, patches))


def _entries(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value] if value else []


def _is_for_config_maps(patch: Any) -> bool:
    """Return whether a patch may be for a ConfigMap: one that names another kind in plain letters is not."""
    kind = text(table(patch, "target"), "kind")
    return not (kind.isalnum() and kind != "ConfigMap")
