"""Why the work on a PATH could not be done: what goes wrong with one hides nothing of the others."""

from collections.abc import Sequence

from krmfn.errors import KrmfnError
from krmfn.results import Findings, Result
from krmfn.streams import Log
from krmfn.typed import NamedTuple


class Unreadable(KrmfnError):
    """A PATH that cannot be read or built, with a finding for each reason."""

    def __init__(self, findings: Sequence[Result]) -> None:
        """Make the error of the findings, a line each."""
        findings = list(Findings(findings))
        super().__init__(*(f"{one.where}{one.subject}{one.message}" for one in findings))
        self.findings = tuple(findings)


class Failure(NamedTuple):
    """Why the work on a PATH could not be done."""

    path: str
    lines: tuple[str, ...]
    findings: tuple[Result, ...] = ()
    """The same as findings, where they name files and rules."""
    cluster: str = ""
    """The cluster that lacks it; "" where nobody knows."""

    @property
    def name(self) -> str:
        """Return the PATH as a place."""
        return "stdin" if self.path == "-" else self.path


def failure_of(path: str, failure: KrmfnError) -> Failure:
    """Return why the work on a PATH, or on what has this name, could not be done."""
    findings = failure.findings if isinstance(failure, Unreadable) else ()
    return Failure(path, tuple(map(str, failure.args)), findings)


def raise_first(failures: Sequence[Failure]) -> None:
    """Raise the first of some failures as the error that it was: Unreadable or KrmfnError; return without any."""
    for failure in failures:
        raise Unreadable(failure.findings) if failure.findings else KrmfnError(*failure.lines)


def raise_alike(failures: Sequence[Failure]) -> None:
    """Raise KrmfnError when all failures have one and the same reason; return otherwise, and without any."""
    reasons = {failure.lines for failure in failures}
    if len(reasons) == 1 and not any(failure.findings for failure in failures):
        raise KrmfnError(*reasons.pop())


def log_failures(log: Log, failures: Sequence[Failure]) -> None:
    """Write each failure with the name of its PATH."""
    for path, (first, *more), findings, _ in failures:
        if findings:
            log.findings(findings)
            continue
        is_named = first.startswith((f"{path}: ", f"{path}/", f"{path} ", f"nothing in {path} "))
        log.failure(KrmfnError(first if is_named else f"{path}: {first}", *more))
