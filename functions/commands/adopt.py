"""The command `adopt`: can Git take over from an operator, and by which steps."""

import argparse
import json
import shlex
from collections.abc import Iterator, Sequence

from krmfn import KrmfnError, ResourceList
from krmfn.printing import counted, json_text, printable
from krmfn.resource import ref
from krmfn.typed import Any, NamedTuple

from .. import options
from ..adoption import dump as dumped
from ..adoption import nodes, owners, verdict
from ..adoption.dump import Dump
from ..adoption.facts import Compare, Rendered
from ..adoption.steps import lines
from ..adoption.verdict import Adoption
from ..cluster import cluster_streams, dumps, live_claims, live_nodes
from ..cluster.deployed import Cluster, Clusters
from ..cluster.reached import replaced
from ..cluster_dump import cleaned
from ..command import Command, Context
from ..differences import ABSENT
from ..fleet.live import Live
from ..formats import columns
from ..kmm.module import MODULE_KINDS
from ..paths import manifests, output
from ..rendering.kinds import CONFIG
from ..run import run_of
from ..settings import ANSWER
from . import adopt_dump, clusters


class Request(NamedTuple):
    """What is asked of `adopt`."""

    paths: tuple[str, ...]
    kubectl: bool
    format: str


def _arguments(parser: argparse.ArgumentParser) -> None:
    options.add_paths(parser, live=True)
    help_ = "print a shell script that writes the dump with kubectl (with managed fields), and exit"
    parser.add_argument("--kubectl", action="store_true", help=help_)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="output format (default: text)")


def _run(context: Context, args: Request) -> int:
    if not (args.kubectl or context.options.live):
        raise KrmfnError("which cluster? pass --live DUMP; `krmfn adopt PATH --kubectl` prints how to write one")
    alone = context._replace(options=context.options.without_live())
    streams = clusters.read(alone, args.paths, layout=cluster_streams.asked_of(context, args.paths))
    if streams is None:
        return 2
    lists = streams.lists
    if args.kubectl:
        output.write_stdout(adopt_dump.script(lists.values()))
        return 0
    adoptions = _adoptions(context, streams, args.paths)
    for adopted in adoptions:
        for note in adopted.notes if args.format == "json" else ():
            context.log.say(f"{adopted.cluster}: {note}")
    if args.format == "json":
        data = [_as_data(adopted) for adopted in adoptions]
        named = [{"cluster": adopted.cluster, **entry} for adopted, entry in zip(adoptions, data, strict=True)]
        text = json_text(data[0] if len(data) == 1 else named, 2) + "\n"
    else:
        text = "\n".join("".join(f"{line}\n" for line in _text(adopted)) for adopted in adoptions)
    output.write_stdout(text)
    failed = any(lists[adopted.cluster].failed for adopted in adoptions)
    return int(failed or any(adopted.reasons for adopted in adoptions))


def conclusions(context: Context, paths: Sequence[str]) -> list[str] | None:
    """Return what is concluded about each cluster that has a dump, without steps; None where Git cannot be read."""
    alone = context._replace(options=context.options.without_live())
    streams = clusters.read(alone, paths, layout=cluster_streams.asked_of(context, paths))
    if streams is None:
        return None
    return [line for adopted in _adoptions(context, streams, paths) for line in _conclusion(adopted)]


def _adoptions(context: Context, streams: Clusters, paths: Sequence[str]) -> list[Adoption]:
    """Return what is concluded about each cluster that has a dump."""
    kept: dict[str, Dump] = {}
    lists = streams.lists

    def read(name: str, source: str) -> Live:
        ids = [item.ref.id for item in adopt_dump.objects(lists[name])]
        kept[name] = dumped.empty(ids)
        return dumps.read_with(source, lambda manifest: dumped.add(kept[name], manifest))

    lives = live_nodes.by_cluster(context.options, [*lists], read)
    clusters_by_name = {cluster.name: cluster for cluster in streams.clusters}
    return [
        _adoption(context, streams, clusters_by_name[name], (lives[name], kept[name]), paths)
        for name in lists
        if name in lives
    ]


def _adoption(
    context: Context, streams: Clusters, cluster: Cluster, known: tuple[Live, Dump], paths: Sequence[str]
) -> Adoption:
    """Return what is concluded about one cluster; `known` is its dump."""
    live, dump = known
    name, lists = cluster.name, streams.lists
    new = lists[name]
    old = _as_it_runs(new, dump)
    live_nodes.replace(context, name, [new], live, {key: [resources] for key, resources in lists.items()})
    quiet = context._replace(log=context.log._replace(quiet=True))
    live_nodes.replace(quiet, name, [old], live, {})
    objects = [item.manifest for item in adopt_dump.objects(new)]
    source = next(text for text in context.options.live if text.partition("=")[0] == name or len(lists) == 1)
    roots = [root.name for root in cluster.roots] if len(lists) > 1 else paths
    cluster_name, sign, _ = source.partition("=")
    names = shlex.join(roots or ["."]), cluster_name if sign else ""
    run, replaced_objects = run_of(new), replaced(cluster, streams.engines.top)
    rendered = Rendered(objects, run.driven, run.kept, *names, replaced_objects, new.failed)
    rivals = [f"{finding.ref}: {finding.message}" for finding in live_claims.check([new], live)]
    return verdict.adoption(name, rendered, dump, nodes.judge(old, new), rivals)


