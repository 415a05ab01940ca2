"""What kustomize must know of Modules and of our kinds: which fields name other resources, and which hold images.

The fields come from KMM's CRD and from our schemas, so that a field that is added is in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from krmfn_functions.kmm.crd.facts import module_facts
from krmfn_functions.kmm.versions import TARGETS, target

Field = tuple[str, str]
"""A kind, as `group kind`, and the path of a field there."""

HEAD = """\
# What kustomize must know of Modules and of krmfn's kinds: which fields name other resources, and which hold images.
# List this file under `configurations:` in each kustomization that renames or re-tags: krmfn kustomize-config > FILE
# It cannot repair names inside label keys: call krmfn in the outermost kustomization. `images:` never matches an image
# with a `$` in its tag; it does match a driverImage without a tag.
"""
NAMES: Mapping[tuple[str, str, str], tuple[str, ...]] = {
    ("", "v1", "Secret"): (
        *("imageRepoSecret/name", "imagePullSecret", "imagePullSecret/name", "imagePullSecrets"),
        *("imagePullSecrets/name", "build/secrets/name", "certSecret/name", "keySecret/name", "secretKeyRef/name"),
        *("secretRef/name", "nodePublishSecretRef/name", "secret/secretName", "azureFile/secretName"),
        "sources/secret/name",
    ),
    ("", "v1", "ConfigMap"): (
        *("dockerfileConfigMap/name", "configMapKeyRef/name", "configMapRef/name", "volumes/configMap/name"),
        "sources/configMap/name",
    ),
    ("", "v1", "ServiceAccount"): ("serviceAccountName", "serviceAccount/name"),
    ("", "v1", "PersistentVolumeClaim"): ("persistentVolumeClaim/claimName",),
    ("scheduling.k8s.io", "", "PriorityClass"): ("priorityClassName",),
    ("resource.k8s.io", "", "DeviceClass"): (),
    ("resource.k8s.io", "", "ResourceClaim"): ("resourceClaims/resourceClaimName",),
    ("resource.k8s.io", "", "ResourceClaimTemplate"): ("resourceClaims/resourceClaimTemplateName",),
}
"""Group, version and kind of what is named, and how the paths of fields end that name it."""
IMAGES = ("containerImage", "unsignedImage", "driverImage", "image", "volumes/image/reference")
_VOLUME = ("projected/sources/secret/name", "projected/sources/configMap/name", "image/reference")
_POD = (
    *("serviceAccountName", "priorityClassName", "imagePullSecrets/name"),
    *("resourceClaims/resourceClaimName", "resourceClaims/resourceClaimTemplateName"),
    *("volumes/secret/secretName", "volumes/configMap/name", "volumes/persistentVolumeClaim/claimName"),
    *(f"volumes/{path}" for path in _VOLUME),
    *(
        f"{part}/{path}"
        for part in ("containers", "initContainers")
        for path in (
            *("image", "env/valueFrom/secretKeyRef/name", "env/valueFrom/configMapKeyRef/name"),
            *("envFrom/secretRef/name", "envFrom/configMapRef/name"),
        )
    ),
)
OPEN = {
    "projected": tuple(path.removeprefix("projected/") for path in _VOLUME if path.startswith("projected/")),
    "image": ("reference",),
    "podSpec": _POD,
}
"""What stands in fields whose schema leaves that to Kubernetes."""
CLAIMS = ("requests/deviceClassName", "requests/exactly/deviceClassName", "requests/firstAvailable/deviceClassName")
PODS = {
    "apps DaemonSet": "spec/template/spec",
    "apps Deployment": "spec/template/spec",
    "apps StatefulSet": "spec/template/spec",
    "batch Job": "spec/template/spec",
    "batch CronJob": "spec/jobTemplate/spec/template/spec",
    " Pod": "spec",
}
"""What kustomize knows but for the claims of pods."""
KINDS = {"kmm.sigs.x-k8s.io Module": "spec", "hub.kmm.sigs.x-k8s.io ManagedClusterModule": "spec/moduleSpec"}


def text(schemas: Mapping[str, Any]) -> str:
    """Return the file; `schemas` are the JSON Schemas of our kinds by `group kind`."""
    fields = list(dict.fromkeys([*_of_kmm(), *_of_ours(schemas), *_of_kubernetes()]))
    lines = [HEAD + "nameReference:\n"]
    for (group, version, kind), ends in NAMES.items():
        named = [
            field for field in fields if _ends(field[1], ends) or (kind == "DeviceClass" and field[1].endswith(CLAIMS))
        ]
        head = [f"group: {group}\n"] if group else []
        head += [*([f"version: {version}\n"] if version else []), f"kind: {kind}\n", "fieldSpecs:\n"]
        lines += ["- " + "  ".join(head), *(f"  {_spec(field)}" for field in named)]
    lines += ["images:\n", *(_spec(field) for field in fields if _ends(field[1], IMAGES))]
    return "".join(lines)


def _spec(field: Field) -> str:
    group, _, kind = field[0].partition(" ")
    return f"- {{{f'group: {group}, ' if group else ''}kind: {kind}, path: {field[1]}}}\n"


def _ends(path: str, ends: tuple[str, ...]) -> bool:
    return any(path.endswith(f"/{end}") for end in ends) and not path.endswith("/rbd/image")


def _of_kmm() -> Iterator[Field]:
    """Yield the fields of a Module in any version of KMM."""
    for version in TARGETS:
        facts = module_facts(target(version).structure)
        for path in _leaves((facts.fields or {})["spec"]):
            for kind, top in KINDS.items():
                yield kind, f"{top}/{path}"


def _leaves(node: Any) -> Iterator[str]:
    """Yield the paths of the scalars below a node of KMM's CRD; lists leave no trace in a path."""
    if node.type == "array":
        yield from _leaves(node.item)
    elif node.fields:
        for name, child in node.fields.items():
            for path in _leaves(child):
                yield f"{name}/{path}" if path else name
    else:
        yield ""


def _of_ours(schemas: Mapping[str, Any]) -> Iterator[Field]:
    for kind, schema in schemas.items():
        for path in _below(schema["properties"]["spec"], schema.get("$defs", {}), "spec"):
            yield kind, path


def _below(node: Any, definitions: Any, name: str) -> Iterator[str]:
    """Yield the paths of the scalars below a node of a JSON Schema, which has the name `name`."""
    if "$ref" in node:
        node = definitions[node["$ref"].removeprefix("#/$defs/")]
    if "items" in node:
        yield from _below(node["items"], definitions, name)
    elif node.get("properties") and "string" not in node.get("type", ()):  # a name, or an object with it: one path
        for key, child in node["properties"].items():
            for path in _below(child, definitions, key):
                yield f"{name}/{path}"
    else:
        yield name
        yield from (f"{name}/{path}" for path in OPEN.get(name, ()) if node.get("type") == "object")


def _of_kubernetes() -> Iterator[Field]:
    """Yield what kustomize does not know of Kubernetes' own kinds: claims of devices."""
    for kind, top in PODS.items():
        for path in ("resourceClaims/resourceClaimName", "resourceClaims/resourceClaimTemplateName"):
            yield kind, f"{top}/{path}"
    for path in CLAIMS:
        yield "resource.k8s.io ResourceClaim", f"spec/devices/{path}"
        yield "resource.k8s.io ResourceClaimTemplate", f"spec/spec/devices/{path}"
