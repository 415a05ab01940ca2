"""What an engine writes into the kustomization of a folder before it builds it: its additions, as fields there.

Source: fluxcd/pkg kustomize 1.35.6, kustomize_generator.go, GenerateManifest; Argo CD 3.2.1, util/kustomize, Build: it
calls `kustomize edit` (5.8, commands/edit). What the engine refuses, or fills in from outside of the repository, is no
edit: the addition is left as one that is not known.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence

from krmfn import Manifest
from krmfn.typed import Any

from ..kmm.lookup import listing, table, tables, text
from .deployment import Addition, Engine

Fields = dict[str, Any]
"""Fields of a kustomization, with their new values."""
Writer = Callable[[Manifest, Any, Manifest], Fields | None]
"""Returns the fields for the value of an addition, from the kustomization and all additions; None for no edit."""
_GLOB = re.compile(r"[*?\[\\]")
_NAMES = {"targetNamespace": "namespace"}
_IMAGE = ("name", "newName", "newTag", "digest")
_PRESERVED = "*"
"""What stands for the value of the kustomization in an image of `kustomize edit set image`."""


def edits(engine: Engine, manifest: Manifest, additions: Sequence[Addition]) -> tuple[Fields, tuple[Addition, ...]]:
    """Return the fields that an engine writes into a kustomization, and the additions that these are made of."""
    options = {addition.field.rpartition(".")[2]: json.loads(addition.value) for addition in additions}
    writers, fields, written = _WRITERS.get(engine, {}), Fields(), list[Addition]()
    for addition, (name, value) in zip(additions, options.items(), strict=True):
        changes = writers[name]({**manifest, **fields}, value, options) if name in writers else None
        # a field that is not as it has to be is the kustomization's own mistake, and is not written over
        if changes is not None and all(_is_readable(manifest.get(field), changes[field]) for field in changes):
            fields |= changes
            written.append(addition)
    return fields, tuple(written)


def _is_readable(former: Any, new: Any) -> bool:
    """Return whether a field that is there is of its new value's kind, and each of its entries of that of a new one."""
    if former is None or not isinstance(new, list):
        return former is None or _kind(former) is _kind(new)
    kinds = set(map(_kind, new))
    return isinstance(former, list) and (not kinds or set(map(_kind, former)) <= kinds)


def _kind(value: Any) -> type:
    return next((kind for kind in (dict, list, str) if isinstance(value, kind)), type(value))


def _are_tables(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(entry, dict) for entry in value)


def _named(field: str) -> Writer:
    """Return the writer of a field that an engine replaces."""

    def write(_: Manifest, value: Any, __: Manifest) -> Fields | None:
        return {_NAMES.get(field, field): value} if isinstance(value, str) else None

    return write


def _patches(keys: Sequence[str]) -> Writer:
    """Return the writer that adds patches with these keys; another key may hold what the engine refuses."""

    def write(manifest: Manifest, value: Any, _options: Manifest) -> Fields | None:
        if not _are_tables(value):
            return None
        patches = [table(patch) for patch in value]
        texts = [patch.get(key, "") for patch in patches for key in ("patch", "path")]
        if any(patch.keys() - {*keys} for patch in patches) or not all(isinstance(entry, str) for entry in texts):
            return None
        return {"patches": [*(listing(manifest, "patches") or ()), *patches]}

    return write


def _merges(manifest: Manifest, value: Any, _options: Manifest) -> Fields | None:
    """Add Flux's strategic merge patches, which are objects, as texts."""
    if not _are_tables(value):
        return None
    former = listing(manifest, "patchesStrategicMerge") or ()
    return {"patchesStrategicMerge": [*former, *(json.dumps(patch) for patch in value)]}


