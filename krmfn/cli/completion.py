"""Print what makes a shell complete commands, options and their values."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Iterator

from . import grammar


def bash(parser: argparse.ArgumentParser) -> str:
    """Return the script for bash."""
    name, known = parser.prog, grammar.commands(parser)
    lines = [
        f"_{name}() {{",
        '    local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" choices=""',
        '    if [ "$COMP_CWORD" -eq 1 ]; then',
        f'        COMPREPLY=($(compgen -W "{" ".join([*known, *_names(parser)])}" -- "$word"))',
        "        return",
        "    fi",
        '    case "${COMP_WORDS[1]} $before" in',
        *(f'        "{command} {option}") choices="{values}" ;;' for command, option, values in _values(known)),
        "    esac",
        '    if [ -z "$choices" ] && [ "${word#-}" != "$word" ]; then',
        '        case "${COMP_WORDS[1]}" in',
        *(f'            {command}) choices="{" ".join(_names(own))}" ;;' for command, own in known.items()),
        "        esac",
        "    fi",
        '    if [ -n "$choices" ]; then',
        '        COMPREPLY=($(compgen -W "$choices" -- "$word"))',
        "    else",
        '        COMPREPLY=($(compgen -f -- "$word"))',
        "    fi",
        "}",
        f"complete -o filenames -F _{name} {name}",
    ]
    return "\n".join(lines) + "\n"


def zsh(parser: argparse.ArgumentParser) -> str:
    """Return the script for zsh, which reads bash's."""
    return f"autoload -Uz +X compinit && compinit\nautoload -Uz +X bashcompinit && bashcompinit\n{bash(parser)}"


def fish(parser: argparse.ArgumentParser) -> str:
    """Return the script for fish."""
    name, lines = parser.prog, []
    for command, own in grammar.commands(parser).items():
        description = shlex.quote((own.description or "").rstrip("."))
        lines.append(f"complete -c {name} -f -n __fish_use_subcommand -a {command} -d {description}")
        for action in grammar.options(own):
            choices = [f"complete -c {name} -n '__fish_seen_subcommand_from {command}'"]
            choices += [
                f"-l {option[2:]}" if option[:2] == "--" else f"-s {option[1:]}" for option in action.option_strings
            ]
            if action.choices:
                choices.append(f"-x -a {shlex.quote(' '.join(map(str, action.choices)))}")
            elif action.nargs != 0:
                choices.append("-r")
            lines.append(" ".join([*choices, f"-d {shlex.quote(action.help or '')}"]))
    return "\n".join(lines) + "\n"


SHELLS: dict[str, Callable[[argparse.ArgumentParser], str]] = {"bash": bash, "zsh": zsh, "fish": fish}


def _names(parser: argparse.ArgumentParser) -> list[str]:
    return [name for action in grammar.options(parser) for name in action.option_strings]


def _values(known: dict[str, argparse.ArgumentParser]) -> Iterator[tuple[str, str, str]]:
    """Yield a command, an option of it and the values that the option takes."""
    for command, own in known.items():
        for action in grammar.options(own):
            for option in action.option_strings if action.choices else ():
                yield command, option, " ".join(map(str, action.choices or ()))
