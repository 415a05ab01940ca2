"""Findings about the images that nodes pull: one function per rule."""

from __future__ import annotations

from collections.abc import Iterator

from krmfn import Field, Result, warning
from krmfn.counts import some

from ..kmm.lookup import text
from . import wording
from .facts import PASSING
from .findings import LOADING, Joined, about, mappings_at
from .systems import OS_LABELS, of_image, of_node


def images_can_be_checked(fleet: Joined) -> Iterator[Result]:
    """Yield a warning for a Module on a cluster of which all known nodes have taints: no image is ever found there.

    The pod that pulls an image to see whether it exists has no selector and no toleration; only then a node loads.
    Source: KMM v2.6.0, internal/pod/imagepuller.go; main gives it the Module's tolerations.
    """
    if fleet.kmm.check_tolerates:
        return
    untainted = {node.cluster for node in fleet.fleet.nodes if all(taint.key in PASSING for taint in node.taints)}
    for driver, selected in zip(fleet.drivers, fleet.of_driver, strict=True):
        loading = [group for group, outcome in selected if outcome.state in LOADING and driver.loads]
        nodes = [node for group in loading for node in group.nodes if node.cluster not in untainted]
        if nodes:
            taints = sorted({str(taint) for node in nodes for taint in node.taints})
            message = (
                f"loads no driver on {wording.nodes_named(sorted(node.name for node in nodes))}: KMM {fleet.kmm.name} "
                "first pulls the image in a pod without tolerations, and each known node has a taint "
                f"({some(taints, len(taints))}), so that pod stays Pending"
            )
            yield about(driver, warning(message, field=Field(driver.claim.field)))


def images_are_for_the_system(fleet: Joined) -> Iterator[Result]:
    """Yield a warning for a kernel mapping whose image names another operating system than its nodes run."""
    for driver, selected in zip(fleet.drivers, fleet.of_driver, strict=True):
        module = driver.module
        others: dict[tuple[int, str, str], list[str]] = {}
        for group, outcome in selected:
            at = outcome.resolution.mapping
            if at is None or outcome.state not in LOADING:
                continue
            named = of_image(text(module.mappings[at], "containerImage") or text(module.container, "containerImage"))
            for node in group.nodes if named else ():
                system = of_node(node)
                if named and system and named.is_other(system):
                    others.setdefault((at, named.text, system.text), []).append(node.name)
        for (at, named_as, runs), names in sorted(others.items()):
            nodes, verb = wording.nodes_named(sorted(names)), "runs" if len(names) == 1 else "run"
            message = (
                f"its image names {named_as}, but {nodes} {verb} {runs}; kernel versions do not tell systems apart: "
                f"select nodes by {OS_LABELS}ID and {OS_LABELS}VERSION_ID, too"
            )
            yield about(driver, warning(message, field=Field(f"{mappings_at(driver)}[{at}]")))
