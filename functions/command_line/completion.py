"""Print a script with which a shell completes commands, options and their values."""

import argparse
import re
import shlex
from collections.abc import Callable, Iterator, Sequence

from krmfn.typed import NamedTuple

from ..command import PRINTED, Command, Context
from ..options import OFFERED
from . import grammar

_PLAIN = re.compile(r"[\w./=-]+", re.ASCII)
"""The names from a repository that are printed: bash's compgen runs a `$(...)` in its words."""


def bash(parser: argparse.ArgumentParser) -> str:
    """Return the script for bash."""
    name, parsers = parser.prog, grammar.commands(parser)
    names = {command: " ".join(grammar.option_names(subparser)) for command, subparser in parsers.items()}
    lines = [
        f"_{name}() {{",
        '    local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" choices=""',
        '    if [ "$COMP_CWORD" -eq 1 ]; then',
        f'        COMPREPLY=($(compgen -W "{" ".join([*parsers, *grammar.option_names(parser)])}" -- "$word"))',
        "        return",
        "    fi",
        '    if [ "${word#-}" != "$word" ]; then',
        '        case "${COMP_WORDS[1]}" in',
        *(f'            {command}) choices="{names[command]}" ;;' for command in parsers),
        "        esac",
        "    else",
        '        case "${COMP_WORDS[1]} $before" in',
        *(f'            "{command} {before}") choices="{values}" ;;' for command, before, values in _values(parsers)),
        "        esac",
        "    fi",
        '    COMPREPLY=($(compgen -W "$choices" -- "$word"))',
        '    if [ "${COMPREPLY[*]%=}" != "${COMPREPLY[*]}" ]; then compopt -o nospace 2>/dev/null; fi',
        # an argument with a fixed list takes no file; what is asked for stands on lines of its own
        '    case "$choices" in *" "*) ;; *) COMPREPLY+=($(compgen -f -- "$word")) ;; esac',
        "}",
        f"complete -o filenames -F _{name} {name}",
    ]
    return "\n".join(lines) + "\n"


def zsh(parser: argparse.ArgumentParser) -> str:
    """Return the script for zsh: a file `_krmfn` in a folder of `fpath`, or one to `source`.

    zsh reads bash's script. From `fpath` the file is the body of the function `_krmfn`, which is called for the first
    completion and has to answer it.
    """
    name = parser.prog
    *functions, complete = bash(parser).replace(f"_{name}()", f"_{name}_words()").splitlines()
    complete = complete.replace(f"_{name} ", f"_{name}_words ")
    lines = [
        f"#compdef {name}",
        "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }",
        "autoload -Uz +X bashcompinit && bashcompinit",
        *functions,
        complete,
        f'if [ "$funcstack[1]" = _{name} ]; then _bash_{complete.rpartition(" ")[0]}; fi',
    ]
    return "\n".join(lines) + "\n"


def fish(parser: argparse.ArgumentParser) -> str:
    """Return the script for fish."""
    start = f"complete -c {parser.prog} -n __fish_use_subcommand"
    lines = [f"{start}{_fish_option(action)}" for action in grammar.options(parser)]
    for command, subparser in grammar.commands(parser).items():
        description = shlex.quote((subparser.description or "").rstrip("."))
        lines.append(f"{start} -f -a {command} -d {description}")
        start_of_command = f"complete -c {parser.prog} -n '__fish_seen_subcommand_from {command}'"
        lines += (f"{start_of_command}{_fish_option(action)}" for action in grammar.options(subparser))
        actions = filter(grammar.offered, grammar.positionals(subparser))
        lines += (f"{start_of_command}{' -f' if action.choices else ''} -a {_choices(action)}" for action in actions)
    return "\n".join(lines) + "\n"


def _fish_option(action: argparse.Action) -> str:
    """Return an option with its values and its help, as `complete` takes them."""
    names = [f" -l {name[2:]}" if name[:2] == "--" else f" -s {name[1:]}" for name in action.option_strings]
    value = "" if action.nargs == 0 else " -r"
    if words := grammar.offered(action):
        value = f" {'-r' if words[0].startswith('$') else '-x'} -a {_choices(action)}"
    return f"{''.join(names)}{value} -d {shlex.quote(action.help or '')}"


SHELLS: dict[str, Callable[[argparse.ArgumentParser], str]] = {"bash": bash, "zsh": zsh, "fish": fish}


def _choices(action: argparse.Action) -> str:
    return shlex.quote(" ".join(grammar.offered(action)))


def _values(parsers: dict[str, argparse.ArgumentParser]) -> Iterator[tuple[str, str, str]]:
    """Yield each command with the word before a value, its option or the command itself, and the choices there."""
    for command, subparser in parsers.items():
        for action in (*grammar.options(subparser), *grammar.positionals(subparser)):
            for before in (action.option_strings or [command]) if grammar.offered(action) else ():
                yield command, before, " ".join(grammar.offered(action))


WORDS = ("rules", "clusters", "nodes")
"""What the scripts ask for (see `options.ASKED`)."""


def _words(topic: str, context: Context, paths: Sequence[str]) -> Iterator[str]:
    """Yield the names of a topic, one of WORDS; nodes only from files, since building kustomizations takes too long."""
    if topic == "rules":
        from ..commands import catalogue  # here, as below: a script is printed without them

        yield from (rule.id for rule in catalogue.rules())
        return
    from ..cluster import cluster_streams
    from ..fleet import nodes
    from ..paths import manifests

    layout = cluster_streams.layout_of(context, paths)
    if topic == "clusters":
        yield from (f"{name}=" for name in layout.config.clusters)
        return
    for cluster in layout.clusters:
        for root in cluster.all_roots:
            yield from (node.name for node in nodes.read(manifests.read_files(root.files)[0]).nodes)


class Request(NamedTuple):
    """What is asked of `completion`."""

    shell: str
    paths: tuple[str, ...]


def _arguments(parser: argparse.ArgumentParser) -> None:
    text = "bash and fish load the file of the example automatically; for zsh, its folder has to be in fpath"
    shell = parser.add_argument("shell", choices=(*SHELLS, *WORDS), metavar="SHELL", help=f"bash, zsh or fish; {text}")
    setattr(shell, OFFERED, tuple(SHELLS))
    help_ = "used by the scripts: with rules, clusters or nodes in place of SHELL, print these names"
    parser.add_argument("paths", nargs="*", default=[], metavar="PATH", help=help_)


def _text(context: Context, args: Request) -> str:
    if args.shell in WORDS:
        words = dict.fromkeys(_words(args.shell, context, args.paths))
        return "".join(f"{word}\n" for word in words if _PLAIN.fullmatch(word))
    from .main import parser  # here: it makes the parsers of all commands, this one's among them

    return SHELLS[args.shell](parser())


_EXAMPLES = (
    "bash > ~/.local/share/bash-completion/completions/krmfn",
    "zsh > ~/.zfunc/_krmfn",
    "fish > ~/.config/fish/completions/krmfn.fish",
)
COMMAND = Command(_EXAMPLES, _arguments, _text, Request, exits=PRINTED)
