"""What a check finds, before it is printed."""

from __future__ import annotations

from krmfn.typed import NamedTuple

from ..cluster.deployed import Clusters
from ..formats.checked import Checked


class Judged(NamedTuple):
    """The clusters of some PATHs, with their findings."""

    streams: Clusters
    checked: Checked
    visible: Checked
    """The same with the findings that are shown: these are what `--fix` mends."""
