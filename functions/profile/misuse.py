"""Options by which whoever writes a config would run what they like: in a shell's script, or as the rights of pods."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from krmfn.resource import FieldPath
from krmfn.typed import Any

from ..kmm.lookup import at
from . import expressions, structural
from .expressions import Expression, Use
from .structural import Node

_SHELL = re.compile(r"(.*/)?(ba|da|k|z|a)?sh")
_FLAG = re.compile(r"-[a-z]*c")
_OPTION = re.compile(r"\$\{[^${}]*\}")
TWICE = "`quote: sh` quotes what stands here, and quotes around it end there; leave them out"
_SPECIAL = " \t\n;&|<>()$`\\\"'*?[]{}!#~"
"""Characters that mean something to a shell; a pattern that lets none of them in makes an option safe."""
_GRAMMAR = ("^", "$", "(", "(?", ")", "|", "*", "+", "?")
_REPEAT = r"\{\d+(?:,\d*)?\}"
_ESCAPE = r"\\[dw\W]"
"""The escapes of which all is in one token; `x20` and `pL` go on behind theirs, and are not looked up."""


def unquoted(spec: Mapping[str, Any], node: Node, used: Sequence[Use]) -> Iterator[tuple[FieldPath, str]]:
    """Yield each expression in a shell's text whose option may hold what a shell would run."""
    for use in used:
        name = _variable(spec, use.path)
        if name and not is_safe((use.parts[0] == "spec" and structural.at(node, use.parts)) or {}):
            way = f"write ${name} in double quotes there, which the shell does not read again"
            yield use.path, f"{use.text} is part of a shell's script by way of $({name}); {way}"
        is_run = use.path[0] != "texts" and _is_script(spec, use.path) and _text(spec, use).get("quote") != "sh"
        for one in _unsafe(spec, node, use) if is_run else ():
            outcome = "so whoever writes the option can run anything in the container"
            safe = "an enum or a pattern without a shell's characters"
            ways = f"pass it as an argument without a shell, give the option {safe}, or take it from a text with"
            yield use.path, f"{one.text or use.text} is part of a shell's script, {outcome}; {ways} `quote: sh`"


def rights(spec: Mapping[str, Any], node: Node, used: Sequence[Use]) -> Iterator[tuple[FieldPath, str]]:
    """Yield each expression in a right whose option may hold any text, and what to do."""
    for use in used:
        if _gives_rights(use.path) and any(_unsafe(spec, node, use)):
            why = "chooses rights, so whoever writes the option can take any"
            remedy = "write the rights themselves, in a `when` too, or give the option an enum"
            yield use.path, f"{use.text} {why}; {remedy}"


def _gives_rights(path: FieldPath) -> bool:
    """Return True for a field of a config, or a part of one, that gives rights."""
    if "extraObjects" in path:
        rest = path[path.index("extraObjects") + 1 :]
        return len(rest) < 2 or rest[1] in ("rules", "roleRef", "subjects")
    rest = path[path.index("serviceAccount") + 1 :] if "serviceAccount" in path else ("",)
    return not rest or rest[0] in ("rules", "clusterRules", "openshift")


def _text(spec: Mapping[str, Any], use: Use) -> Mapping[str, Any]:
    """Return the entry of `texts` that an expression names; {} for another expression."""
    entry: Mapping[str, Any] = spec.get("texts", {}).get(use.parts[1], {}) if use.parts[0] == "texts" else {}
    return entry


def _unsafe(spec: Mapping[str, Any], node: Node, use: Use) -> Iterator[Expression]:
    """Yield the options that an expression is made of, by way of `texts` too, but for those that are safe."""
    ends = expressions.sources(_text(spec, use)) if use.parts[0] == "texts" else [Expression(use.parts, use.text)]
    for one in ends:
        if one.parts[0] == "spec" and not is_safe(structural.at(node, one.parts) or {}):
            yield one


def is_safe(node: Node) -> bool:
    """Return True for an option that holds nothing that a shell would run: a number, a boolean, one of a few words."""
    kind = node.get("type")
    if kind in ("integer", "number", "boolean") or "enum" in node:
        return True
    if kind == "array":
        return is_safe(node.get("items", {}))
    return kind == "string" and _has_only_plain(node.get("pattern", ""))


def _has_only_plain(pattern: str) -> bool:
    """Return True for a pattern of the whole text of which no part takes a character that a shell reads."""
    is_whole = re.match(r"\^(?![?*+{])", pattern) and pattern.endswith("$")  # an anchor that is repeated binds nothing
    if not is_whole or "(?" in pattern.replace("(?:", "") or "\\Q" in pattern:
        return False
    from ..kmm.regexps import matches, tokens

    depth, parts = 0, list[str]()
    for token in tokens(pattern):
        if token.in_class:
            parts[-1] += token.text
        elif token.text[0] == "\\" and not re.fullmatch(_ESCAPE, token.text):
            return False
        elif token.text in "{}":
            before, behind = pattern[: token.start + 1], pattern[token.start :]
            if not (re.match(_REPEAT, behind) or re.search(_REPEAT + r"\Z", before)):
                return False  # a brace that stands for itself
        elif token.text in _GRAMMAR:
            depth += (token.text in ("(", "(?")) - (token.text == ")")
            if token.text == "|" and not depth:
                return False  # each side is bound at one end
        else:
            parts.append(token.text)
    return not any(matches(f"^(?:{part})$", char) for part in parts for char in _SPECIAL)


def is_quoted_twice(entry: Mapping[str, Any]) -> bool:
    """Return True for an entry of `texts` that puts what `quote: sh` quotes between quotes of its own."""
    ways = _OPTION.finditer(entry.get("as", "")) if entry.get("quote") == "sh" else ()
    return any(_is_open(entry["as"][: way.start()]) for way in ways)


def is_in_quotes(spec: Mapping[str, Any], use: Use) -> bool:
    """Return True for a text with `quote: sh` that stands between quotes of a shell's script."""
    if _text(spec, use).get("quote") != "sh" or not _is_script(spec, use.path):
        return False
    parts = at(spec, use.path).split(use.text)
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


def _variable(spec: Mapping[str, Any], path: FieldPath) -> str:
    """Return the name of the variable whose value is at a path and that a shell's script of its container names."""
    if path[-1] != "value" or len(path) < 4 or path[-3] != "env":
        return ""
    container, name = at(spec, path[:-3]), str(at(spec, path[:-1]).get("name", ""))
    for word in ("command", "args"):
        for index, text in enumerate(container.get(word) or ()):
            if f"$({name})" in str(text) and _is_script(spec, (*path[:-3], word, index)):
                return name
    return ""


def _is_script(spec: Any, path: FieldPath) -> bool:
    """Return True for a text in a command or its arguments that a shell gets behind `-c`, or all of its arguments."""
    path = (*path, 0) if path[-1] == "args" else path
    if len(path) < 2 or not isinstance(path[-1], int) or path[-2] not in ("command", "args"):
        return False
    container, command = at(spec, path[:-2]), at(spec, path[:-2]).get("command", ())
    before = [*command, *container.get("args", ())][: path[-1] + (len(command) if path[-2] == "args" else 0)]
    words = [one for one in before if isinstance(one, str)]
    shell = next((index for index, word in enumerate(words) if _SHELL.fullmatch(word)), len(words))
    return any(_FLAG.fullmatch(word) for word in words[shell:])
