"""Image references by the grammar that the kubelet, containerd and CRI-O parse: what is wrong with one, in words.

`[host[:port]/]path[:tag][@digest]`. Source: github.com/distribution/reference v0.6.0 (ParseNormalizedNamed) and
github.com/opencontainers/go-digest v1.0.0; the kubelet says InvalidImageName of anything else.
"""

import re

_LABEL = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
_HOST = re.compile(rf"{_LABEL}(?:\.{_LABEL})*(?::[0-9]+)?").fullmatch
_ADDRESS = re.compile(r"\[[a-fA-F0-9:]+\](?::[0-9]+)?").fullmatch
"""An IPv6 address as a host."""
_COMPONENT = re.compile(r"[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*").fullmatch
_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*").fullmatch
_HEX = re.compile(r"[a-f0-9]*").fullmatch
_DIGITS = {"sha256": 64, "sha384": 96, "sha512": 128}
"""How many hexadecimal digits a digest of each algorithm has."""
_LONGEST_NAME, _LONGEST_TAG = 255, 128
_SHOWN = 50
REMEDY = "write `HOST/PATH:TAG` or `HOST/PATH@sha256:...`, with small letters in the path"
"""What to do about an image that no runtime takes."""


def without_variables(image: str) -> str:
    """Return an image with a letter for each variable that a tool such as Flux may still fill in (`${TAG:-1.0}`)."""
    return re.sub(r"\$\{(?:[^{}]|\$\{[^{}]*\})*\}", "x", image)


def shortened(image: str) -> str:
    """Return an image as far as a message has room for it."""
    return image if len(image) <= _SHOWN else f"{image[: _SHOWN - 3]}..."


def mistake(image: str) -> str:
    """Return why no runtime takes an image reference, as the end of a sentence about it; "" when one does."""
    name, at, digest = image.partition("@")
    first, slash, rest = name.partition("/")
    is_host = first in ("", "localhost") or "." in first or ":" in first or first != first.lower()
    has_host = bool(slash) and is_host
    host, path = (first, rest) if has_host else ("", name)
    path, colon, tag = path.partition(":")
    if len(image) == _DIGITS["sha256"] and _HEX(image):
        return "is 64 hexadecimal digits, as if it were an image's id"
    if has_host and not (_HOST(host) or _ADDRESS(host) or _COMPONENT(host)):  # `a_b.c` is read as a part of the path
        return f"has {_short(host)} as its host" if host else "has no host before its first /"
    return _of_path(path, len(f"{host}/{path}" if has_host else path)) or _of_tag(colon, tag) or _of_digest(at, digest)


def _of_path(path: str, length: int) -> str:
    """Return what is wrong with a repository; `length` is that of host and path together."""
    if not path:
        return "has no repository"
    if path != path.lower():
        return f"has capitals in its repository {_short(path)}"
    if length > _LONGEST_NAME:
        return f"has a name of {length:,} characters, of which {_LONGEST_NAME} are allowed"
    if wrong := [component for component in path.split("/") if not _COMPONENT(component)]:
        return f"has {_short(wrong[0])} in its repository" if wrong[0] else "has an empty part in its repository"
    return ""


def _of_tag(colon: str, tag: str) -> str:
    """Return what is wrong with a tag."""
    if not tag:
        return "has no tag after the colon" if colon else ""
    if ":" in tag:
        return "has two tags"
    if not _TAG(tag):
        foreign = next((character for character in tag if not _TAG(f"_{character}")), "")
        return f"has {foreign!r} in its tag" if foreign else f"has a tag that begins with {tag[0]!r}"
    is_long = len(tag) > _LONGEST_TAG
    return f"has a tag of {len(tag):,} characters, of which {_LONGEST_TAG} are allowed" if is_long else ""


def _of_digest(at: str, digest: str) -> str:
    """Return what is wrong with a digest."""
    algorithm, _, digits = digest.partition(":")
    if not at:
        return ""
    if not digest:
        return "has no digest after the @"
    if algorithm not in _DIGITS:
        return f"has a digest that does not begin with {', '.join(_DIGITS)} and a colon"
    if len(digits) != _DIGITS[algorithm]:
        return f"has a {algorithm} digest of {len(digits):,} digits instead of {_DIGITS[algorithm]}"
    return "" if _HEX(digits) else f"has a {algorithm} digest that is not of the digits 0-9 and a-f"


def _short(text: str) -> str:
    """Return a text in quotes, as far as a message has room for it."""
    return repr(shortened(text))
