"""A finished check, which every format of `check` prints, and what a baseline file names of it."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence

from krmfn import KrmfnError, Ref, Result
from krmfn.printing import json_text, printable
from krmfn.typed import NamedTuple

from .unjudged import Gap


class Checked(NamedTuple):
    """A finished check: what every report is made from."""

    results: Sequence[Result]
    resources: int = 0
    """How many resources were looked at."""
    configs: Sequence[tuple[Ref, Result]] = ()
    """The resources among them that manifests are made from: each with a finding without words at its place."""
    kinds: Mapping[str, int] = {}  # read only
    """How many of each kind that the function looks into, by the names that reports show."""
    files: int = 0
    """How many files were read, each once; 0 for a stream."""
    excluded: int = 0
    """How many files were left out by `exclude`, or hold resources in Helm charts: nothing is said about them."""
    foreign: int = 0
    """How many files hold nothing of krmfn's, nor of KMM's, in a repository that was asked about as a whole."""
    clusters: Mapping[str, Sequence[Result]] = {}  # read only
    """The findings of each cluster by its name."""
    baseline: int = 0
    """How many findings a baseline has left out."""
    hidden: Mapping[str, int] = {}  # read only
    """How many findings of each severity are not shown, since nobody asked for them; they still count."""
    turned_off: int = 0
    """How many findings are not among the results, since the input itself turns them off."""
    failing: Collection[str] = ("error",)
    """The severities that make the command fail."""
    not_judged: Sequence[Gap] = ()
    """What nobody has looked at."""
    rules_url: str = ""
    """Where the pages about rules are, for readers that link them; "" where nobody has said so."""


CLUSTERS = "clusters"
"""The tag of a finding with the clusters that have it, in words; none where there is only one cluster."""

NAMES = "names"
"""The tag with their names, a line each."""


def tag_cluster(name: str, results: Iterable[Result]) -> list[Result]:
    """Return the findings with a tag that names their cluster."""
    return [finding._replace(tags=(*finding.tags, (NAMES, name))) for finding in results]


def names_of(result: Result) -> list[str]:
    """Return the clusters that have a finding; none where it is about no cluster."""
    names = dict(result.tags).get(NAMES)
    return names.split("\n") if names else []


def cluster_suffix(result: Result) -> str:
    """Return the clusters that have a finding, as its line ends with them: ` (dev, stage)`; "" for none."""
    names = dict(result.tags).get(CLUSTERS)
    return f" ({printable(names)})" if names else ""


class Baseline(NamedTuple):
    """The findings that a baseline file names."""

    ids: frozenset[str] = frozenset()
    older: frozenset[tuple[str, str, str]] = frozenset()
    """Rule, resource and field path of the entries without an id, as they were written before there were ids."""


def parse_baseline(text: str, name: str) -> Baseline:
    """Return the findings of a baseline file; `name` is for the message. Raises KrmfnError for any other text."""
    try:
        entries = json.loads(text)["findings"]
        older = [(entry["rule"], entry["resource"], entry["path"]) for entry in entries if "id" not in entry]
        return Baseline(frozenset(entry["id"] for entry in entries if "id" in entry), frozenset(older))
    except (ValueError, TypeError, KeyError, RecursionError) as failure:
        raise KrmfnError(f"{name} is not a baseline; write one with --write-baseline") from failure


def dump_baseline(results: Iterable[Result]) -> str:
    """Return the text of the baseline file of these findings."""
    entries = sorted({(*_about(result), result.id) for result in results if not result.unlisted})
    findings = [{"id": id_, "rule": rule, "resource": resource, "path": path} for rule, resource, path, id_ in entries]
    return json_text({"findings": findings}, 2) + "\n"


def new_findings(results: Sequence[Result], baseline: Baseline) -> list[Result]:
    """Return the findings that the baseline does not name, and those that stand for others, which it never names."""
    return [result for result in results if result.unlisted or not _is_named(result, baseline)]


def _is_named(result: Result, baseline: Baseline) -> bool:
    return result.id in baseline.ids or _about(result) in baseline.older


def _about(result: Result) -> tuple[str, str, str]:
    """Return the rule, the resource or file, and the path of the field."""
    resource = f"{result.ref.group}/{result.ref}" if result.ref else result.place.path if result.place else ""
    return (result.rule, resource, result.field.path if result.field else "")
