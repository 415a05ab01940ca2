"""Differences that an Argo CD ignores for all its Applications: argocd-cm says so, or the ArgoCD of its operator.

Source: Argo CD 3.2.1, util/settings/settings.go, GetResourceOverrides; argocd-operator, api/v1beta1/argocd_types.go.
"""

from collections.abc import Iterator, Mapping, Sequence

from krmfn import KrmfnError, Manifest
from krmfn.typed import Any

from ..kmm.lookup import table, tables, text
from .deployment import EngineObject
from .ignored import Ignored, ignored_by

CONFIG_MAP = "argocd-cm"
_OPERATOR = ("argoproj.io", "ArgoCD")
_CUSTOMIZATIONS = "resource.customizations"
_FIELD = "ignoreDifferences"
_PREFIX = f"{_CUSTOMIZATIONS}.{_FIELD}."


def is_settings(item: EngineObject) -> bool:
    """Return whether an object has the settings of an Argo CD."""
    kind = (item.ref.group, item.ref.kind)
    return kind == _OPERATOR or (kind == ("", "ConfigMap") and item.ref.name == CONFIG_MAP)


def ignored_everywhere(objects: Sequence[EngineObject]) -> tuple[Ignored, ...]:
    """Return what the Argo CDs of a repository ignore; of several nobody knows which of them has an Application."""
    settings = [item for item in objects if is_settings(item)]
    entries = [ignored_by(entry, f"{item.ref} ({item.place.path})") for item in settings for entry in _entries(item)]
    return tuple(ignored.as_unread() for ignored in entries) if settings[1:] else tuple(entries)


def _entries(item: EngineObject) -> Iterator[Manifest]:
    """Yield what some settings ignore, in the form of an Application."""
    spec = table(item.manifest, "spec")
    data = table(item.manifest, "data") if item.ref.kind == "ConfigMap" else table(spec, "extraConfig")
    former = text(data, _CUSTOMIZATIONS) or text(spec, "resourceCustomizations")
    by_kind = {key: table(value) for key, value in _read(former).items()}
    values = {key: _read(text(value, _FIELD)) for key, value in by_kind.items()}
    values |= {_key(key.removeprefix(_PREFIX)): _read(text(data, key)) for key in data if key.startswith(_PREFIX)}
    for key, value in values.items():
        group, _, kind = key.rpartition("/")
        yield {**value, "group": group, "kind": kind}
    operated = table(spec, "resourceIgnoreDifferences")
    if "all" in operated:
        yield {**table(operated, "all"), "group": "*", "kind": "*"}
    for _, entry in tables(operated, "resourceIdentifiers"):
        yield {**table(entry, "customization"), "group": text(entry, "group"), "kind": text(entry, "kind")}


def _key(name: str) -> str:
    """Return GROUP/KIND, or KIND for the core group, of the last part of a key in argocd-cm."""
    return "*/*" if name == "all" else name.replace("_", "/", 1)


def _read(value: str) -> Mapping[str, Any]:
    """Return the mapping in a text; {} where Argo CD does not start with it."""
    from krmfn.yamltext import load  # imported here: few repositories have such settings

    try:
        data = load.read(value.encode()) if value else {}
    except KrmfnError:
        return {}
    return table(data)
