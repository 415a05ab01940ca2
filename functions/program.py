"""Description of a function for its command line."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from krmfn.item import Item
from krmfn.resourcelist import ResourceList
from krmfn.results import Result
from krmfn.rule import Rule
from krmfn.runner import Function

from .plan import Effect, Plan


class Command(NamedTuple):
    """A subcommand of one function: it works on the list of each cluster, as a rule after the function has run."""

    help: str
    arguments: Callable[[argparse.ArgumentParser], None]
    """Adds the command's own arguments."""
    args: type[Any]
    """The type of the arguments, a NamedTuple: a field for each by its name; `paths` are the PATHs."""
    run: Callable[[Mapping[str, ResourceList], Any], tuple[str, Iterable[Result]]]
    """Takes the list of each cluster by its name and a value of `args`; returns the text to print and findings.

    An error among them is exit code 1. Raises KrmfnError when there is no text.
    """
    examples: tuple[str, ...] = ()
    """Arguments as the command's help shows them."""
    is_judged: bool = False
    """Whether the lists come with every finding that `check` has about them."""
    compares: bool = False
    """Whether it has an option `--base REF`: `base` of its arguments, and `compared` has what changes since then."""
    runs_function: bool = True
    """False: the lists are as they were read."""
    reads_paths: Callable[[Any], bool] = lambda args: True
    """Whether it reads the working folder when no PATH is named; given its arguments."""
    paints: bool = False
    """Whether its text may have colours: `painted` of its arguments says whether it has."""
    joins: bool = False
    """Whether it has the option --against: `ResourceList.theirs` of each list has what stands elsewhere."""


class Printed(NamedTuple):
    """A subcommand of one function that reads no resources: it prints what the program carries with it."""

    help: str
    arguments: Callable[[argparse.ArgumentParser], None]
    args: type[Any]
    run: Callable[[Any], str]
    examples: tuple[str, ...] = ()


Against = Callable[
    [Sequence[ResourceList], ResourceList, Sequence[ResourceList]], tuple[ResourceList, Iterable[Result]]
]
"""Takes the lists of a cluster's roots, what the cluster gets from elsewhere (--against), and the lists in whose place
the first are put; returns what of the second is not made here, and what is wrong between the two."""


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
    """Settings that become options: name and help. The function finds those that were given in `Options.own`."""
    commands: Mapping[str, Command | Printed | Callable[[], Command | Printed]] = {}
    """Subcommands beside those that every function has, by name; or a function that returns one, which is called when
    the command is, so that no other command waits for its imports."""
    owners: Collection[tuple[str, str]] = ()
    """(group, kind) of the resources that manifests are made from."""
    kinds: Collection[tuple[str, str]] = ()
    """(group, kind) of further resources that the function looks into; `check` counts them with the owners."""
    notes: Callable[[Plan, ResourceList], Iterable[Result]] | None = None
    """The risks of a plan on the cluster, for `diff`; the list is the new one, with its functionConfig."""
    effects: Callable[[ResourceList, ResourceList], tuple[Sequence[Effect], Sequence[Result]]] | None = None
    """Returns what a change from one list to another does on nodes, and why that is not known."""
    final: Callable[[ResourceList, Sequence[Item]], Iterable[Result]] | None = None
    """Judges what reaches one cluster as a whole: the list after the function has run, and its items that are deployed.

    For `check`, `render`, `diff` and commands that are judged."""
    stages: tuple[str, ...] = ()
    """The stages in which objects are applied, first to last: the folders of `render --split stages`."""
    stage_of: Callable[[Item], str] | None = None
    """Returns the stage of an object, one of `stages`."""
    between: Callable[[Sequence[ResourceList]], Iterable[Result]] | None = None
    """What is wrong between the roots of one cluster, each of which was judged by itself; a list for each."""
    against: Against | None = None
    """Without it no command has the option --against."""
    rules: Callable[[], Sequence[Rule]] | None = None
    """Returns every rule that its findings name, for reports that explain them."""
    entry_points: Mapping[str, str] = {}  # read only
    """The KRM functions that a kustomization may call by name: `{"krmfn": "package.module:function"}`."""
