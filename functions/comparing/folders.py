"""Whose folders change: a pull request that moves them chooses what is compared, so that is told before all else."""

from __future__ import annotations

import os

from krmfn.errors import KrmfnError
from krmfn.printing import some
from krmfn.results import Result, info, warning
from krmfn.streams import max_bytes

from ..cluster.config import NAME as CONFIG_FILE
from ..cluster.layout import Cluster
from ..cluster.survey import places
from ..paths import files
from ..plan import Comparison
from .base import Base
from .pairs import Pair


def with_folders(base: Base, pair: Pair, compared: Comparison, is_edited: bool) -> Comparison:
    """Return a comparison that says first how the folders of its cluster change, and that the configuration does.

    A folder that a cluster has no more is doubtful, but for one that is gone with its cluster; a folder that it has
    besides is where the configuration changes, too: `is_edited`, as `edits_config` tells.
    """
    if compared.failed:
        return compared
    old, new = (one.cluster if one else None for one in pair)
    was = _folders(old, base.folder) if old else {}
    now = _folders(new, base.root) if new else {}
    gone = [path for path in was if path not in now and (new or _is_left(base, path, was[path]))]
    more = [path for path in now if path not in was] if old else []
    parts = [f"no longer {some(gone, len(gone))}"] if gone else []
    parts += [f"now {some(more, len(more))}"] if more else []
    notes = list[Result]()
    if parts:
        what = f"folders of the cluster change ({', '.join(parts)}); make sure that these are what is deployed, for "
        say = warning if gone or is_edited else info
        notes.append(say(f"{what}nothing else is compared"))
    told = [note.message for note in notes]
    if is_edited:
        told.append(f"{CONFIG_FILE} changes, which says what is compared and what is left out")
    doubtful = tuple(note.message for note in notes if note.severity == "warning")
    return compared._replace(first=(*told, *compared.first), notes=[*notes, *compared.notes], doubtful=doubtful)


def edits_config(base: Base) -> bool:
    """Tell whether the configuration file is not what it is in the base, or cannot be read on one of the sides."""
    try:
        return _text(base.folder) != _text(base.root)
    except KrmfnError:
        return True


def _folders(cluster: Cluster, top: str) -> dict[str, str]:
    """Return the kind of each root of a cluster by its path from the top."""
    return dict(places((*cluster.roots, *(root for _, root in cluster.outside)), top))


def _is_left(base: Base, path: str, kind: str) -> bool:
    return kind != "files" and os.path.isdir(os.path.join(base.root, path))


def _text(top: str) -> bytes:
    path = os.path.join(top, CONFIG_FILE)
    return files.read_regular(path, CONFIG_FILE, max_bytes()) if os.path.lexists(path) else b""
