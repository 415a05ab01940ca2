"""What a plain (unquoted) scalar means to Kubernetes, and which strings must be quoted for every YAML reader."""

from __future__ import annotations

import re
from math import isinf

# The words and numbers that sigs.k8s.io/yaml (go-yaml v2 rules) does not read as strings; kustomize and kpt
# (go-yaml v3 rules) agree on all but the old booleans y, n, yes, no, on, off, which they keep as strings.
WORDS: dict[str, bool | float | None] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}
_INT = re.compile(r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]([0-7]+)|0([0-7]+)|(0|[1-9][0-9]*))")
_BASES = {2: 16, 3: 2, 4: 8, 5: 8, 6: 10}
_LONGEST_INT = 67  # "-0b" and 64 digits; a longer one fits no integer type and is read as a float, or as a string
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}.*)?", re.DOTALL)

# What YAML 1.1 readers (PyYAML, libyaml bindings) take for something else than a string, beyond the above.
_OLD = re.compile(
    r"(?:yes|no|on|off|true|false|null|y|n|~|=|<<"
    r"|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?"  # base 60: 1:30
    r"|[-+]?(?:0[bBxXoO])?[0-9a-fA-F][0-9a-fA-F_]*_[0-9a-fA-F_]*"
    r"|[-+]?0[bBxXoO][0-9a-fA-F_]*|[-+][0-9_]*"
    r"|[-+]?[0-9.][0-9_]*\.?[0-9_]*(?:[eE][-+]?[0-9_]+)?"
    r"|[-+]?\.(?:inf|nan)"
    r")",
    re.IGNORECASE,
)


class Timestamp(str):
    """A plain date: kustomize and kubectl make another string of it, so it never counts as the string it looks like."""


def read(plain: str) -> str | bool | int | float | None:
    """Return the value that Kubernetes reads from the plain scalar `plain` (sigs.k8s.io/yaml; the tests have tables).

    A date comes back as `Timestamp`: each reader makes another string of it.
    """
    if plain in WORDS:
        return WORDS[plain]
    if plain[0] not in "+-.0123456789":
        return plain
    digits = plain.replace("_", "")
    number = _INT.fullmatch(digits)
    if number and len(digits) <= _LONGEST_INT:
        whole = int(number[1] + number[number.lastindex or 0], _BASES[number.lastindex or 0])
        if -(1 << 63) <= whole < 1 << 64:
            return whole
    if _FLOAT.fullmatch(digits):
        real = float(digits)
        return plain if isinf(real) else real
    return Timestamp(plain) if _DATE.fullmatch(plain) else plain


def is_ambiguous(text: str) -> bool:
    """Return True when some YAML reader from 1.1 to 1.2 would not get the string `text` back from the plain scalar."""
    return type(read(text)) is not str or _OLD.fullmatch(text) is not None
