"""The command `resolve`: which image a kernel gets from which mapping of each Module, as KMM decides it on a node."""

import argparse
from collections.abc import Mapping, Sequence

from krmfn import KrmfnError, ResourceList, Result
from krmfn.printing import json_text, printable, some
from krmfn.typed import Any, NamedTuple

from .. import options
from ..command import UNMAPPED, Command, Context
from ..kmm.module import MODULE_GROUP, MODULE_KIND, Module
from ..kmm.resolution import resolver
from ..settings import LOOK
from . import clusters


class Request(NamedTuple):
    """What is asked of `resolve`."""

    paths: tuple[str, ...]
    kernel: tuple[str, ...]
    allow_unmapped: bool
    format: str


def _arguments(parser: argparse.ArgumentParser) -> None:
    options.add_paths(parser)
    help_ = "a node's kernel version, as `uname -r` prints it; may be repeated"
    parser.add_argument("--kernel", action="append", required=True, metavar="VERSION", help=help_)
    parser.add_argument("--allow-unmapped", action="store_true", help="succeed even if a kernel has no mapping")
    text = "output format (default: text)"
    parser.add_argument("--format", choices=("text", "json"), default="text", help=text)


def _run(context: Context, args: Request) -> int:
    streams = clusters.read(context, args.paths, goes_on=True)
    return 2 if streams is None else clusters.print_text(context, streams, *_table(streams.lists, args))


def _table(lists: Mapping[str, ResourceList], args: Request) -> tuple[str, list[Result]]:
    """Return a line per Module and kernel, or JSON, and an error for each Module without a mapping for a kernel."""
    rows, findings = list[dict[str, Any]](), list[Result]()
    for resources in lists.values():
        modules = [Module(item.manifest) for item in resources.where(kind=MODULE_KIND, group=MODULE_GROUP)]
        for module in modules:
            module_rows = rows_of(module, args.kernel)
            unmapped = [row["kernel"] for row in module_rows if row["mapping"] is None]
            if unmapped and not args.allow_unmapped:
                kernels = some(unmapped, len(unmapped), 3)
                findings.append(clusters.mapping_error(module.ref, kernels, "nodes with such a kernel get no driver"))
            rows += module_rows
    if not rows and not any(resources.failed for resources in lists.values()):
        raise KrmfnError(f"no Module in {some(lists, len(lists))}, neither hand-written nor generated")
    lines = [json_text(rows, 2)] if args.format == "json" else [printable(_line(row)) for row in rows]
    return "".join(f"{line}\n" for line in lines), findings


def rows_of(module: Module, kernels: Sequence[str]) -> list[dict[str, Any]]:
    """Return what each kernel gets from a Module, as `--format json` prints it; `mapping` is null when none matches.

    Raises KrmfnError, naming the Module and the kernel, where KMM would fail on the node.
    """
    resolve = resolver(module)
    rows: list[dict[str, Any]] = []
    for kernel in kernels:
        try:
            resolution = resolve(kernel)
        except KrmfnError as failure:
            raise KrmfnError(f"{module.ref}, kernel {kernel}: {failure}") from failure
        key = {"namespace": module.ref.namespace, "name": module.ref.name}
        row = {"module": key, "kernel": kernel, "mapping": resolution.mapping, "image": resolution.image}
        rows.append(row | {"inTreeModulesToRemove": list(resolution.in_tree)})
    return rows


def _line(row: dict[str, Any]) -> str:
    module = "/".join(part for part in row["module"].values() if part)
    if row["mapping"] is None:
        return f"{module}  {row['kernel']}  no mapping: KMM loads nothing on such nodes"
    in_tree = row["inTreeModulesToRemove"]
    removal = f", after removing {', '.join(in_tree)}" if in_tree else ""
    return f"{module}  {row['kernel']}  kernelMappings[{row['mapping']}]  {row['image']}{removal}"


_EXAMPLES = ("clusters/lab --kernel 5.14.0-427.13.1.el9_4.x86_64", '- --kernel "$(uname -r)" < modules.yaml')
COMMAND = Command(_EXAMPLES, _arguments, _run, Request, LOOK, exits=UNMAPPED)
