"""The types of the fields that are read of engines' objects: one with another type is refused by the API server.

Source: the CRDs of Argo CD 3.2, kustomize-controller 1.9, source-controller 1.6 and Fleet 0.13. Such a field is read as
if it were not there; the rest goes on.
"""

from collections.abc import Iterator, Mapping, Sequence

from krmfn.resource import FieldPath, join
from krmfn.typed import Any

from ..kmm.lookup import members
from .deployment import EngineObject, Problem

Shape = Mapping[str, Any]
"""Fields with their types: str, bool, dict or list; the shape of a mapping; [shape] for a list of these."""
_TYPES: Mapping[type, str] = {str: "text", bool: "true or false", dict: "a mapping", list: "a list"}
_SOURCE: Shape = {
    **dict.fromkeys(("repoURL", "path", "chart", "ref", "targetRevision"), str),
    "directory": {"recurse": bool, "include": str, "exclude": str},
    "kustomize": {"namePrefix": str, "namespace": str, "components": [str], "patches": [dict], "images": [str]},
    **dict.fromkeys(("plugin", "helm"), dict),
}
_APPLICATION: Shape = {
    "source": _SOURCE,
    "sources": [_SOURCE],
    "sourceHydrator": {"drySource": {"repoURL": str, "path": str}},
    "destination": dict.fromkeys(("name", "server", "namespace"), str),
    "syncPolicy": {"automated": {"prune": bool}, "syncOptions": [str]},
}
_GENERATOR: Shape = {
    "git": {"repoURL": str, "directories": [{"path": str, "exclude": bool}], "files": [{"path": str}], "values": dict},
    "list": {"elements": list, "elementsYaml": str},
    "clusters": {"selector": {"matchLabels": dict, "matchExpressions": [dict]}, "values": dict},
    "matrix": {"generators": [dict]},
    "merge": {"generators": [dict], "mergeKeys": [str]},
}
_REFERENCE: Shape = dict.fromkeys(("kind", "name", "namespace"), str)
_KUSTOMIZATION: Shape = {
    **dict.fromkeys(("path", "targetNamespace", "namePrefix", "nameSuffix", "deletionPolicy"), str),
    **dict.fromkeys(("suspend", "prune", "force"), bool),
    **{key: [dict] for key in ("patches", "images", "dependsOn")},
    "components": [str],
    **dict.fromkeys(("postBuild", "commonMetadata"), dict),
    "sourceRef": _REFERENCE,
    "kubeConfig": {"secretRef": {"name": str}, "configMapRef": {"name": str}},
}
_SHAPES: Mapping[str, Shape] = {
    "argoproj.io/Application": _APPLICATION,
    "argoproj.io/ApplicationSet": {
        "goTemplate": bool,
        "generators": [_GENERATOR],
        "template": {"spec": _APPLICATION},
        "templatePatch": str,
    },
    "kustomize.toolkit.fluxcd.io/Kustomization": _KUSTOMIZATION,
    "source.toolkit.fluxcd.io/GitRepository": {"url": str, "ref": {"branch": str}},
    "helm.toolkit.fluxcd.io/HelmRelease": {"suspend": bool, "chart": {"spec": {"chart": str, "sourceRef": _REFERENCE}}},
    "fleet.cattle.io/GitRepo": {
        "repo": str,
        "paths": [str],
        "paused": bool,
        "targets": [{"clusterName": str, "clusterGroup": str, "clusterSelector": dict}],
    },
}
"""The spec of each kind, by group and kind."""


def problems(objects: Sequence[EngineObject]) -> Iterator[Problem]:
    """Yield one problem for each object with fields of another type, about the first of these."""
    for item in objects:
        shape = _SHAPES.get(f"{item.ref.group}/{item.ref.kind}")
        wrong = [*_wrong({"spec": item.manifest.get("spec")}, {"spec": shape}, ())] if shape else []
        if wrong:
            path, want = wrong[0]
            others = f" (so are {len(wrong) - 1:,} more fields)" if wrong[1:] else ""
            message = f"{join(path)} must be {_TYPES[want]}; it counts as if it were not there{others}"
            yield Problem(item.origin, message)


def _wrong(value: Any, shape: Any, path: FieldPath) -> Iterator[tuple[FieldPath, type]]:
    """Yield the path of each value that has another type than its shape, and the type that it must have."""
    if value is None:
        return
    want: type[Any] = shape if isinstance(shape, type) else list if isinstance(shape, list) else dict
    if not isinstance(value, want):
        yield path, want
    elif isinstance(shape, list):
        for at, entry in members(value):
            yield from _wrong(entry, shape[0], (*path, at))
    elif isinstance(value, dict) and isinstance(shape, Mapping):
        for key, inner in shape.items():
            yield from _wrong(value.get(key), inner, (*path, key))
