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
    return painted([HEAD, *map(cells, ordered)], paint, STYLES, width)


def summary(rows: Sequence[Row], paint: terminal.Paint = terminal.plain, width: int = 0) -> str:
    """Return a line per config, kernel, state and image or reason: on how many nodes, and in which clusters.

    The nodes that nothing selects are one line. Without names of clusters there is no column for them. With a `width`,
    that of a terminal, problems come first, and no line is wider.
    """
    return painted(_summary(rows, width)[0], paint, STYLES, width)


def problems(rows: Sequence[Row], paint: terminal.Paint = terminal.plain, width: int = 0) -> str:
    """Return the lines of `summary`, each with the names of its nodes below; on a terminal, at its end."""
    lines, names = _summary(rows, width)
    examples = [printing.some(of_line, len(of_line), _NAMED) for of_line in names]
    if width:
        pairs = zip(lines[1:], examples, strict=True)
        return painted([lines[0], *((*line[:-1], f"{line[-1]}: {text}") for line, text in pairs)], paint, STYLES, width)
    head, *of_rows = painted(lines, paint, STYLES).splitlines()
    below = (f"{line}\n  {text}\n" for line, text in zip(of_rows, examples, strict=True))
    return f"{head}\n{''.join(below)}"


def _summary(rows: Sequence[Row], width: int) -> tuple[list[tuple[str, ...]], list[list[str]]]:
    """Return the cells of the lines of a summary, the head first, and the names of the nodes of each but that."""
    from ..formats.grouped import where  # here: rows need no names of several clusters

    names: dict[tuple[str, ...], dict[str, set[str]]] = {}
    ranks: dict[tuple[str, ...], int] = {}
    for row in rows:
        cluster, name, kernel, state, loaded, config, module, _, last = cells(row)
        key: tuple[str, ...] = (module if config == "-" else config, kernel, state, loaded, last)
        if _rank(row) == _UNSELECTED:
            key = ("-", "-", state, loaded, "no selector selects these nodes; `--wide` says which is nearest")
        names.setdefault(key, {}).setdefault(cluster, set()).add(printing.printable(name))
        ranks[key] = _rank(row) if width else 0
    fleet = dict.fromkeys(row.cluster for row in rows)
    has_names = [*fleet] != [""]
    head = ("CONFIG", "KERNEL", "STATE", "LOADED", "NODES", *["CLUSTERS"] * has_names, "IMAGE OR REASON")
    lines: list[tuple[str, ...]] = [head]
    below = list[list[str]]()
    for key, clusters in sorted(names.items(), key=lambda entry: (ranks[entry[0]], entry[0])):
        *facts, last = key
        number = f"{sum(map(len, clusters.values())):,}"
        lines.append((*facts, number, *[where(list(clusters), fleet)] * has_names, last))
        below.append([f"{name}/{node}" if name else node for name in clusters for node in sorted(clusters[name])])
    return lines, below


_UNSELECTED = 2
"""The rank of a node that nothing selects: the last."""


def _rank(row: Row) -> int:
    """Return 0 for a problem, 1 for a node that gets its driver, 2 for one that nothing selects."""
    return 0 if row.is_problem else _UNSELECTED if row.state == "not selected" else 1
