"""The clusters that other machines have judged, read from what `nodes` and `check` print with --format json.

The files together are the fleet. A file that was cut off, that another program wrote or that a later krmfn prints in
another way is refused, and so is one that leaves nodes or findings out.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping

from krmfn import Field, KrmfnError, Place, Ref, Result, schema
from krmfn.printing import counted
from krmfn.resource import is_index
from krmfn.results import UNLISTED
from krmfn.typed import Any

from ..finding import facts_of, in_order
from ..fleet import table, wording
from ..fleet.images import Image, Need
from ..formats.findings import FORMAT as CHECK
from ..formats.unjudged import Gap
from ..rendering import kinds
from . import states
from .parts import FORMAT as NODES
from .parts import SEVERITIES, Clash, Kernel, NodeGroup, Outcome, Part, Usage, merge_groups, unknown_part

_Judged = tuple[list[Result], list[Gap]]
_SCHEMAS = {NODES: "outputs/nodes-v1", CHECK: "outputs/check-v1"}
_ABSENT = "none of the given files was printed by `krmfn {} --format json` for it"
_AGAIN = "print the file again with this krmfn"


def read(files: Iterable[tuple[str, str]], judged: Collection[str] = ()) -> list[Part]:
    """Return the clusters that some files are about, in the files' order; each file is its name and its text.

    `judged` are the names of clusters that this run judges itself: no file tells that these are not judged.
    Raises KrmfnError for a file that was not printed by `nodes` or `check`, or not whole, and for a cluster that two
    files are about.
    """
    known: dict[str, dict[str, tuple[str, Any]]] = {}
    for file, text in files:
        document = _document(file, text)
        form = document["format"]
        for name, value in _parts(file, document) if form == NODES else _findings(file, document):
            by_form = known.setdefault(name, {})
            if form in by_form:
                raise KrmfnError(
                    f"{by_form[form][0]} and {file} are both about the cluster {name}; leave one of them out, "
                    "or give the clusters different names, with --cluster NAME=PATH, where the files are printed"
                )
            by_form[form] = file, value
    parts = [_merge(name, by_form.get(NODES), by_form.get(CHECK)) for name, by_form in known.items()]
    checked = {*judged, *(name for name, by_form in known.items() if CHECK in by_form)}
    return [part._replace(gaps=list(_not_judged(part.gaps, part.name, checked))) for part in parts]


def _merge(name: str, nodes: tuple[str, Part] | None, check: tuple[str, _Judged] | None) -> Part:
    """Return the cluster of this name, given the file about its nodes and the one about its findings."""
    part = nodes[1] if nodes else unknown_part(name, _ABSENT.format("nodes"))
    if check is None:
        return part._replace(unchecked=_ABSENT.format("check"))
    file, (findings, gaps) = check
    if nodes and part.has_errors and not any(finding.severity == "error" for finding in findings):
        raise KrmfnError(
            f"{nodes[0]} says that {name} has errors, but {file} has none for it, so they are not about the same "
            "input; regenerate both"
        )
    return part._replace(findings=in_order(findings), gaps=gaps)


def _document(file: str, text: str) -> dict[str, Any]:
    """Return the document of a file. Raises KrmfnError for one that is not whole, or that something else printed."""
    if not text.strip():
        raise KrmfnError("is empty; the command that should have written it failed", file=file)
    try:
        document: dict[str, Any] = json.loads(text)
    except (ValueError, RecursionError) as failure:
        raise KrmfnError(f"is not JSON, or is incomplete: {failure}", file=file) from failure
    form = document.get("format") if isinstance(document, dict) else None
    if isinstance(form, str) and form in _SCHEMAS:
        for finding in schema.check(document, kinds.schema(_SCHEMAS[form])):
            path = finding.field.path if finding.field else "it"
            raise KrmfnError(f"{path}: {finding.text}; {_AGAIN}", file=file)
        return document
    if isinstance(form, str) and form.startswith("krmfn.dev/"):
        raise KrmfnError(f"has the format {form}, and this krmfn reads {NODES} and {CHECK}", file=file)
    raise KrmfnError("is not the output of `krmfn nodes` or `krmfn check` with --format json", file=file)


def _parts(file: str, document: dict[str, Any]) -> list[tuple[str, Part]]:
    """Return the clusters of a file of `nodes`, by their names."""
    if kernel := document["kernel"]:
        raise KrmfnError(f"shows what would happen with --kernel {kernel}, not the current state", file=file)
    if not document["whole"]:
        problem = "was printed with --label, --node, --owner or --problems, so not all nodes are in it"
        raise KrmfnError(problem, file=file)
    for at, cluster in enumerate(document["clusters"]):
        for reason in _mismatches(f"clusters[{at}]", cluster):
            raise KrmfnError(f"{reason}; {_AGAIN}", file=file)
    return [(cluster["cluster"], _part(file, cluster)) for cluster in document["clusters"]]


def _mismatches(path: str, cluster: dict[str, Any]) -> Iterator[str]:
    """Yield a sentence for each field of a cluster that fits the schema, but not the fields beside it."""
    for at, conflict in enumerate(cluster["conflicts"]):
        severity, sides = conflict["severity"], conflict["sides"]
        if severity not in SEVERITIES:
            yield f"{path}.conflicts[{at}].severity: is {severity!r}; must be one of {', '.join(SEVERITIES)}"
        for position, label in enumerate(conflict["labels"]):
            if (number := len(label["values"])) != len(sides):
                field = f"{path}.conflicts[{at}].labels[{position}].values"
                yield f"{field}: has {counted(number, 'entry')}, but the conflict has {counted(len(sides), 'side')}"
    for at, module in enumerate(cluster["modules"]):
        mappings = module["mappings"]
        for position, kernel in enumerate(module["kernels"]):
            if kernel["mapping"] not in (None, *range(len(mappings))):
                field = f"{path}.modules[{at}].kernels[{position}].mapping"
                yield f"{field}: is {kernel['mapping']}, but the Module has {counted(len(mappings), 'mapping')}"


def _part(file: str, cluster: dict[str, Any]) -> Part:
    """Return a cluster of a file of `nodes`."""
    modules, images = [], []
    for module in cluster["modules"]:
        rows = module["kernels"]  # an empty text is none
        kernels = tuple(Kernel(k["kernel"] or None, k["nodes"], k["mapping"], k["failure"] or None) for k in rows)
        modules.append(Usage(_ref(module["module"]), module["madeFrom"], tuple(module["mappings"]), kernels))
    for image in cluster["images"]:
        needs = tuple(Need(_ref(need), need["for"]) for need in image["neededBy"])
        waiting = image.get("waiting", 0)
        images.append(Image(image["image"], image["nodes"], image["madeInCluster"], needs, waiting))
    positions = {module.ref: at for at, module in enumerate(modules)}
    return Part(
        cluster["cluster"],
        modules,
        merge_groups(_groups(file, cluster["rows"], positions)),
        cluster["hasNodes"],
        cluster["unknownBecause"] or "",
        list(map(_clash, cluster["conflicts"])),
        cluster["hiddenConflicts"],
        images,
        cluster["imagesUnknownBecause"] or "",
        list(map(_ref, cluster["configsWithoutModule"])),
        has_errors=cluster["hasErrors"],
    )


def _clash(conflict: dict[str, Any]) -> Clash:
    """Return a conflict of a file of `nodes`."""
    sides = [{"claimant": side["claimant"], "place": _place(side["location"])} for side in conflict["sides"]]
    return {**conflict, "sides": sides}


def _place(location: str) -> Place | None:
    """Return the place that a file of `nodes` has as one text: the path, and the line where it is known."""
    path, _, line = location.rpartition(":")
    if path and is_index(line):
        return Place(path, line=int(line))
    return Place(location) if location else None


def _groups(file: str, rows: Iterable[dict[str, Any]], positions: Mapping[Ref, int]) -> Iterator[NodeGroup]:
    """Yield the nodes of a cluster, each with what it gets; `positions` are those of the cluster's Modules."""
    nodes: dict[tuple[str | None, str], tuple[str, list[Outcome]]] = {}
    for row in rows:
        node, state, key = row["node"], row["state"], (row["cluster"], row["node"])
        _, outcomes = nodes.get(key, ("", []))
        nodes[key] = row["kernel"] or "", outcomes
        if state not in table.STYLES:
            raise KrmfnError(f"the state {state!r} of node {node} is not one that this krmfn knows", file=file)
        if row["module"]:
            module = _ref(row["module"])
            if module not in positions:
                raise KrmfnError(f"{module} of node {node} is not among the Modules of the cluster", file=file)
            reason, doubt = row["reason"] or "", row.get("doubt") or ""
            text = wording.image_or_reason(reason, row["image"] or "", row["inTreeModulesToRemove"], doubt)
            state = states.of_row(state, row["loaded"], reason, doubt)
            outcomes.append(Outcome(positions[module], state, row["mappingText"] or "", text))
    for (_, node), (kernel, outcomes) in nodes.items():
        yield NodeGroup((node,), kernel, tuple(outcomes))


