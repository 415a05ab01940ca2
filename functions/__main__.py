"""The console commands `deviceconfig` and `ptemplate`; also `python -m krmfn_functions <command> ...`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from krmfn import Function


def deviceconfig() -> NoReturn:
    """The command `deviceconfig`: the KRM function without arguments, else a subcommand."""
    _run("deviceconfig", sys.argv[1:])


def ptemplate() -> NoReturn:
    """The command `ptemplate`."""
    _run("ptemplate", sys.argv[1:])


def _run(name: str, arguments: list[str]) -> NoReturn:
    """Imports wait until it is known what is needed: kustomize and kpt start this process at every render."""
    if arguments:
        code = _command(name, arguments)
        from krmfn.runner import leave

        leave(code)
    from krmfn.runner import main

    main(_function(name))


def _function(name: str) -> Function:
    if name == "deviceconfig":
        from .deviceconfig import deviceconfig as function
    else:
        from .ptemplate import ptemplate as function
    return function


def _command(name: str, arguments: list[str]) -> int:
    """Return a subcommand's exit code; 2 when its parts cannot even be loaded, since 1 means findings."""
    try:
        from krmfn.cli import main

        from .programs import PROGRAMS

        program = PROGRAMS[name](_function(name))
    except Exception:
        import traceback

        traceback.print_exc()
        sys.exit(2)
    return main.main(program, arguments)


if __name__ == "__main__":
    if sys.argv[1:2] not in (["deviceconfig"], ["ptemplate"]):
        sys.exit("usage: python -m krmfn_functions deviceconfig|ptemplate [COMMAND ...]")
    _run(sys.argv[1], sys.argv[2:])
