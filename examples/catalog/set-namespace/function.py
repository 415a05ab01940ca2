#!/usr/bin/env python3
"""Set the namespace of resources, and of what refers to it: subjects, webhooks, API services, depends-on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from krmfn import Doc, Item, ItemField, Refused, ResourceList, function, info

DEPENDS_ON = "metadata.annotations[config.kubernetes.io/depends-on]"
OTHERS = {
    "Namespace": "metadata.name",
    "CustomResourceDefinition": "spec.conversion.webhook.clientConfig.service.namespace",
    "APIService": "spec.service.namespace",
    "RoleBinding": "subjects[*].namespace",
    "ClusterRoleBinding": "subjects[*].namespace",
}
"""The fields beside metadata.namespace that hold a namespace, by the kind."""


@dataclass(frozen=True)
class SetNamespace:
    """Set the namespace of resources, and of what refers to it."""

    namespace: Annotated[str, Doc("the namespace")] = ""
    namespace_matcher: Annotated[str, Doc("change only what is in this one")] = ""
    name: Annotated[str, Doc("kpt's name for the package, in its own ConfigMap")] = ""


@function(config=SetNamespace, group="fn.kpt.dev", fields="top")
def set_namespace(resources: ResourceList, config: SetNamespace) -> None:
    """Set the namespace, and say how often."""
    manifest = resources.function_config or {}
    is_context = manifest.get("metadata", {}).get("name") == "kptfile.kpt.dev"
    namespace = config.namespace or (config.name if is_context else "")
    if not namespace:
        raise Refused("`namespace` must not be empty: say which one to set")
    items = resources.where(local=False)
    before = {f"{item.ref.group}/namespaces/{item.namespace}/{item.kind}/{item.name}" for item in items}
    fields = [field for item in items for field in namespaces(item)]
    fields = [field for field in fields if config.namespace_matcher in ("", field.value) and field.value != namespace]
    for field in fields:
        field.value = namespace
    for field in (item.at(DEPENDS_ON) for item in items):
        parts = str(field.value).split("/")
        if field.value in before and config.namespace_matcher in ("", parts[2]):
            field.value = "/".join([*parts[:2], namespace, *parts[3:]])
    resources.report(info(f"namespace set to {namespace!r} in {len(fields)} field(s)"))


def namespaces(item: Item) -> list[ItemField]:
    """Return the fields of an item that hold a namespace."""
    patterns = [OTHERS[item.kind]] if item.kind in OTHERS else []
    return [field for pattern in ("metadata.namespace", *patterns) for field in item.each(pattern)]


if __name__ == "__main__":
    set_namespace.main()