def _ref(ref: dict[str, str]) -> Ref:
    return Ref(ref["apiVersion"], ref["kind"], ref["namespace"], ref["name"])


def _findings(file: str, document: dict[str, Any]) -> Iterator[tuple[str, _Judged]]:
    """Yield the findings of each cluster in a file of `check`, and what was not judged, with the clusters' names.

    Those about no cluster are the first one's; in a file without clusters they have the file's name.
    """
    if document["summary"]["baseline"]:
        raise KrmfnError("was printed with --baseline, which leaves findings out; print it without", file=file)
    if document["summary"]["hidden"]:
        raise KrmfnError("was printed with --select or --min-severity; print it without", file=file)
    by_cluster: dict[str, list[Result]] = {name: [] for name in document["clusters"] or [file]}
    for finding in document["findings"]:
        for name in finding["clusters"] or [next(iter(by_cluster))]:
            by_cluster.setdefault(name, []).append(_result(finding))
    gaps = list(map(_gap, document["notJudged"]))
    for at, (name, findings) in enumerate(by_cluster.items()):
        of_others = [] if at else list(_of_no_cluster(gaps, by_cluster))
        yield name, (findings, [*_of_cluster(gaps, name), *of_others])


def _gap(entry: dict[str, Any]) -> Gap:
    names = tuple(entry["names"])
    number = 0 if names else entry["number"]
    return Gap(entry["kind"], entry["subject"], entry["reason"], names, number, entry["meant"])


