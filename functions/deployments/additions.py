"""What an engine adds to resources after krmfn: whether it changes any of some resources.

Source: kustomize-controller 1.9, docs/spec/v1/kustomizations.md; Argo CD 3.2, docs/user-guide/kustomize.md; Fleet 0.12,
docs of fleet.yaml. What a field does that is not told apart here counts as a change.
"""

import json
import re
from collections.abc import Sequence

from krmfn import Item, KrmfnError
from krmfn.typed import Any
from krmfn.yamltext import documents, load

from ..kmm import regexps
from ..kmm.lookup import table, tables, text, texts
from ..kmm.module import HUB_KIND
from .deployment import Addition
from .edits import FLAGS
from .substitution import SIGN

_SUBSTITUTE, _DISABLED = "kustomize.toolkit.fluxcd.io/substitute", "disabled"
_NAMESPACES = ("targetNamespace", "namespace")
_PATCHES = ("patches", "patchesStrategicMerge", "patchesJson6902")
_HARMLESS = ("labels", "helm", "version", "replicas", *FLAGS)
"""Labels of a bundle, options of Helm and the version of kustomize; KMM has no field that `replicas` sets."""
_ENGINES = ("argocd.argoproj.io", "toolkit.fluxcd.io", "krmfn.dev", "config.kubernetes.io")
"""Words in annotations that an engine or krmfn reads."""


def affects(addition: Addition, items: Sequence[Item], is_renamed: bool = False) -> bool:
    """Return whether an addition changes one of some resources, or may do so.

    `is_renamed` says that their kustomization gives names or namespaces: a patch may name the former ones.
    """
    field, value = addition.field.rpartition(".")[2], json.loads(addition.value)
    if field in _HARMLESS:
        return False
    if field in _NAMESPACES:
        return any(item.kind != HUB_KIND and item.ref.namespace != value for item in items)
    if field in _PATCHES:
        patches = value if isinstance(value, list) else [value]
        return any(_may_match(patch, item, is_renamed) for patch in patches for item in items)
    if field == "images":
        images = texts({field: value}, field) + [text(image, "name") for _, image in tables({field: value}, field)]
        names = [re.split(r"[=:@]", image)[0] for image in images]
        return any(holds(item, name) for name in names if name for item in items)
    if field in ("commonMetadata", "commonAnnotations"):
        annotations = table(value, "annotations") if field == "commonMetadata" else table(value)
        return any(word in str(key) for key in annotations for word in _ENGINES)
    if field == "postBuild":
        return any((is_substituted(item) and holds(item, "${")) or holds(item, SIGN) for item in items)
    return True


def variables(addition: Addition) -> frozenset[str] | None:
    """Return the names of the variables of Flux's `postBuild`; None where other objects hold some of them."""
    build = table(json.loads(addition.value))
    return None if build.get("substituteFrom") else frozenset(table(build, "substitute"))


def holds(item: Item, word: str) -> bool:
    """Return whether a word of ASCII characters stands in the data of an item."""
    return item.mentions(word) and word in json.dumps(item.manifest, default=str)


def _may_match(patch: Any, item: Item, is_renamed: bool) -> bool:
    """Return whether a patch of kustomize may be for a resource; the fields of a target are anchored regexps."""
    target = table(patch, "target")
    if not target:
        return _may_be_for(patch, item.kind)
    ref = item.ref
    actual = {"group": ref.group, "kind": ref.kind}
    if not is_renamed:
        actual |= {"name": ref.name, "namespace": ref.namespace or "default"}
    return all(_fits(text(target, key), value) for key, value in actual.items())


def _may_be_for(patch: Any, kind: str) -> bool:
    """Return whether a patch without a target may be for a kind; one in another file may be for any."""
    if text(patch, "path"):
        return True
    written = patch if isinstance(patch, str) else text(patch, "patch")
    try:
        parts = [load.read(document.text) for document in documents.documents(written.encode())] if written else [patch]
    except KrmfnError:
        return True
    return kind in json.dumps(parts, default=str)


def _fits(pattern: str, word: str) -> bool:
    """Return whether a regexp matches a whole word, as kustomize matches it, or may do so where it is not compiled."""
    anchored = f"^(?:{pattern})$"
    return not pattern or not regexps.is_usable(anchored) or regexps.matches(anchored, word)


def is_substituted(item: Item) -> bool:
    """Return whether Flux puts its variables into a resource."""
    return _DISABLED not in (item.annotations.get(_SUBSTITUTE), item.labels.get(_SUBSTITUTE))
