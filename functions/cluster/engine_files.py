"""The files of a repository in which objects of engines may stand, and what else these take from files."""

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from krmfn import KrmfnError
from krmfn.resource import Place
from krmfn.streams import max_bytes

from ..deployments import config_maps
from ..deployments.deployment import Deployment, EngineObject
from ..paths import files, manifests
from ..paths.roots import parents

KEPT = 1 << 26
"""How many bytes of texts are kept in all until the documents in them are read; files beyond it are read again."""
_API_VERSION = re.compile(
    rb"(?:argoproj\.io|(?:toolkit|source\.extensions)\.fluxcd\.io|fleet\.cattle\.io)\\?/v[0-9]|argocd\.argoproj\.io\\?/secret-type"
    rb"|\bargocd-cm\b"
)
"""A file without any of these holds no object of an engine; JSON may write a slash with a backslash before it."""
_APPS = b"argocd-apps"
"""The name of a chart that makes Applications of its values."""
_WORDS = (b"argoproj.io", b"fluxcd.io", b"fleet.cattle.io", b"argocd-")
"""A text without any of these need not be searched for the two above, which takes thirty times as long."""
_CHART_OF_APPS = re.compile(rb"\bchart[\"']?:[ \t]*[\"']?argocd-apps\b")
_NAME_OF_APPS = re.compile(rb"\bname[\"']?:[ \t]*[\"']?argocd-apps\b")
_CHARTS = (b"helmCharts", b"dependencies")
"""The fields of a kustomization, and of a chart, that name charts by their `name`."""
_VALUES_OF_APPS = re.compile(rb"(?m)^[ \t]*(?:applications|applicationsets):[ \t]*(?:$|[{\[#])")
CONFIG_MAP = b"ConfigMap"
VARIABLES = b"substituteFrom"
"""A text without it takes no variables from a ConfigMap."""
_CHART, _TEMPLATES = "Chart.yaml", "templates"
_DEPLOYING = re.compile(rb"(?m)^kind:[ \t]*[\"']?(?:Application|ApplicationSet|GitRepo|HelmRelease|Kustomization)\b")


class Seen:
    """The texts of files that were read, as far as they are kept."""

    def __init__(self, folders: Collection[str]) -> None:
        """Keep texts below these folders (absolute, without links): somebody reads their files next."""
        self.texts: dict[str, bytes] = {}
        """By paths without links."""
        self._folders, self._rest = frozenset(folders), KEPT
        self._is_below: dict[str, bool] = {}
        """Whether a folder is below one of them: there may be thousands, each with few files."""

    def note(self, path: str, text: bytes) -> None:
        """Keep the text of a file."""
        folder = os.path.dirname(path)
        if folder not in self._is_below:
            self._is_below[folder] = not self._folders.isdisjoint(parents(folder))
        if len(text) <= self._rest and (self._is_below[folder] or path in self._folders):
            self.texts[path] = text
            self._rest -= len(text)


def has_words(text: bytes) -> bool:
    """Return True for a text that may hold an object of an engine."""
    return _has_any_word(text) and _API_VERSION.search(text) is not None


def _has_any_word(text: bytes) -> bool:
    return any(word in text for word in _WORDS)


def texts(top: str, paths: Iterable[str], seen: Seen) -> dict[str, bytes]:
    """Return the texts of the files that may hold an object of an engine, or name argocd-apps, by their paths."""
    by_path, limit = dict[str, bytes](), max_bytes()
    for path in paths:
        with suppress(KrmfnError):
            text = files.read_regular(place := os.path.join(top, path), path, limit)
            seen.note(place, text)
            if _has_any_word(text) and (_API_VERSION.search(text) or _APPS in text):
                by_path[path] = text
                limit -= len(text)
    return by_path


def templates(top: str, paths: Sequence[str]) -> Iterator[str]:
    """Yield the paths of the templates in Helm charts that give objects of engines."""
    charts = {os.path.dirname(path) for path in paths if os.path.basename(path) == _CHART}
    for path in paths if charts else ():
        if f"/{_TEMPLATES}/" in f"/{path}" and f"/{path}".partition(f"/{_TEMPLATES}/")[0].lstrip("/") in charts:
            with suppress(KrmfnError):
                text = files.read_regular(os.path.join(top, path), path, max_bytes())
                if b"{{" in text and has_words(text) and _DEPLOYING.search(text):
                    yield path


def values_of_apps(top: str, paths: Iterable[str], texts: Mapping[str, bytes]) -> Iterator[str]:
    """Yield the places of values of which the chart argocd-apps makes Applications, where a text names that chart.

    They stand in any file beside the text that names it, or in that one; the text itself is the place in a folder where
    none are.
    """
    matches = ((path, _CHART_OF_APPS.search(text) or _named(path, text)) for path, text in texts.items())
    named = {path: match for path, match in matches if match}
    folders = {os.path.dirname(path) for path in named}
    with_values = set[str]()
    for path in paths if named else ():
        folder = os.path.dirname(path)
        if folder in folders:
            with suppress(KrmfnError):
                text = texts.get(path) or files.read_regular(os.path.join(top, path), path, max_bytes())
                if match := _VALUES_OF_APPS.search(text):
                    with_values.add(folder)
                    yield _place(path, text, match.start())
    for path, match in named.items():
        if os.path.dirname(path) not in with_values:
            yield _place(path, texts[path], match.start())


def _named(path: str, text: bytes) -> re.Match[bytes] | None:
    """Return where a kustomization, or a chart, names argocd-apps among its charts; an Application may be called so."""
    is_list = os.path.basename(path) in (_CHART, *manifests.KUSTOMIZATIONS) and any(field in text for field in _CHARTS)
    return _NAME_OF_APPS.search(text) if is_list else None


def _place(path: str, text: bytes, at: int) -> str:
    line = text.count(b"\n", 0, at) + 1
    return f"{path}:{line}"


def config_maps_of(top: str, paths: Iterable[str], deployments: Sequence[Deployment]) -> list[EngineObject]:
    """Return the ConfigMaps in a repository from which a Kustomization of Flux takes variables."""
    names = {name for deployment in deployments for name in config_maps.names(deployment)}
    objects = list[EngineObject]()
    for path in paths if names else ():
        if path.endswith(manifests.SUFFIXES):
            with suppress(KrmfnError):
                text = files.read_regular(os.path.join(top, path), path, max_bytes())
                if CONFIG_MAP in text:
                    items = manifests.read_stream(text, path).items
                    maps = (item for item in items if (item.group, item.kind) == ("", CONFIG_MAP.decode()))
                    objects += (EngineObject(m.ref, m.manifest, Place(path)) for m in maps if m.ref.name in names)
    return objects
