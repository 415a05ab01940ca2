"""The files of a commit that some PATHs need: those below them, and those that their kustomizations may refer to.

A file too many costs little; one too few would be an error about the base. So every string of a kustomization counts as
a path.
"""

import os
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

from krmfn import KrmfnError, Manifest
from krmfn.typed import Any

from ..cluster import engine_files
from ..cluster.config import NAME as CONFIG_FILE
from ..deployments.fleet import BUNDLES
from ..deployments.generators import file_patterns, parameter_files
from ..kmm.lookup import strings, table
from ..kustomization.documents import documents
from ..paths.git import LINK, Entry
from ..paths.manifests import KUSTOMIZATIONS, SUFFIXES
from ..paths.roots import parents, within

_FUNCTIONS = ("generators", "transformers", "validators")
_MOST_LINKS = 40
"""How many links are followed one after the other; as on Linux."""

Read = Callable[[Entry], bytes]


def needed_entries(listing: Iterable[Entry], paths: Sequence[str], read: Read) -> list[Entry]:
    """Return the entries of a commit that the PATHs need, and all links. Paths are from the root of the repository."""
    search = _Search({entry.path: entry for entry in listing}, read)
    for path in paths:
        search.take(path, with_all=True)
    search.take_clusters(paths)
    search.take_engines()
    search.follow()
    return [entry for entry in search.known.values() if entry.path in search.taken or entry.mode == LINK]


class _Search:
    """The entries of a commit, those taken so far, and the links and kustomizations that are to be followed next."""

    def __init__(self, known: dict[str, Entry], read: Read) -> None:
        self.known, self._read = known, read
        self._paths = sorted(known)
        self._links = {path: os.fsdecode(read(entry)) for path, entry in known.items() if entry.mode == LINK}
        self.taken: set[str] = set()
        self._pending: list[str] = []

    def take(self, path: str, with_all: bool = False) -> list[str]:
        """Take a file, or the kustomization in a folder (all of it with `with_all`), and return the paths taken.

        A submodule that holds the path is taken, too.
        """
        real = self._resolved(path)
        paths = [parent for parent in parents(real) if parent in self.known]
        start = "" if real == "." else f"{real}/"
        for at in range(bisect_left(self._paths, start), len(self._paths)):
            below = self._paths[at]
            if not below.startswith(start):
                break
            if with_all or below[len(start) :] in KUSTOMIZATIONS:
                paths.append(below)
        self._pending += [name for name in paths if name not in self.taken]
        self.taken.update(paths)
        return paths

    def take_clusters(self, paths: Sequence[str]) -> None:
        """Take the configuration files, the Profiles that they name, and the members of clusters at the PATHs.

        A cluster is at a PATH when one of its members is above, at or below it.
        """
        tops = [self._resolved(path) for path in paths]
        for file in [path for path in self._paths if os.path.basename(path) == CONFIG_FILE]:
            self.take(file)
            folder = os.path.dirname(file)
            for manifest in self._manifests(file):
                for text in _strings(manifest.get("profiles")):
                    self.take(os.path.join(folder, text), with_all=True)
                for texts in table(manifest, "clusters").values():
                    members = [self._resolved(os.path.join(folder, text)) for text in _strings(texts)]
                    if any(is_below(member, top) or is_below(top, member) for member in members for top in tops):
                        for member in members:
                            self.take(member, with_all=True)

    def take_engines(self) -> None:
        """Take the files with objects of engines, and those that Git file generators read.

        Without them the clusters of the base would be other ones. A configuration file with clusters goes before them.
        """
        if any(table(manifest, "clusters") for manifest in self._configs()):
            return
        names = [path for path in self._paths if path.endswith(SUFFIXES) and path not in self._links]
        texts = {path: self._read(self.known[path]) for path in names}
        holders = [path for path, text in texts.items() if engine_files.has_words(text)]
        has_variables = any(engine_files.VARIABLES in texts[path] for path in holders)
        patterns = [*chain.from_iterable(map(file_patterns, chain.from_iterable(map(self._manifests, holders))))]
        engine_paths = {*holders, *parameter_files(names, patterns)}
        for path in names:
            is_theirs = path in engine_paths or os.path.basename(path) in BUNDLES
            if is_theirs or (has_variables and engine_files.CONFIG_MAP in texts[path]):
                self.take(path)

    def _configs(self) -> Iterator[Manifest]:
        for path in self._paths:
            yield from self._manifests(path) if os.path.basename(path) == CONFIG_FILE else ()

    def follow(self) -> None:
        """Take what the taken links and kustomizations refer to, until there is nothing more to take."""
        while self._pending:
            path = self._pending.pop()
            if path in self._links:
                self.take(path, with_all=True)
            elif os.path.basename(path) in KUSTOMIZATIONS:
                for manifest in self._manifests(path):
                    self._follow(os.path.dirname(path), manifest)

    def _follow(self, folder: str, manifest: Manifest) -> None:
        has_charts = any("helm" in str(key) for key in manifest)
        if has_charts:
            self.take(folder, with_all=True)
        self._take_strings(folder, manifest, has_charts)
        for text in (text for field in _FUNCTIONS for text in _strings(manifest.get(field))):
            if "\n" in text or "{" in text:
                for inner in _read(text.encode(errors="surrogatepass")):
                    self._take_strings(folder, inner, has_charts)
                continue
            for file in self.take(os.path.join(folder, text), with_all=True):
                for inner in self._manifests(file):
                    self._take_strings(folder, inner, has_charts)

    def _take_strings(self, folder: str, manifest: Manifest, with_all: bool) -> None:
        for text in _strings(manifest):
            for part in {text, text.rpartition("=")[2]} - {""}:
                self.take(os.path.join(folder, part), with_all)

    def _manifests(self, path: str) -> list[Manifest]:
        return _read(self._read(self.known[path]))

    def _resolved(self, path: str) -> str:
        """Return a path with its links resolved; after too many of them, as far as they were resolved."""
        path = os.path.normpath(path)
        for _ in range(_MOST_LINKS):
            link = next((parent for parent in reversed(list(parents(path))) if parent in self._links), None)
            if link is None:
                break
            path = os.path.normpath(os.path.join(os.path.dirname(link), self._links[link], path[len(link) + 1 :]))
        return path


def _read(text: bytes) -> list[Manifest]:
    """Return the documents of a text; [] for one that is no YAML, which is reported when the base is read."""
    try:
        return [item.manifest for item in documents("", text, is_composed=False)]
    except KrmfnError:
        return []


def _strings(data: Any) -> Iterator[str]:
    return (text for _, text, is_key in strings(data) if not is_key)


def is_below(path: str, folder: str) -> bool:
    """Return True when a path is the folder or below it; both are from the root of the repository."""
    return folder == "." or within(path, folder)
