"""Findings for readers: text for people, JSON for programs, and the table of all formats of `check`."""

from collections.abc import Callable, Collection, Iterable, Sequence

from krmfn.printing import SHOWN, counted, json_text, listed, printable
from krmfn.results import UNLISTED, Result, reference
from krmfn.typed import Any, NamedTuple

from .. import terminal
from ..terminal import Paint, extent, plain
from . import unjudged
from .checked import Checked, cluster_suffix, names_of
from .prometheus import prometheus
from .rules import Rules
from .servers import github, gitlab, junit, sarif

_EXPLAINED = 3
"""How many rules the last line of the text names."""


Source = Callable[[str, int], str]
"""Returns a line of a file by its number from 1; "" where it cannot be read."""


class Layout(NamedTuple):
    """What the text has beside a line per finding and the one that counts them."""

    paint: Paint = plain
    source: Source = lambda *_: ""
    """The lines that are shown below findings, with a caret."""
    head: str = ""
    """What stands before the counts."""
    has_help: bool = True
    """Whether a finding's remedy stands below it."""


def text(checked: Checked, rules: Rules = None, layout: Layout = Layout()) -> str:  # noqa: B008
    """Return a line per finding, one with what is not judged, one that counts and, with rules, one that explains."""
    lines = [line for result in checked.results for line in _lines(result, layout)]
    gaps = printable(unjudged.line(checked.not_judged))
    is_meant = not unjudged.failing(checked.not_judged)  # then it is no line of its own
    lines += [gaps] if gaps and not is_meant else []
    lines.append(f"{layout.head}{summary_line(checked, layout.paint)}{f'; {gaps}' if gaps and is_meant else ''}")
    ids = list(dict.fromkeys(result.rule for result in checked.results if result.rule))
    if rules and ids:
        lines.append(f"more about these: krmfn explain {' '.join(ids[:_EXPLAINED])}")
    if rules and any(map(_has_more_nodes, checked.results)):
        lines.append("all nodes by name: krmfn nodes --wide")
    return "".join(f"{line}\n" for line in lines)


def _has_more_nodes(result: Result) -> bool:
    """Return True for a finding about more nodes than a message names."""
    count = dict(result.facts).get("nodeCount", 0)
    return isinstance(count, int) and count > SHOWN


def _lines(result: Result, layout: Layout) -> list[str]:
    """Return the lines of a finding: itself, the line of its file, and what to do about it."""
    help_ = terminal.help_lines(result, layout.paint) if layout.has_help else []
    return [*_excerpt(result, layout.paint, layout.source), *help_]


def _excerpt(result: Result, paint: Paint, source: Source) -> list[str]:
    """Return the line of a finding and, where its file can be read, the line of the file with a caret below."""
    head = f"{terminal.finding(result, paint)}{cluster_suffix(result)}"
    place = result.place
    line = source(place.path, place.line) if place and place.path and place.line else ""
    if not place or not line.strip():
        return [head]
    number = f"{place.line:,}"
    caret = [f"{' ' * len(number)} | {' ' * (place.column - 1)}^"] if 0 < place.column <= len(line) else []
    return [head, f"{number} | {printable(line)}", *caret]


def summary_line(checked: Checked, paint: Paint = plain) -> str:
    """Return `2 errors, 1 info: 2 DeviceConfigs in 14 resources, 3 files`: the findings, and what was read."""
    counts = summary(checked.results)
    parts = [paint(counted(number, severity), severity) for severity, number in counts.items() if number]
    is_hiding = any(checked.hidden.values())
    if parts and not (counts["error"] or counts["warning"] or is_hiding):
        parts.insert(0, paint("no errors or warnings", "clean"))
    kinds, inputs = listed(checked.kinds), extent(checked.resources, checked.files)
    tail = f"; not shown: {listed(checked.hidden)}" if is_hiding else ""
    fleet = f": {counted(len(checked.clusters), 'cluster')}" if len(checked.clusters) > 1 else ""
    tail += f"; {counted(checked.turned_off, 'finding')} turned off" if checked.turned_off else ""
    none = "no findings to show" if is_hiding else paint("no findings", "clean")
    scope = f"{fleet + ',' if fleet else ':'} {kinds}" if kinds else fleet
    return f"{', '.join(parts) or none}{scope} in {inputs}{tail}"


def summary(results: Sequence[Result]) -> dict[str, int]:
    """Return how many findings of each severity: {"error": ..., "warning": ..., "info": ...}."""
    names = ("error", "warning", "info")
    return {name: sum(result.unlisted or 1 for result in results if result.severity == name) for name in names}


def fails(results: Iterable[Result], words: Collection[str]) -> bool:
    """Return True when one of the findings makes a command fail, given the words of its `--fail-on`."""
    severities = failing(words)
    return any(result.severity in severities for result in results)


def failing(words: Collection[str]) -> tuple[str, ...]:
    """Return the severities of findings that make a command fail, given the words of its `--fail-on`."""
    return ("error", "warning") if "warning" in words else ("error",)


FORMAT = "krmfn.dev/check/v1"
"""The format of the JSON."""


def as_json(checked: Checked, rules: Rules = None) -> str:
    """Return `{format: ..., clusters: [...], findings: [...], summary: {...}}`; what does not apply is null."""
    names = list(checked.clusters)
    pairs = ((result, names_of(result) or (names if result.unlisted else [])) for result in checked.results)
    document = {
        "format": FORMAT,
        "clusters": names,
        "findings": [finding(result) | {"clusters": clusters} for result, clusters in pairs],
        "notJudged": unjudged.as_data(checked.not_judged),
        "summary": {
            **summary(checked.results),
            "resources": checked.resources,
            "files": checked.files,
            "excluded": checked.excluded,
            "foreign": checked.foreign,
            "baseline": checked.baseline,
            "hidden": sum(checked.hidden.values()),
            "turnedOff": checked.turned_off,
            "kinds": dict(checked.kinds),
        },
    }
    return json_text(document, 2) + "\n"


def finding(result: Result) -> dict[str, Any]:
    """Return a finding as JSON data."""
    ref, place, tags = result.ref, result.place, dict(result.tags)
    return {
        "id": result.id,
        "rule": result.rule or None,
        "severity": result.severity,
        "message": result.message,
        "remedy": result.remedy or None,
        "facts": dict(result.facts),
        "ref": reference(ref) if ref else None,
        "path": result.field.path if result.field else None,
        "file": place.path if place else None,
        "line": (place.line or None) if place else None,
        "column": (place.column or None) if place else None,
        "related": [
            {"file": other.place.path, "line": other.place.line or None, "column": other.place.column or None}
            for other in result.related
        ],
        "admission": tags.get("admission"),
        "first": tags.get("first") == "true",
        UNLISTED: result.unlisted or None,
    }


FORMATS: dict[str, Callable[[Checked, Rules], str]] = {
    "text": text,
    "json": as_json,
    "sarif": sarif,
    "junit": junit,
    "github": github,
    "gitlab": gitlab,
    "prometheus": prometheus,
}
"""The formats of `check --format`. A new one is a function and its row here; command and tests read the table."""
WITHOUT_COUNT = ("sarif", "junit", "github", "gitlab")
"""The formats that have no place for how many findings are not shown, so that a finding says it."""
