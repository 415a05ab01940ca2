"""Which files below a folder are left out: by `exclude` of .krmfn.yaml and --exclude, and by Git.

`exclude` has the patterns of a .gitignore, which pathspec matches; it is imported only when there is a pattern. Anybody
who commits may write the patterns, so their number is limited, and RE2 matches them, in a time that is linear in the
length of a path.

Git leaves out files in a sparse checkout, and submodules that are not fetched. That must be reported: a check without
an inventory, or with only one of two configs, would find nothing wrong.
"""

from __future__ import annotations

import os
import re
import stat
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from krmfn.errors import KrmfnError
from krmfn.printing import some
from krmfn.typed import TYPE_CHECKING

from .roots import parents, within

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

CONFIG = ".krmfn.yaml"
"""The file that says which roots make a cluster: it must not be missing from the checkout."""
_MOST, _LONGEST, _WILDCARDS = 1000, 16_384, 250
_TOO_LARGE = (
    f"has more than {_MOST:,} patterns, {_LONGEST:,} characters or {_WILDCARDS} wildcards (*, ? and [) in all; "
    "exclude folders instead of individual files"
)
_UNREADABLE = "is not a valid .gitignore pattern; escape literal special characters with a backslash"

Excluder = Callable[[str, str], bool]
"""Returns True when a path is left out; takes the root of its repository, and the path, absolute or from that root.

A path that ends with a slash is a folder.
"""


def excluder(patterns: Sequence[str] = (), folders: frozenset[str] = frozenset()) -> Excluder:
    """Return the function that tells whether a path is left out: by a pattern, or because it is, or is below, a folder.

    The folders, which may be files, are absolute and without links: what `render` writes, and dumps. Raises KrmfnError
    for patterns that cannot be used.
    """
    matches = _compile(patterns).match_file if patterns else None

    def is_excluded(root: str, path: str) -> bool:
        if folders and not folders.isdisjoint(parents(os.path.join(root, path))):
            return True
        if matches is None:
            return False
        if os.path.isabs(path):
            path = os.path.relpath(path, root) + "/" * path.endswith("/")
        return matches(_text(path))

    return is_excluded


def check(patterns: Sequence[str]) -> Iterator[tuple[int | None, str]]:
    """Yield what is wrong with patterns: the position of a pattern, or None for all of them, and a message."""
    if _is_large(patterns):
        yield None, _TOO_LARGE
        return
    for position, pattern in enumerate(patterns):
        try:
            _compile((pattern,))
        except KrmfnError:
            yield position, _UNREADABLE


def unused_patterns(patterns: Sequence[str], folder: str) -> list[int]:
    """Return the positions of patterns that match nothing below a folder; those with a `!`: that bring nothing back."""
    import re2  # type: ignore[import-untyped]

    spec = _compile(patterns)
    regexes, numbers = re2.Set.SearchSet(), list[int]()
    for position, pattern in enumerate(spec.patterns):
        if pattern.regex is not None:
            regexes.Add(pattern.regex.pattern)
            numbers.append(position)
    idle = set(range(len(patterns)))
    if numbers:
        regexes.Compile()
        names = _names(folder)
        while idle and (name := next(names, None)):
            matches = sorted(numbers[position] for position in regexes.Match(name) or ())
            exclusions = [position for position in matches if spec.patterns[position].include]
            idle.difference_update(exclusions)
            if exclusions and exclusions != matches and not spec.match_file(name):
                idle.difference_update(position for position in matches if position > exclusions[0])
    return sorted(idle)


def _names(folder: str) -> Iterator[str]:
    """Yield the paths of all that is below a folder, relative to it; folders, linked ones too, end with a slash."""
    for parent, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name != ".git"]
        path = os.path.relpath(parent, folder)
        for name in (*(f"{name}/" for name in folders), *files):
            yield _text(name if path == os.curdir else os.path.join(path, name))


def _is_large(patterns: Sequence[str]) -> bool:
    text = "".join(patterns)
    wildcards = sum(map(text.count, "*?["))
    return len(patterns) > _MOST or len(text.encode(errors="replace")) > _LONGEST or wildcards > _WILDCARDS


def _compile(patterns: Sequence[str]) -> GitIgnoreSpec:
    """Return a matcher, in which the last pattern that fits a path counts. Raises KrmfnError for invalid patterns."""
    if _is_large(patterns):
        raise KrmfnError(f"exclude {_TOO_LARGE}")
    import pathspec
    import re2

    lines = [_text(f"/{pattern[2:]}" if pattern.startswith("./") else pattern) for pattern in patterns]
    try:
        with warnings.catch_warnings():  # pathspec also compiles with `re`, which warns of brackets
            warnings.simplefilter("ignore", FutureWarning)
            return pathspec.GitIgnoreSpec.from_lines(lines, backend="re2")
    except (ValueError, re.error, re2.error) as failure:
        raise KrmfnError(f"exclude: {' '.join(patterns)} {_UNREADABLE}") from failure


def _text(name: str) -> str:
    """Return a name for RE2, which takes only UTF-8: other bytes are replaced."""
    return os.fsencode(name).decode(errors="replace")


def missing_files(
    folder: str, root: str | None, is_excluded: Callable[[str], bool], is_read: Callable[[str], bool]
) -> Iterator[str]:
    """Yield a sentence about the files below a folder that a sparse checkout leaves out.

    The folder is absolute and without links, `root` is its root. `is_excluded` takes absolute paths, `is_read` the last
    names of files. Raises KrmfnError when Git cannot tell what is sparse.
    """
    if not root or not os.path.lexists(git_folder := os.path.join(root, ".git")):
        return
    if os.path.isfile(git_folder):
        git_folder = os.path.join(root, _read(git_folder).removeprefix("gitdir:").strip())
    if os.path.exists(os.path.join(git_folder, "info", "sparse-checkout")):
        from . import history  # late: it takes long to import, and sparse checkouts are rare

        names = [
            name
            for name in history.skipped_files(root, os.path.relpath(folder, root), CONFIG)
            if name == CONFIG or (is_read(os.path.basename(name)) and not is_excluded(os.path.join(root, name)))
        ]
        if names:
            yield (
                f"this is a sparse checkout without {some(names, len(names), 2)}, so not everything that will be "
                "deployed is checked; pass PATHs that are checked out, skip the others with --exclude, or run `git "
                "sparse-checkout disable`"
            )


def missing_submodules(folder: str, root: str | None, is_excluded: Callable[[str], bool]) -> Iterator[tuple[str, str]]:
    """Yield the path, and the name from the root, of each submodule below or above a folder that is not checked out.

    The folder is absolute and without links, `root` is its root; `is_excluded` takes paths with a slash at the end.
    """
    if not root or not os.path.lexists(os.path.join(root, ".git")):
        return
    fields = (line.partition("=") for line in _read(os.path.join(root, ".gitmodules")).split("\n"))
    paths = (value.strip().strip('"') for key, _, value in fields if key.strip() == "path")
    for name in map(os.path.normpath, filter(None, paths)):
        path = os.path.join(root, name)
        overlaps = within(path, folder) or within(folder, path)
        if overlaps and not is_excluded(f"{path}/") and not (os.path.isdir(path) and any(os.scandir(path))):
            yield path, name


def _read(path: str) -> str:
    """Return the text of a regular file; "" for anything else, also for links, which Git ignores here, too."""
    with suppress(OSError):
        if stat.S_ISREG(os.lstat(path).st_mode):
            with open(path, encoding="utf-8", errors="surrogateescape") as file:
                return file.read(1 << 20)
    return ""
