"""The configuration of the repository of some PATHs, and configuration files that nobody reads.

These have another name, or are below the root of their repository.
"""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress

from krmfn import KrmfnError, Place, Result, error, warning

from ..paths import files
from ..paths.contents import has_resource
from ..paths.roots import parents, root_of
from .config import NAME, Config, read

HIDDEN = ".krmfn.yml"
"""A name that nobody gives to anything else, and that is not read."""
_ALIKE = re.compile(r"\.?krmfn\.(?:ya?ml|json)", re.IGNORECASE)
_NODES = re.compile(rb"kind['\"]?\s*:\s*['\"]?Node(?:Inventory|List)?\b")


def configuration(paths: Mapping[str, str], root: str | None, is_old: bool) -> tuple[Config, list[Result]]:
    """Return the configuration of the repository that holds some PATHs (each with its real path), and what is wrong.

    Raises KrmfnError where the paths are in several repositories with a configuration file.
    """
    folders: dict[str, bool] = {}
    below_tops: dict[str, None] = {}
    for path, real in paths.items():
        if path != "-":
            folder = real if os.path.isdir(real) else os.path.realpath(os.path.dirname(path) or ".")
            top = root_of(folder, root) or folder
            folders.setdefault(top, os.path.isabs(path))
            below = [above for above in parents(folder) if len(above) > len(top)]
            candidates = (os.path.join(above, name) for above in below for name in (NAME, HIDDEN))
            for file in filter(os.path.lexists, candidates):
                below_tops[file if os.path.isabs(path) else os.path.relpath(file)] = None
    pairs = [read(folder, absolute) for folder, absolute in folders.items()]
    pairs = [pair for pair in pairs if pair[0].name] or [(Config(), [])]
    if len(pairs) > 1:
        names = " and ".join(settings.name for settings, _ in pairs)
        raise KrmfnError(f"{names} both define clusters; pass the PATHs of one repository at a time")
    [(settings, findings)] = pairs
    wrong = [] if is_old else [finding for pair in folders.items() for finding in misnamed(*pair)]
    return settings, [*findings, *wrong, *map(misplaced, below_tops)]


def misnamed(folder: str, absolute: bool = False) -> Iterator[Result]:
    """Yield an error for each file in the root of a repository that is meant as its configuration file and is not read.

    A name without the dot may also be that of a file with resources. The inventories that it lists are warnings.
    """
    names: list[str] = []
    with suppress(OSError):  # whoever reads the PATH says so
        names = sorted(os.listdir(folder))
    for name in filter(_ALIKE.fullmatch, names):
        path = os.path.join(folder, name)
        if name == NAME or not os.path.isfile(path):
            continue
        file = path if absolute else os.path.relpath(path)
        if name.startswith(".") or not _holds_resource(path, file):
            message = f"the configuration file is {NAME}, so nobody reads this one"
            yield error(message, rule="KRM521", place=Place(file), remedy=f"rename it to {NAME}")
            if not os.path.lexists(os.path.join(folder, NAME)):
                yield from _idle_inventories(folder, name, absolute)


def _idle_inventories(folder: str, name: str, absolute: bool) -> Iterator[Result]:
    """Yield a warning for each inventory that only a configuration file which nobody reads gives to a cluster."""
    settings, _ = read(folder, absolute, name)
    for cluster, members in settings.clusters.items():
        for member in members:
            if not member.problem and _has_nodes(member.real):
                message = (
                    f"{member.text} is no inventory of the cluster {cluster}, since nobody reads this file: its nodes "
                    "count nowhere"
                )
                yield warning(message, rule="KRM524", place=member.place, remedy=f"rename the file to {NAME}")


def _has_nodes(path: str) -> bool:
    """Return True for a file, or a folder with a file, in which the kind of nodes or of an inventory stands."""
    names = [path] if os.path.isfile(path) else [entry.path for entry in os.scandir(path) if entry.is_file()]
    for name in names:
        with suppress(KrmfnError):  # it is reported where files are read
            if _NODES.search(files.read_regular(os.path.realpath(name), name)):
                return True
    return False


def _holds_resource(path: str, name: str) -> bool:
    try:
        return has_resource(files.read_regular(os.path.realpath(path), name))
    except KrmfnError:  # it is reported where files are read
        return True


def misplaced(file: str) -> Result:
    """Return the warning about a configuration file below the root of its repository."""
    message = f"this configuration file is not read: only {NAME} at the root of the repository is"
    return warning(message, rule="KRM521", place=Place(file), remedy="move it there, or pass --root with its folder")
