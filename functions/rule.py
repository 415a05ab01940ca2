"""Rules: what must hold, examples of it, and who holds the claim.

The holder is a program that was asked, its recorded answers, a text that was read; or nobody.
"""

from collections.abc import Callable, Iterable, Iterator

from krmfn import Result
from krmfn.results import Severity
from krmfn.typed import Any, Literal, NamedTuple

OracleKind = Literal["engine", "recording", "reference", "own", "none"]
"""engine: a test asks the program itself. recording: a test plays what it was seen to do. reference: its source or its
documentation was read. own: the rule is about what the function itself defines. none: nobody was asked."""


class Oracle(NamedTuple):
    """Whom one has to ask whether a rule is right."""

    kind: OracleKind
    name: str
    """The program, the recording or the text; of `own` what defines it, of `none` what nobody was asked."""
    test: str = ""
    """The test that asks the program or plays the recording: a file of the repository."""


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
    held: Oracle
    """Whom one has to ask whether the sentence is true."""
    check: Callable[..., Iterator[Result]] | None = None
    """Yields the findings, without the rule's id; None where the rule is a step of a larger walk."""
    severities: tuple[Severity, ...] = ("error",)
    """The severities of its findings; first the usual one, which a finding about `bad` has."""
    advice: bool = False
    """Whether users may turn it off. An error of a rule that usually warns is reported nevertheless."""

    @property
    def hideable(self) -> tuple[Severity, ...]:
        """Return the severities of the findings that users may turn off."""
        hideable = ("warning", "info", self.severities[0]) if self.advice else ()
        return tuple(severity for severity in self.severities if severity in hideable)


def apply(rules: Iterable[Rule], *subject: Any) -> Iterator[Result]:
    """Yield the findings of each rule about the subject, with the rule's id."""
    for rule in rules:
        if rule.check:
            for finding in rule.check(*subject):
                yield finding._replace(rule=rule.id)
