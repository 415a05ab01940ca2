"""The files below a folder: regular ones that lie, links resolved, inside the root of what may be read.

A link to a folder is followed inside the root; nothing is read twice.
"""

import os
from collections.abc import Callable, Collection, Iterator

from krmfn.errors import KrmfnError
from krmfn.typed import NamedTuple

from . import files, roots


class File(NamedTuple):
    """A file of a folder: its name there, and its path with all links resolved."""

    name: str
    real: str
    text: bytes | None = None
    """What it holds, where somebody has looked already and it is small: then it is read once."""


def below(
    folder: str, wanted: Callable[[str], bool], given: str | None = None, meant: Collection[str] = ()
) -> tuple[list[File], list[str]]:
    """Return the files below a folder whose last names are wanted, sorted, and a sentence for each that is refused.

    Names that begin with a dot are passed over. A file with two names is read by its own, else by the first; but one
    of those that are `meant` says what the file is, as a link as well.
    """
    here = os.path.realpath(folder)
    root = roots.root_of(folder, given) or here
    if not roots.inside(here, root):
        raise KrmfnError(
            f"{folder} is outside of {root}, and nothing outside of it is read; pass another folder with --root DIR"
        )
    readable: list[tuple[bool, File]] = []
    problems: list[str] = []
    for file, entry in _walk(File(folder, here), root, problems):
        if not wanted(entry.name):
            continue
        try:
            readable.append((entry.is_symlink(), File(file.name, files.readable(file.name, file.real, root))))
        except KrmfnError as failure:
            problems.append(str(failure))
    order = sorted(readable, reverse=True)
    # A link's target may be in the folder, too: it goes by its own name then.
    names = {(file.name if os.path.basename(file.name) in meant else file.real): file for _, file in order}
    return sorted(names.values()), problems


def _walk(top: File, root: str, problems: list[str]) -> Iterator[tuple[File, os.DirEntry[str]]]:
    """Yield what is in a folder and in the folders below, each folder once; linked ones after all others."""
    folders, links = [top], list[File]()
    seen: set[str] = set()
    while folders or links:
        here = folders.pop() if folders else links.pop(0)
        if here.real in seen:
            continue
        seen.add(here.real)
        try:
            entries = sorted(os.scandir(here.name), key=lambda entry: entry.name)
        except OSError as failure:
            raise KrmfnError(f"{here.name}: {failure.strerror}") from failure
        for entry in entries:
            name = entry.name if here.name == "." else os.path.join(here.name, entry.name)
            # Only a link is resolved: in a deep folder that takes a look at every folder above.
            real = os.path.realpath(name) if entry.is_symlink() else os.path.join(here.real, entry.name)
            if entry.name.startswith("."):
                continue
            if not _is_folder(entry):
                yield File(name, real), entry
            elif not entry.is_symlink():
                folders.append(File(name, real))
            elif refusal := _refused_folder(File(name, real), here.real, root):
                problems.append(refusal)
            else:
                links.append(File(name, real))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # links in a circle: the error is reported when it is read
        return False


def _refused_folder(link: File, parent: str, root: str) -> str:
    if not roots.inside(link.real, root):
        return roots.leads_out(link.name, root)
    if roots.inside(parent, link.real):
        return f"{link.name}: is a link to a folder that contains it; remove the link"
    return ""
