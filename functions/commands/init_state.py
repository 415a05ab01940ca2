"""What `init` says of the repository that it writes into: what is not committed, and what nothing deploys yet."""

import os
from collections.abc import Sequence
from pathlib import Path

from krmfn import KrmfnError
from krmfn.printing import some

from ..command import Context
from ..importing.beginnings import Cluster
from ..mending import guards
from ..paths import git
from . import init_layout
from .init_layout import Layout

NO_REPOSITORY = ("", "this is no Git repository: run `git init` here, and `krmfn init` again for the files of CI")


def lines(top: str, dumps: Sequence[str]) -> list[str]:
    """Return what to say of a Git work tree before anything is written into it.

    Only plumbing runs that calls no filter: a file with another time is compared by its content here.
    """
    untracked = _names(top, "ls-files", "--others", "--exclude-standard", "-z")
    inside = {os.path.relpath(os.path.realpath(dump), top) for dump in dumps}
    loose = [name for name in untracked if name in inside]
    touched = _names(top, "diff-files", "--name-only", "-z")
    staged = _names(top, "diff-index", "--cached", "--name-only", "-z", "HEAD")
    changed = [name for name in touched if guards.is_changed(str(Path(top, name)))]
    dirty = sorted({*untracked, *changed, *staged} - {*loose})
    notes = []
    if dirty:
        notes += ["", f"not committed before this: {some(dirty, len(dirty))}; commit what is written now by itself"]
    for name in loose:
        notes += ["", f"{name} is a dump of a cluster: keep it out of Git, since it may hold secrets"]
    return notes


def _names(top: str, *arguments: str) -> list[str]:
    """Return the files that a command of Git lists; none where it fails, as in a repository without a commit."""
    try:
        done = git.call(top, *arguments)
    except KrmfnError:
        return []
    return [name for name in os.fsdecode(done.stdout).split("\0") if name] if not done.returncode else []


def undeployed(context: Context, top: str, layout: Layout, parts: Sequence[Cluster]) -> list[str]:
    """Return which new clusters no object of the engine deploys yet, with what deploys a neighbour."""
    new = [part.name for part in parts if part.name not in layout.roots]
    if not new:
        return []
    known = init_layout.layout_of(top, context.log).roots
    spots = init_layout.spots_of(layout, top, new)
    deployed = {folder for folders in known.values() for folder in folders}
    neighbour = layout.streams.engines.deployments[0].declaration.source
    return [
        f"nothing deploys {spots[name].folder} yet: give it an object such as {neighbour.ref.kind} "
        f"{neighbour.ref.name} ({neighbour.place.path}:{neighbour.place.line})"
        for name in new
        if spots[name].folder not in deployed
    ]
