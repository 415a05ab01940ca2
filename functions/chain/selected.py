"""The link from a node's labels to the Module's selector: what the inventory has, and the live node has lost."""

from collections.abc import Sequence

from krmfn.printing import closest, counted

from ..exclusivity.node import Node
from ..fleet import wording
from ..fleet.drivers import Driver
from ..fleet.live import Live
from ..fleet.live_pods import is_nfd_worker
from .link import Link, kubectl

_NFD = "feature.node.kubernetes.io/"
"""The prefix of labels that node feature discovery sets and takes off."""


def judge(node: Node, driver: Driver, live: Live, committed: Sequence[Node]) -> Link:
    """Return the broken link to a Module that selects the committed node, and not the live one.

    `committed` are the nodes of the inventory, by which it is told who else has lost the label.
    """
    missing = driver.missing_labels(node.labels)
    labels = [f"{name}={value}" for name, value in missing.items()]
    others = [f"{name}={node.labels[name]}" for name in missing if name in node.labels]
    verb = f"has {', '.join(others)} in place of" if others else "has lost"
    key = node.name, driver.module.ref.namespace, driver.module.ref.name
    boots = {live.loaded[key].boot, live.boots.get(node.name, "")} if key in live.loaded else set[str]()
    is_loaded = len(boots - {""}) < 2 if boots else driver.ready in node.labels
    suffix = ", and is still loaded" if is_loaded and node.name in live.nodes else ""
    reason = f"is not planned any more{suffix}: the node {verb} {', '.join(labels)}"
    evidence = (f"{wording.name(driver)} asks for it, and the inventory has it",)
    command = kubectl("label", "node", node.name, *labels, *(["--overwrite"] if others else []))
    cause = f"lost {labels}"
    if not any(name.startswith(_NFD) for name in missing):
        return Link("broken", evidence, (reason,), command, cause, shared="label")
    return _discovered(node, driver, live, committed, suffix)


def _discovered(node: Node, driver: Driver, live: Live, committed: Sequence[Node], suffix: str) -> Link:
    """Return the link where node feature discovery sets the label: a label that is set by hand would hide that."""
    lost = next(name for name in driver.missing_labels(node.labels) if name.startswith(_NFD))
    names = {other.name for other in committed if lost in other.labels}
    losers = [
        name for name in sorted(names) if name in live.nodes and lost not in live.nodes[name]["metadata"]["labels"]
    ]
    known = [name for name in node.labels if name.startswith(_NFD)]
    nearest = closest(lost, known)
    losing = f"{counted(len(losers), 'node')} lost" if len(losers) > 1 else "the node lost"
    has = f", and {'have' if len(losers) > 1 else 'has'} {nearest.removeprefix(_NFD)}" if nearest else ""
    reason = f"is not planned any more{suffix}: {losing} {lost.removeprefix(_NFD)}{has} (node feature discovery)"
    evidence = [f"{wording.name(driver)} asks for {lost}={driver.selector[lost]}, which the inventory has"]
    if nearest:
        evidence.append(f"the live node has {nearest}={node.labels[nearest]}: the nearest label")
    evidence.append("node feature discovery sets it: see its worker and rules; a label that is set by hand hides that")
    for pod in live.objects.pods_on.get(node.name, ()):
        if is_nfd_worker(pod):
            return Link(
                "broken",
                evidence,
                (reason,),
                kubectl("logs", "-n", pod.namespace, pod.name),
                f"lost {lost}",
                shared="label",
            )
    kinds = "nodefeatures.nfd.k8s-sigs.io,nodefeaturerules.nfd.k8s-sigs.io"
    return Link("broken", evidence, (reason,), kubectl("get", kinds, "-A"), f"lost {lost}", shared="label")
