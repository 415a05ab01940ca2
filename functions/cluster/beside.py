"""Roots of others in a cluster that has something of ours: they count where ours refer to them, and fail nothing.

Such a root is built only if it may hold what our objects refer to, or a second object of a kind that stands among ours.
"""

import os
from collections.abc import Callable, Collection, Iterator, Sequence

from krmfn import Item, KrmfnError, ResourceList, Result, warning
from krmfn.printing import counted, some

from ..paths import files, templates
from ..paths.failures import failure_of
from ..run import note, run_of
from .deployed import Cluster, with_results
from .survey import Root

FilesOf = Callable[[Root], Sequence[str]]
"""Returns the paths of the files that a root is made from."""
_REFERRED = frozenset(
    {
        *("namespace", "serviceaccount", "secret", "configmap", "priorityclass", "deviceclass", "nodefeaturerule"),
        *("role", "rolebinding", "clusterrole", "clusterrolebinding", "customresourcedefinition"),
        *("service", "sealedsecret", "externalsecret", "clusterexternalsecret", "certificate", "sopssecret", "bundle"),
        *("networkpolicy", "securitycontextconstraints"),
        *("validatingwebhookconfiguration", "mutatingwebhookconfiguration"),
        *("validatingadmissionpolicy", "validatingadmissionpolicybinding"),
        *("mutatingadmissionpolicy", "mutatingadmissionpolicybinding"),
    }
)
"""What our objects refer to, what controllers make Secrets and ConfigMaps from, and what may refuse or change ours.

`diff` tells of the last first (comparing/attention.py). In lower case.
"""
_GENERATED = ("secretgenerator", "configmapgenerator", "secrets.hashicorp.com")
"""Words of kustomizations and controllers that make such objects without their kinds."""
ROOT = "root"
"""The tag of a finding with the name of its root."""
_ABOUT_OURS = frozenset(
    {
        *("KRM705", "KRM717"),  # a second object of ours, a Namespace that refuses our pods
        *("KMM081", "KMM082"),  # a DeviceClass that our Module makes
        *("KRM530", "KRM531", "KRM532"),  # what KMM's operator reads
    }
)
"""Rules whose errors stand at an object of others and are about ours."""


def divided(cluster: Cluster, is_ours: Callable[[Root], bool], files_of: FilesOf) -> tuple[Cluster, list[Root]]:
    """Return a cluster of an engine that knows which of its roots are of others, and those that need not be built."""
    others = [root for root in cluster.roots if not is_ours(root)] if cluster.deployments else []
    if not others or len(others) == len(cluster.roots):
        return cluster, []
    other_ids = {*map(id, others)}
    kinds = _REFERRED.union(*(_kinds(files_of(root)) for root in cluster.roots if id(root) not in other_ids))
    left_out = [root for root in others if not _may_count(files_of(root), kinds)]
    left_ids = {*map(id, left_out)}
    roots = tuple(root for root in cluster.roots if id(root) not in left_ids)
    kept = frozenset(root.path for root in others if id(root) not in left_ids)
    return cluster._replace(roots=roots, beside=kept), left_out


def _may_count(paths: Sequence[str], kinds: Collection[str]) -> bool:
    """Return True where files may give objects of one of some kinds; what cannot be read may hold any."""
    present = _kinds(paths)
    return "" in present or not present.isdisjoint(kinds)


def _kinds(paths: Sequence[str]) -> set[str]:
    """Return the kinds that may stand in some files, those of lists without `list`; "" among them for any kind."""
    kinds = set[str]()
    for path in paths:
        if os.path.isdir(path):
            continue
        try:
            text = files.read_regular(path, path)
        except KrmfnError:
            return {""}
        kinds |= {kind.removesuffix("list") if kind != "list" else kind for kind in templates.kinds_in(text)}
        kinds |= {"secret"} if templates.mentions(text, _GENERATED) else set()
    return kinds


def of_others(resources: ResourceList) -> ResourceList:
    """Return the list of a root of others without findings."""
    copy = ResourceList(resources.items, run=resources.run)
    note(copy, is_beside=True)
    return copy


def problems(findings: Sequence[Result], name: str) -> list[Result]:
    """Return what is wrong with a root of others, of its findings; `name` is the root's."""
    return [_named(finding, name) for finding in findings if finding.severity != "info"]


def not_read(failure: KrmfnError, name: str) -> list[Result]:
    """Return why a root of others cannot be built, as findings."""
    known = failure_of(name, failure)
    return [_named(finding, name) for finding in known.findings or [warning(failure.lines()[0])]]


def _named(finding: Result, name: str) -> Result:
    return finding._replace(tags=((ROOT, name),))


def counted_once(cluster: Cluster) -> Cluster:
    """Return a cluster in which the errors of roots of others are one warning with their number."""
    if not cluster.beside:
        return cluster
    names = {item.ref: run_of(cluster.final).roots.get(id(item), "") for item in _items(cluster, is_beside=True)}
    for item in _items(cluster, is_beside=False):
        names.pop(item.ref, None)  # a finding says its resource by name, so this one may be about ours
    ours, others = list[Result](), [*cluster.trouble]
    for finding in cluster.final.results:
        is_of_others = finding.severity == "error" and finding.ref in names and finding.rule not in _ABOUT_OURS
        if is_of_others and finding.ref:
            others.append(_named(finding, names[finding.ref]))
        else:
            ours.append(finding)
    if not others:
        return cluster
    return cluster._replace(final=with_results(cluster.final, [*ours, _warning(others)], failed=False))


def _items(cluster: Cluster, is_beside: bool) -> Iterator[Item]:
    """Return the items of the roots of others, or of all that are ours."""
    return (item for _, part in cluster.parts if run_of(part).is_beside == is_beside for item in part.items)


def _warning(findings: Sequence[Result]) -> Result:
    """Return the one warning about what is wrong in roots of others."""
    roots = [*dict.fromkeys(dict(finding.tags)[ROOT] for finding in findings)]
    verb, subject = ("holds", "its") if len(roots) == 1 else ("hold", "their")
    message = (
        f"{some(roots, len(roots))} {verb} nothing of krmfn's, so {subject} {counted(len(findings), 'problem')} "
        f"{'fails' if len(findings) == 1 else 'fail'} nothing here"
    )
    remedy = "run `krmfn check --all` to see what is wrong"
    return warning(message, rule="KRM534", place=findings[0].place, remedy=remedy)
