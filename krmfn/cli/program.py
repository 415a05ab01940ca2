"""Description of a function for its command line."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from ..plan import Plan
from ..resourcelist import ResourceList
from ..results import Result
from ..runner import Function


class Command(NamedTuple):
    """A subcommand of one function: it works on the list of each PATH after the function has run."""

    help: str
    arguments: Callable[[argparse.ArgumentParser], None]
    """Adds the command's own arguments."""
    run: Callable[[Sequence[ResourceList], argparse.Namespace], tuple[str, Iterable[Result]]]
    """Returns the text to print and findings: an error is exit code 1. Raises KrmfnError when there is no text."""
    examples: tuple[str, ...] = ()
    """Arguments as the command's help shows them."""


class Printed(NamedTuple):
    """A subcommand of one function that reads no resources: it prints what the program carries with it."""

    help: str
    arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], str]
    examples: tuple[str, ...] = ()


class Program(NamedTuple):
    """A function with what its command line needs."""

    name: str
    description: str
    function: Function
    inputs: Collection[tuple[str, str]] = ()
    """(group, kind) of resources that are read and not deployed; a render leaves them out."""
    config: tuple[str, str] = ("", "")
    """(group, kind) of its functionConfig; one among the resources read is taken as such."""
    options: Mapping[str, str] = {}  # read only
    """Settings that become options: name and help."""
    commands: Mapping[str, Command | Printed] = {}
    """Subcommands beside those that every function has, by name."""
    owners: Collection[tuple[str, str]] = ()
    """(group, kind) of the resources that manifests are made from."""
    kinds: Collection[tuple[str, str]] = ()
    """(group, kind) of further resources that the function looks into; `check` counts them with the owners."""
    notes: Callable[[Plan, ResourceList], Iterable[Result]] | None = None
    """The risks of a plan on the cluster, for `diff`; the list is the new one, with its functionConfig."""
