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
_OPTION = re.compile(r"\$\{[^${}]*\}")
TWICE = "`quote: sh` quotes what stands here, and quotes around it end there; leave them out"
_SPECIAL = " \t\n;&|<>()$`\\\"'*?[]{}!#~"
"""Characters that mean something to a shell; a pattern that lets none of them in makes an option safe."""


def unquoted(spec: Mapping[str, Any], node: Node, used: Sequence[Use]) -> Iterator[tuple[FieldPath, str]]:
    """Yield each expression in a shell's text whose option may hold what a shell would run."""
    texts = spec.get("texts", {})
    for use in used:
        name = _variable(spec, use.path)
        if name and not is_safe((use.root == "spec" and structural.at(node, (use.root, *use.parts))) or {}):
            way = f"write ${name} in double quotes there, which the shell does not read again"
            yield use.path, f"{use.text} is part of a shell's script by way of $({name}); {way}"
        if use.path[0] == "texts" or not _is_script(spec, use.path):
            continue
        entry = texts.get(use.parts[0], {}) if use.root == "texts" else {}
        for one in expressions.sources(entry) if use.root == "texts" else (use,):
            own = structural.at(node, (one.root, *one.parts)) if one.root == "spec" else {"enum": ["x"]}
            if entry.get("quote") != "sh" and not is_safe(own or {}):
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


def is_quoted_twice(entry: Mapping[str, Any]) -> bool:
    """Return True for an entry of `texts` that puts what `quote: sh` quotes between quotes of its own."""
    ways = _OPTION.finditer(entry.get("as", "")) if entry.get("quote") == "sh" else ()
    return any(_is_open(entry["as"][: way.start()]) for way in ways)


def is_in_quotes(spec: Mapping[str, Any], use: Use) -> bool:
    """Return True for a text with `quote: sh` that stands between quotes of a shell's script."""
    entry = spec.get("texts", {}).get(use.parts[0], {}) if use.root == "texts" else {}
    if entry.get("quote") != "sh" or not _is_script(spec, use.path):
        return False
    parts = _at(spec, use.path).split(use.text)
    return any(_is_open(use.text.join(parts[:end])) for end in range(1, len(parts)))


def _is_open(script: str) -> bool:
    """Return True for the beginning of a script that ends between quotes."""
    quote, before, chars = "", " ", iter(script)
    for char in chars:
        if char == "\\" and quote != "'":
            next(chars, "")
        elif quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char == "#" and before.isspace():
            char = next((one for one in chars if one == "\n"), "")  # a comment
        before = char
    return bool(quote)


def _at(spec: Any, path: FieldPath) -> Any:
    for part in path:
        spec = spec[part]
    return spec


def _variable(spec: Mapping[str, Any], path: FieldPath) -> str:
    """Return the name of the variable whose value is at a path and that a shell's script of its container names."""
    if path[-1] != "value" or len(path) < 4 or path[-3] != "env":
        return ""
    container, name = _at(spec, path[:-3]), str(_at(spec, path[:-1]).get("name", ""))
    for word in ("command", "args"):
        for at, text in enumerate(container.get(word) or ()):
            if f"$({name})" in str(text) and _is_script(spec, (*path[:-3], word, at)):
                return name
    return ""


def _is_script(spec: Any, path: FieldPath) -> bool:
    """Return True for a text in a command or its arguments that a shell gets behind `-c`, or all of its arguments."""
    path = (*path, 0) if path[-1] == "args" else path
    *above, last = path
    if not isinstance(last, int) or not above or above[-1] not in ("command", "args"):
        return False
    container = _at(spec, tuple(above[:-1]))
    words = [*container.get("command", ()), *container.get("args", ())]
    at = last + (len(container.get("command", ())) if above[-1] == "args" else 0)
    starts = [index for index, word in enumerate(words) if isinstance(word, str) and _SHELL.fullmatch(word)]
    return any(
        isinstance(word, str) and _FLAG.fullmatch(word) and any(start < index for start in starts)
        for index, word in enumerate(words[:at])
    )
