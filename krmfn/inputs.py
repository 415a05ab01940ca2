"""What a command works on: the resources that its PATH holds, and the same list after the function has run."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from contextlib import redirect_stdout

from . import kustomize, manifests
from .errors import KrmfnError
from .item import Item
from .program import Program
from .resourcelist import ResourceList
from .results import info
from .runner import read_stdin

LOCAL_KINDS = frozenset({("kpt.dev", "Kptfile"), ("kustomize.config.k8s.io", "Kustomization")})


def read(asked: argparse.Namespace) -> ResourceList:
    """The resources of the PATH; a kustomization there is built first, and its warnings are findings."""
    if manifests.kustomization_in(asked.path):
        built = kustomize.build(asked.path, shlex.split(asked.kustomize))
        resources = manifests.read_stream(built.stream)
        resources.report(info(f"kustomize: {line}", rule="KRM106") for line in built.words.splitlines())
        return resources
    return manifests.read(asked.path, read_stdin() if asked.path == "-" else None)


def apply(program: Program, asked: argparse.Namespace, resources: ResourceList) -> None:
    """Run the function on the list, with its functionConfig and the options of the command line.

    Argo CD's namespace is for resources that get none otherwise: what stands in Git wins over it.
    """
    resources.function_config = _function_config(program, asked, resources)
    given = {name: getattr(asked, name.replace("-", "_")) for name in program.options}
    given["fallback-namespace"] = os.environ.get("ARGOCD_APP_NAMESPACE")
    resources.options = {name: value for name, value in given.items() if value} | {"command": asked.command}
    with redirect_stdout(sys.stderr):
        program.function(resources)
    resources.refuse_changes()


def deployed(program: Program, resources: ResourceList) -> list[Item]:
    """The items that would reach a cluster: not what is read only, nor kpt's and kustomize's own, nor local-config."""
    return [item for item in resources.items if not _stays_here(item, program)]


def _stays_here(item: Item, program: Program) -> bool:
    about = (item.ref.group, item.kind)
    return about in program.inputs or about in LOCAL_KINDS or item.annotations.get(kustomize.LOCAL) == "true"


def _function_config(program: Program, asked: argparse.Namespace, resources: ResourceList) -> dict[str, object] | None:
    """The functionConfig: from --function-config, else the one among the resources, else none."""
    if asked.function_config:
        found = manifests.read(asked.function_config).items
    else:
        group, kind = program.config
        found = resources.select(kind, group) if kind else []
    where = asked.function_config or asked.path
    if asked.function_config and not found:
        raise KrmfnError(f"{where} holds no resource; --function-config wants a file with one")
    if len(found) > 1:
        names = ", ".join(f"{item.ref} ({item.place.path})" if item.place else str(item.ref) for item in found)
        raise KrmfnError(f"{where} holds {len(found)} functionConfigs: {names}; say which with --function-config FILE")
    return found[0].manifest if found else resources.function_config
