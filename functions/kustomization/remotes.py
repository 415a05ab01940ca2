"""What kustomize takes for something to fetch: a URL for a file, a Git repository for a folder (api/internal/git)."""

from __future__ import annotations

import re

_URL = re.compile(r"https?:", re.IGNORECASE)
_SCHEME = re.compile(r"(?:ssh|https?|file)://", re.IGNORECASE)
_USER = re.compile(r"[A-Za-z][A-Za-z0-9-]*@")
_GITHUB = re.compile(r"github\.com[/:]", re.IGNORECASE)


def is_url(text: str) -> bool:
    """Return True for what kustomize fetches over HTTP where a file is named."""
    return _URL.match(text) is not None


def is_repository(text: str) -> bool:
    """Return True for what kustomize clones with git where a folder is named.

    It has a scheme that Git has, or it begins with a user (`git@host:path`) or with github.com, and there are a host
    and a repository in it. `?ref=`, `//folder` and `.git` only divide it further.
    """
    if text.startswith("/"):
        return False
    text = re.sub(r"^git::", "", text.partition("?")[0], flags=re.IGNORECASE)
    scheme = _SCHEME.match(text)
    rest = text[scheme.end() :] if scheme else text
    if scheme and scheme[0].lower() == "file://":
        return _has_repository(rest, 1)
    user = _USER.match(rest)
    rest = rest[user.end() :] if user else rest
    scp = scheme is None and (user is not None or _GITHUB.match(rest) is not None)
    if not scheme and not scp:
        return False
    host, path = _divided(rest, scp)
    return bool(host) and _has_repository(path, 2)


def _divided(text: str, scp: bool) -> tuple[str, str]:
    """Return host and path; in `user@host:path` a colon before the first slash divides them."""
    at = text.find("/")
    if scp:
        colon = text.find(":")
        if at < 0 or 0 < colon < at:
            at = colon
    return (text[: at + 1], text[at + 1 :]) if at >= 0 else (text, "")


def _has_repository(path: str, segments: int) -> bool:
    """Return True when a path names a repository, by a mark (`_git/`, `//`, `.git`) or by its first segments."""
    for mark in ("_git/", "//", ".git"):
        at = path.find(mark)
        if at >= 0:
            return at > 0 or mark != "//"
    return path != "" and path.count("/") + 1 >= segments
