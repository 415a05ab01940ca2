"""A function between stdin and stdout: bytes in, bytes and an exit code out, and never an empty success."""

import gc
import os
import sys
from collections.abc import Callable
from contextlib import redirect_stdout

from .envelope import Chunk
from .errors import KrmfnError, NoList, Refused
from .resourcelist import ResourceList
from .results import error
from .streams import Log, ensure_stderr, ensure_stdout, from_environment, leave, read_stdin, write
from .typed import Any, NoReturn

__all__ = ["Function", "applied", "call", "guarded", "main", "report", "run"]

Function = Callable[[ResourceList], None]
"""A KRM function: it looks at a list, reports findings, changes items. It neither prints nor exits."""


def run(function: Function, data: bytes) -> tuple[bytes, int]:
    """Apply the function to a ResourceList; return the list to write, and 1 with an error finding, else 0.

    Raises KrmfnError when `data` cannot be used; whatever else the function raises is a bug and comes through.
    """
    resources, chunks = applied(function, data)
    return b"".join(chunks), int(resources.failed)


def main(function: Function, plain: str = "") -> NoReturn:
    """Run as a KRM function: read stdin, write stdout, exit with 0 or 1. Ends the process.

    `plain` says what to do with manifests that are no ResourceList, as `helm install --post-renderer` sends them.
    While the function runs, whatever it or its children print goes to stderr: stdout is the document.
    Findings and changes are written to stderr, since kustomize shows no results; see `streams` for how.
    """

    def work(log: Log, stdout: int) -> int:
        try:
            resources, chunks = applied(function, read_stdin())
        except NoList as failure:
            raise KrmfnError("; ".join(filter(None, [str(failure), plain]))) from None
        log.findings(resources.results)
        if not resources.failed:
            log.changes(resources.changes)
        write(stdout, chunks)
        return int(resources.failed)

    guarded(work)


def guarded(work: Callable[[Log, int], int]) -> NoReturn:
    """Run a program's work with its log and the descriptor of stdout; end the process with the code that it returns.

    Whatever else writes to stdout meanwhile writes to stderr. Work that ends in another way, be it by sys.exit(0), is a
    failure: exit code 1, and the reason on stderr.
    """
    log, code = Log(), 1
    gc.disable()  # the process is short; walking a large list's objects again and again costs a third of its time
    try:
        ensure_stderr()
        log = from_environment()
        ensure_stdout()
        stdout = os.dup(1)
        os.dup2(2, 1)
        code = work(log, stdout)
    except KrmfnError as failure:
        log.failure(failure)
    except KeyboardInterrupt:
        log.say("interrupted; nothing was written")
    except BaseException:  # a SystemExit(0) of the function included: it must never look like success
        log.crash("this is a bug in the function, not in your files; nothing was written")
    finally:
        leave(code)


def applied(function: Function, data: bytes) -> tuple[ResourceList, list[Chunk]]:
    """Apply the function to a ResourceList; return the list, and what to write.

    A KrmfnError of the function, `Refused` among them, is an error result over the untouched input, so that kpt shows
    it. Raises KrmfnError when `data` cannot be used.
    """
    resources = ResourceList.parse(data)
    call(function, resources)
    try:
        chunks = resources.to_chunks()
        known = {ref for _, ref in resources.changes}
        resources.changes += [("updated", item.ref) for item in resources.edited if item.ref not in known]
        return resources, chunks
    except KrmfnError as failure:
        report(resources, failure)
    return resources, resources.to_chunks()


def call(function: Function, resources: ResourceList) -> None:
    """Let the function work on a list; a KrmfnError that it raises becomes an error of the list."""
    try:
        with redirect_stdout(sys.stderr):
            answer: Any = function(resources)  # type: ignore[func-returns-value]
        if answer is not None:
            problem = "it must neither return nor yield: report() adds a finding"
            raise KrmfnError(f"the function returns a {type(answer).__name__}; {problem}")
    except KrmfnError as failure:
        report(resources, failure)


def report(resources: ResourceList, failure: KrmfnError) -> None:
    """Add an exception to the findings of a list, with the item or field that it is about, where it has one."""
    if isinstance(failure, Refused) and failure.at:
        finding = error(failure.message, at=failure.at)
        if finding.field and failure.__cause__:  # an edit that cannot be written: the value is not the one that leaves
            finding = finding._replace(field=finding.field._replace(current=None))
        resources.report(finding)
    else:
        resources.report(error(str(failure)))
