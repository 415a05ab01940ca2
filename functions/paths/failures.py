"""Why the work on a PATH failed. The others go on, and all failures are reported."""

from collections.abc import Sequence

from krmfn.errors import KrmfnError
from krmfn.findings import Findings
from krmfn.results import Result
from krmfn.streams import Log
from krmfn.typed import NamedTuple

from .roots import within


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
    error: KrmfnError
    findings: tuple[Result, ...] = ()
    """The same, as findings with files and rules; () where there are only lines."""
    cluster: str = ""
    """The cluster that lacks it; "" where that is not known."""
    is_blocked: bool = False
    """Whether it is a root that may not be built, and the rest of what it lists is judged."""

    @property
    def is_named(self) -> bool:
        """Return whether the error is about the PATH, or a file below it, whose name is enough."""
        inner = (arg.file for arg in self.error.args[:1] if isinstance(arg, KrmfnError))
        return within(self.error.file or next(inner, ""), self.path)

    @property
    def name(self) -> str:
        """Return the PATH as messages name it."""
        return "stdin" if self.path == "-" else self.path


def failure_of(path: str, failure: KrmfnError) -> Failure:
    """Return the failure of a PATH, or of anything that has this name, for an error."""
    findings = failure.findings if isinstance(failure, Unreadable) else ()
    return Failure(path, failure, findings)


def parts(failure: KrmfnError) -> list[KrmfnError]:
    """Return an error for each file that one names, with the lines behind it."""
    groups = list[list[object]]()
    for arg in failure.args:
        if not groups or isinstance(arg, KrmfnError):
            groups.append([])
        groups[-1].append(arg)
    return [KrmfnError(*group) for group in groups] if groups[1:] else [failure]


def raise_first(failures: Sequence[Failure]) -> None:
    """Raise the first of some failures as the error that it was: Unreadable or KrmfnError; do nothing for none."""
    for failure in failures:
        raise Unreadable(failure.findings) if failure.findings else failure.error


def raise_alike(failures: Sequence[Failure]) -> None:
    """Raise KrmfnError when all failures have the same lines and no findings; do nothing for none."""
    reasons = {failure.error.lines(): failure.error for failure in failures}
    if len(reasons) == 1 and not any(failure.findings for failure in failures):
        raise next(iter(reasons.values()))


def log_failures(log: Log, failures: Sequence[Failure]) -> None:
    """Write each failure with the name of its PATH."""
    for failure in failures:
        if failure.findings:
            log.findings(failure.findings)
        elif failure.is_named:
            log.failure(failure.error)
        else:
            log.failure(KrmfnError(failure.error, file=failure.path))