def _of_cluster(gaps: Iterable[Gap], cluster: str) -> Iterator[Gap]:
    """Yield what was not judged of one of a file's clusters; a gap without names is about each of them."""
    for gap in gaps:
        if gap.is_of_clusters and cluster in (gap.names or (cluster,)):
            yield gap._replace(names=(cluster,))


def _of_no_cluster(gaps: Iterable[Gap], clusters: Collection[str]) -> Iterator[Gap]:
    """Yield what was not judged beside a file's clusters: files and the like, and clusters that it does not list."""
    for gap in gaps:
        names = tuple(name for name in gap.names if not (gap.is_of_clusters and name in clusters))
        if names or not gap.is_of_clusters:
            yield gap._replace(names=names)


def _not_judged(gaps: Iterable[Gap], name: str, checked: Collection[str]) -> Iterator[Gap]:
    """Yield a cluster's gaps without the other clusters that a file of `check` is about: these have their own."""
    for gap in gaps:
        names = tuple(other for other in gap.names if other == name or other not in checked)
        if names or not gap.is_of_clusters:
            yield gap._replace(names=names) if gap.is_of_clusters else gap


def _result(finding: dict[str, Any]) -> Result:
    ref = finding["ref"] and _ref(finding["ref"])
    field = Field(finding["path"]) if finding["path"] else None
    line, column = finding["line"] or 0, finding["column"] or 0
    place = Place(finding["file"], 0, line, column) if finding["file"] else None
    tags = ((UNLISTED, str(finding[UNLISTED])),) if finding[UNLISTED] else ()
    facts = facts_of(finding["facts"])
    about = (ref, field, place, tags, facts, (), finding["remedy"] or "")
    return Result(finding["message"], finding["severity"], finding["rule"] or "", *about)