def _as_it_runs(new: ResourceList, dump: Dump) -> ResourceList:
    """Return the Modules of Git as the cluster has them, with Git's settings and nodes."""
    modules = [cleaned(m) for m in dump.objects.values() if (ref(m).group, ref(m).kind) in MODULE_KINDS]
    items = manifests.read_stream(json.dumps({"apiVersion": "v1", "kind": "List", "items": modules}).encode()).items
    settings = [item for item in new.items if (item.group, item.kind) == CONFIG]
    return ResourceList([*items, *settings])


def _as_data(adopted: Adoption) -> dict[str, Any]:
    """Return what is concluded for programs."""
    nodes_of = adopted.nodes
    states = {"kept": nodes_of.kept, "reloaded": nodes_of.reloaded, "lost": nodes_of.lost}
    unknown = {"unknown": nodes_of.unknown} if nodes_of.unknown else {}
    return {
        "objects": [_object(entry) for entry in adopted.facts.objects],
        "nodes": {key: list(names) for key, names in (states | unknown).items()},
        "steps": [{key: value for key, value in step._asdict().items() if value} for step in adopted.steps],
    }


def _object(entry: Compare) -> dict[str, Any]:
    compared = entry.compared
    return {
        "ref": str(entry.ref),
        "owners": owners.as_data(entry.owned),
        "equal": compared.equal,
        "fields": compared.fields,
        "differs": [
            {"field": field.path, "live": _value(field.live), "git": _value(field.git), "sync": field.outcome}
            for field in compared.differs
        ],
    }


def _value(value: Any) -> Any:
    return None if value is ABSENT else value


def _text(adopted: Adoption) -> Iterator[str]:
    """Yield the lines about one cluster."""
    yield from _conclusion(adopted)
    for number, step in enumerate(adopted.steps, 1):
        yield from map(printable, lines(step, number))


def _conclusion(adopted: Adoption) -> Iterator[str]:
    """Yield whether Git can take over in one cluster, and why not."""
    fields, equal = adopted.fields
    owned, states = len(adopted.facts.owned), adopted.nodes
    number = len(adopted.facts.objects)
    head = (
        f"{adopted.cluster}: {counted(number, 'object')}, {equal:,} of {fields:,} fields equal, {owned:,} with an owner"
    )
    yield printable(
        f"{head}; nodes: {len(states.kept):,} kept, {len(states.reloaded):,} reloaded, {len(states.lost):,} lost"
    )
    if adopted.facts.objects:
        rows = [("OBJECT", "EQUAL", "OWNER", "MANAGERS"), *map(_row, adopted.facts.objects)]
        yield from (f"  {line}" for line in columns.lines(rows))
    for entry in adopted.facts.objects:
        for field in entry.compared.differs:
            values = f"{_short(field.live)} there, {_short(field.git)} in Git"
            yield printable(f"  {entry.ref}: {field.path}: {values} ({_OUTCOMES[field.outcome]})")
    yield from (printable(f"note: {note}") for note in adopted.notes)
    yield from (printable(f"not yet: {reason}") for reason in adopted.reasons)
    if not adopted.reasons:
        yield "Git can take over: nothing changes on any node, and nothing is deleted with an owner"


_OUTCOMES = {
    "changes": "a sync sets Git's",
    "stays": "an apply leaves it",
    "goes": "a sync removes it",
    "refused": "nobody can change it",
}


def _row(entry: Compare) -> tuple[str, str, str, str]:
    owned = entry.owned
    names = [owners.describe(owner, entry.ref.namespace) for owner in owned.references]
    names += [f"{owners.describe(top, entry.ref.namespace)} above it" for top, _ in owned.above]
    names += [f"Helm release {owned.release}"] if owned.release else []
    managers = ", ".join(owned.head.managers) if owned.head.has_managers else "not known"
    return (
        *(str(entry.ref), f"{entry.compared.equal:,} of {entry.compared.fields:,}"),
        *(", ".join(names) or "none", managers),
    )


def _short(value: Any) -> str:
    """Return a value in at most 80 characters."""
    text = "nothing" if value is ABSENT else value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


_EXAMPLES = (
    "clusters/lab --live dump.json",
    "clusters/lab --kubectl | sh   # writes dump.json",
    "clusters/lab --live dump.json --format json",
)
_EXITS = (
    "exit code: 0 Git can take over and nothing changes on any node, 1 not yet, 2 the dump cannot be read, or usage"
)
COMMAND = Command(_EXAMPLES, _arguments, _run, Request, ANSWER, exits=_EXITS)
