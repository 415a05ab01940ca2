"""Which files of a commit some PATHs need: what stands below them, and what their kustomizations may lead to.

A file too many costs little; one too few would be an error about the base. So every string of a kustomization is taken
for a path.
"""

import os
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence

from krmfn import KrmfnError, Manifest
from krmfn.typed import Any

from ..cluster.config import NAME as CONFIG_FILE
from ..kmm.lookup import strings, table
from ..kustomization.documents import documents
from ..paths.git import LINK, Entry
from ..paths.manifests import KUSTOMIZATIONS
from ..paths.roots import parents, within

_FUNCTIONS = ("generators", "transformers", "validators")
_MOST_LINKS = 40
"""How many links are followed one after the other, as on Linux."""

Read = Callable[[Entry], bytes]


def needed(listing: Iterable[Entry], paths: Sequence[str], read: Read) -> list[Entry]:
    """Return the entries of a commit that the PATHs need, and all links; paths are from the root of the repository."""
    search = _Search({entry.path: entry for entry in listing}, read)
    for path in paths:
        search.take(path, whole=True)
    search.take_clusters(paths)
    search.follow()
    return [entry for entry in search.known.values() if entry.path in search.taken or entry.mode == LINK]


class _Search:
    """The entries of a commit, those taken so far, and the links and kustomizations that are still to be followed."""

    def __init__(self, known: dict[str, Entry], read: Read) -> None:
        self.known, self._read = known, read
        self._paths = sorted(known)
        self._links = {path: os.fsdecode(read(entry)) for path, entry in known.items() if entry.mode == LINK}
        self.taken: set[str] = set()
        self._left: list[str] = []

    def take(self, path: str, whole: bool = False) -> list[str]:
        """Take a file, what is in a folder (its kustomization, or the `whole`), and a submodule above; return them."""
        real = self._resolved(path)
        found = [above for above in parents(real) if above in self.known]
        start = "" if real == "." else f"{real}/"
        for at in range(bisect_left(self._paths, start), len(self._paths)):
            below = self._paths[at]
            if not below.startswith(start):
                break
            if whole or below[len(start) :] in KUSTOMIZATIONS:
                found.append(below)
        self._left += [one for one in found if one not in self.taken]
        self.taken.update(found)
        return found

    def take_clusters(self, paths: Sequence[str]) -> None:
        """Take the configuration files, the Profiles that they name, and the members of clusters about the PATHs."""
        reals = [self._resolved(path) for path in paths]
        for name in [path for path in self._paths if os.path.basename(path) == CONFIG_FILE]:
            self.take(name)
            for manifest in self._manifests(name):
                for text in _strings(manifest.get("profiles")):
                    self.take(os.path.join(os.path.dirname(name), text), whole=True)
                for members in table(manifest, "clusters").values():
                    held = [self._resolved(os.path.join(os.path.dirname(name), text)) for text in _strings(members)]
                    if any(is_below(one, real) or is_below(real, one) for one in held for real in reals):
                        for one in held:
                            self.take(one, whole=True)

    def follow(self) -> None:
        """Take what the taken links and kustomizations lead to, and so on."""
        while self._left:
            path = self._left.pop()
            if path in self._links:
                self.take(path, whole=True)
            elif os.path.basename(path) in KUSTOMIZATIONS:
                for manifest in self._manifests(path):
                    self._follow(os.path.dirname(path), manifest)

    def _follow(self, folder: str, manifest: Manifest) -> None:
        has_charts = any("helm" in str(key) for key in manifest)
        if has_charts:
            self.take(folder, whole=True)
        self._take_strings(folder, manifest, has_charts)
        for text in (text for field in _FUNCTIONS for text in _strings(manifest.get(field))):
            if "\n" in text or "{" in text:
                for inner in _read(text.encode(errors="surrogatepass")):
                    self._take_strings(folder, inner, has_charts)
                continue
            for file in self.take(os.path.join(folder, text), whole=True):
                for inner in self._manifests(file):
                    self._take_strings(folder, inner, has_charts)

    def _take_strings(self, folder: str, manifest: Manifest, whole: bool) -> None:
        for text in _strings(manifest):
            for part in {text, text.rpartition("=")[2]} - {""}:
                self.take(os.path.join(folder, part), whole)

    def _manifests(self, path: str) -> list[Manifest]:
        return _read(self._read(self.known[path]))

    def _resolved(self, path: str) -> str:
        """Return a path without links; of one that leads out, or in a circle, what is left."""
        path = os.path.normpath(path)
        for _ in range(_MOST_LINKS):
            link = next((one for one in reversed(list(parents(path))) if one in self._links), None)
            if link is None:
                break
            path = os.path.normpath(os.path.join(os.path.dirname(link), self._links[link], path[len(link) + 1 :]))
        return path


def _read(text: bytes) -> list[Manifest]:
    """Return the documents of a text; [] for one that is no YAML, which is said when it is read for good."""
    try:
        return [item.manifest for item in documents("", text, is_composed=False)]
    except KrmfnError:
        return []


def _strings(data: Any) -> Iterator[str]:
    return (text for _, text, is_key in strings(data) if not is_key)


def is_below(path: str, folder: str) -> bool:
    """Return True when a path from the root of the repository is that of the folder, or below it."""
    return folder == "." or within(path, folder)
