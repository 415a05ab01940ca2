"""The command `inventory`: what `kubectl get nodes` prints becomes a NodeInventory to keep in Git."""

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from datetime import date

from krmfn import KrmfnError, Manifest, Result, error, warning
from krmfn.printing import counted, some
from krmfn.streams import Log
from krmfn.typed import NamedTuple
from krmfn.yamltext import emit

from ..cluster import cluster_streams, contexts, dumps, telling
from ..command import Command, Context
from ..fleet import cluster, collecting, rules
from ..fleet.dumped_kinds import KINDS
from ..fleet.inventory import EVERY, check_freshness
from ..kmm.module import is_set_by_kmm
from ..kmm.names import label_key_errors, subdomain_errors
from ..options import RunOptions
from ..paths import files, kubectl, output, roots
from ..rendering import function_config
from ..rendering.kinds import CONFIG
from ..settings import LOOK, READ
from ..sources import Sources


class Request(NamedTuple):
    """What is asked of `inventory`."""

    file: str
    context: str | None
    for_: tuple[str, ...]
    labels: str | None
    all_labels: bool
    name: str
    valid_until: str | None
    taken_on: str | None
    output: str | None
    check: tuple[str, ...]
    max_age: int | None


def _arguments(parser: argparse.ArgumentParser) -> None:
    help_ = "Nodes as kubectl prints them, or a dump (see `why --kubectl`); JSON of any size (default: -, stdin)"
    parser.add_argument("file", nargs="?", default="-", metavar="FILE", help=help_)
    help_ = "ask the cluster of this kubectl context for its nodes, instead of reading FILE"
    parser.add_argument("--context", metavar="NAME", help=help_)
    help_ = "keep the labels that selectors in these PATHs use (directories, files, kustomizations)"
    parser.add_argument("--for", dest="for_", nargs="+", default=[], metavar="PATH", help=help_)
    parser.add_argument("--labels", metavar="KEY,...", help="keep these labels as well")
    parser.add_argument("--all-labels", action="store_true", help="keep all labels except those that KMM sets")
    parser.add_argument("--name", default="nodes", metavar="NAME", help="the inventory's name (default: nodes)")
    help_ = "the last day on which the inventory is valid; `check` fails after it"
    parser.add_argument("--valid-until", metavar="YYYY-MM-DD", help=help_)
    help_ = "the day on which the nodes were listed, for --check --max-age"
    parser.add_argument("--taken-on", metavar="YYYY-MM-DD", help=help_)
    help_ = "write to FILE, all or nothing (default: stdout); it may be in a PATH of --for"
    parser.add_argument("-o", "--output", metavar="FILE", help=help_)
    help_ = "instead check that the inventories of these PATHs hold the labels that selectors there use"
    parser.add_argument("--check", nargs="+", default=[], metavar="PATH", help=help_)
    help_ = "with --check: fail for an inventory that is older than DAYS, or has no date"
    parser.add_argument("--max-age", type=int, metavar="DAYS", help=help_)


def _run(context: Context, args: Request) -> int:
    if args.check:
        return _check(args)
    if args.max_age is not None:
        raise KrmfnError("--max-age is about --check PATH; add it")
    keys, is_sure = _keys(context, args)
    manifest = _inventory(context, args, keys)
    text = emit.dump(manifest)
    if args.output is None:
        output.write_stdout(text)
    else:
        files.write_text(args.output, text)
        labels = [key for key in manifest["spec"]["labelKeys"] if key != EVERY]
        held = f"{counted(len(labels), 'label')} ({some(labels, len(labels))})" if labels else "all labels"
        context.log.say(f"wrote {args.output}: {counted(manifest['spec']['nodeCount'], 'node')}, {held}")
    return 0 if is_sure else 1


def _check(args: Request) -> int:
    """Print what is wrong with the inventories of some PATHs: labels that are missing, and that they are old."""
    findings: list[Result] = []
    for path in args.check:
        used, is_right = _used_labels(path, None)
        streams = cluster_streams.render(Context(RunOptions(), READ, Log(), Sources()), [path])
        if not (streams.is_whole and is_right):
            raise KrmfnError(f"{path} has errors, so it is not known which labels are needed; see `krmfn check`")
        for name, resources in streams.lists.items():
            items = resources.where(kind="NodeInventory", group=CONFIG[0])
            labels = used.get(name, set())  # a list that belongs to no cluster needs none
            if not items and labels:
                findings.append(error(f"{name} has no inventory, and selects nodes by {', '.join(sorted(labels))}"))
            for item in items:
                findings += map(item.located, check_freshness(item.manifest, labels, args.max_age, rules.today()))
    output.write_stdout("".join(f"{finding}\n" for finding in findings))
    return int(bool(findings))


