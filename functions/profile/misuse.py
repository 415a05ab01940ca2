"""Options with which the author of a config could run anything: in a shell's script, or with the rights of pods."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, dropwhile

from krmfn.resource import FieldPath
from krmfn.typed import Any

from ..kmm.lookup import MISSING, at, listing, table
from ..mistake import FieldMistake, Mistake
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
"""Words of a script after which a parameter may be run: as a script, a command of the shell, a program."""
_OPTION = re.compile(r"\$\{[^${}]*\}")
TWICE = Mistake("`quote: sh` quotes what stands here, and quotes around it end there", "leave them out")
_SPECIAL = " \t\n;&|<>()$`\\\"'*?[]{}!#~"
"""Characters with a meaning in a shell; a pattern that allows none of them makes an option safe."""
_GRAMMAR = ("^", "$", "(", "(?", ")", "|", "*", "+", "?")
_REPEAT = r"\{\d+(?:,\d*)?\}"
_ESCAPE = r"\\[dw\W]"
"""The escapes that are one token; `\\x20` and `\\pL` go on after theirs, and make a pattern unsafe."""


def scripts(spec: Mapping[str, Any], node: Node, used: Sequence[Use]) -> Iterator[FieldMistake]:
    """Yield each expression in a shell's text whose option may hold what a shell would run, and what to do."""
    for use in used:
        name = _variable(spec, use.path)
        if name and not is_safe((use.parts[0] == "spec" and structural.at(node, use.parts)) or {}):
            remedy = f"write ${name} in double quotes there, which the shell does not read again"
            yield use.path, Mistake(f"{use.text} is part of a shell's script by way of $({name})", remedy)
        is_run = use.path[0] != "texts" and _is_script(spec, use.path) and _text(spec, use).get("quote") != "sh"
        for option in _unsafe_options(spec, node, use) if is_run else ():
            outcome = "so whoever writes the option can run anything in the container"
            schema = "an enum or a pattern without a shell's characters"
            remedy = f"pass it as an argument without a shell, give the option {schema}, or take it from a text with"
            message = f"{option.text or use.text} is part of a shell's script, {outcome}"
            yield use.path, Mistake(message, f"{remedy} `quote: sh`")


def rights(spec: Mapping[str, Any], node: Node, used: Sequence[Use]) -> Iterator[FieldMistake]:
    """Yield each expression in a right whose option may hold any text, and what to do."""
    for use in used:
        if _gives_rights(use.path) and any(_unsafe_options(spec, node, use)):
            remedy = "write the rights themselves, in a `when` too, or give the option an enum"
            yield use.path, Mistake(f"{use.text} chooses rights, so whoever writes the option can take any", remedy)


def _gives_rights(path: FieldPath) -> bool:
    """Return True for a field of a config, or a part of one, that gives rights."""
    if "extraObjects" in path:
        rest = path[path.index("extraObjects") + 1 :]
        return len(rest) < 2 or rest[1] in ("rules", "roleRef", "subjects")
    rest = path[path.index("serviceAccount") + 1 :] if "serviceAccount" in path else ("",)
    return not rest or rest[0] in ("rules", "clusterRules", "openshift")


def _text(spec: Mapping[str, Any], use: Use) -> Mapping[str, Any]:
    """Return the entry of `texts` that an expression names; {} for another expression."""
    return table(spec, "texts", use.parts[1]) if use.parts[0] == "texts" else {}


def _unsafe_options(spec: Mapping[str, Any], node: Node, use: Use) -> Iterator[Expression]:
    """Yield the unsafe options that an expression refers to, itself or through an entry of `texts`."""
    sources = expressions.sources(_text(spec, use)) if use.parts[0] == "texts" else [Expression(use.parts, use.text)]
    for option in sources:
        if option.parts[0] == "spec" and not is_safe(structural.at(node, option.parts) or {}):
            yield option


def is_safe(node: Node) -> bool:
    """Return True for an option that cannot hold a command: a number, a boolean, one of a few words, plain text."""
    kind = node.get("type")
    if kind in ("integer", "number", "boolean") or "enum" in node:
        return True
    if kind == "array":
        return is_safe(node.get("items", {}))
    return kind == "string" and _has_only_plain(node.get("pattern", ""))


def _has_only_plain(pattern: str) -> bool:
    """Return True for a pattern that matches whole texts, and only texts without a character of _SPECIAL."""
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
            before, after = pattern[: token.start + 1], pattern[token.start :]
            if not (re.match(_REPEAT, after) or re.search(_REPEAT + r"\Z", before)):
                return False  # a literal brace
        elif token.text in _GRAMMAR:
            depth += (token.text in ("(", "(?")) - (token.text == ")")
            if token.text == "|" and not depth:
                return False  # each side is anchored at one end only
        else:
            parts.append(token.text)
    return not any(matches(f"^(?:{part})$", char) for part in parts for char in _SPECIAL)


