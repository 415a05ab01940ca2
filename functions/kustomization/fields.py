"""The fields of a kustomization and their types, as kustomize 5.8 decodes them (api/types/kustomization.go).

kustomize decodes strictly: it refuses fields that it does not know and values of another type. It also takes fields in
any case (`Resources`) and the last of two equal keys; both are refused here, since what a person reads is not what
counts then.
"""

from __future__ import annotations

from collections.abc import Iterator

from krmfn.item import Item
from krmfn.results import Field, Result, error
from krmfn.schema import Schema, check
from krmfn.typed import Any

VERSIONS = {
    "Kustomization": "kustomize.config.k8s.io/v1beta1",
    "Component": "kustomize.config.k8s.io/v1alpha1",
}

Rules = dict[str, Any]
_TEXT: Rules = {"type": ["string", "null"]}
_FLAG: Rules = {"type": ["boolean", "null"]}
_NUMBER: Rules = {"type": ["integer", "null"]}


def _list(entry: Rules) -> Rules:
    """Return a list's schema; an entry is never empty, though kustomize takes null for "" or {}."""
    return {"type": ["array", "null"], "items": {**entry, "type": entry["type"][0]}}


def _map(value: Rules) -> Rules:
    return {"type": ["object", "null"], "additionalProperties": value}


def _object(**fields: Rules) -> Rules:
    return {"type": ["object", "null"], "properties": fields, "additionalProperties": False}


def _texts(*names: str) -> dict[str, Rules]:
    return dict.fromkeys(names, _TEXT)


def _flags(*names: str) -> dict[str, Rules]:
    return dict.fromkeys(names, _FLAG)


_TEXT_LIST = _list(_TEXT)
_TEXT_MAP = _map(_TEXT)
_ANYTHING: dict[str, Any] = {"type": ["object", "null"]}
_ID = _texts("group", "version", "kind", "name", "namespace")
_SELECTOR = _object(**_ID, **_texts("annotationSelector", "labelSelector"))
_FIELD = _object(**_texts("group", "version", "kind", "path"), create=_FLAG)
_PATCH = _object(
    **_texts("path", "patch"), target=_SELECTOR, options=_object(**_flags("allowNameChange", "allowKindChange"))
)
_IMAGE = _object(**_texts("name", "newName", "tagSuffix", "newTag", "digest"))
_LABEL = _object(
    pairs=_TEXT_MAP,
    **_flags("includeSelectors", "includeTemplates", "includeVolumeClaimTemplates"),
    fields=_list(_FIELD),
)
_OPTIONS = _object(labels=_TEXT_MAP, annotations=_TEXT_MAP, **_flags("disableNameSuffixHash", "immutable"))
_GENERATED: dict[str, Rules] = {
    **_texts("namespace", "name", "behavior", "env"),
    **dict.fromkeys(("literals", "files", "envs"), _TEXT_LIST),
    "options": _OPTIONS,
}
_COPY = _object(**_texts("delimiter", "encoding"), index=_NUMBER, create=_FLAG)
_REPLACEMENT = _object(
    path=_TEXT,
    source=_object(**_ID, fieldPath=_TEXT, options=_COPY),
    sourceValue=_TEXT,
    targets=_list(_object(select=_SELECTOR, reject=_list(_SELECTOR), fieldPaths=_TEXT_LIST, options=_COPY)),
)
_VAR = _object(
    name=_TEXT,
    objref=_object(**_ID, apiVersion=_TEXT),
    fieldref=_object(fieldPath=_TEXT),
)
_CHART = _object(
    **_texts("name", "version", "repo", "releaseName", "namespace", "valuesFile", "valuesMerge", "kubeVersion"),
    **_texts("nameTemplate"),
    **_flags("includeCRDs", "skipHooks", "skipTests", "debug", "devel"),
    **dict.fromkeys(("additionalValuesFiles", "apiVersions"), _TEXT_LIST),
    valuesInline=_ANYTHING,
)
_OLD_CHART = _object(
    **_texts("chartName", "chartVersion", "chartRepoUrl", "chartHome", "chartRepoName", "helmBin", "helmHome"),
    **_texts("values", "valuesMerge", "releaseName", "releaseNamespace"),
    valuesLocal=_ANYTHING,
    extraArgs=_TEXT_LIST,
)
_ORDER = _object(order=_TEXT, legacySortOptions=_object(orderFirst=_TEXT_LIST, orderLast=_TEXT_LIST))

SCHEMA = Schema(
    _object(
        **_texts("apiVersion", "kind", "namePrefix", "nameSuffix", "namespace"),
        metadata=_object(**_texts("name", "namespace"), labels=_TEXT_MAP, annotations=_TEXT_MAP),
        openapi=_object(**_texts("path", "version")),
        commonLabels=_TEXT_MAP,
        commonAnnotations=_TEXT_MAP,
        labels=_list(_LABEL),
        **dict.fromkeys(("resources", "components", "crds", "bases", "configurations"), _TEXT_LIST),
        **dict.fromkeys(("generators", "transformers", "validators", "buildMetadata"), _TEXT_LIST),
        patchesStrategicMerge=_TEXT_LIST,
        patchesJson6902=_list(_PATCH),
        patches=_list(_PATCH),
        images=_list(_IMAGE),
        imageTags=_list(_IMAGE),
        replacements=_list(_REPLACEMENT),
        replicas=_list(_object(name=_TEXT, count=_NUMBER)),
        vars=_list(_VAR),
        sortOptions=_ORDER,
        configMapGenerator=_list(_object(**_GENERATED)),
        secretGenerator=_list(_object(**_GENERATED, type=_TEXT)),
        generatorOptions=_OPTIONS,
        helmGlobals=_object(**_texts("chartHome", "configHome")),
        helmCharts=_list(_CHART),
        helmChartInflationGenerator=_list(_OLD_CHART),
    )
)
"""A kustomization or a component. `null` counts as absent, as for kustomize."""


def findings(item: Item) -> Iterator[Result]:
    """Yield what kustomize would refuse in a kustomization's fields, and what it would read otherwise than a person."""
    for path in item.content.duplicate_keys:
        yield error(
            "this key appears twice, and kustomize takes the last one; remove one", rule="KRM503", field=Field(path)
        )
    yield from check(item.manifest, SCHEMA, "KRM502")
    kind = item.manifest.get("kind") or "Kustomization"
    version = VERSIONS.get(kind) if isinstance(kind, str) else None
    if not version:
        yield error(f"is {kind!r}; must be Kustomization or Component", rule="KRM502", field=Field("kind"))
    elif item.manifest.get("apiVersion") not in (None, "", version):
        yield error(f"must be {version} for a {kind}", rule="KRM502", field=Field("apiVersion"))
    if not any(value not in (None, "") for key, value in item.manifest.items() if key not in ("apiVersion", "kind")):
        yield error("is empty, and kustomize refuses it; list resources", rule="KRM502")
