"""What a command line must know of the function it is for."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from ..plan import Plan
from ..resourcelist import ResourceList
from ..results import Result
from ..runner import Function


class Command(NamedTuple):
    """A subcommand of one function: it looks at the list of each PATH after the function has run."""

    about: str
    arguments: Callable[[argparse.ArgumentParser], None]
    """Adds the command's own arguments."""
    run: Callable[[Sequence[ResourceList], argparse.Namespace], tuple[str, Iterable[Result]]]
    """The text to print, and what it found: an error is exit code 1. Raises KrmfnError when there is no text."""
    examples: tuple[str, ...] = ()
    """Arguments as the command's help shows them."""


class Printed(NamedTuple):
    """A subcommand of one function that reads no resources: it prints what the program carries with it."""

    about: str
    arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], str]
    examples: tuple[str, ...] = ()


class Program(NamedTuple):
    """A function and what its command line must know of it."""

    name: str
    about: str
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
    """What a plan risks on the cluster, for `diff`; the list is the new one, with its functionConfig."""
