"""Files that Fleet leaves out of a bundle: hidden ones, and those that a `.fleetignore` in its folder, or below, names.

A line is held against the names of files and folders beside the file and below it, without their folders; `NAME/*` is
for folders alone. What is above the bundle does not count.
Source: Fleet 0.13, internal/bundlereader/loaddirectory.go; docs/ref-bundle-stages.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

from krmfn import KrmfnError, Place, Result, warning

from ..deployments import patterns
from ..deployments.deployment import Deployment
from ..paths import files
from ..paths.contents import has_resource
from ..paths.roots import within
from .engines import Engines
from .root_files import files_of_root, may_be_ours
from .survey import Root

NAME = ".fleetignore"
_SPACE = re.compile(r"(?<=[^\\\s])\s+$")


def without(root: Root, deployment: Deployment, top: str) -> Root | None:
    """Return a root without the files that Fleet leaves out of the bundle of a deployment; None for nothing left."""
    bundle = bundle_of(deployment, top)
    if deployment.declaration.engine != "fleet" or not within(root.path, bundle):
        return root
    if is_left_out(root.path, bundle, lines_of_folder):
        return None
    if root.kind != "files":
        return root
    lines_of = lru_cache(maxsize=None)(lines_of_folder)
    kept = tuple(file for file in root.files if not is_left_out(file.real, bundle, lines_of))
    return root._replace(files=kept) if kept or not root.files else None


def bundle_of(deployment: Deployment, top: str) -> str:
    """Return the path of the folder of a bundle, given that of the repository (absolute, without links)."""
    return os.path.normpath(os.path.join(top, deployment.declaration.bundle))


def is_left_out(path: str, bundle: str, lines_of: Callable[[str], Sequence[str]]) -> bool:
    """Return whether a file or a folder in the folder of a bundle is left out, or one that it is in.

    `lines_of` returns the patterns in the file of a folder.
    """
    if not within(path, bundle) or path == bundle:
        return False
    lines, folder = list[str](), bundle
    parts = os.path.relpath(path, bundle).split(os.sep)
    for at, part in enumerate(parts):
        lines += lines_of(folder)
        folder = os.path.join(folder, part)
        is_folder = at < len(parts) - 1 or os.path.isdir(folder)
        if is_hidden(part) or any(_matches(line, part, is_folder) for line in lines):
            return True
    return False


def is_hidden(name: str) -> bool:
    """Return True for the name of a file or a folder that Fleet passes over, whatever a `.fleetignore` says."""
    return name.startswith(".")


def _matches(line: str, name: str, is_folder: bool) -> bool:
    if re.match(r".+/\*", line):
        return is_folder and line.removesuffix("/*") == name
    return patterns.of_folders(name, line)


def lines_of_folder(folder: str) -> tuple[str, ...]:
    """Return the patterns in the file of a folder; none where it cannot be read."""
    path = os.path.join(folder, NAME)
    if not os.path.lexists(path):
        return ()
    try:
        text = files.read_regular(path, path).decode(errors="replace")
    except KrmfnError:
        return ()
    lines = (_SPACE.sub("", line) for line in text.split("\n"))
    return tuple(line for line in lines if line and not line.startswith("#"))


def _holds_ours(path: str) -> bool:
    """Return True for a file with a resource of ours; a workflow of CI may mention some."""
    try:
        return has_resource(files.read_regular(path, path)) and may_be_ours(path)
    except KrmfnError:
        return True


def findings(engines: Engines, roots: Iterable[Root], tops: Sequence[str]) -> Iterator[Result]:
    """Yield a warning per file about us that Fleet leaves out of a bundle, and that nothing else deploys.

    `roots` are those of all clusters; `tops` are the real PATHs.
    """
    bundles = {
        bundle_of(deployment, engines.top): deployment
        for deployment in engines.deployments
        if deployment.declaration.engine == "fleet"
    }
    read = {path for root in roots for path in files_of_root(root)} if bundles else set()
    lines_of = lru_cache(maxsize=None)(lines_of_folder)
    for bundle, deployment in bundles.items():
        for folder, folders, names in os.walk(bundle):
            folders[:] = sorted(name for name in folders if name != ".git")
            for path in (os.path.join(folder, name) for name in sorted(names) if name.endswith((".yaml", ".yml"))):
                is_new = path not in read and any(within(path, top) for top in tops)
                if is_new and is_left_out(path, bundle, lines_of) and _holds_ours(path):
                    read.add(path)
                    yield _left_out(path, "/." in path[len(bundle) :], deployment)


def _left_out(path: str, has_dot: bool, deployment: Deployment) -> Result:
    """Return the warning about a file that Fleet leaves out, for the dot in its path or a `.fleetignore`."""
    holder = deployment.declaration.source.ref
    if has_dot:
        cause = "its name, or that of its folder, begins with a dot"
        message = f"{cause}: Fleet leaves it out of what it deploys for {holder}, so no cluster gets it"
        remedy = "give it a name without a dot"
    else:
        message = f"a {NAME} leaves it out of what Fleet deploys for {holder}, so no cluster gets it"
        remedy = "remove its pattern, or leave it out here, too, with `exclude` in .krmfn.yaml"
    return warning(message, rule="KRM537", place=Place(os.path.relpath(path)), remedy=remedy)
