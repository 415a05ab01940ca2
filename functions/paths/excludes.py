"""Which files below a folder are left out: by `exclude` of .krmfn.yaml and --exclude, and by Git.

`exclude` has patterns of a .gitignore, which pathspec matches; it is imported only where there is a pattern. Whoever
commits the file writes the patterns. So they are few, and it is RE2 that matches them, in a time that grows with the
length of a path and not faster.

Git leaves out what a sparse checkout names, and submodules not fetched. Nothing would miss that: a check without an
inventory, or without one of two configs, finds nothing.
"""

from __future__ import annotations

import os
import re
import stat
import warnings
from collections.abc import Callable, Iterator, Sequence

from krmfn.errors import KrmfnError
from krmfn.printing import some
from krmfn.typed import TYPE_CHECKING

from .roots import parents, within

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

CONFIG = ".krmfn.yaml"
"""Says which roots make a cluster, so that it counts wherever it is left out."""
_MOST, _LONGEST, _WILDCARDS = 1000, 16_384, 250
_TOO_LARGE = (
    f"has more than {_MOST:,} patterns, {_LONGEST:,} characters or {_WILDCARDS} wildcards (*, ? and [) in all; "
    "exclude folders instead of individual files"
)
_UNREADABLE = "is not a valid .gitignore pattern; escape literal special characters with a backslash"

Excluder = Callable[[str, str], bool]
"""Says whether a path is left out, given the root of its repository and the path, absolute or from there.

A path that ends with a slash is a folder.
"""


def excluder(patterns: Sequence[str] = (), folders: frozenset[str] = frozenset()) -> Excluder:
    """Return the test whether a path is left out: by a pattern, or below one of the folders.

    These are absolute and without links: `render` has written what is in them. Raises KrmfnError for patterns that
    cannot be used.
    """
    matches = _compiled(patterns).match_file if patterns else None

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
    """Yield what is wrong with patterns: the position of one, or None for all of them, and a message."""
    if _is_large(patterns):
        yield None, _TOO_LARGE
        return
    for at, pattern in enumerate(patterns):
        try:
            _compiled((pattern,))
        except KrmfnError:
            yield at, _UNREADABLE


def unused(patterns: Sequence[str], folder: str) -> list[int]:
    """Return the positions of patterns that match nothing below a folder, or with a `!` bring nothing back."""
    import re2  # type: ignore[import-untyped]

    spec = _compiled(patterns)
    regexes, numbers = re2.Set.SearchSet(), list[int]()
    for at, pattern in enumerate(spec.patterns):
        if pattern.regex is not None:
            regexes.Add(pattern.regex.pattern)
            numbers.append(at)
    idle = set(range(len(patterns)))
    if numbers:
        regexes.Compile()
        names = _names(folder)
        while idle and (name := next(names, None)):
            matching = sorted(numbers[at] for at in regexes.Match(name) or ())
            leaving_out = [at for at in matching if spec.patterns[at].include]
            idle.difference_update(leaving_out)
            if leaving_out and leaving_out != matching and not spec.match_file(name):
                idle.difference_update(at for at in matching if at > leaving_out[0])
    return sorted(idle)


def _names(folder: str) -> Iterator[str]:
    """Yield what is below a folder, by the way from there; folders and links to folders end with a slash."""
    for above, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name != ".git"]
        here = os.path.relpath(above, folder)
        for name in (*(f"{name}/" for name in folders), *files):
            yield _text(name if here == os.curdir else os.path.join(here, name))


def _is_large(patterns: Sequence[str]) -> bool:
    text = "".join(patterns)
    wildcards = sum(map(text.count, "*?["))
    return len(patterns) > _MOST or len(text.encode(errors="replace")) > _LONGEST or wildcards > _WILDCARDS


def _compiled(patterns: Sequence[str]) -> GitIgnoreSpec:
    """Return what matches the patterns; of those that fit a path the last one counts. Raises KrmfnError without it."""
    if _is_large(patterns):
        raise KrmfnError(f"exclude {_TOO_LARGE}")
    import pathspec
    import re2

    lines = [_text(f"/{pattern[2:]}" if pattern.startswith("./") else pattern) for pattern in patterns]
    try:
        with warnings.catch_warnings():  # `re` compiles a pattern, too, and warns of brackets; it matches none
            warnings.simplefilter("ignore", FutureWarning)
            return pathspec.GitIgnoreSpec.from_lines(lines, backend="re2")
    except (ValueError, re.error, re2.error) as failure:
        raise KrmfnError(f"exclude: {' '.join(patterns)} {_UNREADABLE}") from failure


def _text(name: str) -> str:
    """Return a name with a mark in place of what is not UTF-8, which RE2 does not take."""
    return os.fsencode(name).decode(errors="replace")


def missing(
    folder: str, root: str | None, is_excluded: Callable[[str], bool], is_read: Callable[[str], bool]
) -> Iterator[str]:
    """Yield a sentence about what is not there below a folder, which is absolute and without links; `root` is its root.

    `is_excluded` is asked of absolute paths (with a slash at the end of folders), `is_read` of the last names of files.
    Raises KrmfnError when Git cannot be asked what a sparse checkout leaves out.
    """
    own = os.path.join(root, ".git") if root else ""
    if root is None or not os.path.lexists(own):
        return
    own = os.path.join(root, _read(own).removeprefix("gitdir:").strip()) if os.path.isfile(own) else own
    if os.path.exists(os.path.join(own, "info", "sparse-checkout")):
        from . import history  # here: a sparse checkout is rare, and what runs Git is slow to load

        gone = [
            name
            for name in history.left_out(root, os.path.relpath(folder, root), CONFIG)
            if name == CONFIG or (is_read(os.path.basename(name)) and not is_excluded(os.path.join(root, name)))
        ]
        if gone:
            yield (
                f"this is a sparse checkout without {some(gone, len(gone), 2)}, so not everything that will be "
                "deployed is checked; pass PATHs that are checked out, skip the others with --exclude, or run `git "
                "sparse-checkout disable`"
            )
    fields = (line.partition("=") for line in _read(os.path.join(root, ".gitmodules")).split("\n"))
    named = (value.strip().strip('"') for key, _, value in fields if key.strip() == "path")
    for name in map(os.path.normpath, filter(None, named)):
        path = os.path.join(root, name)
        overlaps = within(path, folder) or within(folder, path)
        if overlaps and not is_excluded(f"{path}/") and not (os.path.isdir(path) and any(os.scandir(path))):
            yield (
                f"the submodule {name} is not checked out, so not everything that will be deployed is checked; run "
                f"`git submodule update --init`, or skip it with --exclude {name}"
            )


def _read(path: str) -> str:
    """Return the text of a regular file that is no link; "" for anything else, as Git has it."""
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return ""
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read(1 << 20)
    except OSError:
        return ""
