"""What a cluster gets from elsewhere (--against): it takes part in what is judged, and is not judged or printed."""

import os
import stat
from collections.abc import Iterable, Sequence

from krmfn import KrmfnError, ResourceList, error
from krmfn.printing import counted, some
from krmfn.results import in_order

from .. import run
from ..cluster_dump import is_dumped
from ..command import Context
from ..final.against import against
from ..paths import files
from ..paths.contents import has_resource
from ..paths.failures import Failure, Unreadable, failure_of, raise_first
from ..paths.roots import within
from ..rendering.kinds import owners_among
from ..settings import LOOK
from . import cluster_inputs, cluster_lists, layout
from .deployed import Cluster
from .survey import Root


def read(context: Context, names: Sequence[str], roots: Iterable[Root], failures: list[Failure]) -> dict[str, Cluster]:
    """Return what each cluster gets from elsewhere, by the cluster's name; what cannot be read goes to `failures`.

    `names` are those of the clusters here, `roots` what they are read from.

    It is rendered by itself, as its own functionConfig says: the options are about what is here.
    Raises KrmfnError for an --against that does not say which of several clusters it is about.
    """
    if not names:
        return {}
    alone = context.options._replace(flags={}, function_config=(), cluster=(), against=())
    made: dict[str, Cluster] = {}
    is_stdin_read = any(root.kind == "stream" for root in roots)
    for name, paths in _by_cluster(context.options.against, names).items():
        if is_stdin_read and "-" in paths:
            raise KrmfnError(
                "- is both a PATH and an --against, but stdin can be read only once; pass a file for one of them"
            )
        try:
            made[name] = _read(context._replace(options=alone, intent=LOOK), paths)
        except KrmfnError as failure:
            failures.append(failure_of(",".join(paths), failure))
    return made


def _by_cluster(texts: Sequence[str], names: Sequence[str]) -> dict[str, list[str]]:
    """Return the paths of each cluster that is named, from `PATH,PATH` or `NAME=PATH,PATH`."""
    by_cluster: dict[str, list[str]] = {}
    for text in texts:
        name, sign, listed = text.partition("=")
        if not (sign and name in names):
            if len(names) > 1:
                raise KrmfnError(
                    f"--against {text}: there are {len(names):,} clusters ({some(names, len(names))}); name the one "
                    "that it belongs to with --against NAME=PATH"
                )
            name, listed = names[0], text
        paths = [path for path in listed.split(",") if path]
        if not paths:
            raise KrmfnError(f"--against {text!r} names no PATH; write --against PATH or --against NAME=PATH")
        by_cluster.setdefault(name, []).extend(paths)
    return by_cluster


def _read(context: Context, paths: Sequence[str]) -> Cluster:
    """Return what some paths hold, as one cluster. Raises KrmfnError where not all of it can be read."""
    name = ",".join(paths)
    stdin, named = [path for path in paths if path == "-"], [path for path in paths if path != "-"]
    laid = layout.layout(stdin, context.options, {name: named} if named else {}, itself=True)
    raise_first(laid.failures)
    wrong = [finding for finding in laid.findings if finding.severity == "error" and finding.rule != "KRM522"]
    if wrong:
        raise Unreadable(wrong)
    joined = [one for one in laid.clusters if one.name == name or one.roots[0].kind == "stream"]
    cluster = Cluster(name, tuple(root for one in joined for root in one.roots), ResourceList())
    for path in named:
        real = os.path.realpath(path)
        is_there = any(within(root.path, real) for root in cluster.roots if root.path)
        is_file = os.path.isfile(path) and any(root.path == real for root in cluster.roots)
        # without a resource, and a list of them, what should have written it has failed
        if not is_there or (is_file and not has_resource(files.read_named(path))):
            raise KrmfnError(f"{path} holds no resource; is it the right PATH for --against?")
    inputs = cluster_inputs.filled(context, cluster)
    failures = list(inputs.failures)
    made = cluster_lists.rendered(context, failures, _stands, inputs)
    raise_first(failures)
    if not made.is_whole:
        raise Unreadable([one for one in made.final.results if one.severity == "error"])
    pipes = [path for path in named if stat.S_ISFIFO(os.stat(path).st_mode)]
    if pipes and not made.final.items:
        raise KrmfnError(f"{pipes[0]} holds no resource; pass a list without items on stdin instead: --against -")
    return made


def _stands(resources: ResourceList) -> bool:
    """Return True for a list of which nothing is made: it is rendered already, or a cluster has given it back."""
    owners = owners_among(resources.items)
    return not run.run_of(resources).is_settled and all(is_dumped(item.manifest) for item in owners)


def join(context: Context, one: Cluster, other: Cluster, before: Sequence[ResourceList] = ()) -> None:
    """Report what is wrong between a cluster and what it gets from elsewhere, and note the latter in its list.

    `before` are the lists in whose place the cluster's are put.
    """
    final = one.final
    if message := unknown(other):
        final.report([error(message, rule="KRM526")])
    else:
        left, found = against(one.lists, other.final, before)
        run.note(final, external=left)
        final.report(found)
        number = len(other.final.items) - len(left.items)
        ours = f"; skipped {number:,} more: part of PATH, nodes or settings" if number else ""
        context.log.say(f"compared with {counted(len(left.items), 'resource')} of {_name(other)}{ours}")


def note(one: Cluster, others: ResourceList) -> None:
    """Note in a cluster's list what of the others is not its own, and report nothing."""
    left, _ = against(one.lists, others, ())
    run.note(one.final, external=left)


def unknown(other: Cluster) -> str:
    """Return why it is not known what claims are made elsewhere; "" when it is."""
    errors = [finding for finding in in_order(other.final.results) if finding.severity == "error"]
    if not errors:
        return ""
    return (
        f"{_name(other)}, which --against names, has {counted(len(errors), 'error')}, so it is not known which "
        f"nodes it claims; the first error: {errors[0]}"
    )


def _name(other: Cluster) -> str:
    return "stdin" if other.name == "-" else other.name
