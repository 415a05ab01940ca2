"""Options in the text behind `-c` of a shell: what somebody writes into a config would be run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from krmfn.resource import FieldPath
from krmfn.typed import Any

from . import expressions, structural
from .expressions import Use
from .structural import Node

_SHELL = re.compile(r"(.*/)?(ba|da|k|z|a)?sh")
_FLAG = re.compile(r"-[a-z]*c")
_SPECIAL = " \t\n;&|<>()$`\\\"'*?[]{}!#~"
"""Characters that mean something to a shell; a pattern that lets none of them in makes an option safe."""


def unquoted(spec: Mapping[str, Any], node: Node, used: Sequence[Use]) -> Iterator[tuple[FieldPath, str]]:
    """Yield each expression in a shell's text whose option may hold what a shell would run."""
    texts = spec.get("texts", {})
    for use in used:
        if use.path[0] == "texts" or not _is_script(spec, use.path):
            continue
        entry = texts.get(use.parts[0], {}) if use.root == "texts" else {}
        for one in expressions.sources(entry) if use.root == "texts" else (use,):
            own = structural.at(node, (one.root, *one.parts)) if one.root == "spec" else {"enum": ["x"]}
            is_quoted = not one.text and entry.get("quote") == "sh"
            if not is_quoted and not is_safe(own or {}):
                outcome = "so whoever writes the option can run anything in the container"
                safe = "an enum or a pattern without a shell's characters"
                ways = f"pass it as an argument without a shell, give the option {safe}, or take it from a text with"
                yield use.path, f"{one.text or use.text} is part of a shell's script, {outcome}; {ways} `quote: sh`"


def is_safe(node: Node) -> bool:
    """Return True for an option that holds nothing that a shell would run: a number, a boolean, one of a few words."""
    kind = node.get("type")
    if kind in ("integer", "number", "boolean") or "enum" in node:
        return True
    if kind == "array":
        return is_safe(node.get("items", {}))
    pattern = node.get("pattern", "")
    if kind != "string" or not (pattern.startswith("^") and pattern.endswith("$")):
        return False
    from ..kmm.regexps import matches

    return not any(matches(pattern, text) for char in _SPECIAL for text in (char, f"a{char}", f"{char}a", f"a{char}a"))


def _is_script(spec: Any, path: FieldPath) -> bool:
    """Return True for a text in a command or its arguments that a shell gets behind `-c`."""
    *above, last = path
    if not isinstance(last, int) or not above or above[-1] not in ("command", "args"):
        return False
    container: Any = spec
    for part in above[:-1]:
        container = container[part]
    words = [*container.get("command", ()), *container.get("args", ())]
    at = last + (len(container.get("command", ())) if above[-1] == "args" else 0)
    starts = [index for index, word in enumerate(words) if isinstance(word, str) and _SHELL.fullmatch(word)]
    return any(
        isinstance(word, str) and _FLAG.fullmatch(word) and any(start < index for start in starts)
        for index, word in enumerate(words[:at])
    )
