"""What holds the claim of a rule: a program that was asked, its recorded answers, a text that was read; or nobody."""

from .typed import Literal, NamedTuple

__all__ = ["Oracle", "OracleKind"]

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
