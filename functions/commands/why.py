"""The command `why`: why a node has its drivers, or lacks them."""

import argparse
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from krmfn import KrmfnError, ResourceList, Result, warning
from krmfn.printing import did_you_mean, joined, json_text, printable, some
from krmfn.streams import max_bytes
from krmfn.typed import Any, NamedTuple

from .. import options
from ..chain import answers as chain
from ..chain import worker_log
from ..chain.answers import Fleet
from ..chain.worker_log import Log
from ..cluster import cluster_streams, live_nodes
from ..command import Command, Context
from ..exclusivity.node import Node
from ..finding import without_copies
from ..fleet import dumped_kinds, explanation
from ..fleet.coverage import Group
from ..fleet.explanation import Answer
from ..fleet.live import Live
from ..paths import files, output
from ..report import cluster_view
from ..report.cluster_view import View
from ..run import placed, run_of
from ..settings import ANSWER
from . import clusters, moving

_MOST = 5
"""The lines below a sentence, where nobody asks for the whole chain (--verbose)."""


class Request(NamedTuple):
    """What is asked of `why`."""

    node: str
    paths: tuple[str, ...]
    kubectl: bool
    log: str | None
    format: str


def _arguments(parser: argparse.ArgumentParser) -> None:
    node = parser.add_argument("node", nargs="?", default="", metavar="NODE", help="the name of a node")
    setattr(node, options.OFFERED, (options.ASKED.format("nodes"),))
    options.add_paths(parser, live=True)
    options.add_context(parser)
    help_ = "print a shell script that writes a dump with kubectl, and exit"
    parser.add_argument("--kubectl", action="store_true", help=help_)
    help_ = (
        "the log of the worker pod on the node, or what dmesg prints there (- for stdin): why a module is not loaded"
    )
    parser.add_argument("--log", metavar="FILE", help=help_)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="output format (default: text)")


def _run(context: Context, args: Request) -> int | str:
    if args.kubectl:
        return dumped_kinds.script()
    if not args.node:
        raise KrmfnError("which node? pass its name: krmfn why NODE [PATH ...]")
    log = _log(args.log, context.options.live) if args.log is not None else Log()
    streams = clusters.read(context, args.paths, layout=cluster_streams.asked_of(context, args.paths))
    if streams is None:
        return 2
    dumps = live_nodes.by_cluster(context.options, list(streams.lists))
    unknown, lines = dict[str, list[str]](), list[str]()
    answers = list(_answers(streams.lists, args.node, _Sources(dumps, log), unknown))
    for cluster, reasons in unknown.items():
        context.log.findings([warning(f"what the nodes of {cluster} get is not known: {'; '.join(reasons)}")])
    failed = any(streams.lists[cluster].failed for cluster, _ in answers)
    if args.format == "json":
        lines = [json_text([{"cluster": cluster, **_data(answer)} for cluster, answer in answers], 2)]
    for cluster, answer in answers if args.format == "text" else ():
        head = f"{cluster}: {answer.sentence}" if len(streams.lists) > 1 else answer.sentence
        below = _chain(answer) if context.options.verbose and answer.links else steps(answer)
        lines += [printable(head), *(f"  {printable(step)}" for step in below)]
    output.write_stdout("".join(f"{line}\n" for line in lines))
    return int(failed or not all(answer.holds for _, answer in answers))


class _Sources(NamedTuple):
    """What is known beside Git."""

    dumps: Mapping[str, Live]
    log: Log


def _log(name: str, dumps: Sequence[str]) -> Log:
    """Return the end of a log.

    Raises KrmfnError for one that cannot be read, is empty, or has more bytes than an input may have.
    """
    if name == "-" and any(text.rpartition("=")[2] == "-" for text in dumps):
        raise KrmfnError("--log - and --live -: only one of them can be read from stdin")
    end, number = b"", 0
    with files.open_named(name) as source:
        while part := source.read(worker_log.MOST):
            end, number = (end + part)[-worker_log.MOST :], number + len(part)
            if number > max_bytes():
                raise KrmfnError(
                    f"--log {name}: has more than {max_bytes():,} bytes; pass its end alone, as tail prints it"
                )
    if not (log := worker_log.log_of(end)):
        raise KrmfnError(
            f"--log {name}: is empty; for a pod that crashes again and again, add --previous to kubectl logs"
        )
    return log


def steps(answer: Answer) -> Sequence[str]:
    """Return the lines below a sentence: none where the node has what is planned, by a dump."""
    return () if answer.links and answer.holds and not answer.first else answer.steps[:_MOST]


def _data(answer: Answer) -> dict[str, Any]:
    """Return an answer as JSON data, which has the links as such."""
    return {name: value for name, value in answer._asdict().items() if name != "chain"}


def _chain(answer: Answer) -> Iterator[str]:
    """Yield the command and every link of KMM's chain with its state and evidence."""
    for link in answer.links:
        if link["link"] == answer.headline and link["command"]:
            yield link["command"]
    yield from answer.chain


