"""Which findings `check` shows: of the severities and rules that are asked for. What is hidden counts all the same."""

from collections.abc import Callable
from functools import cache

from krmfn.errors import KrmfnError
from krmfn.results import Result
from krmfn.typed import NamedTuple

from ..formats.checked import Checked
from ..paths import files
from ..rendering import ignoring

SEVERITIES = ("info", "warning", "error")


class Selection(NamedTuple):
    """What is shown."""

    least: str = "info"
    """The severity from which on findings are shown."""
    select: tuple[str, ...] = ()
    """Ids of rules, or how they begin; () for all."""
    ignore: tuple[str, ...] = ()
    """Ids of rules that are turned off."""


def selection(least: str, select: str, ignore: str, known: Callable[[], frozenset[str]]) -> Selection:
    """Return what is shown. Raises KrmfnError for a rule that there is not, and for one that cannot be turned off."""
    wanted, off = (tuple(filter(None, text.split(","))) for text in (select, ignore))
    for name in wanted:
        if not any(rule.startswith(name) for rule in known()):
            raise KrmfnError(f"--select: no rule begins with {name}; `krmfn rules` lists them")
    for rule in off:
        if message := ignoring.not_turned_off(rule):
            raise KrmfnError(f"--ignore: {message}")
    return Selection(least, wanted, off)


def without_ignored(checked: Checked, chosen: Selection) -> Checked:
    """Return a check without findings of rules that are turned off; they are counted."""
    kept = [one for one in checked.results if not (one.rule in chosen.ignore and ignoring.is_hideable(one))]
    off = sum(one.unlisted or 1 for one in checked.results) - sum(one.unlisted or 1 for one in kept)
    return checked._replace(results=kept, turned_off=checked.turned_off + off)


def shown(checked: Checked, chosen: Selection) -> Checked:
    """Return a check with the findings that are asked for, and how many others there are."""
    least = SEVERITIES.index(chosen.least)
    kept, left = list[Result](), list[Result]()
    for one in checked.results:
        is_wanted = not chosen.select or one.rule.startswith(chosen.select)
        (kept if is_wanted and SEVERITIES.index(one.severity) >= least else left).append(one)
    hidden = {name: sum(one.unlisted or 1 for one in left if one.severity == name) for name in reversed(SEVERITIES)}
    return checked._replace(results=kept, hidden=hidden)


def source_of(root: str | None) -> Callable[[str, int], str]:
    """Return what reads a line of a file, for findings that are shown with it."""

    @cache
    def lines(path: str) -> list[str]:
        try:
            return files.read_text(path, root).splitlines()
        except KrmfnError:  # it is said where it is read for good
            return []

    return lambda path, number: lines(path)[number - 1] if number <= len(lines(path)) else ""
