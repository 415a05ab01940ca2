"""The base of a pull request: the merge base of a ref and HEAD, as a folder that is read like any other."""

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from krmfn import KrmfnError, Result
from krmfn.streams import max_bytes
from krmfn.typed import Any, NamedTuple

from ..cluster.config import NAME, parse
from ..options import RunOptions
from ..paths import git, history, roots
from ..paths.disk import refuse_inside
from ..paths.git import Entry
from ..paths.roots import within
from .base_files import is_below, needed_entries

_SHORT = 12
"""The number of characters of a commit's name that users see."""


class Base(NamedTuple):
    """A commit whose files stand in a temporary folder."""

    name: str
    """The commit as users see it."""
    root: str
    """The path of the work tree, absolute and without links."""
    folder: str
    """Where its files are, absolute and without links."""
    skipped: Mapping[str, str]
    """The files that could not be written there: a sentence about each by its path from the root of the repository."""

    def path(self, path: str) -> str:
        """Return the path in the base of a PATH, which need not exist. Raises KrmfnError for a PATH outside."""
        return os.path.normpath(os.path.join(self.folder, _from_root(path, self.root)))

    def options(self, options: RunOptions) -> RunOptions:
        """Return the options with the files of the base: its functionConfigs, and a root that no link leads out of."""
        root = self._path_of_file(options.root) if options.root else None
        bound = root if root and os.path.isdir(root) else self.folder
        paths = [self._path_of_file(path) or path for path in options.function_config]
        configs = tuple(path for path in paths if os.path.lexists(path))
        trusted = tuple(self._path_of_file(path) or path for path in options.profiles_from)
        clusters = tuple(f"{name}={','.join(map(self.path, members))}" for name, members in map(parse, options.cluster))
        remotes = git.remotes(self.root) if options.remotes is None else options.remotes
        dumps = frozenset(self.path(dump) for dump in options.dumps if _is_in(dump, self.root))
        changed = options._replace(root=bound, function_config=configs, profiles_from=trusted, cluster=clusters)
        return changed._replace(remotes=remotes, former_dumps=dumps)

    def unread(self, options: RunOptions) -> list[str]:
        """Return a sentence for each skipped file that counts for every PATH: .krmfn.yaml and functionConfigs."""
        paths = [_from_root(path, self.root) for path in options.function_config if _is_in(path, self.root)]
        return [self.skipped[path] for path in (NAME, *paths) if path in self.skipped]

    def skipped_below(self, paths: Sequence[str]) -> list[tuple[str, str]]:
        """Return each skipped file below some PATHs: its path from the root of the repository, and the sentence."""
        tops = [_from_root(path, self.root) for path in paths]
        return [(path, line) for path, line in self.skipped.items() if any(is_below(path, top) for top in tops)]

    def from_root(self, path: str) -> str:
        """Return a path in the base from the root of the repository; any other path is returned as it is."""
        return os.path.relpath(path, self.folder) if within(path, self.folder) else path

    def located(self, result: Result) -> Result:
        """Return a finding with Git's names of the base's files: in its message, its places, its facts."""
        return Result(*map(self.with_git_names, result))

    def with_git_names(self, value: Any) -> Any:
        """Return a value with Git's names of the base's files, in each text in it, in place of the temporary ones."""
        if isinstance(value, str):
            return value.replace(f"{self.folder}/", f"{self.name}:").replace(self.folder, f"{self.name}:./")
        if not isinstance(value, tuple):
            return value
        parts = map(self.with_git_names, value)
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)

    def _path_of_file(self, path: str) -> str | None:
        """Return the path of a file in the base; None for a file outside of the repository."""
        return self.path(path) if _is_in(path, self.root) else None


