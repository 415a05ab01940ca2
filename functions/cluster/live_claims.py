"""Modules of a dump (--live) that Git does not have: they claim the nodes that they load a kernel module on."""

from collections.abc import Iterator, Sequence

from krmfn import Place, ResourceList, Result

from ..adoption import leaving
from ..command import Context
from ..exclusivity import Claim
from ..final.root_conflicts import conflicts
from ..fleet.drivers import driver
from ..fleet.live import Live
from ..kmm.lookup import table, text
from ..kmm.module import MODULE_KINDS, module_of
from ..rendering import function_config
from . import live_nodes
from .deployed import Cluster, deployed_items


def check_each(context: Context, clusters: Sequence[Cluster]) -> None:
    """Report what `check` finds into the final lists of the clusters that have a dump."""
    dumps = live_nodes.by_cluster(context.options, [cluster.name for cluster in clusters])
    for cluster in clusters:
        if cluster.is_whole and cluster.name in dumps:
            cluster.final.report(check(cluster.lists, dumps[cluster.name]))
            if not cluster.final.failed:
                cluster.final.report(_owned(cluster, dumps[cluster.name]))


def _owned(cluster: Cluster, dump: Live) -> Iterator[Result]:
    """Return the errors about what owns objects of a cluster and is not deployed by Git."""
    return leaving.owned_elsewhere(deployed_items(cluster.final), dump, cluster.final.items)


def check(lists: Sequence[ResourceList], dump: Live) -> list[Result]:
    """Return the errors about nodes of a dump on which a Module that is not in `lists` loads a kernel module of theirs.

    A Module that is being deleted claims nothing, nor does any where node exclusivity is off, or an input has errors.
    """
    if not dump.nodes or any(resources.failed for resources in lists):
        return []
    exclusive = [part for part in lists if function_config.read(part)[0].exclusivity != "off"]
    claims = _claims(exclusive, dump) if exclusive else []
    findings = conflicts(exclusive, claims) if claims else ()
    return [finding for finding in findings if finding.severity == "error"]


def _claims(lists: Sequence[ResourceList], dump: Live) -> list[Claim]:
    """Return the claims of the Modules that only the dump has."""
    items = [item for part in lists for item in part.items if (item.group, item.kind) in MODULE_KINDS]
    modules = (module_of(item.manifest) for item in items)
    planned = {(module.ref.namespace, module.ref.name) for module in modules if module}
    place, claims = Place(dump.name) if dump.name != "-" else None, list[Claim]()
    for name, manifest in dump.objects.modules.items():
        if name in planned or text(table(manifest, "metadata"), "deletionTimestamp"):
            continue
        claim = driver(manifest, None, place).full_claim
        if claim.kernel_modules:
            claims.append(claim._replace(external="in the dump"))
    return claims
