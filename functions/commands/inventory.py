"""The command `inventory`: what `kubectl get nodes` prints becomes a NodeInventory to keep in Git."""

from __future__ import annotations

import argparse
import gc
import re
import sys
from collections.abc import Callable, Iterator
from datetime import date
from typing import NamedTuple

from krmfn import KrmfnError, Manifest
from krmfn.log import Log
from krmfn.runner import max_bytes
from krmfn.yamltext import emit

from ..cluster import cluster_streams
from ..command import PRINTED, Command, Context
from ..fleet import cluster, collecting, grouping, json_stream, readings
from ..kmm.module import is_set_by_kmm
from ..kmm.names import label_key_errors, subdomain_errors
from ..options import RunOptions
from ..paths import files, manifests, output
from ..settings import LOOK

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_BOM = b"\xef\xbb\xbf"


class Inventory(NamedTuple):
    """The arguments of `inventory`."""

    file: str
    for_: tuple[str, ...]
    labels: str | None
    all_labels: bool
    name: str
    valid_until: str | None


def _arguments(parser: argparse.ArgumentParser) -> None:
    help_ = "the output of kubectl: a List, one Node, or several in a row; JSON of any size (default: -, stdin)"
    parser.add_argument("file", nargs="?", default="-", metavar="FILE", help=help_)
    help_ = "keep the labels that selectors in these PATHs use (directories, files, kustomizations)"
    parser.add_argument("--for", dest="for_", nargs="+", default=[], metavar="PATH", help=help_)
    parser.add_argument("--labels", metavar="KEY,...", help="keep these labels as well")
    parser.add_argument("--all-labels", action="store_true", help="keep all labels except those that KMM sets")
    parser.add_argument("--name", default="nodes", metavar="NAME", help="the inventory's name (default: nodes)")
    help_ = "the last day on which the inventory is valid; `check` fails after it"
    parser.add_argument("--valid-until", metavar="YYYY-MM-DD", help=help_)


def _run(_: Context, args: Inventory) -> int:
    output.write_stdout(_inventory(args))
    return 0


def _inventory(args: Inventory) -> str:
    keys = _keys(args)
    if errors := subdomain_errors(args.name):
        raise KrmfnError(f"--name {args.name!r} is not a valid name: {errors[0]}")
    if args.valid_until is not None and not _is_day(args.valid_until):
        raise KrmfnError(f"--valid-until {args.valid_until!r} is not a date; write it as 2026-12-31")
    gc.disable()  # nothing here is cyclic, and looking for what is takes a third of the time
    read = _manifests(args.file)
    try:  # the nodes are in no variable: they take as much memory as their text, which comes next
        made = grouping.manifest(collecting.collect(read, keys), args.name, keys, args.valid_until or "")
    except KrmfnError as failure:
        raise KrmfnError(*(f"{_named(args.file)}: {line}" for line in failure.args)) from failure
    return emit.dump(made)


def _is_day(text: str) -> bool:
    """Return True for a day that there is, written as 2026-12-31."""
    try:
        return bool(_DATE.fullmatch(text) and date.fromisoformat(text))
    except ValueError:
        return False


def _named(file: str) -> str:
    return "stdin" if file == "-" else file


def _keys(args: Inventory) -> set[str] | None:
    """Return the labels to keep; None for all. Raises KrmfnError when the arguments say nothing about them."""
    if args.all_labels:
        if args.labels is not None or args.for_:
            raise KrmfnError("--all-labels keeps all labels; remove --for and --labels")
        return None
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
    for path in args.for_:
        context = Context(RunOptions(), LOOK._replace(keeps_left_overs=False), Log())
        streams = cluster_streams.rendered(context, [path])
        if not streams.is_whole:
            cluster_streams.log(context, streams)
            raise KrmfnError(f"{path} cannot be read, so it is not known which labels are needed")
        used = {key for resources in streams.lists.values() for key in cluster.label_keys(resources)}
        if not used:
            raise KrmfnError(f"nothing in {path} selects nodes by a label; is it the right PATH?")
        keys |= used
    return keys


def _manifests(file: str) -> Iterator[Manifest]:
    """Yield what a dump holds: of JSON one object at a time, of YAML after it is read as a whole."""
    with files.open_named(file) as source:
        if source.peek(1).removeprefix(_BOM).lstrip()[:1] in (b"{", b"["):
            yield from json_stream.objects(_with_progress(source.read))
            return
        text = source.read(max_bytes() + 1)
    if len(text) > max_bytes():
        raise KrmfnError(f"is YAML of more than {max_bytes():,} bytes; pass JSON instead, which may have any size")
    if not text.strip():
        raise KrmfnError("is empty; expected the output of `kubectl get nodes -o json`")
    resources = manifests.read_stream(text)
    if findings := [*resources.results, *readings.check(*resources.items)]:
        raise KrmfnError(*map(str, findings))
    yield from (item.manifest for item in resources.items)


def _with_progress(read: Callable[[int], bytes]) -> Callable[[int], bytes]:
    """Return `read` with a line on the terminal that says how much was read; nothing is said to a file."""
    if sys.stderr is None or not sys.stderr.isatty():
        return read
    done = 0

    def counting(size: int) -> bytes:
        nonlocal done
        data = read(size)
        done += len(data)
        sys.stderr.write(f"\r{done >> 20:,} MiB read" if data else "\r\x1b[K")
        sys.stderr.flush()
        return data

    return counting


_EXAMPLES = (
    "nodes.json --for clusters/lab > clusters/lab/nodes.yaml",
    "- --all-labels < nodes.json",
    "nodes.json --labels topology.kubernetes.io/zone,example.com/gpu --valid-until 2026-12-31",
)
COMMAND = Command(
    *(_EXAMPLES, _arguments, Inventory, _run),
    exits=PRINTED,
)