def _json_patches(manifest: Manifest, value: Any, _options: Manifest) -> Fields | None:
    """Add Flux's JSON patches, which are lists of operations, as texts."""
    if not _are_tables(value):
        return None
    patches = [{"patch": json.dumps(patch.get("patch")), "target": table(patch, "target")} for patch in value]
    return {"patchesJson6902": [*(listing(manifest, "patchesJson6902") or ()), *patches]}


def _flux_components(manifest: Manifest, value: Any, options: Manifest) -> Fields | None:
    """Add components, also those that are listed already; which ones may be missing depends on what is there."""
    if options.get("ignoreMissingComponents") or not _are_paths(value):
        return None
    return {"components": [*(listing(manifest, "components") or ()), *value]}


def _argocd_components(manifest: Manifest, value: Any, options: Manifest) -> Fields | None:
    """Add components that are not listed already; patterns, and those that may be missing, depend on what is there."""
    if options.get("ignoreMissingComponents") or not _are_paths(value) or any(map(_GLOB.search, value)):
        return None
    former = listing(manifest, "components") or []
    return {"components": [*former, *(path for path in dict.fromkeys(value) if path not in former)]}


def _are_paths(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(path, str) for path in value)


def _flux_images(manifest: Manifest, value: Any, _options: Manifest) -> Fields | None:
    """Merge images into those of the same name; tag and digest are replaced together."""
    if "imageTags" in manifest or not _are_tables(value) or not all(map(_is_image, value)):
        return None
    images = {text(image, "name"): dict(image) for _, image in tables(manifest, "images")}
    for _, image in tables({"images": value}, "images"):
        merged = images.setdefault(text(image, "name"), {"name": text(image, "name")})
        if text(image, "newName"):
            merged["newName"] = text(image, "newName")
        if text(image, "newTag") or text(image, "digest"):
            merged |= {"newTag": text(image, "newTag"), "digest": text(image, "digest")}
    return {"images": [_without_empty(image) for image in images.values()]}


def _is_image(image: Fields) -> bool:
    """Return whether an image of Flux has a name, and no field but texts that it knows."""
    are_texts = all(isinstance(part, str) for part in image.values())
    return bool(image.get("name")) and image.keys() <= {*_IMAGE} and are_texts


def _argocd_images(manifest: Manifest, value: Any, _options: Manifest) -> Fields | None:
    """Replace images of the same name, sorted by name; variables are those of the Application (ARGOCD_APP_...)."""
    if "imageTags" in manifest or not isinstance(value, list):
        return None
    images = {text(image, "name"): image for _, image in tables(manifest, "images")}
    for argument in value:
        image = _image(argument) if isinstance(argument, str) and "$" not in argument else None
        if image is None:
            return None
        former = images.get(image["name"], {})
        images[image["name"]] = {
            key: text(former, key) if entry == _PRESERVED and key != "name" else entry for key, entry in image.items()
        }
    return {"images": [_without_empty(images[name]) for name in sorted(images)]}


def _image(argument: str) -> dict[str, str] | None:
    """Return the image of `[NAME=]NEW[:TAG][@DIGEST]`; None where it names or changes nothing, which is refused."""
    name, sign, value = argument.rpartition("=") if "=" in argument else ("", "", argument)
    image, _, digest = value.partition("@")
    start = image.rfind("/") + 1
    base, _, tag = image[start:].partition(":")
    new = image[:start] + base
    if (not sign and new == argument) or (sign and not name):
        return None
    return dict(zip(_IMAGE, (name, new, tag, digest) if sign else (new, "", tag, digest), strict=True))


def _without_empty(image: Mapping[str, Any]) -> Fields:
    return {key: image[key] for key in _IMAGE if image.get(key)}


