"""Which files `exclude` of .krmfn.yaml and --exclude leave out: patterns of a .gitignore, which pathspec matches.

Whoever commits the file writes the patterns. So they are few, and it is RE2 that matches them, in a time that grows
with the length of a path and not faster. pathspec is imported only where there is a pattern.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterator, Sequence

from krmfn.errors import KrmfnError
from krmfn.typed import TYPE_CHECKING, NamedTuple

from .disk import parents

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

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


class Excludes(NamedTuple):
    """What is left out."""

    patterns: tuple[str, ...] = ()
    folders: frozenset[str] = frozenset()
    """Folders, absolute and without links: `render` has written what is in them."""


def excluder(excludes: Excludes) -> Excluder:
    """Return the test whether a path is left out. Raises KrmfnError for patterns that cannot be used."""
    matches = _compiled(excludes.patterns).match_file if excludes.patterns else None

    def is_excluded(root: str, path: str) -> bool:
        if excludes.folders and not excludes.folders.isdisjoint(parents(os.path.join(root, path))):
            return True
        if os.path.isabs(path):
            path = os.path.relpath(path, root) + "/" * path.endswith("/")
        return matches is not None and matches(_text(path))

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
