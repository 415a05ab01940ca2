"""What a check finds, before it is printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from krmfn.results import Result
from krmfn.typed import NamedTuple

from ..cluster.deployed import Clusters
from ..formats.checked import Checked


class Judged(NamedTuple):
    """The clusters of some PATHs, with their findings."""

    streams: Clusters
    checked: Checked
    visible: Checked
    """The same with the findings that are shown: these are what `--fix` mends."""
    reported: Mapping[str, Sequence[Result]] = {}  # read only
    """The findings of each cluster, by its name, about resources as they are called there: none is looked up."""
