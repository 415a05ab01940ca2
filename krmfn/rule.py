"""A rule: what must hold, how it is checked, an example of each side, and what to do about a finding."""

from collections.abc import Callable, Iterable, Iterator

from .results import Result, Severity
from .typed import Any, NamedTuple

__all__ = ["Rule", "apply"]


class Rule(NamedTuple):
    """A rule with all that `rules`, `explain`, the reference page, reports and tests need of it.

    An example is YAML, one document or several, and shows only what matters: the tests, which run every example, fill
    in what each resource of the kind needs, and `null` takes something of that away. A comment in a document's first
    line says what it is: `# <file>`, or `# before` and `# after` for a rule about changes.
    """

    id: str
    """Four characters for the family and its hundred, two for the rule: `KRM204`."""
    sentence: str
    """What must or should hold, in small letters and without a full stop."""
    good: str
    """An example without a finding of this rule."""
    bad: str
    """An example with one."""
    remedy: str
    """What a person does about a finding: one or two imperative sentences."""
    check: Callable[..., Iterator[Result]] | None = None
    """Yields the findings, without the rule's id; None where the rule is a step of a larger walk."""
    severities: tuple[Severity, ...] = ("error",)
    """The severities of its findings; first the usual one, which a finding about `bad` has."""
    advice: bool = False
    """Whether users may turn it off. An error of a rule that usually warns is reported nevertheless."""

    @property
    def hideable(self) -> tuple[Severity, ...]:
        """Return the severities of the findings that users may turn off."""
        keeps_errors = self.severities[0] != "error"
        return tuple(one for one in self.severities if self.advice and not (keeps_errors and one == "error"))


def apply(rules: Iterable[Rule], *subject: Any) -> Iterator[Result]:
    """Yield the findings of each rule about the subject, with the rule's id."""
    for rule in rules:
        if rule.check:
            for finding in rule.check(*subject):
                yield finding._replace(rule=rule.id)
