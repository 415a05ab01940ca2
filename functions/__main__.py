"""The console commands `krmfn`, `deviceconfig` and `ptemplate`; `python -I -m krmfn_functions` is `krmfn`."""

from __future__ import annotations

import sys

from . import VERSION

TYPE_CHECKING = False  # a type checker takes it for True, and typing costs a tenth of an empty process
if TYPE_CHECKING:
    from typing import NoReturn

# Imports wait until it is known what is needed: kustomize and kpt start this process at every render.


def krmfn() -> NoReturn:
    """Run the program: the KRM function for all kinds without arguments, else a command."""
    _begin("krmfn")
    # on a terminal, with nothing piped in or out, a person has called it
    is_terminal = all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))
    if arguments := sys.argv[1:] or (["--help"] if is_terminal else []):
        code = _command(arguments)
        from krmfn.streams import leave

        leave(code)
    _serve("krmfn")


def deviceconfig() -> NoReturn:
    """Run the bare KRM function `deviceconfig`."""
    _bare("deviceconfig")


def ptemplate() -> NoReturn:
    """Run the bare KRM function `ptemplate`."""
    _bare("ptemplate")


def _bare(name: str) -> NoReturn:
    """Answer the arguments of a bare function, or run it without any."""
    _begin(name)
    if len(sys.argv) > 1:
        from krmfn.streams import leave

        from .commands.bare import answer

        leave(answer(name, sys.argv[1:]))
    _serve(name)


def _begin(name: str) -> None:
    """Answer --version; end the process when modules come from the working folder, perhaps a stranger's repository.

    Python has loaded some by now: this is for a user who sets PYTHONPATH, not against one who plants a module.
    """
    import os

    elements = "" if sys.flags.ignore_environment else os.environ.get("PYTHONPATH", "")
    if elements and not all(map(os.path.isabs, elements.split(os.pathsep))):
        sys.stderr.write(
            f"error: PYTHONPATH is {elements!r}, which has an empty or relative element, so Python would import "
            "modules from the working folder; unset it, or run krmfn with python -I -m krmfn_functions\n"
        )
        sys.exit(2 if sys.argv[1:] else 1)
    if sys.argv[1:] == ["--version"]:
        _answer_version(name)
    _require_sdk()


def _require_sdk() -> None:
    """End the process when the distribution `krmfn-sdk`, whose package is `krmfn`, is not installed."""
    # only looked for: it is imported where the garbage collector is off, which makes the start shorter
    if not any(finder.find_spec("krmfn", None) for finder in sys.meta_path):
        sys.stderr.write(
            f"error: krmfn {VERSION} needs its SDK, which is not installed here; "
            f"install krmfn_sdk-{VERSION}-py3-none-any.whl of the same release, or ./sdk of a checkout\n"
        )
        sys.exit(2 if sys.argv[1:] else 1)


def _answer_version(name: str) -> None:
    """Print the version and end the process; return when it cannot be written, which the parser reports."""
    if sys.stdout is not None:
        import os

        text = f"{name} {VERSION}\n".encode()
        try:
            written = os.write(1, text)
        except OSError:
            return
        if written == len(text):
            sys.exit(0)


def _serve(name: str) -> NoReturn:
    """Run the KRM function of this name; an interrupt before it begins is no crash."""
    import gc

    gc.disable()  # the runner does, too, but by then a hundred modules have been loaded and walked
    try:
        from krmfn.runner import main

        if name == "krmfn":
            from .all_kinds import krmfn as function
        elif name == "deviceconfig":
            from .deviceconfig import deviceconfig as function
        else:
            from .ptemplate import ptemplate as function
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; nothing was written\n")
        sys.exit(1)
    main(function, "plain manifests are read by `krmfn render -`" if name == "krmfn" else "")


def _command(arguments: list[str]) -> int:
    """Return a command's exit code; 2 when its parts cannot even be loaded, since 1 means findings."""
    import gc

    gc.disable()  # nearly all objects stay to the end, and walking 100,000 nodes again and again takes a quarter
    try:
        import signal

        # what ends a process interrupts it, so that temporary folders go and kustomize is ended: Argo CD's plugin
        # server sends SIGTERM at its deadline, a CI server when a job is cancelled
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            if signal.getsignal(number) == signal.SIG_DFL:  # nohup lets SIGHUP be ignored
                signal.signal(number, signal.default_int_handler)
        from .command_line import main
    except Exception:
        import traceback

        traceback.print_exc()
        return 2
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return 130
    return main.main(arguments)


if __name__ == "__main__":
    krmfn()
