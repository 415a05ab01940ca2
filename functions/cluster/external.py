"""What a cluster gets from elsewhere (--against): it is compared with the cluster, and not checked itself."""

import os
import stat
from collections.abc import Mapping, Sequence

from krmfn import KrmfnError, ResourceList, error
from krmfn.printing import counted, some

from ..cluster_dump import is_dumped
from ..command import Context
from ..final.against import check_external
from ..finding import in_order
from ..paths import files
from ..paths.contents import has_resource
from ..paths.failures import Failure, Unreadable, failure_of, raise_first
from ..paths.roots import within
from ..rendering.kinds import owners_among
from ..run import note, placed, run_of
from ..settings import LOOK
from . import cluster_inputs, cluster_lists, hub_modules, layout
from .deployed import Cluster


def read(context: Context, names: Sequence[str], has_stdin: bool, failures: list[Failure]) -> dict[str, Cluster]:
    """Return what each cluster gets from elsewhere, by the cluster's name; what cannot be read goes to `failures`.

    `names` are those of the clusters here; `has_stdin` tells whether one is read from stdin. What is elsewhere is
    rendered with its own functionConfig, since the options of the command line are for the clusters here.
    Raises KrmfnError for an --against that does not say which of several clusters it belongs to, and for stdin twice.
    """
    if not names:
        return {}
    options = context.options._replace(flags={}, function_config=(), cluster=(), against=())
    clusters: dict[str, Cluster] = {}
    for name, paths in _by_cluster(context.options.against, names).items():
        if has_stdin and "-" in paths:
            raise KrmfnError(
                "- is both a PATH and an --against, but stdin can be read only once; pass a file for one of them"
            )
        try:
            clusters[name] = _read(context._replace(options=options, intent=LOOK), paths)
        except KrmfnError as failure:
            failures.append(failure_of(",".join(paths), failure))
    return clusters


def _by_cluster(texts: Sequence[str], names: Sequence[str]) -> dict[str, list[str]]:
    """Return the paths for each cluster by its name, from `PATH,PATH` or `NAME=PATH,PATH`.

    Raises KrmfnError for a text that does not say which of several clusters it is for, or that has no path.
    """
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
    streams = layout.layout(stdin, context.options, {name: named} if named else {}, as_root=True)
    raise_first(streams.failures)
    errors = [finding for finding in streams.findings if finding.severity == "error" and finding.rule != "KRM522"]
    if errors:
        raise Unreadable(errors)
    clusters = [part for part in streams.clusters if part.name == name or part.roots[0].kind == "stream"]
    cluster = Cluster(name, tuple(root for part in clusters for root in part.roots), ResourceList())
    for path in named:
        real = os.path.realpath(path)
        is_there = any(within(root.path, real) for root in cluster.roots if root.path)
        is_file = os.path.isfile(path) and any(root.path == real for root in cluster.roots)
        # a file without a resource or a list is what remains when the command that writes it has failed
        if not is_there or (is_file and not has_resource(files.read_named(path))):
            raise KrmfnError("holds no resource; is it the right PATH for --against?", file=path)
    cluster = cluster_inputs.read_cluster(context, cluster)
    failures = list(cluster.failures)
    cluster = cluster_lists.render_cluster(context, failures, _is_rendered, cluster)
    raise_first(failures)
    if not cluster.is_whole:
        raise Unreadable([finding for finding in placed(cluster.final) if finding.severity == "error"])
    pipes = [path for path in named if stat.S_ISFIFO(os.stat(path).st_mode)]
    if pipes and not cluster.final.items:
        raise KrmfnError("holds no resource; pass a list without items on stdin instead: --against -", file=pipes[0])
    return cluster


def _is_rendered(resources: ResourceList) -> bool:
    """Return True for a list on which the function must not run: it has no config but those in a dump of a cluster."""
    configs = owners_among(resources.items)
    return not run_of(resources).is_settled and all(is_dumped(item.manifest) for item in configs)


def join_each(context: Context, clusters: Sequence[Cluster], others: Mapping[str, Cluster]) -> None:
    """Note in each cluster what it gets from elsewhere: by --against (`others`), and from a hub among the clusters."""
    for cluster in clusters if others else ():
        if cluster.name in others:
            join(context, cluster, others[cluster.name])
    hub_modules.join_each(clusters)


def join(context: Context, cluster: Cluster, other: Cluster, former: Sequence[ResourceList] = ()) -> None:
    """Report what is wrong between a cluster and what it gets from elsewhere, and note the latter in its list.

    `former` are the lists that the cluster's lists replace.
    """
    final = cluster.final
    if message := unknown(other):
        final.report([error(message, rule="KRM526", remedy="correct it there")])
    else:
        rest, findings = check_external(cluster.lists, other.final, former)
        note(final, external=hub_modules.joined(rest, run_of(final).external))
        final.report(findings)
        number = len(other.final.items) - len(rest.items)
        skipped = f"; skipped {number:,} more: part of PATH, nodes or settings" if number else ""
        context.log.say(f"compared with {counted(len(rest.items), 'resource')} of {_name(other)}{skipped}")


def unknown(other: Cluster) -> str:
    """Return why the claims that are made elsewhere are not known; "" when they are known."""
    errors = [finding for finding in in_order(placed(other.final)) if finding.severity == "error"]
    if not errors:
        return ""
    return (
        f"{_name(other)}, which --against names, has {counted(len(errors), 'error')}, so it is not known which "
        f"nodes it claims; the first error: {errors[0].line}"
    )


def _name(other: Cluster) -> str:
    return "stdin" if other.name == "-" else other.name
