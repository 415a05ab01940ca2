"""The one exception of the SDK: bad input or a broken environment, never a finding about a resource."""

from .typed import Any

__all__ = ["KrmfnError", "NoData", "NoList", "Refused", "TooLarge"]


class KrmfnError(Exception):
    """A sentence for people: what is wrong, where, and what would be right.

    Each argument is a line. A line break inside an argument is printed as its escape: it came from the input.

    The runner and the command line print it without a traceback. Findings about a resource are
    `krmfn.results.Result` values instead; any other exception is a bug and keeps its traceback.
    """

    def __init__(self, *lines: object, file: str = "", line: int = 0, subject: str = "") -> None:
        """Take the lines without their place; an argument that is an error itself brings its own.

        `file` and `line` (from 1) say where, `subject` is words before both where no file has a name.
        """
        super().__init__(*lines)
        self.file, self.line, self.subject = file, line, subject

    def located(self, file: str = "", lines: int = 0, subject: str = "") -> "KrmfnError":
        """Return this error, with the file unless it has one, and with `lines` lines before the text that it is about.

        So an error gets its place on its way up, from those who know it.
        """
        self.file = self.file or file
        self.line += lines if self.line else 0
        self.subject = subject + self.subject
        return self

    def lines(self, file: str = "") -> tuple[str, ...]:
        """Return the lines for people, the first with its place; without the name of `file`, which they see already."""
        name = f"{self.file}: " if self.file not in ("", file) else ""
        number = f"line {self.line}: " if self.line else ""
        first, *others = self._texts(file) or [""]
        head = f"{name}{number}{self.subject}" if self.file else f"{self.subject}{number}"
        return f"{head}{first}", *others

    @property
    def sentence(self) -> str:
        """Return what is wrong, without the place: for a finding, which has its own."""
        return self.subject + "\n".join(self._texts(""))

    def _texts(self, file: str) -> list[str]:
        return [text for arg in self.args for text in (arg.lines(file) if isinstance(arg, KrmfnError) else [str(arg)])]

    def __str__(self) -> str:
        return "\n".join(self.lines())


class TooLarge(KrmfnError):
    """A text has more nodes than any Kubernetes object; only a list of many resources may have so many."""


class NoData(KrmfnError):
    """A text is YAML and no data: it merges a word, has a list as a key, or a tag that its value does not fit."""


class NoList(KrmfnError):
    """A text is no ResourceList: another kind, or several documents as Helm and kubectl write them."""


class Refused(KrmfnError):
    """A function's reason not to do its work: it becomes an error result, and the items leave as they came."""

    def __init__(self, message: str, at: Any = None, subject: str = "") -> None:
        """Take the reason, and the item, or field of one, that it is about; `subject` is that in words."""
        place = getattr(at, "place", None)
        super().__init__(message, file=place.path if place else "", line=place.line if place else 0, subject=subject)
        self.message, self.at = message, at
