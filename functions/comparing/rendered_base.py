"""The clusters of the base of a pull request, rendered for a comparison."""

from collections.abc import Sequence

from krmfn import KrmfnError, error

from ..cluster import config
from ..cluster.deployed import Clusters
from ..command import Context
from ..paths.failures import failure_of
from . import new_side
from .base import Base


def of_base(context: Context, names: Sequence[str]) -> tuple[Context, list[str], list[str]]:
    """Return the context of a base, in which nothing is live or from elsewhere; the PATHs; these with all members."""
    alone = context._replace(options=context.options.without_live()._replace(against=()))
    members = [path for _, texts in map(config.parse, alone.options.cluster) for path in texts]
    paths = list(names) or ([] if members else ["."])
    return alone, paths, [*paths, *members]


def base_of(context: Context, base: Base, paths: Sequence[str], streams: Clusters | None = None) -> Clusters:
    """Return the clusters of the base. When nothing can be read they have only a finding or a failure that says why."""
    if messages := base.unread(context.options):
        return Clusters(findings=[error(message) for message in messages])
    try:
        return new_side.existing(
            context._replace(options=base.options(context.options)), [*map(base.path, paths)], streams
        )
    except KrmfnError as failure:
        return Clusters(failures=[failure_of("", failure)])