def is_quoted_twice(entry: Mapping[str, Any]) -> bool:
    """Return True for an entry of `texts` with `quote: sh` and quotes of its own around an option."""
    matches = _OPTION.finditer(entry.get("as", "")) if entry.get("quote") == "sh" else ()
    return any(_is_open(entry["as"][: match.start()]) for match in matches)


def is_in_quotes(spec: Mapping[str, Any], use: Use) -> bool:
    """Return True for a text with `quote: sh` that a shell's script has between quotes."""
    if _text(spec, use).get("quote") != "sh" or not _is_script(spec, use.path):
        return False
    parts = at(spec, use.path).split(use.text)
    return any(_is_open(use.text.join(parts[:end])) for end in range(1, len(parts)))


def _is_open(script: str) -> bool:
    """Return True for the beginning of a script with a quote that is not closed."""
    quote, before, chars = "", " ", iter(script)
    for char in chars:
        if char == "\\" and quote != "'":
            next(chars, "")
        elif quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char == "#" and before.isspace():
            char = "\n" if "\n" in chars else ""  # a comment, up to the end of the line
        before = char
    return bool(quote)


def _variable(spec: Mapping[str, Any], path: FieldPath) -> str:
    """Return the name of the variable with the value at a path; "" when no shell's script of its container uses it."""
    if path[0] == "texts" or path[-1] != "value" or len(path) < 4 or path[-3] != "env":
        return ""
    name = str(at(spec, path[:-1]).get("name", ""))
    for container in _same_paths(spec, path[:-3]):
        for word in ("command", "args"):
            for index, text in enumerate(listing(at(spec, container), word) or ()):
                if f"$({name})" in str(text) and _is_script(spec, (*container, word, index)):
                    return name
    return ""


def _is_script(spec: Any, path: FieldPath) -> bool:
    """Return True for a text in a command or its arguments that a shell reads, or may read, as a script."""
    path = (*path, 0) if path[-1] == "args" else path
    if len(path) < 2 or not isinstance(path[-1], int) or path[-2] not in ("command", "args"):
        return False
    words = at(spec, path[:-2])[path[-2]]
    text, before = (words[path[-1]], words[: path[-1]]) if isinstance(words, list) else (words, [])
    commands: list[Any] = [[]]
    if path[-2] == "args":  # another layer may give the command
        container, containers = path[:-2], _same_paths(spec, path[:-2])
        if listing(at(spec, container), "command") is not None:  # it replaces those of weaker layers
            containers = chain((container,), dropwhile(container.__ne__, containers))
        known = (listing(at(spec, other), "command") for other in containers)
        commands = [command for command in known if command is not None] or commands
    lines = [[word for word in (*command, *before) if isinstance(word, str)] for command in commands]
    shells = ((line, index) for line in lines for index, word in enumerate(line) if _SHELL.fullmatch(word))
    inner = iter(text.replace("=", " ").split())  # some programs divide a text into words
    is_inline = any(map(_SHELL.fullmatch, inner)) and any(map(_FLAG.fullmatch, inner))
    return is_inline or any(_reads(line[index + 1 :], text) for line, index in shells)


def _reads(words: Sequence[str], text: str) -> bool:
    """Return True for a shell that may read a text, after these words of its command, as a script.

    The first word that is no option is the script. Those after it are its parameters: they are data when the script
    only passes them on.
    """
    has_flag, rest = False, iter((*words, text))
    for word in rest:
        if word[:1] not in ("-", "+"):
            return word.startswith("${") or (has_flag and not _passes_on(word))
        has_flag = has_flag or "${" in word or bool(_FLAG.fullmatch(word))
        if _WITH_VALUE.fullmatch(word):
            next(rest, "")
    return has_flag


def _passes_on(script: str) -> bool:
    """Return True for a script of plain commands that uses its parameters as arguments, each in double quotes."""
    for command in re.split(r"[;&|\n]+", _PARAMETER.sub("\0", script)):
        words = command.split()
        program = next((word for word in words if word != "exec" and word[0] != "-"), "")
        is_plain = "\0" not in program and "=" not in program and all(map(_PLAIN.fullmatch, words))
        is_shell = any(_SHELL.fullmatch(word) or _FLAG.fullmatch(word) for word in words)
        if not is_plain or is_shell or any(_READ_AGAIN.fullmatch(word.rpartition("/")[2]) for word in words):
            return False
    return True


def _same_paths(spec: Mapping[str, Any], path: FieldPath) -> Iterator[FieldPath]:
    """Yield the path, in each layer of a Profile, of the field at a path in one of them; entries match by name."""
    starts = [start for start, _, _ in layers(spec)]
    start = max((start for start in starts if path[: len(start)] == start), key=len)
    for other in starts:
        twin: FieldPath = other
        for length in range(len(start) + 1, len(path) + 1):
            parent, step = at(spec, twin), path[length - 1]
            if isinstance(parent, list):
                name = table(at(spec, path[:length])).get("name", step)
                names = (table(entry).get("name", index) for index, entry in enumerate(parent))
                step = next((index for index, entry_name in enumerate(names) if entry_name == name), -1)
            if at(parent, (step,)) is MISSING:
                break
            twin = (*twin, step)
        else:
            yield twin
