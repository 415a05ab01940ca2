"""The fields of a kustomization and their types, as kustomize 5.8 decodes them (api/types/kustomization.go).

kustomize decodes strictly: it refuses unknown fields and values of another type. But it takes field names in any case
(see `spelling`), and the last of two equal keys; those are refused here, because they mislead a reader.
"""

from __future__ import annotations

from collections.abc import Iterator

from krmfn.item import Item
from krmfn.results import Field, Result, error
from krmfn.schema import Schema, check
from krmfn.typed import Any

VERSIONS = {"Kustomization": "kustomize.config.k8s.io/v1beta1", "Component": "kustomize.config.k8s.io/v1alpha1"}

Rules = dict[str, Any]
_TEXT: Rules = {"type": ["string", "null"]}
_FLAG: Rules = {"type": ["boolean", "null"]}
_NUMBER: Rules = {"type": ["integer", "null"]}


def _list(entry: Rules) -> Rules:
    """Return a list's schema; an entry must not be null, though kustomize takes null for "" or {}."""
    return {"type": ["array", "null"], "items": {**entry, "type": entry["type"][0]}}


_TEXTS = _list(_TEXT)
_MAP: Rules = {"type": ["object", "null"], "additionalProperties": _TEXT}
_ANYTHING: Rules = {"type": ["object", "null"]}


def _object(texts: str = "", *, flags: str = "", lists: str = "", **others: Rules) -> Rules:
    """Return a mapping's schema: the names of its texts, flags and lists of texts, and its other fields."""
    fields = {**dict.fromkeys(texts.split(), _TEXT), **dict.fromkeys(flags.split(), _FLAG)}
    fields |= {**dict.fromkeys(lists.split(), _TEXTS), **others}
    return {"type": ["object", "null"], "properties": fields, "additionalProperties": False}


_ID = "group version kind name namespace"
_SELECTOR = _object(f"{_ID} annotationSelector labelSelector")
_PATCH = _object("path patch", target=_SELECTOR, options=_object(flags="allowNameChange allowKindChange"))
_IMAGE = _object("name newName tagSuffix newTag digest")
_LABEL = _object(
    flags="includeSelectors includeTemplates includeVolumeClaimTemplates",
    pairs=_MAP,
    fields=_list(_object("group version kind path", flags="create")),
)
_OPTIONS = _object(flags="disableNameSuffixHash immutable", labels=_MAP, annotations=_MAP)
_GENERATED = "namespace name behavior env"
_SOURCES = "literals files envs"
_COPY = _object("delimiter encoding", flags="create", index=_NUMBER)
_TARGET = _object(select=_SELECTOR, reject=_list(_SELECTOR), lists="fieldPaths", options=_COPY)
_SOURCE = _object(f"{_ID} fieldPath", options=_COPY)
_CHART = _object(
    "name version repo releaseName namespace valuesFile valuesMerge kubeVersion nameTemplate",
    flags="includeCRDs skipHooks skipTests debug devel",
    lists="additionalValuesFiles apiVersions",
    valuesInline=_ANYTHING,
)
_OLD_CHART = _object(
    "chartName chartVersion chartRepoUrl chartHome chartRepoName helmBin helmHome"
    " values valuesMerge releaseName releaseNamespace",
    lists="extraArgs",
    valuesLocal=_ANYTHING,
)

RULES = _object(
    "apiVersion kind namePrefix nameSuffix namespace",
    lists="resources components crds bases configurations generators transformers validators buildMetadata"
    " patchesStrategicMerge",
    metadata=_object("name namespace", labels=_MAP, annotations=_MAP),
    openapi=_object("path version"),
    commonLabels=_MAP,
    commonAnnotations=_MAP,
    labels=_list(_LABEL),
    patchesJson6902=_list(_PATCH),
    patches=_list(_PATCH),
    images=_list(_IMAGE),
    imageTags=_list(_IMAGE),
    replacements=_list(_object("path sourceValue", source=_SOURCE, targets=_list(_TARGET))),
    replicas=_list(_object("name", count=_NUMBER)),
    vars=_list(_object("name", objref=_object(f"{_ID} apiVersion"), fieldref=_object("fieldPath"))),
    sortOptions=_object("order", legacySortOptions=_object(lists="orderFirst orderLast")),
    configMapGenerator=_list(_object(_GENERATED, lists=_SOURCES, options=_OPTIONS)),
    secretGenerator=_list(_object(f"{_GENERATED} type", lists=_SOURCES, options=_OPTIONS)),
    generatorOptions=_OPTIONS,
    helmGlobals=_object("chartHome configHome"),
    helmCharts=_list(_CHART),
    helmChartInflationGenerator=_list(_OLD_CHART),
)
"""The schema of a kustomization or a component. `null` counts as absent, as for kustomize."""
SCHEMA = Schema(RULES)


def findings(item: Item) -> Iterator[Result]:
    """Yield an error for each field of a kustomization that kustomize would refuse, or read otherwise than a person."""
    for path in item.content.duplicate_keys:
        yield error(
            "this key appears twice, and kustomize takes the last one",
            rule="KRM503",
            field=Field(path),
            remedy="remove one",
        )
    manifest = item.content.manifest
    yield from check(manifest, SCHEMA, "KRM502")
    kind = manifest.get("kind") or "Kustomization"
    version = VERSIONS.get(kind) if isinstance(kind, str) else None
    if not version:
        yield error(f"is {kind!r}; must be Kustomization or Component", rule="KRM502", field=Field("kind"))
    elif manifest.get("apiVersion") not in (None, "", version):
        yield error(f"must be {version} for a {kind}", rule="KRM502", field=Field("apiVersion"))
    if not any(value not in (None, "") for key, value in manifest.items() if key not in ("apiVersion", "kind")):
        yield error("is empty, and kustomize refuses it", rule="KRM502", remedy="list resources")
