"""What is wrong with a value, and what to do about it: a finding's message and remedy before it is one.

A function that judges returns the two apart, so that nothing has to find in a text where one ends.
"""

from krmfn.printing import joined
from krmfn.resource import FieldPath
from krmfn.typed import NamedTuple


class Mistake(NamedTuple):
    """What is wrong, and what to do about it in this case."""

    message: str
    remedy: str = ""
    """A clause; "" where the message says what must be, or nobody can say what to do."""

    @property
    def text(self) -> str:
        """Return both, for readers that have one field for them."""
        return joined(self.message, self.remedy)

    def after(self, subject: str) -> "Mistake":
        """Return it with what it is about before its message."""
        return self._replace(message=f"{subject}{self.message}")


FieldMistake = tuple[FieldPath, Mistake]
"""The path of a field, and what is wrong there."""
