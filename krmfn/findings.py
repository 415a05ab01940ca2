"""Many findings together: each once, in order, in their places, and not more than a reader reads."""

from collections.abc import Callable, Iterable, Iterator

from .printing import counted
from .results import MOST, UNLISTED, Field, Result
from .typed import Any

__all__ = ["Findings", "placed"]


class Findings:
    """Distinct findings: at most MOST of one rule in one file, and one that says how many more there are.

    Those that are not listed are counted by severity, in a finding with the place of their first: no error is lost.
    Findings without a file are one file's, and so are those of one item of a build.
    """

    def __init__(self, results: Iterable[Result] = ()) -> None:
        """Take these, equal ones too."""
        self.listed: dict[Any, Result] = {}
        self._numbers: dict[Any, int] = {}
        self._unlisted: dict[Any, tuple[Result, int]] = {}
        self._seen: set[int] = set()
        for at, result in enumerate(results):
            self.add(result, at)

    def add(self, result: Result, name: Any) -> None:
        """Add a finding unless one of its name was added; it is in `listed` by that name, or counted.

        Raises ValueError for a severity that is none.
        """
        if result.severity not in ("error", "warning", "info"):
            raise ValueError(f"{result.severity!r} is no severity; take error, warning or info: {result}")
        if name in self.listed or (self._seen and hash(name) in self._seen):
            return
        place = result.place
        key = (place if place and place.built else place.path if place else "", result.rule)
        if not result.unlisted:
            self._numbers[key] = self._numbers.get(key, 0) + 1
            if self._numbers[key] <= MOST:
                self.listed[name] = result
                return
        self._seen.add(hash(name))  # a name is as long as its finding
        first, number = self._unlisted.get((key, result.severity), (result, 0))
        self._unlisted[key, result.severity] = first, number + (result.unlisted or 1)

    def __iter__(self) -> Iterator[Result]:
        """Yield what is listed, and behind it what stands for all others."""
        yield from self.listed.values()
        for first, number in self._unlisted.values():
            excess = counted(number, "more finding") + (f" of {first.rule}" if first.rule else "")
            limit = f"only the first {MOST:,} of a rule are listed for each file: correct those first"
            field, tags = first.field and Field(first.field.path), ((UNLISTED, str(number)),)
            yield first._replace(message=f"{excess} from here on; {limit}", field=field, tags=tags, remedy="")


def placed(results: Iterable[Result], locate: Callable[[Result], Result]) -> list[Result]:
    """Return findings with their places in files; two that are equal there become one.

    `locate` gives one that stands in a build (see `Place.built`) its place, and any other one back.
    """
    results = list(results)
    if any(result.place and result.place.built for result in results):
        results = list({_identity(result): result for result in map(locate, results)}.values())
    return list(Findings(results)) if len(results) > MOST else results


def _identity(result: Result) -> tuple[Any, ...]:
    return (*result[:4], result.field and result.field.path, result.place)
