"""What reaches a cluster, and whether it serves that, where it is known: KUBE_API_VERSIONS, as Argo CD sets it.

It is a list with commas, and holds both `apps/v1` and `apps/v1/DaemonSet`. Source: Argo CD 3.2.1, util/argo/argo.go.
"""

import os
from collections.abc import Iterator, Sequence

from krmfn import Item, ResourceList, Result, warning
from krmfn.results import Rule

from ..kmm.lookup import table
from ..rendering.kinds import INPUTS, is_foreign
from ..run import run_of

VARIABLE = "KUBE_API_VERSIONS"
LOCAL_KINDS = frozenset({("kpt.dev", "Kptfile"), ("kustomize.config.k8s.io", "Kustomization")})
_CRD = ("apiextensions.k8s.io", "CustomResourceDefinition")
RULES = (
    Rule(
        "KRM525",
        "the cluster should serve the kinds that are deployed, where Argo CD says which it serves (KUBE_API_VERSIONS)",
        good="""\
# served: apps/v1,apps/v1/DaemonSet,kmm.sigs.x-k8s.io/v1beta1,kmm.sigs.x-k8s.io/v1beta1/Module
kind: Module
""",
        bad="""\
# served: apps/v1,apps/v1/DaemonSet
kind: Module
""",
        remedy="Install the CRD (for a Module: KMM) before the sync, or in an earlier sync wave.",
        severities=("warning",),
    ),
)


def deployed(resources: ResourceList) -> list[Item]:
    """Return the items that would reach a cluster: no inputs, no Kptfile or Kustomization, no local-config."""
    theirs = run_of(resources).driven - run_of(resources).kept
    rest = [item for item in resources.items if (item.group, item.kind) not in INPUTS and not is_local(item)]
    return [item for item in rest if (item.group, item.kind) not in theirs or is_foreign(item)] if theirs else rest


def judge_final(resources: ResourceList) -> None:
    """Report what is wrong with the list as a whole, as it reaches the cluster; not when it could not be rendered."""
    if not resources.failed:
        from ..final.judge import judge  # here: not every command asks

        items = deployed(resources)
        resources.report(judge(resources, items))
        if VARIABLE in os.environ:
            resources.report(_unserved(items))


def is_local(item: Item) -> bool:
    """Return True for what no cluster gets, whoever reads it: a Kptfile, a Kustomization, local-config."""
    return (item.group, item.kind) in LOCAL_KINDS or item.is_local


def _unserved(items: Sequence[Item]) -> Iterator[Result]:
    """Yield a warning for each kind of what is deployed that the cluster does not serve and no CRD among it brings.

    A warning, since the CRD may come before the sync, or with another Application. Nothing is yielded where it is not
    known what is served, and where only groups and versions are named.
    """
    served = {one.strip() for one in os.environ.get(VARIABLE, "").split(",")}
    if not any(one.count("/") == 2 for one in served):
        return
    crds = [table(item.manifest, "spec") for item in items if (item.group, item.kind) == _CRD]
    brought = {(str(spec.get("group")), str(table(spec, "names").get("kind"))) for spec in crds}
    seen: set[str] = set()
    for item in items:
        name = f"{item.ref.api_version}/{item.kind}"
        if name not in served and name not in seen and (item.group, item.kind) not in brought:
            seen.add(name)
            message = (
                f"the cluster does not serve {item.kind} of {item.ref.api_version} ({VARIABLE}), and no CRD here "
                "defines it; install its CRD before this is synced"
            )
            yield item.located(warning(message, rule="KRM525"))
