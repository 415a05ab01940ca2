"""Counts of a fleet: what the page says first, per cluster and Module, per kernel and mapping, findings by rule."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from krmfn import Result
from krmfn.printing import counted, plural
from krmfn.typed import NamedTuple

from ..fleet.table import ASSUMED, DRIVEN
from ..formats.checked import cluster_suffix
from ..formats.unjudged import failing
from ..formats.verdict import Nodes, Verdict
from ..plan import Comparison
from ..rule import Rule
from . import states
from .parts import SEVERITIES, Kernel, Part

FINDINGS = 200
"""Findings of one rule that are shown."""
COLUMNS, ROWS = 60, 300
"""Of the map of clusters and Modules, as far as it is shown."""


class Line(NamedTuple):
    """A Module with what becomes of it in each cluster."""

    module: str
    config: str
    cells: Mapping[int, Counter[str]]
    """Per cluster (by position) that has it: how many nodes are in each state; empty when it selects none."""

    @property
    def order(self) -> tuple[int, int, str]:
        """The worst first: by nodes without a driver, then by nodes, then by name."""
        numbers = sum(self.cells.values(), Counter[str]())
        return -states.without_driver(numbers), -numbers.total(), self.module


class Heading(NamedTuple):
    """What stands at the head of a row or a column."""

    name: str
    below: str = ""


class Map(NamedTuple):
    """Clusters and Modules: whichever are more go down the page."""

    columns: Sequence[Heading]
    rows: Sequence[tuple[Heading, Sequence[Counter[str] | str | None]]]
    """With a cell per column: numbers, text, or None where the cluster does not have the Module."""
    more_columns: int
    more_rows: int


class Panel(NamedTuple):
    """The kernels of a Module's nodes and its mappings."""

    module: str
    clusters: Sequence[str]
    mappings: Sequence[str]
    kernels: Sequence[Kernel]
    holes: int
    """How many nodes have a kernel without a driver."""


class Chapter(NamedTuple):
    """The findings of one rule and one severity."""

    severity: str
    id: str
    rule: Rule | None
    findings: Sequence[tuple[str, Result]]
    """Each once, with the clusters that have it; "" where there is only one."""
    hidden: int
    """How many further ones are not shown."""


def lines(parts: Sequence[Part]) -> list[Line]:
    """Return every Module of every cluster, the worst first; those of one name are one line."""
    by_name: dict[tuple[str, str], dict[int, Counter[str]]] = {}
    for at, part in enumerate(parts):
        cells = [by_name.setdefault((use.name, use.config), {}).setdefault(at, Counter()) for use in part.modules]
        for group in part.groups:
            for outcome in group.outcomes:
                cells[outcome.module][outcome.state] += len(group.names)
    return sorted((Line(*key, cells) for key, cells in by_name.items()), key=lambda line: line.order)