def _replicas(manifest: Manifest, value: Any, _options: Manifest) -> Fields | None:
    """Set the counts of some workloads, sorted by name."""
    if not _are_tables(value) or not all(isinstance(entry.get("name"), str) for entry in value):
        return None
    counts = {text(entry, "name"): entry.get("count") for _, entry in tables(manifest, "replicas")}
    for _, entry in tables({"replicas": value}, "replicas"):
        if not re.fullmatch(r"[0-9]{1,9}", str(entry.get("count"))):
            return None
        counts[text(entry, "name")] = int(entry["count"])
    return {"replicas": [{"name": name, "count": counts[name]} for name in sorted(counts)]}


def _labels(manifest: Manifest, value: Any, options: Manifest) -> Fields | None:
    """Add labels: to `commonLabels`, which also changes selectors, or to `labels`."""
    is_forced = options.get("forceCommonLabels") is True
    if options.get("labelWithoutSelector") is not True:
        pairs = _pairs(table(manifest, "commonLabels"), value, is_forced)
        return None if pairs is None or options.get("labelIncludeTemplates") else {"commonLabels": pairs}
    settings = {"includeTemplates": True} if options.get("labelIncludeTemplates") is True else {}
    entries = [entry for _, entry in tables(manifest, "labels")]
    same = [at for at, entry in enumerate(entries) if _settings(entry) == settings]
    at = same[0] if same else len(entries)
    pairs = _pairs(table(entries[at], "pairs") if same else Fields(), value, is_forced)
    return None if pairs is None else {"labels": [*entries[:at], {"pairs": pairs, **settings}, *entries[at + 1 :]]}


def _settings(entry: Manifest) -> Fields:
    return {key: True for key in ("includeSelectors", "includeTemplates") if entry.get(key) is True}


def _annotations(manifest: Manifest, value: Any, options: Manifest) -> Fields | None:
    if options.get("commonAnnotationsEnvsubst") and "$" in json.dumps(value):
        return None
    pairs = _pairs(table(manifest, "commonAnnotations"), value, options.get("forceCommonAnnotations") is True, "")
    return None if pairs is None else {"commonAnnotations": pairs}


def _pairs(former: Manifest, value: Any, is_forced: bool, variable: str = "$") -> Fields | None:
    """Return labels or annotations with others added; None for a key that is there, unless it is forced.

    Texts with the sign of variables are filled in by Argo CD; quotes around a value are dropped by `kustomize edit`.
    """
    if not isinstance(value, dict) or not all(isinstance(entry, str) for entry in value.values()):
        return None
    is_filled = variable and any(variable in entry for entry in value.values())
    if is_filled or any(":" in key or entry.startswith('"') for key, entry in value.items()):
        return None
    return None if not is_forced and former.keys() & value.keys() else {**former, **value}


def _flag(_: Manifest, __: Any, ___: Manifest) -> Fields | None:
    """Write nothing for an option that says how others are written."""
    return {}


FLAGS = (
    *("ignoreMissingComponents", "forceCommonLabels", "forceCommonAnnotations", "labelWithoutSelector"),
    *("labelIncludeTemplates", "commonAnnotationsEnvsubst"),
)
"""Options that say how additions are written, and change nothing themselves."""
_FLUX: dict[str, Writer] = {
    **{field: _named(field) for field in ("targetNamespace", "namePrefix", "nameSuffix")},
    "patches": _patches(("patch", "target")),
    "patchesStrategicMerge": _merges,
    "patchesJson6902": _json_patches,
    "components": _flux_components,
    "images": _flux_images,
}
_ARGOCD: dict[str, Writer] = {
    **{field: _named(field) for field in ("namespace", "namePrefix", "nameSuffix")},
    "patches": _patches(("patch", "path", "target", "options")),
    "components": _argocd_components,
    "images": _argocd_images,
    "replicas": _replicas,
    "commonLabels": _labels,
    "commonAnnotations": _annotations,
}
_WRITERS: Mapping[str, Mapping[str, Writer]] = {
    "flux": {**_FLUX, **dict.fromkeys(FLAGS, _flag)},
    "argocd": {**_ARGOCD, **dict.fromkeys(FLAGS, _flag)},
}
