"""What below the PATHs is not read, and may be deployed: submodules that are not checked out, configs in charts."""

import os
from collections.abc import Iterable, Iterator, Sequence

from krmfn import Place, Result, error, warning
from krmfn.printing import counted, some

from ..formats.unjudged import UNREAD
from ..paths.roots import within
from .config import Member
from .survey import Survey

_REMEDY = "run `git submodule update --init`, or skip it with --exclude"


def missing_submodules(
    surveys: Iterable[Survey], paths: Iterable[str], members: Sequence[Member], is_deployed: bool
) -> Iterator[Result]:
    """Yield an error for each submodule that a cluster is made of, and one warning about all others.

    `paths` are the real PATHs, `members` the paths of the clusters. A cluster is made of a submodule that lies in a
    member of its own, that holds a member or a PATH, and of each one where what is below the PATHs `is_deployed`.
    """
    tops, inner = {*paths}, [member.real for member in members]
    names = dict(name for survey in surveys for name in survey.submodules.items())
    others: list[str] = []
    for real, name in names.items():
        is_above = any(within(path, real) for path in (*tops, *inner))
        if is_deployed or is_above or any(within(real, member) for member in inner):
            message = f"the submodule {name} is not checked out, so not everything that will be deployed is checked"
            place, tags = Place(os.path.relpath(real)), ((UNREAD, name),)
            yield error(message, rule="KRM523", place=place, tags=tags, remedy=f"{_REMEDY} {name}")
        else:
            others.append(name)
    if others:
        count = f"the submodule {others[0]} is" if len(others) == 1 else f"{counted(len(others), 'submodule')} are"
        listed = f" ({some(others, len(others))})" if others[1:] else ""
        message = f"{count} not checked out{listed}, so what stands there is not checked"
        yield warning(message, rule="KRM534", tags=((UNREAD, "\n".join(others)),), remedy=_REMEDY)


def configs_in_charts(surveys: Iterable[Survey]) -> Iterator[Result]:
    """Yield a warning about the files of Helm charts that hold configs or Modules: nothing is said about these."""
    names = [*dict.fromkeys(name for survey in surveys for name in survey.chart_configs)]
    if names:
        others = f" (so {'does' if len(names) == 2 else 'do'} {some(names[1:], len(names) - 1)})" if names[1:] else ""
        message = f"holds a config or Module in a Helm chart, which is not checked{others}"
        place, tags = Place(names[0]), ((UNREAD, "\n".join(names)),)
        remedy = "check what helm makes of it: `helm template CHART | krmfn check -`"
        yield warning(message, rule="KRM534", place=place, tags=tags, remedy=remedy)
