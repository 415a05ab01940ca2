"""What a command works on: the resources that its PATH holds, and the same list after the function has run."""

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


def read(asked: argparse.Namespace) -> ResourceList:
    """The resources of the PATH; a kustomization there is built first, and its warnings are findings."""
    if name := manifests.kustomization_in(asked.path):
        files.check_file(name, asked.root)
        built = kustomize.build(asked.path, _flags(asked.kustomize))
        try:
            resources = manifests.read_stream(built.stream)
        except KrmfnError as failure:
            raise KrmfnError(f"what kustomize build {asked.path} printed: {failure}") from failure
        resources.report(info(f"kustomize: {line}", rule="KRM106") for line in built.words.splitlines())
        return resources
    return manifests.read(asked.path, read_stdin() if asked.path == "-" else None, asked.root)


def _flags(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as failure:
        raise KrmfnError(f"--kustomize {text!r} cannot be divided into words: {failure}") from failure


def apply(program: Program, asked: argparse.Namespace, resources: ResourceList) -> None:
    """Run the function on the list, with its functionConfig and the options of the command line.

    Argo CD's namespace is for resources that get none otherwise: what stands in Git wins over it. A list of nothing
    but functionConfigs can be checked: each in a run of its own.
    """
    given = {name: getattr(asked, name.replace("-", "_")) for name in program.options}
    given["fallback-namespace"] = os.environ.get("ARGOCD_APP_NAMESPACE") or None
    _check_namespace("--namespace", given.get("namespace"))
    _check_namespace("ARGOCD_APP_NAMESPACE", given["fallback-namespace"])
    resources.options = {name: value for name, value in given.items() if value} | {"command": asked.command}
    found = _function_configs(program, asked, resources)
    alone = asked.command == "check" and not asked.function_config and len(found) == len(resources.items)
    if len(found) > 1 and not alone:
        names = ", ".join(f"{item.ref} ({item.place.path})" if item.place else str(item.ref) for item in found)
        where = asked.function_config or asked.path
        raise KrmfnError(f"{where} holds {len(found)} functionConfigs: {names}; say which with --function-config FILE")
    with redirect_stdout(sys.stderr):
        for item in found:
            resources.config_item, resources.function_config = item, item.manifest
            program.function(resources)
        if not found:
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
    """The items that would reach a cluster: not what is read only, nor kpt's and kustomize's own, nor local-config."""
    return [item for item in resources.items if not _stays_here(item, program)]


def _stays_here(item: Item, program: Program) -> bool:
    about = (item.ref.group, item.kind)
    return about in program.inputs or about in LOCAL_KINDS or item.annotations.get(kustomize.LOCAL) == "true"


def _function_configs(program: Program, asked: argparse.Namespace, resources: ResourceList) -> list[Item]:
    """The functionConfig: from --function-config, else from among the resources; there may be several, or none."""
    if asked.function_config:
        found = manifests.read(asked.function_config, root=asked.root).items
        if not found:
            raise KrmfnError(f"{asked.function_config} holds no resource; --function-config wants a file with one")
        return found
    group, kind = program.config
    return resources.select(kind, group) if kind else []


def kinds(program: Program, resources: ResourceList) -> dict[str, int]:
    """Count the resources that the function looks into, by their kinds; a functionConfig goes by that name."""
    names = [*sorted(program.owners), program.config, *sorted(program.kinds)]
    found = Counter((item.group, item.kind) for item in resources.items)
    numbers: dict[str, int] = {}
    for about in names:
        name = "functionConfig" if about == program.config else about[1]
        numbers[name] = numbers.get(name, 0) + found[about]
    if resources.function_config and "functionConfig" in numbers:
        numbers["functionConfig"] += 1
    return numbers
