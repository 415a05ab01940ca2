"""Run a command, and answer with its exit code whatever happens."""

from __future__ import annotations

import os
from collections.abc import Sequence

from krmfn.errors import KrmfnError
from krmfn.log import Log
from krmfn.runner import ensure_stderr

from ..command import Context
from ..options import log_of
from ..settings import CHECK
from . import arguments


def main(argv: Sequence[str]) -> int:
    """Run a command. Exit code: 0 fine, 1 findings of severity error, 2 the work could not be done.

    `diff` has its own meaning for 1: the two differ. A crash is 2, and keeps its traceback.
    """
    log = Log()
    try:
        ensure_stderr()
        call = arguments.parse(argv)
        if isinstance(call, int):
            return call
        command, args, options = call
        log = log_of(options)
        if command.intent and any(name.startswith("ARGOCD_") for name in os.environ):
            from . import argocd

            options = argocd.applied(options)
        return command.run(Context(options, command.intent or CHECK, log), args)
    except KrmfnError as failure:
        log.failure(failure)
    except KeyboardInterrupt:
        log.say("interrupted")
        return 130
    except BaseException as failure:  # a SystemExit(0) of the function included
        if isinstance(failure, FileNotFoundError) and not _has_working_folder():
            log.failure(KrmfnError("the working folder was removed while krmfn was running, so there is no result"))
        else:
            log.crash("this is a bug in krmfn, not in your files; there is no result")
    return 2


def _has_working_folder() -> bool:
    """Return False when the working folder was removed."""
    try:
        os.getcwd()  # noqa: PTH109  # pathlib is not there
    except FileNotFoundError:
        return False
    return True