def map_of(modules: Sequence[Line], parts: Sequence[Part], by_part: Sequence[Counter[str]]) -> Map:
    """Return the map, with the rows and columns that have the most nodes without a driver where not all fit in."""
    order = list(range(len(parts)))
    if len(parts) > COLUMNS:
        order.sort(key=lambda at: (not parts[at].unjudged, -states.without_driver(by_part[at])))
    heads = [Heading(line.module, line.config) for line in modules]
    columns = [Heading(parts[at].name) for at in order]
    cells = [[_cell(line, parts, at) for at in order] for line in modules]
    if len(parts) > max(COLUMNS // 6, len(modules)):
        heads, columns = columns, heads
        cells = [list(column) for column in zip(*cells, strict=True)]
    rows = [(head, cells[at][:COLUMNS]) for at, head in enumerate(heads[:ROWS])]
    return Map(columns[:COLUMNS], rows, max(0, len(columns) - COLUMNS), max(0, len(heads) - ROWS))


def _cell(line: Line, parts: Sequence[Part], at: int) -> Counter[str] | str | None:
    if at not in line.cells:
        return None
    if parts[at].unjudged:
        return "not known"
    return line.cells[at] or "selects no node"


def panels(parts: Iterable[Part]) -> list[Panel]:
    """Return the kernels and mappings of every Module that selects a node, those with holes first.

    Modules of one name and with the same mappings in several clusters are one panel.
    """
    by_module: dict[tuple[str, tuple[str, ...]], tuple[list[str], Counter[Kernel]]] = {}
    for part in parts:
        for module in (module for module in part.modules if module.kernels):
            names, numbers = by_module.setdefault((module.name, module.mappings), ([], Counter()))
            names.append(part.name)
            for kernel in module.kernels:
                numbers[kernel._replace(nodes=0)] += kernel.nodes
    rows = []
    for (name, mappings), (names, numbers) in by_module.items():
        kernels = [kernel._replace(nodes=number) for kernel, number in numbers.items()]
        # those without a driver first, then the most frequent
        kernels.sort(key=lambda kernel: (not _is_hole(kernel), -kernel.nodes, kernel.kernel or ""))
        holes = sum(kernel.nodes for kernel in kernels if _is_hole(kernel))
        rows.append(Panel(name, names, mappings, kernels, holes))
    return sorted(rows, key=lambda panel: (-panel.holes, panel.module))


def _is_hole(kernel: Kernel) -> bool:
    """Return True for a kernel that is known, and for which no mapping has a driver."""
    return kernel.mapping is None and bool(kernel.kernel)


def facts(parts: Sequence[Part], nodes: Nodes, modules: int, images: int) -> list[tuple[str, str]]:
    """Return the numbers that describe the fleet, each with its noun."""
    kernels = {group.kernel for part in parts for group in part.groups if group.kernel}
    counts = {"cluster": len(parts), "node": nodes.known + nodes.unknown}
    counts |= {"kernel": len(kernels), "Module": modules, "image": images}
    rows = [(noun if number == 1 else plural(noun), f"{number:,}") for noun, number in counts.items()]
    unknown = [("not known", f"{nodes.unknown:,}")] if nodes.unknown else []
    return [*rows[:2], *unknown, *rows[2:]]


class Ring(NamedTuple):
    """The picture at the head of the page."""

    number: str
    caption: str
    dashes: str
    """The part of it that is drawn; "" for a grey one: not all is known."""


def ring(parts: Sequence[Part], numbers: Counter[str], verdict: Verdict) -> Ring | None:
    """Return the share of nodes that are planned to get a driver; where a cluster was not evaluated, how many are not.

    None without a node that is selected.
    """
    if verdict.nodes.unknown:
        return Ring(f"{verdict.nodes.unknown:,}", f"of {counted(_all(verdict.nodes), 'node')} not known", "")
    if verdict.unjudged:
        known = counted(len(parts), "cluster")
        return Ring(f"{len(verdict.unjudged):,}", f"of {known} not known", "") if numbers else None
    kept = numbers[ASSUMED] if verdict.headline and verdict.knows_change else 0  # what becomes of these the change says
    shape = states.ring(numbers + Counter({DRIVEN: kept, ASSUMED: -kept}))
    share = "keep a driver or are planned to get one" if kept else "are planned to get a driver"
    return Ring(f"{shape[0]}%", f"of selected nodes {share}", shape[1]) if shape else None


def _all(nodes: Nodes) -> int:
    return nodes.known + nodes.unknown


class Opening(NamedTuple):
    """What the page says first."""

    tone: str
    headline: str
    state: str
    """What stands below the headline, where that is the change; "" for nothing."""


def opening(parts: Sequence[Part], numbers: Counter[str], verdict: Verdict) -> Opening:
    """Return the tone of the page, and its first sentences; "fine" only when every cluster was judged.

    With a change the change is the headline, since what it does to a node that keeps a version is known by it alone.
    """
    has_gaps = any(gap.kind != "areas" for gap in failing(verdict.not_judged))
    if not verdict.headline:
        tone, sentence = _state(parts, numbers, verdict)
        return Opening("open" if has_gaps and tone == "fine" else tone, sentence, "")
    kept = numbers[ASSUMED]  # what becomes of these the change says
    tone, sentence = _state(parts, numbers - Counter({ASSUMED: kept}) + Counter({DRIVEN: kept}), verdict)
    if tone != "fine":
        return Opening(tone, f"{verdict.headline}.", sentence)
    is_fine = verdict.knows_change and not (verdict.warnings or verdict.nodes.lost or has_gaps)
    return Opening("fine" if is_fine else "open", f"{verdict.headline}.", "")


def _state(parts: Sequence[Part], numbers: Counter[str], verdict: Verdict) -> tuple[str, str]:
    """Return the tone and the sentence about the clusters as they will be."""
    without = states.without_driver(numbers)
    selected = numbers.total() - numbers[states.UNSELECTED]
    unjudged = len(verdict.unjudged)
    if without:
        get = "get" if without > 1 else "gets"
        return "bad", f"{without:,} of {counted(selected, 'selected node')} {get} no driver."
    if verdict.errors:
        return "bad", f"{counted(verdict.errors, 'error')}: this cannot be merged as it is."
    if unjudged:
        subject = f"In {unjudged:,} of {len(parts):,} clusters it" if len(parts) > 1 else "It"
        return "open", f"{subject} is not known which node gets what."
    if differing := numbers[states.DIFFERS]:
        verb = "run" if differing > 1 else "runs"
        return "open", f"{differing:,} of {counted(selected, 'selected node')} {verb} a driver that is not as planned."
    if unsure := numbers[states.UNSURE]:
        nodes = f"{unsure:,} of {counted(selected, 'selected node')}"
        return "open", f"Whether {nodes} {'runs' if unsure == 1 else 'run'} what Git plans now is not known."
    if unknown := sum(numbers[key] for key in (*states.UNKNOWN, ASSUMED)):
        nodes = f"{unknown:,} of {counted(selected, 'selected node')}"
        return "open", f"Whether {nodes} {'gets its' if unknown == 1 else 'get their'} driver is not known."
    if not selected:
        return "open", "No selector selects a node."
    return "fine", f"Every selected node gets its driver: {counted(selected, 'node')}."


def chapters(rules: Mapping[str, Rule], findings: Iterable[Result]) -> list[Chapter]:
    """Return all findings of a run by severity and rule."""
    by_rule: dict[tuple[int, str], list[Result]] = {}
    for finding in findings:
        by_rule.setdefault((SEVERITIES.index(finding.severity), finding.rule), []).append(finding)
    rows = []
    for severity, rule in sorted(by_rule):
        results = by_rule[severity, rule]
        visible = [(cluster_suffix(finding)[2:-1], finding) for finding in results[:FINDINGS]]
        hidden = sum(finding.unlisted or 1 for finding in results[FINDINGS:])
        rows.append(Chapter(SEVERITIES[severity], rule, rules.get(rule), visible, hidden))
    return rows


def change_errors(comparisons: Sequence[Comparison]) -> list[Result]:
    """Return the errors about a change: what the cluster would refuse, and what is not known."""
    return [note for comparison in comparisons for note in comparison.notes if note.severity == "error"]
