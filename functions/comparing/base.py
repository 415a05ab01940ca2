"""The base of a pull request: the merge base of a ref and HEAD, as a folder that is read like any other."""

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from krmfn import KrmfnError, Result
from krmfn.streams import max_bytes
from krmfn.typed import NamedTuple

from ..cluster.config import NAME as CONFIG_FILE
from ..cluster.config import parse
from ..options import RunOptions
from ..paths import git, history, roots
from ..paths.disk import refuse_inside
from ..paths.git import Entry
from ..paths.roots import within
from .needed import is_below, needed

_SHORT = 12
"""Characters of a commit's name that people are shown."""


class Base(NamedTuple):
    """A commit whose files stand in a temporary folder."""

    name: str
    """The commit as people are shown it."""
    root: str
    """The work tree that it is the base of, absolute and without links."""
    folder: str
    """Where its files are, absolute and without links."""
    skipped: Mapping[str, str]
    """What of it could not be written there: a sentence by the path from the root of the repository."""

    def path(self, path: str) -> str:
        """Return where a PATH is in the base, whether it is there or not. Raises KrmfnError for one outside."""
        return os.path.normpath(os.path.join(self.folder, _from_root(path, self.root)))

    def options(self, options: RunOptions) -> RunOptions:
        """Return the options with the base's own files: its functionConfig, and no link out of it."""
        root = self._moved(options.root) if options.root else None
        bound = root if root and os.path.isdir(root) else self.folder
        moved = [self._moved(path) or path for path in options.function_config]
        configs = tuple(path for path in moved if os.path.lexists(path))
        trusted = tuple(self._moved(path) or path for path in options.profiles_from)
        clusters = tuple(f"{name}={','.join(map(self.path, held))}" for name, held in map(parse, options.cluster))
        return options._replace(root=bound, function_config=configs, profiles_from=trusted, cluster=clusters)

    def unread(self, options: RunOptions) -> list[str]:
        """Return a sentence for each file that counts for every PATH and that is not there."""
        wanted = [CONFIG_FILE]
        wanted += [_from_root(path, self.root) for path in options.function_config if _is_in(path, self.root)]
        return [self.skipped[path] for path in wanted if path in self.skipped]

    def skipped_below(self, paths: Sequence[str]) -> list[tuple[str, str]]:
        """Return each file below some PATHs that is not there, from the root of the repository, with a sentence."""
        wanted = [_from_root(path, self.root) for path in paths]
        return [(path, line) for path, line in self.skipped.items() if any(is_below(path, name) for name in wanted)]

    def from_root(self, path: str) -> str:
        """Return a path in the base from the root of the repository; one from there stays as it is."""
        return os.path.relpath(path, self.folder) if within(path, self.folder) else path

    def shown(self, text: str) -> str:
        """Return a text with Git's names of the base's files in place of the temporary ones."""
        return text.replace(f"{self.folder}/", f"{self.name}:").replace(self.folder, f"{self.name}:./")

    def located(self, result: Result) -> Result:
        """Return a finding with Git's names of the base's files."""
        place = result.place and result.place._replace(path=self.shown(result.place.path))
        return result._replace(message=self.shown(result.message), place=place)

    def _moved(self, path: str) -> str | None:
        """Return where a file is in the base; None for one that lies outside of the repository."""
        return self.path(path) if _is_in(path, self.root) else None


@contextmanager
def checked_out(ref: str, paths: Sequence[str], files: Sequence[str] = ()) -> Iterator[Base]:
    """Write what some PATHs and files need of the merge base of a ref and HEAD into a temporary folder.

    It is there as long as the block runs. Raises KrmfnError when the PATHs are not in one Git work tree, and when the
    base cannot be read.
    """
    root = _root(paths)
    commit = history.merge_base(root, ref)
    absent = git.missing(root, commit)
    listing = git.entries(root, commit, absent)
    wanted = [_from_root(path, root) for path in paths]
    gone = [name for name in history.unchecked_out(root) if any(is_below(name, one) for one in wanted)]
    if gone:  # of a sparse checkout: it would count as deleted
        raise KrmfnError(
            f"this is a sparse checkout without {gone[0]}{f' and {len(gone) - 1:,} more' if gone[1:] else ''}, "
            "so the new state is not known; pass PATHs that are checked out, or run `git sparse-checkout disable`"
        )
    more = [_from_root(path, root) for path in files if _is_in(path, root)]
    with _temporary() as made:
        folder = os.path.realpath(made)
        for path in paths:
            refuse_inside(path, os.path.realpath(path), folder)
        with git.objects(root) as contents:

            def read(entry: Entry) -> bytes:
                data = "" if entry.object in absent else contents(entry.object, max_bytes())
                return data if isinstance(data, bytes) else b""

            chosen = needed(listing, [*wanted, *more], read)
            # the PATHs' own files first: they may take as much room as there is
            chosen.sort(key=lambda entry: not any(is_below(entry.path, name) for name in wanted))
            skipped = git.write(contents, chosen, absent, folder, max_bytes())
        name = commit[:_SHORT]
        yield Base(name, root, folder, {path: f"{name}:{path}: {why}" for path, why in skipped.items()})


def _temporary() -> tempfile.TemporaryDirectory[str]:
    try:
        return tempfile.TemporaryDirectory(prefix="krmfn-", ignore_cleanup_errors=True)
    except OSError as failure:
        raise KrmfnError(
            f"--base needs a temporary folder, but none is writable: {failure.strerror}; set the environment "
            "variable TMPDIR to one that is"
        ) from failure


def _root(paths: Sequence[str]) -> str:
    """Return the one work tree that holds all PATHs. Raises KrmfnError when there is none, or more than one."""
    found: dict[str, str] = {}
    for path in paths:
        if path == "-":
            raise KrmfnError("- is stdin, which has no base; with --base, pass files or folders of a Git work tree")
        folder = path if os.path.isdir(path) else os.path.dirname(path) or "."
        root = roots.root_of(os.path.realpath(folder))
        if root is None or not os.path.lexists(os.path.join(root, ".git")):
            raise KrmfnError(
                f"{path} is not in a Git work tree, so it has no base; compare two folders instead: OLD NEW"
            )
        found.setdefault(root, path)
    if len(found) > 1:
        raise KrmfnError(f"{' and '.join(found.values())} are in different Git work trees; compare one at a time")
    return next(iter(found))


def _from_root(path: str, root: str) -> str:
    """Return a path from the root of the work tree: as it is written, for what is a link today may be none before."""
    written = os.path.relpath(os.path.join(os.getcwd(), os.path.normpath(path)), root)
    if written.split("/")[0] != "..":
        return written
    real = os.path.relpath(os.path.realpath(path), root)
    if real.split("/")[0] == "..":
        raise KrmfnError(f"{path} is not in the Git work tree {root}")
    return real


def _is_in(path: str, root: str) -> bool:
    return within(os.path.join(os.getcwd(), os.path.normpath(path)), root) or within(os.path.realpath(path), root)