def _answers(
    lists: Mapping[str, ResourceList], name: str, sources: _Sources, unknown: dict[str, list[str]]
) -> Iterator[tuple[str, Answer]]:
    """Yield each cluster's name with an answer per Module; why other clusters have none goes to `unknown`.

    Raises KrmfnError for a node not found, or not judged.
    """
    names, (dumps, log) = list[str](), sources
    for cluster, resources in lists.items():
        view, dump = cluster_view.join(cluster, resources, has_brought=True), dumps.get(cluster)
        committed = dump.committed[cluster].get(name) if dump else None
        live = dump if dump and dump.nodes else None
        if view.errors:
            unknown[cluster] = _reasons(view, resources)
            if any(node.name == name for node in _local_nodes(view.cluster.fleet.nodes, lists)):
                raise KrmfnError(*unknown[cluster])
            continue
        members = [node.name for group in view.groups for node in _local_nodes(group.nodes, lists)]
        names += members
        for group in view.groups if name in members else ():
            for node in (node for node in _local_nodes(group.nodes, lists) if node.name == name):
                for answer in _of_node(node, group, view, live, log):
                    is_planned = answer.holds and not live
                    yield cluster, _by_inventory(answer, cluster, lists, dumps) if is_planned else answer
        if committed and name not in members:
            message = f"{name} is committed for {cluster}, but not in the dump"
            raise KrmfnError(f"{message}: it has left the cluster, or the dump is not whole")
    if name not in names:
        raise _not_found(lists, name, dumps, names, unknown)


def _local_nodes(nodes: Iterable[Node], names: Collection[str]) -> Iterator[Node]:
    """Yield the nodes of a cluster but for those of its spokes that are among the clusters `names`: these answer."""
    return (node for node in nodes if dict(node.cluster or ()).get("") not in names)


def _of_node(node: Node, group: Group, view: View, live: Live | None, log: Log) -> Iterator[Answer]:
    """Yield the answers about a node: by its dump, else by the log of a worker pod, else what is planned."""
    drivers, known = view.cluster.all_drivers, run_of(view.resources)
    for doubt in known.hub_doubts:
        yield Answer(False, f"{node.name}: {clusters.UNKNOWN_HUB.format(view.name, doubt)}")
    if live:
        fleet = Fleet(view.name, drivers, view.groups, live, live.committed[view.name], log)
        answers: Iterable[Answer] = chain.answers(fleet, node, group.outcomes)
    elif log and group.outcomes:
        answers = chain.by_log(node, drivers, group.outcomes, log)
    else:
        answers = explanation.answers(node, drivers, group.outcomes)
    suffix = "; what a hub brings here is not known: none is among the PATHs"
    is_open = known.lacks_hub and not group.outcomes
    yield from (answer._replace(sentence=answer.sentence + suffix) if is_open else answer for answer in answers)


def _reasons(view: View, resources: ResourceList) -> list[str]:
    """Return why it is not known what the nodes of a cluster get, without what is reported with its list."""
    lines = [*map(_line, without_copies(view.errors, placed(resources)))]
    return lines or [f"what the nodes of {view.name} get is not known because of these errors"]


def _line(finding: Result) -> str:
    """Return a finding as a line of an error, which says by itself that it is one."""
    return (
        str(finding)
        if finding.where
        else f"{finding.subject}{finding.text}" + f" [{finding.rule}]" * bool(finding.rule)
    )


def _not_found(
    lists: Collection[str], name: str, dumps: Collection[str], names: Sequence[str], unknown: Mapping[str, list[str]]
) -> KrmfnError:
    """Return the error about a node that no known cluster has; it may be in one that is not known."""
    if unknown:
        return KrmfnError(*(line for lines in unknown.values() for line in lines))
    if not names and not dumps:
        return KrmfnError(moving.NO_NODES.format(some(lists, len(lists))))
    source = "the dump" if dumps else "the inventories"
    return KrmfnError(joined(f"no node of {source} is called {name}", did_you_mean(name, names)))


def _by_inventory(answer: Answer, cluster: str, names: Collection[str], dumps: Collection[str]) -> Answer:
    """Return an answer that only the inventory gives: where there are dumps of other clusters, it does not hold."""
    option = f"--live {cluster}=DUMP" if len(names) > 1 else "--live DUMP"
    sentence = f"{answer.sentence} by the inventory; the live node was not asked, pass {option}"
    return answer._replace(holds=not dumps or cluster in dumps, sentence=sentence)


_EXAMPLES = (
    "gpu-17 clusters/lab",
    "gpu-17 clusters/lab --live dump.json",
    "gpu-17 clusters/lab --live - --format json",
    "gpu-17 clusters/lab --live dump.json --log worker.log",
)
_EXITS = "exit code: 0 the node has its planned drivers, 1 it lacks one, or none is planned, 2 unknown node, or usage"
COMMAND = Command(_EXAMPLES, _arguments, _run, Request, ANSWER, joins=True, exits=_EXITS)
