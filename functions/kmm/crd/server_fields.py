"""The API server's rules about what it and its controllers write into metadata: owners, finalizers, managedFields.

Source: k8s.io/apimachinery v0.34, pkg/api/validation (ValidateObjectMeta, ValidateOwnerReferences) and
pkg/apis/meta/v1/types.go.
"""

from collections.abc import Iterator

from krmfn import Manifest, Result

from ... import oracles
from ...rule import Rule
from ..lookup import Table, listing, table
from ..names import label_key_errors
from ..rule import quote, refusal
from .apitext import as_json, merge_error, refusals

OWNERS = "metadata.ownerReferences"


def check_owners(module: Manifest) -> Iterator[Result]:
    """Yield what the API server refuses in the owners of a Module: each by itself, then all together."""
    owners = dict(_owners(module))
    for index, owner in owners.items():
        for key in ("apiVersion", "kind", "name", "uid"):
            value = owner[key]
            missing = "version must not be empty" if key == "apiVersion" else "must not be empty"
            if isinstance(value, str) and not (_version(value) if key == "apiVersion" else value):
                path = f"{OWNERS}[{index}].{key}"
                yield from refusals("KMM068", f"{OWNERS}.{key}", value, (missing,), path, value)
        if (owner["apiVersion"], owner["kind"]) == ("v1", "Event"):
            text = f"{OWNERS}: Invalid value: {as_json(owner)}: /v1, Kind=Event is disallowed from being an owner"
            yield refusal(text, f"{OWNERS}[{index}]", rule="KMM068")
    names = [f"{owner['kind']}/{owner['name']}" for owner in owners.values() if owner.get("controller") is True]
    for name in names[1:]:
        head = f"{OWNERS}: Invalid value: {as_json(list(owners.values()))}"
        both = f'Found "true" in references for {names[0]} and {name}'
        text = f"{head}: Only one reference can have Controller set to true. {both}"
        yield refusal(text, OWNERS, rule="KMM069")
    seen: set[str] = set()
    for index, owner in owners.items():
        if isinstance(owner["uid"], str):
            if owner["uid"] in seen:
                text = merge_error(module, f".{OWNERS}: duplicate entries for key [uid={quote(owner['uid'])}]")
                yield refusal(text, f"{OWNERS}[{index}].uid", owner["uid"], rule="KMM070")
            seen.add(owner["uid"])


KMM068 = Rule(
    "KMM068",
    "an owner reference must have apiVersion, kind, name and uid, and must not name an Event",
    good="metadata: {ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: gpu, uid: 0f1e}]}\n",
    bad="metadata: {ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: gpu}]}\n",
    remedy="Remove ownerReferences: the uid of an owner is known only on the cluster.",
    held=oracles.APISERVER,
)

KMM069 = Rule(
    "KMM069",
    "owner references must have at most one controller",
    good="""\
metadata:
  ownerReferences:
  - {apiVersion: v1, kind: ConfigMap, name: gpu, uid: 0f1e, controller: true}
  - {apiVersion: v1, kind: ConfigMap, name: lab, uid: 2d3c}
""",
    bad="""\
metadata:
  ownerReferences:
  - {apiVersion: v1, kind: ConfigMap, name: gpu, uid: 0f1e, controller: true}
  - {apiVersion: v1, kind: ConfigMap, name: lab, uid: 2d3c, controller: true}
""",
    remedy="Remove `controller: true` from all owners but one.",
    held=oracles.APISERVER,
)

KMM070 = Rule(
    "KMM070",
    "owner references must have different uids; server-side apply refuses equal ones, a plain create does not",
    good="""\
metadata:
  ownerReferences:
  - {apiVersion: v1, kind: ConfigMap, name: gpu, uid: 0f1e}
  - {apiVersion: v1, kind: ConfigMap, name: lab, uid: 2d3c}
""",
    bad="""\
metadata:
  ownerReferences:
  - {apiVersion: v1, kind: ConfigMap, name: gpu, uid: 0f1e}
  - {apiVersion: v1, kind: ConfigMap, name: lab, uid: 0f1e}
""",
    remedy="Remove the repeated owner.",
    held=oracles.APISERVER,
)


def _owners(module: Manifest) -> Iterator[tuple[int, Table]]:
    """Yield the owners as Go reads them, with their positions: "" for a missing text, the fields in Go's order."""
    for index, entry in enumerate(listing(table(module, "metadata"), "ownerReferences") or []):
        if entry is None or isinstance(entry, dict):
            fields: Table = {key: value for key, value in (entry or {}).items() if value is not None}
            texts = {key: fields.get(key, "") for key in ("apiVersion", "kind", "name", "uid")}
            yield index, texts | {key: fields[key] for key in ("controller", "blockOwnerDeletion") if key in fields}


def _version(api_version: str) -> str:
    """Return the version in `group/version` or `version`; "" when it is neither."""
    parts = api_version.split("/")
    return parts[-1] if len(parts) <= 2 else ""


def check(module: Manifest) -> Iterator[Result]:
    """Yield what the API server refuses in the finalizers and managedFields of a Module."""
    metadata, where = table(module, "metadata"), "metadata.finalizers"
    finalizers = listing(metadata, "finalizers") or []
    for index, entry in enumerate(finalizers):
        name = "" if entry is None else entry
        if isinstance(name, str):
            yield from refusals("KMM071", where, name, label_key_errors(name), f"{where}[{index}]", name)
    if "orphan" in finalizers and "foregroundDeletion" in finalizers:
        both = "finalizer orphan and foregroundDeletion cannot be both set"
        yield refusal(f"{where}: Invalid value: {as_json(finalizers)}: {both}", where, rule="KMM071")
    first = {name: index for index, name in reversed(list(enumerate(finalizers))) if isinstance(name, str)}
    for index, name in enumerate(finalizers):
        if isinstance(name, str) and first[name] < index:
            message = merge_error(module, f".{where}: duplicate entries for key [={quote(name)}]")
            yield refusal(message, f"{where}[{index}]", name, rule="KMM072")
    if isinstance(metadata.get("managedFields"), list):
        yield refusal("metadata.managedFields must be nil", "metadata.managedFields", rule="KMM073")


KMM071 = Rule(
    "KMM071",
    "a Module's finalizers must be qualified names, and must not include both `orphan` and `foregroundDeletion`",
    good="metadata: {finalizers: [example.com/keep]}\n",
    bad="metadata: {finalizers: [keep this]}\n",
    remedy="Remove finalizers: controllers add their own.",
    held=oracles.APISERVER,
)

KMM072 = Rule(
    "KMM072",
    "a finalizer must not be listed twice; server-side apply refuses it, a plain create does not",
    good="metadata: {finalizers: [example.com/keep]}\n",
    bad="metadata: {finalizers: [example.com/keep, example.com/keep]}\n",
    remedy="Remove the repeated finalizer.",
    held=oracles.APISERVER,
)

KMM073 = Rule(
    "KMM073",
    "a Module must not have managedFields, which only the API server sets; an apply refuses them, a create does not",
    good="metadata: {labels: {app: gpu}}\n",
    bad="metadata: {managedFields: []}\n",
    remedy="Remove managedFields, as `kubectl get -o yaml` does.",
    held=oracles.APISERVER,
)

RULES = (KMM068, KMM069, KMM070, KMM071, KMM072, KMM073)
