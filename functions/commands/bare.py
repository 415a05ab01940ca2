"""What `deviceconfig` and `ptemplate` answer to arguments: they are KRM functions, the commands are krmfn's."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from krmfn.errors import KrmfnError
from krmfn.log import Log
from krmfn.runner import ensure_stdout, write

from .. import VERSION


def answer(name: str, arguments: Sequence[str]) -> int:
    """Print the help, the documentation or the version; return the exit code, 2 for any other argument."""
    usage = f"usage: {name} [--help | --doc | --version]\n"
    if arguments[0] in ("-h", "--help") and len(arguments) == 1:
        from .document import help_of

        return _print(
            f"{usage}\n{help_of(name)}\n"
            "This is a KRM function for kustomize (transformers:) and kpt (pipeline): it reads a ResourceList from\n"
            "stdin and writes one to stdout. To render or check files, run `krmfn render PATH` or `krmfn check PATH`.\n"
        )
    if arguments[0] == "--version" and len(arguments) == 1:
        return _print(f"{name} (krmfn {VERSION})\n")
    if arguments[0] == "--doc" and len(arguments) == 1:
        from .document import document

        return _print(document(name))
    import shlex

    sys.stderr.write(
        f"{usage}{name}: error: {name} is a KRM function and takes no arguments; commands are run with krmfn: try "
        f"`krmfn {shlex.join(arguments)}`, or `krmfn --help`\n"
    )
    return 2


def _print(text: str) -> int:
    try:
        ensure_stdout()
        write(1, [text.encode()])
    except KrmfnError as failure:
        Log().failure(failure)
        return 2
    return 0
