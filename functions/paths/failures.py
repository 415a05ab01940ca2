"""Why the work on a PATH failed. The others go on, and all failures are reported."""

from collections.abc import Sequence

from krmfn.errors import KrmfnError
from krmfn.findings import Findings
from krmfn.results import Result
from krmfn.streams import Log
from krmfn.typed import NamedTuple


class Unreadable(KrmfnError):
    """A PATH that cannot be read or built, with a finding for each reason."""

    def __init__(self, findings: Sequence[Result]) -> None:
        """Make an error with a line for each finding."""
        findings = list(Findings(findings))
        super().__init__(*(f"{finding.where}{finding.subject}{finding.text}" for finding in findings))
        self.findings = tuple(findings)


class Failure(NamedTuple):
    """Why the work on a PATH failed."""

    path: str
    lines: tuple[str, ...]
    findings: tuple[Result, ...] = ()
    """The same, as findings with files and rules; () where there are only lines."""
    cluster: str = ""
    """The cluster that lacks it; "" where that is not known."""
    is_blocked: bool = False
    """Whether it is a root that may not be built, and the rest of what it lists is judged."""

    @property
    def name(self) -> str:
        """Return the PATH as messages name it."""
        return "stdin" if self.path == "-" else self.path


def failure_of(path: str, failure: KrmfnError) -> Failure:
    """Return the failure of a PATH, or of anything that has this name, for an error."""
    findings = failure.findings if isinstance(failure, Unreadable) else ()
    return Failure(path, tuple(map(str, failure.args)), findings)


def raise_first(failures: Sequence[Failure]) -> None:
    """Raise the first of some failures as the error that it was: Unreadable or KrmfnError; do nothing for none."""
    for failure in failures:
        raise Unreadable(failure.findings) if failure.findings else KrmfnError(*failure.lines)


def raise_alike(failures: Sequence[Failure]) -> None:
    """Raise KrmfnError when all failures have the same lines and no findings; do nothing for none."""
    reasons = {failure.lines for failure in failures}
    if len(reasons) == 1 and not any(failure.findings for failure in failures):
        raise KrmfnError(*reasons.pop())


def log_failures(log: Log, failures: Sequence[Failure]) -> None:
    """Write each failure with the name of its PATH."""
    for path, (first, *rest), findings, *_ in failures:
        if findings:
            log.findings(findings)
            continue
        is_named = first.startswith((f"{path}: ", f"{path}/", f"{path} ", f"nothing in {path} "))
        log.failure(KrmfnError(first if is_named else f"{path}: {first}", *rest))
