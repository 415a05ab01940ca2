"""The console commands `deviceconfig` and `ptemplate`; also `python -m krmfn_functions <command> ...`."""

from __future__ import annotations

import sys
from typing import NoReturn


def deviceconfig() -> NoReturn:
    """The command `deviceconfig`: the KRM function without arguments, else a subcommand."""
    _run("deviceconfig", sys.argv[1:])


def ptemplate() -> NoReturn:
    """The command `ptemplate`."""
    _run("ptemplate", sys.argv[1:])


def _run(name: str, arguments: list[str]) -> NoReturn:
    """Imports wait until it is known what is needed: kustomize and kpt start this process at every render."""
    if name == "deviceconfig":
        from .deviceconfig import deviceconfig as function
    else:
        from .ptemplate import ptemplate as function
    if not arguments:
        from krmfn.runner import main

        main(function)
    from krmfn import cli

    from .programs import PROGRAMS

    sys.exit(cli.main(PROGRAMS[name](function), arguments))


if __name__ == "__main__":
    if sys.argv[1:2] not in (["deviceconfig"], ["ptemplate"]):
        sys.exit("usage: python -m krmfn_functions deviceconfig|ptemplate [COMMAND ...]")
    _run(sys.argv[1], sys.argv[2:])
