"""Input of a command: the resources in its PATH, and the same list after the function has run."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import sys
from collections import Counter
from contextlib import redirect_stdout

from ..errors import KrmfnError
from ..item import Item
from ..resourcelist import ResourceList
from ..results import info
from ..runner import read_stdin
from . import files, kustomize, manifests
from .program import Program

_NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
LOCAL_KINDS = frozenset({("kpt.dev", "Kptfile"), ("kustomize.config.k8s.io", "Kustomization")})


def read(args: argparse.Namespace) -> ResourceList:
    """Return the resources of the PATH; a kustomization there is built first, and its warnings are findings."""
    if name := manifests.kustomization_in(args.path):
        files.check_file(name, args.root)
        built = kustomize.build(args.path, _flags(args.kustomize))
        try:
            resources = manifests.read_stream(built.stream)
        except KrmfnError as failure:
            raise KrmfnError(f"what kustomize build {args.path} printed: {failure}") from failure
        resources.report(info(f"kustomize: {line}", rule="KRM106") for line in built.messages.splitlines())
        return resources
    return manifests.read(args.path, read_stdin() if args.path == "-" else None, args.root)


def _flags(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as failure:
        raise KrmfnError(f"--kustomize {text!r} cannot be divided into flags: {failure}") from failure


def apply(program: Program, args: argparse.Namespace, resources: ResourceList) -> None:
    """Run the function on the list, with its functionConfig and the options of the command line.

    Argo CD's namespace is for resources that get none otherwise: what stands in Git wins over it. A list of nothing
    but functionConfigs can be checked: each in a run of its own.
    """
    given = {name: getattr(args, name.replace("-", "_")) for name in program.options}
    given["fallback-namespace"] = os.environ.get("ARGOCD_APP_NAMESPACE") or None
    _check_namespace("--namespace", given.get("namespace"))
    _check_namespace("ARGOCD_APP_NAMESPACE", given["fallback-namespace"])
    resources.options = {name: value for name, value in given.items() if value} | {"command": args.command}
    configs = _function_configs(program, args, resources)
    alone = args.command == "check" and not args.function_config and len(configs) == len(resources.items)
    if len(configs) > 1 and not alone:
        names = ", ".join(f"{item.ref} ({item.place.path})" if item.place else str(item.ref) for item in configs)
        where = args.function_config or args.path
        raise KrmfnError(
            f"{where} holds {len(configs)} functionConfigs: {names}; say which with --function-config FILE"
        )
    with redirect_stdout(sys.stderr):
        for item in configs:
            resources.config_item, resources.function_config = item, item.manifest
            program.function(resources)
        if not configs:
            program.function(resources)
    resources.refuse_changes()


def _check_namespace(where: str, name: str | None) -> None:
    """Raise KrmfnError for a name that no namespace can have: it becomes part of labels and of other names."""
    if name is not None and not _NAMESPACE.fullmatch(name):
        raise KrmfnError(
            f"{where} is {name!r}; a namespace has 1 to 63 lower case letters, digits and dashes, "
            "and neither begins nor ends with a dash"
        )


def deployed(program: Program, resources: ResourceList) -> list[Item]:
    """Return the items that would reach a cluster: no inputs, no Kptfile or Kustomization, no local-config."""
    return [item for item in resources.items if not _stays_here(item, program)]


def _stays_here(item: Item, program: Program) -> bool:
    kind = (item.ref.group, item.kind)
    return kind in program.inputs or kind in LOCAL_KINDS or item.annotations.get(kustomize.LOCAL) == "true"


def _function_configs(program: Program, args: argparse.Namespace, resources: ResourceList) -> list[Item]:
    """Return the functionConfigs: those of --function-config, else those among the resources."""
    if args.function_config:
        configs = manifests.read(args.function_config, root=args.root).items
        if not configs:
            raise KrmfnError(f"{args.function_config} holds no resource; give --function-config a file with one")
        return configs
    group, kind = program.config
    return resources.select(kind, group) if kind else []


def kinds(program: Program, resources: ResourceList) -> dict[str, int]:
    """Count the resources that the function looks into, by their kinds; a functionConfig goes by that name."""
    names = [*sorted(program.owners), program.config, *sorted(program.kinds)]
    counts = Counter((item.group, item.kind) for item in resources.items)
    numbers: dict[str, int] = {}
    for group, kind in names:
        name = "functionConfig" if (group, kind) == program.config else kind
        numbers[name] = numbers.get(name, 0) + counts[group, kind]
    if resources.function_config and "functionConfig" in numbers:
        numbers["functionConfig"] += 1
    return numbers