def _inventory(context: Context, args: Request, keys: set[str] | None) -> Manifest:
    """Return the NodeInventory. Raises KrmfnError for an input without nodes, a bad name and a bad date."""
    if errors := subdomain_errors(args.name):
        raise KrmfnError(f"--name {args.name!r} is not a valid name: {errors[0]}")
    for option, day in (("--valid-until", args.valid_until), ("--taken-on", args.taken_on)):
        if day is not None and not _is_day(day):
            raise KrmfnError(f"{option} {day!r} is not a date; write it as 2026-12-31")
    uids: set[str] = set()
    nodes = collecting.noting_uids(_objects(context, args), uids)
    try:  # the collected nodes are in no variable: they take as much memory as their text, which comes next
        entries = [collecting.collect(nodes, keys)]
        head = {"clusterUID": "".join(uids), "validUntil": args.valid_until, "takenOn": args.taken_on}
        return collecting.manifest(entries.pop(), args.name, keys, head)
    except KrmfnError as failure:
        source = f"--context {args.context}" if args.context else "stdin" if args.file == "-" else args.file
        raise KrmfnError(*(f"{source}: {line}" for line in failure.lines(source))) from failure


def _objects(context: Context, args: Request) -> Iterator[Manifest]:
    """Yield the objects of FILE, or the nodes of the cluster of --context and the Namespace with its uid."""
    if args.context is None:
        yield from dumps.objects_of(args.file, _with_progress)
        return
    if args.file != "-":
        raise KrmfnError(f"pass {args.file} or --context, not both")
    gaps: dict[str, str] = {}
    program = kubectl.find(args.context, kubectl.bounds_of(args.for_ or ["."], None))
    yield from contexts.objects(program, KINDS[:2], gaps, set())
    for name, reason in gaps.items():
        context.log.findings([warning(f"not known of {args.context}: {name} ({reason})")])


def _is_day(text: str) -> bool:
    """Return True for a date that exists, written as 2026-12-31."""
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _keys(context: Context, args: Request) -> tuple[set[str] | None, bool]:
    """Return the labels to keep, None for all, and whether these are surely all that are needed.

    Raises KrmfnError when the arguments name none.
    """
    if args.all_labels:
        if args.labels is not None or args.for_:
            raise KrmfnError("--all-labels keeps all labels; remove --for and --labels")
        return None, True
    if args.labels is None and not args.for_:
        raise KrmfnError(
            "choose the labels to keep: --for PATH (those that selectors in PATH use), --labels KEY,... or --all-labels"
        )
    keys = set(args.labels.split(",")) if args.labels is not None else set()
    for key in sorted(keys):
        if errors := label_key_errors(key):
            raise KrmfnError(f"--labels: {key!r} is not a valid label key: {errors[0]}")
        if is_set_by_kmm(key):
            raise KrmfnError(f"--labels: KMM sets and removes {key} by itself, so an inventory does not hold it")
    is_sure = True
    for path in args.for_:
        used, is_right = _used_labels(path, args.output)
        if not any(used.values()) and is_right:
            raise KrmfnError(f"nothing in {path} selects nodes by a label; is it the right PATH?")
        if not is_right:
            file = "what is written" if args.output is None else args.output
            hint = f"correct them, then make the inventory again, since {file} may lack labels"
            context.log.say(f"{path} has errors, so it is not known which labels are needed: {hint}")
        is_sure &= is_right
        keys |= set().union(*used.values())
    return keys, is_sure


def _used_labels(path: str, inventory: str | None) -> tuple[dict[str, set[str]], bool]:
    """Return the labels that selectors of each cluster of a PATH use, and whether nothing is wrong there.

    Inventories there are not read, since they are made anew; `inventory`, the file of one, need not exist yet. Raises
    KrmfnError for a PATH that cannot be read.
    """
    # as they would be rendered: generated objects have selectors of their own
    intent = LOOK._replace(keeps_left_overs=False, shows_errors=True, reads_nodes=False)
    real = os.path.realpath(path)
    # the folder that patterns of --exclude are relative to
    root = roots.root_of(real if os.path.isdir(real) else os.path.dirname(real)) or real  # noqa: PTH112, PTH120
    exclude = (f"/{os.path.relpath(os.path.realpath(inventory), root)}",) if inventory else ()
    context = Context(RunOptions(exclude=exclude), intent, Log(), Sources())
    streams = cluster_streams.render(context, [path])
    findings = [finding for finding in streams.findings if finding.rule != "KRM522" or not inventory]
    if not streams._replace(findings=findings).is_whole:
        telling.log(context, streams)
        raise KrmfnError(f"{path} cannot be read, so it is not known which labels are needed")
    is_right = not any(resources.failed for resources in streams.lists.values())
    if not is_right:
        telling.log(context, streams)
    lists = streams.lists.items()
    return {name: cluster.label_keys(part, function_config.read(part)[0].selectors) for name, part in lists}, is_right


def _with_progress(read: Callable[[int], bytes]) -> Callable[[int], bytes]:
    """Return `read`, which then shows on stderr how much was read, if that is a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        return read
    total = 0

    def read_and_count(size: int) -> bytes:
        nonlocal total
        data = read(size)
        total += len(data)
        sys.stderr.write(f"\r{total >> 20:,} MiB read" if data else "\r\x1b[K")
        sys.stderr.flush()
        return data

    return read_and_count


_EXAMPLES = (
    "nodes.json --for clusters/lab -o clusters/lab/nodes.yaml",
    "--check clusters --max-age 30",
    "- --all-labels < nodes.json",
    "nodes.json --labels topology.kubernetes.io/zone,example.com/gpu --valid-until 2026-12-31",
)
_EXITS = "exit code: 0 printed, 1 labels may be missing (errors in --for), or --check has findings, 2 not printed"
COMMAND = Command(_EXAMPLES, _arguments, _run, Request, exits=_EXITS)
