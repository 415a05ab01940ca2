#!/usr/bin/env python3
"""Set annotations on resources and their templates, and in the fields that the functionConfig names."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Annotated

from krmfn import Doc, Item, ItemField, Refused, ResourceList, Rest, field_spec, function, info

PODS = ("ReplicationController", "Deployment", "ReplicaSet", "DaemonSet", "StatefulSet", "Job")
TEMPLATES = {
    "spec.template": PODS,
    "spec.jobTemplate": ("CronJob",),
    "spec.jobTemplate.spec.template": ("CronJob",),
}


@dataclass(frozen=True)
class FieldSpec:
    """Where kustomize finds a field."""

    path: str
    group: str = ""
    version: str = ""
    kind: str = ""
    create: bool = False


@dataclass(frozen=True)
class SetAnnotations:
    """Set annotations on resources and their templates, and in the fields that the functionConfig names."""

    annotations: Annotated[dict[str, str], Doc("the annotations and their values"), Rest()] = field(
        default_factory=dict
    )
    additional_annotation_fields: Annotated[list[FieldSpec], Doc("further fields")] = field(default_factory=list)
    field_specs: Annotated[list[FieldSpec], Doc("their former name")] = field(default_factory=list)


@function(config=SetAnnotations, group="fn.kpt.dev", kind=("SetAnnotations", "SetAnnotationConfig"), fields="top")
def set_annotations(resources: ResourceList, config: SetAnnotations) -> None:
    """Set the annotations, and say where."""
    if not config.annotations:
        raise Refused("input annotation list cannot be empty")
    specs = [*config.additional_annotation_fields, *config.field_specs]
    for item in resources.items:
        for place in places(item, specs):
            place.value = {**(place.value or {}), **dict(sorted(config.annotations.items()))}
            text = json.dumps(config.annotations, sort_keys=True, separators=(",", ":"))
            resources.report(info(f"set annotations: {text}", at=place))


def places(item: Item, specs: list[FieldSpec]) -> list[ItemField]:
    """Return the fields that hold annotations, those that are named first."""
    named = [place for spec in specs for place in field_spec(item, **vars(spec))]
    templates = [template for path, kinds in TEMPLATES.items() if item.kind in kinds for template in item.each(path)]
    paths = ["metadata.annotations", *(f"{template.path}.metadata.annotations" for template in templates)]
    return [*named, *map(item.at, paths)]


if __name__ == "__main__":
    set_annotations.main()
