"""A check as Prometheus metrics, in the text format that node_exporter's textfile collector reads."""

from collections import Counter
from collections.abc import Iterable, Iterator

from krmfn import Ref, Result
from krmfn.printing import visible

from .checked import Checked
from .rules import Rules

Sample = tuple[dict[str, str], int]


def prometheus(checked: Checked, rules: Rules = None) -> str:
    """Return gauges: whether each config fails, findings by rule and severity, how many resources were checked."""
    counts = Counter[tuple[str, str]]()
    for result in checked.results:
        counts[result.rule, result.severity] += result.unlisted or 1
    findings = [({"rule": rule, "severity": severity}, count) for (rule, severity), count in sorted(counts.items())]
    clusters = checked.clusters.items() if len(checked.clusters) > 1 else ()
    of_clusters = [
        ({"cluster": name, "severity": severity}, sum(one.unlisted or 1 for one in results if one.severity == severity))
        for name, results in clusters
        for severity in ("error", "warning", "info")
    ]
    kinds = [({"kind": kind}, count) for kind, count in checked.kinds.items()]
    gauges = [
        ("config_failed", "1 if an error keeps the config from being rendered, else 0.", _failed(checked)),
        ("findings", "Findings of the last check.", findings),
        *([("cluster_findings", "Findings of each cluster.", of_clusters)] if of_clusters else ()),
        ("resources", "Resources that the last check looked at.", [({}, checked.resources)]),
        ("files", "Files that the last check read.", [({}, checked.files)]),
        ("kinds", "Resources of the kinds that are checked.", kinds),
    ]
    return "".join(line for gauge in gauges for line in _gauge(*gauge))


def _failed(checked: Checked) -> list[Sample]:
    """Return 1 for each config that an error names or stands in, else 0; an error that names no config fails all."""
    errors = [result for result in checked.results if result.severity == "error"]
    named = ((ref, place, Result("", ref=ref, place=place)) for ref, place in checked.configs if errors)
    # as findings name it: the name and the place that a config has in its file
    written = [(ref, place.finder(one) if place and place.finder else one) for ref, place, one in named]
    whose = [{ref for ref, there in written if _concerns(result, ref, there)} for result in errors]
    every = {ref for ref, _ in checked.configs}
    failed = set[Ref]().union(*whose) if all(whose) else every
    refs = sorted(every, key=lambda ref: ref.id)
    return [({"kind": ref.kind, "namespace": ref.namespace, "name": ref.name}, int(ref in failed)) for ref in refs]


def _concerns(result: Result, ref: Ref, there: Result) -> bool:
    if result.unlisted:  # of any config in its file
        return not (result.place and there.place) or result.place.path == there.place.path
    names = {one.id for one in (ref, there.ref) if one}
    if result.ref and result.ref.id in names:
        return True
    return bool(result.place and there.place and result.place[:2] == there.place[:2])


def _gauge(name: str, description: str, samples: Iterable[Sample]) -> Iterator[str]:
    name = f"krmfn_{name}"
    yield f"# HELP {name} {description}\n# TYPE {name} gauge\n"
    values: dict[str, int] = {}
    for labels, value in samples:
        pairs = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
        values[pairs] = max(value, values.get(pairs, 0))  # two that are shown alike, as one: or all are refused
    for pairs, value in values.items():
        yield f"{name}{{{pairs}}} {value}\n" if pairs else f"{name} {value}\n"


def _escaped(text: str) -> str:
    return visible(text, "\n").replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
