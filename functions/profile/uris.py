"""URIs as Go's net/url.ParseRequestURI reads them, of which the format `uri` of a schema is made."""

from __future__ import annotations

import re

_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*):")
_ESCAPE = re.compile(r"%(?![0-9a-fA-F]{2})")
_HOST = re.compile(r"(?:[A-Za-z0-9!$&'()*+,;=:\[\]<>\"\-_.~]|[^\x00-\x7f]|%25|%[89a-fA-F][0-9a-fA-F])*")
_USER = re.compile(r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*")


def is_request_uri(text: str) -> bool:
    """Return True for an absolute URI or an absolute path; what a scheme means is not asked."""
    if not text or any(char < " " or char == "\x7f" for char in text) or text.startswith(":"):
        return False
    if text == "*":
        return True
    scheme = _SCHEME.match(text)
    rest = (text[scheme.end() :] if scheme else text).partition("?")[0]
    if not rest.startswith("/"):
        return scheme is not None
    if scheme and rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        return _is_authority(authority) and not _ESCAPE.search(slash + path)
    return not _ESCAPE.search(rest)


def _is_authority(text: str) -> bool:
    """Return True for what may stand between `//` and the path: a user, a host, a port."""
    user, _, host = text.rpartition("@")
    if not _USER.fullmatch(user) or _ESCAPE.search(user):
        return False
    if host.startswith("["):
        address, bracket, port = host.rpartition("]")
        return bool(bracket) and _is_port(port) and bool(_HOST.fullmatch(address.partition("%25")[0]))
    name, colon, port = host.rpartition(":")
    return (not colon or _is_port(colon + port)) and bool(_HOST.fullmatch(name if colon else host))


def _is_port(text: str) -> bool:
    return not text or re.fullmatch(r":[0-9]*", text) is not None
