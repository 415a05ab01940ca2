"""Helpers of KMM's rules: findings with the cluster's own texts, Go's printing, the tag of what is printed first."""

import posixpath

from krmfn import Field, Result, error
from krmfn.typed import Any

ADMISSION, FIRST = "admission", "first"
OF_MAPPINGS = "failed to validate kernel mappings: "
"""What KMM writes before its text about kernel mappings."""


def refusal(text: str, path: str, current: Any = None, remedy: str = "", rule: str = "") -> Result:
    """Return a finding with the cluster's own text about one field; the remedy is ours."""
    return error(text, rule=rule, field=Field(path, current), tags=((ADMISSION, text),), remedy=remedy)


def on_hub(finding: Result) -> Result:
    """Return a finding about the Module of a ManagedClusterModule with the path of its field in the latter."""
    path = finding.field.path if finding.field else ""
    if not finding.field or not path.startswith("spec") or path.startswith("spec.moduleSpec"):
        return finding
    return finding._replace(field=finding.field._replace(path=path.replace("spec", "spec.moduleSpec", 1)))


def tag(finding: Result, key: str) -> str | None:
    """Return the value of a finding's tag; None when it has none."""
    return dict(finding.tags).get(key)


def mark_first(finding: Result) -> Result:
    """Return the finding as one that the cluster would print itself."""
    return finding._replace(tags=(*finding.tags, (FIRST, "true")))


_QUOTED = {char: f"\\{letter}" for char, letter in zip('\a\b\f\n\r\t\v\\"', 'abfnrtv\\"', strict=True)}


def quote(text: str) -> str:
    """Return the text as Go's `%q` prints it (strconv.Quote)."""
    return '"' + "".join(_QUOTED.get(char) or _printed(char) for char in text) + '"'


def _printed(char: str) -> str:
    if char.isprintable():
        return char
    code = ord(char)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def clean(path: str) -> str:
    """Return the shortest equal path (filepath.Clean): `/dev/../etc` is `/etc`; "" is `.`."""
    short = posixpath.normpath(path)
    return short[1:] if short.startswith("//") else short


def size(text: str) -> int:
    """Return the length that Go's `len` gives: bytes, not characters."""
    return len(text.encode("utf-8", "surrogatepass"))
