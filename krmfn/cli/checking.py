"""What `check` finds in each PATH, and in all of them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from .. import counts
from ..resourcelist import ResourceList
from ..results import Checked, Result, in_order, warning
from . import inputs
from .program import Program


def checked(program: Program, args: argparse.Namespace) -> Checked:
    """Return what was found in one PATH."""
    resources = inputs.read(args)
    count, kinds = len(resources.items), inputs.kinds(program, resources)
    configs = [(item.ref, item.place) for item in resources.items if (item.ref.group, item.kind) in program.owners]
    resources.report(nothing(program, args, resources, kinds))
    inputs.apply(program, args, resources)
    if resources.function_config:
        kinds["functionConfig"] = kinds.get("functionConfig") or 1
    return Checked(in_order(resources.results), count, configs, kinds, resources.files)


def joined(parts: Sequence[Checked]) -> Checked:
    """Return what was found in all PATHs, in their order."""
    results = [result for part in parts for result in part.results]
    configs = [config for part in parts for config in part.configs]
    names = [name for part in parts for name in part.kinds]
    kinds = {name: sum(part.kinds.get(name, 0) for part in parts) for name in names}
    return Checked(results, sum(part.resources for part in parts), configs, kinds, sum(part.files for part in parts))


def nothing(program: Program, args: argparse.Namespace, resources: ResourceList, kinds: dict[str, int]) -> list[Result]:
    """Return a warning when the function finds nothing to look into: the PATH may be another one than was meant."""
    if any(kinds.values()) or args.function_config or not program.owners:
        return []
    wanted = list(dict.fromkeys(kind for _, kind in sorted(program.owners)))
    wanted += [*filter(None, [program.config[1]]), *dict.fromkeys(kind for _, kind in sorted(program.kinds))]
    where = counts.counted(len(resources.items), "resource")
    where += f", {counts.counted(resources.files, 'file')}" if resources.files else ""
    message = (
        f"no {', '.join(wanted[:-1])} or {wanted[-1]} is in {args.path} ({where}), so there is nothing to do; "
        "is it the right PATH?"
    )
    return [warning(message, rule="KRM109")]
