"""What a check found, as Prometheus reads it. A clean run is a valid document, too."""

from collections import Counter
from collections.abc import Iterable, Iterator

from krmfn import Ref
from krmfn.printing import visible
from krmfn.results import Result

from .checked import Checked
from .rules import Rules

Sample = tuple[dict[str, str], int]
"""The labels of a metric, and its value."""


def prometheus(checked: Checked, rules: Rules = None) -> str:
    """Return gauges, as node_exporter's textfile collector reads them: of failed configs, findings, what was read."""
    counts = Counter[tuple[str, str]]()
    for result in checked.results:
        counts[result.rule, result.severity] += result.unlisted or 1
    findings = [({"rule": rule, "severity": severity}, count) for (rule, severity), count in sorted(counts.items())]
    of_clusters: list[Sample] = []
    for cluster, results in checked.clusters.items() if len(checked.clusters) > 1 else ():
        for severity in ("error", "warning", "info"):
            number = sum(result.unlisted or 1 for result in results if result.severity == severity)
            of_clusters.append(({"cluster": cluster, "severity": severity}, number))
    kinds = [({"kind": kind}, count) for kind, count in checked.kinds.items()]
    gaps = [({"kind": kind}, count) for kind, count in Counter(gap.kind for gap in checked.not_judged).items()]
    gauges = [
        ("config_failed", "1 if an error keeps the config from being rendered, else 0.", _config_samples(checked)),
        ("findings", "Findings of the last check.", findings),
        *([("cluster_findings", "Findings of each cluster.", of_clusters)] if of_clusters else ()),
        ("resources", "Resources that the last check looked at.", [({}, checked.resources)]),
        ("files", "Files that the last check read.", [({}, checked.files)]),
        ("kinds", "Resources of the kinds that are checked.", kinds),
        *([("not_judged", "What the last check has not judged, by its kind.", gaps)] if gaps else ()),
    ]
    return "".join(line for gauge in gauges for line in _gauge(*gauge))


def _config_samples(checked: Checked) -> list[Sample]:
    """Return 1 for each config that an error names or stands in, else 0; an error that names no config fails all."""
    errors = [result for result in checked.results if result.severity == "error"]
    failures = [{ref for ref, source in checked.configs if _concerns(result, ref, source)} for result in errors]
    refs = sorted({ref for ref, _ in checked.configs}, key=lambda ref: ref.id)
    failed = set[Ref]().union(*failures) if all(failures) else set(refs)
    return [({"kind": ref.kind, "namespace": ref.namespace, "name": ref.name}, int(ref in failed)) for ref in refs]


def _concerns(result: Result, ref: Ref, source: Result) -> bool:
    """Return True when a finding is about a config; `source` has the name and place of the config in its file."""
    if result.unlisted:  # it stands for findings about any config in its file
        return not (result.place and source.place) or result.place.path == source.place.path
    if result.ref and any(name and name.id == result.ref.id for name in (ref, source.ref)):
        return True
    places = [result.place, *(other.place for other in result.related)]  # the other config of a conflict, too
    return any(place and source.place and place[:2] == source.place[:2] for place in places)


def _gauge(name: str, description: str, samples: Iterable[Sample]) -> Iterator[str]:
    name = f"krmfn_{name}"
    yield f"# HELP {name} {description}\n# TYPE {name} gauge\n"
    values: dict[str, int] = {}
    for labels, value in samples:
        pairs = ",".join(f'{key}="{_escape(text)}"' for key, text in labels.items())
        values[pairs] = max(value, values.get(pairs, 0))  # Prometheus refuses all when labels are equal
    for pairs, value in values.items():
        yield f"{name}{{{pairs}}} {value}\n" if pairs else f"{name} {value}\n"


def _escape(text: str) -> str:
    return visible(text, "\n").replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
