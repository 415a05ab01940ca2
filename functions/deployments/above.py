"""Files whose objects deploy other files: what holds for those above a file holds for it, too."""

from collections.abc import Iterable, Mapping, Sequence

from krmfn.typed import TypeVar

from ..grouping import grouped

Value = TypeVar("Value")


def inherited(below: Mapping[str, Sequence[str]], values: Iterable[tuple[Value, str]]) -> dict[str, list[Value]]:
    """Return the values of each file: its own, and those of the files above it.

    `below` has the files that those in a file deploy; `values` are pairs of a value and the file that has it.
    """
    by_file: dict[str, list[Value]] = {}
    for value, files in grouped(values).items():
        for file in all_below(below, files):
            by_file.setdefault(file, []).append(value)
    return by_file


def all_below(below: Mapping[str, Sequence[str]], files: Iterable[str]) -> list[str]:
    """Return some files and all that are below them, each once."""
    seen = dict.fromkeys(files)
    rest = [*seen]
    while rest:
        for file in below.get(rest.pop(), ()):
            if file not in seen:
                seen[file] = None
                rest.append(file)
    return [*seen]
