#!/usr/bin/env python3
"""Make sure that names hold a text, in front or at the end, and that what refers to them still does."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Annotated, Literal

from krmfn import Doc, Item, ItemField, Refused, ResourceList, field_spec, function

KEPT = ("Namespace", "CustomResourceDefinition", "APIService", "Kptfile")
"""The kinds whose names say something else."""
DEPENDS_ON = "metadata.annotations[config.kubernetes.io/depends-on]"
REFERENCES = {
    "ConfigMap": ("configMapKeyRef.name", "configMapRef.name", "configMap.name"),
    "Secret": ("secretKeyRef.name", "secretRef.name", "secret.secretName", "secret.name", "imagePullSecrets[*].name"),
    "ServiceAccount": ("serviceAccountName", "serviceAccount"),
    "Service": ("serviceName", "service.name"),
    "PersistentVolumeClaim": ("persistentVolumeClaim.claimName",),
}
"""The fields that name a resource of a kind, wherever they are; beside those that name the kind, too."""


@dataclass(frozen=True)
class FieldSpec:
    """Where kustomize finds a field."""

    path: str
    group: str = ""
    version: str = ""
    kind: str = ""
    create: bool = False


@dataclass(frozen=True)
class EnsureNameSubstring:
    """Make sure that names hold a text; a ConfigMap has `prepend` or `append`."""

    substring: Annotated[str, Doc("the text")] = ""
    edit_mode: Annotated[Literal["prepend", "append"], Doc("where it is put")] = "prepend"
    additional_name_fields: Annotated[list[FieldSpec], Doc("further fields")] = field(default_factory=list)
    field_specs: Annotated[list[FieldSpec], Doc("their former name")] = field(default_factory=list)
    prepend: Annotated[str, Doc("the text, to be put in front")] = ""
    append: Annotated[str, Doc("the text, to be put at the end")] = ""

    def edited(self, name: str) -> str:
        """Return a name with the text in it."""
        before = self.prepend or (self.substring if self.edit_mode == "prepend" else "")
        after = self.append or (self.substring if self.edit_mode == "append" else "")
        return name if (before or after) in name else before + name + after


@function(config=EnsureNameSubstring, group="fn.kpt.dev", fields="top")
def ensure_name_substring(resources: ResourceList, config: EnsureNameSubstring) -> None:
    """Rename the resources, then what refers to them."""
    if sum(map(bool, (config.substring, config.prepend, config.append))) != 1:
        raise Refused("give one text: `substring`, or in a ConfigMap `prepend` or `append`")
    new = {(item.kind, item.name): config.edited(item.name) for item in resources.items if item.kind not in KEPT}
    for item in resources.items:
        for place, kind in references(item):
            place.value = new.get((kind, place.value), place.value)
        depends_on(item, new)
        for spec in (*config.additional_name_fields, *config.field_specs):
            for place in field_spec(item, **vars(spec)):
                place.value = config.edited(str(place.value))
        item.name = new.get((item.kind, item.name), item.name)


def references(item: Item) -> list[tuple[ItemField, str]]:
    """Return the fields that name another resource, and its kind."""
    named = [(place, kind) for kind, ends in REFERENCES.items() for end in ends for place in item.each(f"**.{end}")]
    for pattern in ("roleRef", "subjects[*]", "**.scaleTargetRef"):
        named += [(item.at(f"{place.path}.name"), item[f"{place.path}.kind"]) for place in item.each(pattern)]
    return [(place, kind) for place, kind in named if isinstance(place.value, str)]


def depends_on(item: Item, new: dict[tuple[str, str], str]) -> None:
    """Rename what the annotation depends-on names: GROUP/namespaces/NAMESPACE/KIND/NAME or GROUP/KIND/NAME."""
    match = re.fullmatch(r"([^/]*/(?:namespaces/[^/]*/)?)([^/]+)/([^/]+)", str(item[DEPENDS_ON] or ""))
    if match and (match[2], match[3]) in new:
        item[DEPENDS_ON] = f"{match[1]}{match[2]}/{new[match[2], match[3]]}"


if __name__ == "__main__":
    ensure_name_substring.main()
