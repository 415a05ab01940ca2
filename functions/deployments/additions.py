"""What an engine adds to resources after krmfn: whether it changes any of some resources.

Source: kustomize-controller 1.9, docs/spec/v1/kustomizations.md; Argo CD 3.2, docs/user-guide/kustomize.md; Fleet 0.12,
docs of fleet.yaml. What a field does that is not told apart here counts as a change.
"""

import json
import re
from collections.abc import Sequence

from krmfn import Item
from krmfn.typed import Any

from ..kmm.lookup import table, tables, text, texts
from ..kmm.module import HUB_KIND
from .deployment import Addition

_SUBSTITUTE, _DISABLED = "kustomize.toolkit.fluxcd.io/substitute", "disabled"
_NAMESPACES = ("targetNamespace", "namespace")
_PATCHES = ("patches", "patchesStrategicMerge", "patchesJson6902")
_HARMLESS = ("labels", "helm", "version", "replicas")
"""Labels of a bundle, options of Helm and the version of kustomize; KMM has no field that `replicas` sets."""
_ENGINES = ("argocd.argoproj.io", "toolkit.fluxcd.io", "krmfn.dev", "config.kubernetes.io")
"""Words in annotations that an engine or krmfn reads."""


def affects(addition: Addition, items: Sequence[Item]) -> bool:
    """Return whether an addition changes one of some resources, or may do so."""
    field, value = addition.field.rpartition(".")[2], json.loads(addition.value)
    if field in _HARMLESS:
        return False
    if field in _NAMESPACES:
        return any(item.kind != HUB_KIND and item.ref.namespace != value for item in items)
    if field in _PATCHES:
        patches = value if isinstance(value, list) else [value]
        return any(_may_match(patch, item) for patch in patches for item in items)
    if field == "images":
        images = texts({field: value}, field) + [text(image, "name") for _, image in tables({field: value}, field)]
        names = [re.split(r"[=:@]", image)[0] for image in images]
        return any(holds(item, name) for name in names if name for item in items)
    if field in ("commonMetadata", "commonAnnotations"):
        annotations = table(value, "annotations") if field == "commonMetadata" else value
        return any(word in str(key) for key in annotations for word in _ENGINES)
    if field == "postBuild":
        return any(_is_substituted(item) for item in items)
    return True


def variables(addition: Addition) -> frozenset[str] | None:
    """Return the names of the variables of Flux's `postBuild`; None where other objects hold some of them."""
    value = json.loads(addition.value)
    return (
        None if table(value, "substituteFrom") or value.get("substituteFrom") else frozenset(table(value, "substitute"))
    )


def holds(item: Item, word: str) -> bool:
    """Return whether a word of ASCII characters stands in the data of an item."""
    return item.mentions(word) and word in json.dumps(item.manifest, default=str)


def _may_match(patch: Any, item: Item) -> bool:
    """Return whether a patch of kustomize may be for a resource; the fields of a target are anchored regexps."""
    target = table(patch, "target") if isinstance(patch, dict) else {}
    if not target:
        return item.kind in json.dumps(patch)
    import re2  # type: ignore[import-untyped]  # late: few additions are patches; the work of a stranger's regexp is linear

    ref = item.ref
    actual = {"group": ref.group, "kind": ref.kind, "name": ref.name, "namespace": ref.namespace}
    try:
        return all(re2.fullmatch(text(target, key), value) for key, value in actual.items() if text(target, key))
    except re2.error:
        return True


def _is_substituted(item: Item) -> bool:
    return holds(item, "${") and _DISABLED not in (item.annotations.get(_SUBSTITUTE), item.labels.get(_SUBSTITUTE))
