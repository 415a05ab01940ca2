"""Files that the configuration file of a change newly leaves out: whoever deploys reads them all the same."""

import os
from collections.abc import Sequence

from krmfn import KrmfnError, warning
from krmfn.printing import some
from krmfn.streams import max_bytes

from ..cluster import config
from ..cluster.deployed import Clusters
from ..paths import files
from ..paths.contents import has_resource
from ..paths.excludes import excluder
from ..plan import Comparison, Opening
from ..sentence import Topic

_EXCLUDED = Topic("excluded")
"""What the finding about files that are newly excluded is about."""


def hidden_files(old: Clusters, new: Clusters) -> list[str]:
    """Return the files that `exclude` of the new side leaves out and that of the old side does not.

    Paths are from the folder of the configuration file. A pull request that adds a file and excludes it hides it, and
    whoever deploys does not read that `exclude`.
    """
    patterns, former = ([pattern.text for pattern in side.config.exclude] for side in (new, old))
    if not patterns or patterns == former:
        return []
    is_excluded, was_excluded = excluder(patterns), excluder(former)
    paths = sorted(os.path.relpath(file, new.config.folder) for file in new.excluded)
    top = new.config.folder
    hidden = [path for path in paths if is_excluded(top, path) and not was_excluded(top, path)]
    return [path for path in hidden if _has_resource(os.path.join(top, path))]


def _has_resource(path: str) -> bool:
    try:
        return has_resource(files.read_regular(path, path, max_bytes()))
    except KrmfnError:
        return True


def with_hidden_files(hidden: Sequence[str], comparison: Comparison) -> Comparison:
    """Return a comparison that first names the files that `exclude` newly leaves out; they count as not compared."""
    if not hidden or comparison.failed:
        return comparison
    names = some(hidden, len(hidden))
    message = f"{config.NAME} newly excludes {names}: what is in there is not checked, and may be deployed"
    opening = Opening(message, _EXCLUDED)
    notes = [warning((_EXCLUDED, message)), *comparison.notes]
    doubtful = (opening, *comparison.doubtful)
    return comparison._replace(first=(opening, *comparison.first), notes=notes, doubtful=doubtful)
