"""The one exception of the SDK: bad input or a broken environment, never a finding about a resource."""

from .typed import Any

__all__ = ["KrmfnError", "NoData", "NoList", "Refused", "TooLarge"]


class KrmfnError(Exception):
    """A sentence for people: what is wrong, where, and what would be right.

    Each argument is a line. A line break inside an argument is printed as its escape: it came from the input.

    The runner and the command line print it without a traceback. Findings about a resource are
    `krmfn.results.Result` values instead; any other exception is a bug and keeps its traceback.
    """

    file: str = ""
    """The file whose name, with a colon, the sentence begins with; "" for none."""

    def __str__(self) -> str:
        return "\n".join(map(str, self.args))


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
        super().__init__(subject + message)
        self.message, self.at = message, at
