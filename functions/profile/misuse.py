"""Options by which whoever writes a config would run what they like: in a shell's script, or as the rights of pods."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, dropwhile

from krmfn.resource import FieldPath
from krmfn.typed import Any

from ..kmm.lookup import MISSING, at, listing, table
from . import expressions, structural
from .expressions import Expression, Use
from .product import layers
from .structural import Node

_SHELL = re.compile(r"(.*/)?(ba|rba|da|k|mk|z|a|c|tc|fi)?sh")
_FLAG = re.compile(r"-[abd-zA-Z]*c[a-zA-Z]*")
_WITH_VALUE = re.compile(r"[-+][a-np-zA-NP-Z]*[oO][a-zA-Z]*|--rcfile|--init-file")
_PARAMETER = re.compile(r'"\$(?:[1-9@]|\{[1-9@]\})"')
_PLAIN = re.compile(r"[\w./:=,@%+\0-]+", re.ASCII)
_READ_AGAIN = re.compile(
    r"eval|source|[.]|trap|alias|let|declare|typeset|local|readonly|export|printf|read|unset|test|getopts|"
    r"mapfile|readarray|wait|coproc|bind|complete|compgen|su|runuser|ssh|watch|parallel|xargs|script|env|find|"
    r"make|builtin|command|awk|gawk|mawk|sed|perl|python|python3|ruby|node|lua|php|tclsh|chroot|nsenter|unshare|"
    r"sudo|doas|gosu|setpriv|setsid|nohup|nice|ionice|chrt|taskset|stdbuf|timeout|flock|strace|tini|dumb-init|"
    r"busybox|if|then|else|elif|while|until|do|time"
)
"""Words of a script behind which a parameter may be run: as a script, a command of the shell, a program."""
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
            remedy = "write the rights themselves, in a `when` too, or give the option an enum"
            yield use.path, f"{use.text} chooses rights, so whoever writes the option can take any; {remedy}"


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
    if path[0] == "texts" or path[-1] != "value" or len(path) < 4 or path[-3] != "env":
        return ""
    name = str(at(spec, path[:-1]).get("name", ""))
    for holder in _alike(spec, path[:-3]):
        for word in ("command", "args"):
            for index, text in enumerate(listing(at(spec, holder), word) or ()):
                if f"$({name})" in str(text) and _is_script(spec, (*holder, word, index)):
                    return name
    return ""


def _is_script(spec: Any, path: FieldPath) -> bool:
    """Return True for a text in a command or its arguments that a shell reads as its script, or may read."""
    path = (*path, 0) if path[-1] == "args" else path
    if len(path) < 2 or not isinstance(path[-1], int) or path[-2] not in ("command", "args"):
        return False
    own = at(spec, path[:-2])[path[-2]]
    text, before = (own[path[-1]], own[: path[-1]]) if isinstance(own, list) else (own, [])
    commands: list[Any] = [[]]
    if path[-2] == "args":  # another layer may give the command
        here, holders = path[:-2], _alike(spec, path[:-2])
        if listing(at(spec, here), "command") is not None:  # what weaker layers give is gone
            holders = chain((here,), dropwhile(here.__ne__, holders))
        held = (listing(at(spec, holder), "command") for holder in holders)
        commands = [one for one in held if one is not None] or commands
    every = [[one for one in (*command, *before) if isinstance(one, str)] for command in commands]
    shells = ((words, index) for words in every for index, word in enumerate(words) if _SHELL.fullmatch(word))
    inner = iter(text.replace("=", " ").split())  # some programs divide a text into words
    is_inline = any(map(_SHELL.fullmatch, inner)) and any(map(_FLAG.fullmatch, inner))
    return is_inline or any(_reads(words[index + 1 :], text) for words, index in shells)


def _reads(words: Sequence[str], text: str) -> bool:
    """Return True for a shell that may read a text, behind these words of its command, as its script.

    The first word that is no option is the script. Those behind it are its parameters, which are data where all that
    it does is to hand them over.
    """
    has_flag, left = False, iter((*words, text))
    for word in left:
        if word[:1] not in ("-", "+"):
            return word.startswith("${") or (has_flag and not _hands_over(word))
        has_flag = has_flag or "${" in word or bool(_FLAG.fullmatch(word))
        if _WITH_VALUE.fullmatch(word):
            next(left, "")
    return has_flag


def _hands_over(script: str) -> bool:
    """Return True for a script of plain commands, whose parameters are arguments, each in double quotes."""
    for command in re.split(r"[;&|\n]+", _PARAMETER.sub("\0", script)):
        words = command.split()
        program = next((word for word in words if word != "exec" and word[0] != "-"), "")
        if "\0" in program or "=" in program or not all(_PLAIN.fullmatch(word) for word in words):
            return False
        if any(_SHELL.fullmatch(word) or _FLAG.fullmatch(word) for word in words):
            return False
        if any(_READ_AGAIN.fullmatch(word.rpartition("/")[2]) for word in words):
            return False
    return True


def _alike(spec: Mapping[str, Any], path: FieldPath) -> Iterator[FieldPath]:
    """Yield where the layers of a Profile have what stands at a path of one of them; entries of lists have names."""
    starts = [start for start, _, _ in layers(spec)]
    start = max((one for one in starts if path[: len(one)] == one), key=len)
    for other in starts:
        there: FieldPath = other
        for length in range(len(start) + 1, len(path) + 1):
            held, step = at(spec, there), path[length - 1]
            if isinstance(held, list):
                name = table(at(spec, path[:length])).get("name", step)
                step = next((index for index, one in enumerate(held) if table(one).get("name", index) == name), -1)
            if at(held, (step,)) is MISSING:
                break
            there = (*there, step)
        else:
            yield there
