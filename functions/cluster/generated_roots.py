"""Folders without a kustomization, as Flux builds them: it writes one that lists all of the folder, and edits that.

Where it changes nothing of what it lists, the files are judged one by one, the hidden ones among them.
"""

import json
import os
from collections.abc import Collection, Sequence
from functools import lru_cache

from krmfn import KrmfnError
from krmfn.typed import NamedTuple

from ..deployments.deployment import Addition, Deployment
from ..deployments.edits import Fields, edits
from ..kustomization.calls import Ours
from ..kustomization.graph import NO_GRAPH
from ..paths import manifests
from ..paths.disk import File, relative
from ..paths.excludes import Excluder
from ..paths.roots import within
from ..rendering.kinds import COUNTING
from . import flux_listing
from .edited_roots import Editor
from .survey import Root

_FILE = manifests.KUSTOMIZATIONS[0]
_Key = tuple[str, tuple[Addition, ...], str]


class _Folder(NamedTuple):
    """What Flux makes of a folder, whichever object deploys it."""

    listed: Sequence[str] = ()
    """The paths that it lists."""
    fields: Fields | None = None
    """What it writes beside them; None where it is left as it is."""
    additions: tuple[Addition, ...] = ()
    """What these fields are made of."""


class Generator:
    """What Flux makes of folders without a kustomization in a run; its editor has the other roots."""

    def __init__(self, ours: Ours, root: str | None, is_absolute: bool, exclude: Excluder) -> None:
        """Take what an editor takes, and the function that tells which files are left out."""
        self.editor, self._exclude = Editor(ours, root, is_absolute), exclude
        self._ignored = lru_cache(maxsize=None)(flux_listing.ignored)
        self._folders: dict[_Key, _Folder] = {}

    def as_built(self, held: Sequence[Root], deployment: Deployment, top: str, tops: Collection[str]) -> Sequence[Root]:
        """Return the roots of a folder as a deployment has them; `held` are those that were found there.

        `top` is the root of the repository; of a folder that is not below a PATH, all of which are `tops`, they stay.
        """
        declaration, real = deployment.declaration, deployment.real(top)
        is_flux = (declaration.engine, declaration.how) == ("flux", "raw")
        if not is_flux or flux_listing.has_kustomization(real) or not any(within(real, path) for path in tops):
            return held
        key = (real, declaration.additions, declaration.ignore)
        apart = [root for root in held if root.kind == "kustomization" and not _is_sound(root)]
        if key not in self._folders:
            self._folders[key] = self._folder(held, key, top, {root.path for root in apart})
        folder = self._folders[key]
        if folder.fields is None:
            return self._with_hidden(held, folder, real)
        manifest = {"resources": [f"./{os.path.relpath(path, real)}" for path in folder.listed], **folder.fields}
        name = relative(real, "" if self.editor.is_absolute else os.getcwd())
        beside = tuple(file for file in _files(held) if file.real not in folder.listed)
        root = Root("kustomization", name, real, NO_GRAPH, beside, additions=folder.additions)
        text = json.dumps(manifest, ensure_ascii=False).encode()
        return [self.editor.generated(root, text, deployment, top), *apart]

    def _folder(self, held: Sequence[Root], key: _Key, top: str, apart: Collection[str]) -> _Folder:
        """Return what Flux makes of a folder: nothing where it is not known what it leaves out."""
        real, additions, ignore = key
        fields, written = edits("flux", {}, additions)
        paths = [path for path in flux_listing.listed(real) if path not in apart and not self._exclude(top, path)]
        hidden = [path for path in paths if "/." in path[len(real) :]]
        if not (fields or hidden):
            return _Folder()
        counting = {file.real for file in _files(held) if _is_counting(file)}
        try:
            ignored = {*self._ignored(top, ignore)}
        except KrmfnError:
            if flux_listing.has_patterns(top, ignore):
                return _Folder()
            ignored = set[str]()
        kept = [path for path in paths if path not in ignored and path not in counting]
        has_hidden_base = any(os.path.isdir(path) for path in hidden)
        if not (fields or has_hidden_base) or not (kept or "components" in fields):
            return _Folder([path for path in hidden if path in kept])
        return _Folder(kept, fields, written)

    def _with_hidden(self, held: Sequence[Root], folder: _Folder, real: str) -> Sequence[Root]:
        """Return the roots of a folder with its hidden files among the loose ones."""
        if not folder.listed:
            return held
        start = "" if self.editor.is_absolute else os.getcwd()
        root = next((root for root in held if root.kind == "files" and root.path == real), None)
        first = root or Root("files", relative(real, start), real, NO_GRAPH)
        hidden = tuple(File(relative(path, start), path) for path in folder.listed)
        return [first._replace(files=(*first.files, *hidden)), *(other for other in held if other is not root)]


def _files(held: Sequence[Root]) -> list[File]:
    """Return the files of some roots that no kustomization lists."""
    return [file for root in held if root.kind != "kustomization" for file in root.files]


def _is_sound(root: Root) -> bool:
    """Return False for a kustomization with an error: what cannot be built stays apart, and hides nothing else."""
    return not any(finding.severity == "error" for finding in root.graph.findings(root.path))


def _is_counting(file: File) -> bool:
    """Return True for a file of inventories or functionConfigs: these are judged as what they are in their files."""
    items = manifests.read_files([file])[0].items
    return bool(items) and all((item.group, item.kind) in COUNTING for item in items)
