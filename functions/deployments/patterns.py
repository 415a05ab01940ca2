"""Patterns of folders and of files: Go's path.Match, and Git's pathspecs without magic.

By the former Argo CD's Git generators choose folders, Fleet those of its `paths`, and `.fleetignore` names: no wildcard
matches a slash. By the latter Git generators choose files: wildcards do, and a folder stands for all that is in it.
Source: Go 1.24, path/match.go; Argo CD 3.2, applicationset/generators/git.go and util/git/client.go, LsFiles; Git 2.47,
dir.c, match_pathspec_item, and wildmatch.c without WM_PATHNAME.
"""

import posixpath
import re
from functools import lru_cache

from krmfn.typed import Any

from . import globs

_CLASS = re.compile(r"(?:\^|(?!\^))(?:(?:\\.|[^\]\\-])(?:-(?:\\.|[^\]\\-]))?)+\]", re.DOTALL)
"""A class of Go: single characters and ranges of them; a dash or a bracket of its own has a backslash."""
_GIT_CLASS = re.compile(r"[!^]?\]?(?:\\.|\[:[a-z]+:\]|[^\]\\])*\]", re.DOTALL)
"""A class of Git, in which the first bracket is a character."""
_PART = re.compile(r"(\\?.)-(\\?[^\]])|(\[:[a-z]+:\])|(\\?.)", re.DOTALL)
_NOTHING = r"[^\x00-\x{10FFFF}]"
_SIGNS = re.compile(r"[*?\[\\]")


def of_folders(path: str, pattern: str) -> bool:
    """Return True for a path that Go's path.Match matches; a pattern that it refuses matches nothing."""
    if not _SIGNS.search(pattern):
        return path == pattern
    return _matches(path, pattern, is_git=False)


def of_files(path: str, pattern: str) -> bool:
    """Return True for the path of a file that `git ls-files -- PATTERN` prints at the root of a repository."""
    if pattern.startswith("/"):  # outside of the repository, for Git
        return False
    is_folder = pattern.endswith(("/", "/."))
    normal = posixpath.normpath(pattern) if pattern else "."
    if normal == "." or (path == normal and not is_folder) or path.startswith(f"{normal}/"):
        return True
    return bool(_SIGNS.search(normal)) and _matches(path, normal + "/" * is_folder, is_git=True)


def flaw(pattern: str, is_git: bool) -> str:
    """Return why a pattern matches nothing, whatever there is; "" for one that may match."""
    if is_git:
        return "Git takes it as a path outside of the repository" if pattern.startswith("/") else ""
    if _SIGNS.search(pattern) and _compiled(pattern, is_git=False) is None:
        return "it cannot be read; close its brackets"
    normal = posixpath.normpath(pattern.strip("/")) if pattern else "."
    return f"Argo CD compares it with paths such as {normal}" if pattern != normal else ""


def _matches(path: str, pattern: str, is_git: bool) -> bool:
    compiled = _compiled(pattern, is_git)
    return compiled is not None and compiled.fullmatch(globs.plain(path)) is not None


@lru_cache(maxsize=256)
def _compiled(pattern: str, is_git: bool) -> Any | None:
    expression = _expression(globs.plain(pattern), is_git) if len(pattern) <= globs.LONGEST else None
    return None if expression is None else globs.compiled(expression)


def _expression(pattern: str, is_git: bool) -> str | None:
    """Return the regular expression of a pattern; None for one that cannot be read."""
    signs = {"*": ".*", "?": "."} if is_git else {"*": "[^/]*", "?": "[^/]"}
    parts, at = list[str](), 0
    while at < len(pattern):
        sign, at = pattern[at], at + 1
        if sign == "[":
            match = _GIT_CLASS.match(pattern, at) if is_git else _CLASS.match(pattern, at)
            if not match:
                return None
            parts.append(_class(match[0][:-1], is_git))
            at = match.end()
        elif sign == "\\":
            if at == len(pattern):
                return None
            parts.append(re.escape(pattern[at]))
            at += 1
        else:
            parts.append(signs.get(sign) or re.escape(sign))
    return "".join(parts)


def _class(text: str, is_git: bool) -> str:
    """Return the expression of one character out of the class with a text."""
    is_negated = text[:1] in (("!", "^") if is_git else ("^",))
    parts = list[str]()
    for first, last, named, single in _PART.findall(text[is_negated:]):
        if named:
            parts.append(named)
        elif single:
            parts.append(re.escape(single[-1]))
        elif first[-1] <= last[-1]:
            parts.append(f"{re.escape(first[-1])}-{re.escape(last[-1])}")
        elif is_git:  # of a range that goes backwards, Git takes the first character
            parts.append(re.escape(first[-1]))
    if not parts:
        return "." if is_negated else _NOTHING
    return f"[{'^' if is_negated else ''}{''.join(parts)}]"