@contextmanager
def check_out(ref: str, paths: Sequence[str], files: Sequence[str] = ()) -> Iterator[Base]:
    """Write the files of the merge base of a ref and HEAD that some PATHs and files need into a temporary folder.

    The folder is removed at the end of the block. Raises KrmfnError when the PATHs are not in one Git work tree, when
    one exists on neither side, when a sparse checkout leaves out some files, and when the base cannot be read.
    """
    root = root_of(paths)
    commit = history.merge_base(root, ref)
    absent = git.missing_objects(root, commit)
    listing = git.entries(root, commit, absent)
    tops = [_from_root(path, root) for path in paths]
    gone = [name for name in history.skipped_files(root) if any(is_below(name, top) for top in tops)]
    if gone:  # they would count as deleted
        raise KrmfnError(
            f"this is a sparse checkout without {gone[0]}{f' and {len(gone) - 1:,} more' if gone[1:] else ''}, "
            "so the new state is not known; pass PATHs that are checked out, or run `git sparse-checkout disable`"
        )
    others = [_from_root(path, root) for path in files if _is_in(path, root)]
    with _temporary_folder() as temporary:
        folder = os.path.realpath(temporary)
        for path in paths:
            refuse_inside(path, os.path.realpath(path), folder)
        with git.objects(root) as contents:

            def read(entry: Entry) -> bytes:
                data = "" if entry.object in absent else contents(entry.object, max_bytes())
                return data if isinstance(data, bytes) else b""

            entries = needed_entries(listing, [*tops, *others], read)
            # first the files of the PATHs: all of them together may be too large
            entries.sort(key=lambda entry: not any(is_below(entry.path, top) for top in tops))
            skipped = git.write(contents, entries, absent, folder, max_bytes())
        name = commit[:_SHORT]
        base = Base(name, root, folder, {path: f"{name}:{path}: {reason}" for path, reason in skipped.items()})
        for path in paths:
            if not os.path.lexists(path) and not os.path.lexists(base.path(path)):
                raise KrmfnError(f"{path} exists neither here nor in the base {name}; is it the right PATH?")
        yield base


def _temporary_folder() -> tempfile.TemporaryDirectory[str]:
    try:
        return tempfile.TemporaryDirectory(prefix="krmfn-", ignore_cleanup_errors=True)
    except OSError as failure:
        raise KrmfnError(
            f"--base needs a temporary folder, but none is writable: {failure.strerror}; set the environment "
            "variable TMPDIR to one that is"
        ) from failure


def root_of(paths: Sequence[str]) -> str:
    """Return the one work tree that holds all PATHs. Raises KrmfnError when there is none, or more than one."""
    trees: dict[str, str] = {}
    for path in paths:
        if path == "-":
            raise KrmfnError("- is stdin, which has no base; with --base, pass files or folders of a Git work tree")
        folder = path if os.path.isdir(path) else os.path.dirname(path) or "."
        root = roots.root_of(os.path.realpath(folder))
        if root is None or not os.path.lexists(os.path.join(root, ".git")):
            raise KrmfnError(
                f"{path} is not in a Git work tree, so it has no base; compare two folders instead: OLD NEW"
            )
        trees.setdefault(root, path)
    if len(trees) > 1:
        raise KrmfnError(f"{' and '.join(trees.values())} are in different Git work trees; compare one at a time")
    return next(iter(trees))


def _from_root(path: str, root: str) -> str:
    """Return a path from the root of the work tree, as it is written: a link of today may be no link in the base.

    A path that is outside as it is written, and inside without links, is returned without links. Raises KrmfnError for
    one that is outside either way.
    """
    written = os.path.relpath(os.path.join(os.getcwd(), os.path.normpath(path)), root)
    if written.split("/")[0] != "..":
        return written
    real = os.path.relpath(os.path.realpath(path), root)
    if real.split("/")[0] == "..":
        raise KrmfnError(f"{path} is not in the Git work tree {root}")
    return real


def _is_in(path: str, root: str) -> bool:
    return within(os.path.join(os.getcwd(), os.path.normpath(path)), root) or within(os.path.realpath(path), root)
