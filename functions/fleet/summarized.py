"""The table of the command `nodes` as text: a line per node, or per config, kernel, state and image."""

from collections.abc import Sequence

from krmfn import printing

from .. import terminal
from .row_lines import painted
from .table import HEAD, STYLES, Row, cells

_NAMED = 20
"""The nodes that are named below a line of problems."""


def text(rows: Sequence[Row], paint: terminal.Paint = terminal.plain, width: int = 0) -> str:
    """Return a line per node and Module; with a `width`, that of a terminal, no line is wider."""
    ordered = sorted(rows, key=_rank) if width else rows
    narrow_rows = [HEAD, *(cells(row, True) for row in ordered)] if width else ()
    return painted([HEAD, *map(cells, ordered)], paint, STYLES, width, narrow_rows)


def summary(rows: Sequence[Row], paint: terminal.Paint = terminal.plain, width: int = 0) -> str:
    """Return a line per config, kernel, state and image or reason: on how many nodes, and in which clusters.

    The nodes that nothing selects are one line. Without names of clusters there is no column for them. With a `width`,
    that of a terminal, problems come first, and no line is wider.
    """
    lines, narrow_lines, _ = _summary(rows, width)
    return painted(lines, paint, STYLES, width, narrow_lines)


def problems(rows: Sequence[Row], paint: terminal.Paint = terminal.plain, width: int = 0) -> str:
    """Return the lines of `summary`, each with the names of its nodes below; on a terminal, at its end."""
    lines, narrow_lines, names = _summary(rows, width)
    examples = [printing.some(of_line, len(of_line), _NAMED) for of_line in names]
    if width:
        both = (_with_examples(of_width, examples) for of_width in (lines, narrow_lines))
        return painted(next(both), paint, STYLES, width, next(both))
    head, *of_rows = painted(lines, paint, STYLES).splitlines()
    below = (f"{line}\n  {text}\n" for line, text in zip(of_rows, examples, strict=True))
    return f"{head}\n{''.join(below)}"


def _with_examples(lines: Sequence[tuple[str, ...]], examples: Sequence[str]) -> list[tuple[str, ...]]:
    """Return lines, each but the head with the names of some of its nodes at its end."""
    pairs = zip(lines[1:], examples, strict=True)
    return [lines[0], *((*line[:-1], f"{line[-1]}: {names}") for line, names in pairs)]


_Lines = list[tuple[str, ...]]


def _summary(rows: Sequence[Row], width: int) -> tuple[_Lines, _Lines, list[list[str]]]:
    """Return the cells of the lines of a summary, the head first, and the names of the nodes of each but that.

    The second ones are narrow.
    """
    from ..formats.grouped import where  # here: rows need no names of several clusters

    names: dict[tuple[str, ...], dict[str, set[str]]] = {}
    ranks: dict[tuple[str, ...], int] = {}
    narrow = dict[str, str]()
    for row in rows:
        cluster, name, kernel, state, loaded, config, module, _, last = cells(row)
        key: tuple[str, ...] = (module if config == "-" else config, kernel, state, loaded, last)
        if _rank(row) == _UNSELECTED:
            key = ("-", "-", state, loaded, "no selector selects these nodes; `--wide` says which is nearest")
        names.setdefault(key, {}).setdefault(cluster, set()).add(printing.printable(name))
        ranks[key] = _rank(row) if width else 0
        narrow[last] = cells(row, True)[-1] if width else ""
    fleet = dict.fromkeys(row.cluster for row in rows)
    has_names = [*fleet] != [""]
    head = ("CONFIG", "KERNEL", "STATE", "LOADED", "NODES", *["CLUSTERS"] * has_names, "IMAGE OR REASON")
    lines: _Lines = [head]
    below = list[list[str]]()
    for key, clusters in sorted(names.items(), key=lambda entry: (ranks[entry[0]], entry[0])):
        *facts, last = key
        number = f"{sum(map(len, clusters.values())):,}"
        lines.append((*facts, number, *[where(list(clusters), fleet)] * has_names, last))
        below.append([f"{name}/{node}" if name else node for name in clusters for node in sorted(clusters[name])])
    return lines, [(*line[:-1], narrow.get(line[-1], line[-1])) for line in lines], below


_UNSELECTED = 2
"""The rank of a node that nothing selects: the last."""


def _rank(row: Row) -> int:
    """Return 0 for a problem, 1 for a node that gets its driver, 2 for one that nothing selects."""
    return 0 if row.is_problem else _UNSELECTED if row.state == "not selected" else 1
