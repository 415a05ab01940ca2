"""The completion scripts in a real zsh and a real fish: a line, the Tab key, and what stands there then."""

from __future__ import annotations

import os
import pty
import signal
from pathlib import Path

import pytest
from krmfn_functions.command_line import grammar, main

from tests.commands import ROOT

from .engines import find, must, path_of

CASES = [
    ("krmfn ren", "krmfn render"),
    ("krmfn --vers", "krmfn --version"),
    ("krmfn check --str", "krmfn check --strict"),
    ("krmfn check gitops --format s", "krmfn check gitops --format sarif"),
    ("krmfn check gitops --strict examples --color al", "krmfn check gitops --strict examples --color always"),
    ("krmfn schema Pt", "krmfn schema Ptemplate"),
    ("krmfn completion f", "krmfn completion fish"),
    ("krmfn explain KRM15", "krmfn explain KRM150"),
    ("krmfn explain gitop", "krmfn explain gitops/"),
    ("krmfn check gitop", "krmfn check gitops/"),
    ("krmfn render --output-dir gitop", "krmfn render --output-dir gitops/"),
    ("krmfn check --zzz", "krmfn check --zzz"),
    ("krmfn zzz", "krmfn zzz"),
]
ZSHRC = """
PROMPT='type here> '
%s
leave() { print -rn -- "$BUFFER" > "$ZDOTDIR/line"; BUFFER=exit; zle accept-line }
zle -N leave
bindkey '^X' leave
"""

SOURCED = "source <(krmfn completion zsh)"
FROM_FPATH = """
krmfn completion zsh > "$ZDOTDIR/_krmfn"
fpath=("$ZDOTDIR" $fpath)
autoload -Uz compinit && compinit -u -d "$ZDOTDIR/dump"
"""


@pytest.mark.parametrize("loading", [SOURCED, FROM_FPATH], ids=["sourced", "fpath"])
@pytest.mark.parametrize(("typed", "line"), CASES)
def test_zsh(typed: str, line: str, loading: str, tmp_path: Path) -> None:
    zsh = find("zsh", "install the Debian package zsh")
    (tmp_path / ".zshrc").write_text(ZSHRC % loading)
    env = path_of() | {"ZDOTDIR": str(tmp_path), "HOME": str(tmp_path), "TERM": "xterm"}
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(ROOT)
        signal.alarm(60)  # also ends the shell that was put in our place
        os.execve(zsh, [zsh, "-d", "-i"], env)
    output = b""
    keys = f"{typed}\t\x18".encode()
    try:
        while part := os.read(terminal, 65536):
            output += part
            if keys and b"type here> " in output:
                os.write(terminal, keys)
                keys = b""
    except OSError:
        pass  # Linux says so at the end
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, output
    assert (tmp_path / "line").read_text().rstrip() == line, output


def fish(line: str, folder: Path) -> list[str]:
    """The last words that fish offers for a line."""
    program = find("fish", "install the Debian package fish")
    env = path_of() | {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "XDG_DATA_HOME": str(folder)}
    script = "krmfn completion fish | source; complete --do-complete=$argv[1]"
    output = must(program, "--no-config", "--command", script, line, cwd=ROOT, env=env).decode()
    return [offer.partition("\t")[0] for offer in output.splitlines()]


@pytest.mark.parametrize(("typed", "line"), CASES)
def test_fish(typed: str, line: str, tmp_path: Path) -> None:
    before = typed.rpartition(" ")[0]
    offers = [f"{before} {offer}" for offer in fish(typed, tmp_path)]
    assert offers == ([line] if line != typed else [])


@pytest.mark.parametrize("command", ["render", "check", "diff", "resolve", "rules"])
def test_fish_offers_every_long_option(command: str, tmp_path: Path) -> None:
    parser = grammar.commands(main.parser())[command]
    names = {name for option in grammar.options(parser) for name in option.option_strings if name.startswith("--")}
    assert set(fish(f"krmfn {command} --", tmp_path)) == names
