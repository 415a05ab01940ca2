"""What a repository holds for no cluster: it is said, and makes no cluster of its own."""

import os
from collections.abc import Sequence
from functools import partial

from krmfn.item import Item
from krmfn.ownership import OWNER

from ..kmm.module import HUB_GROUP, HUB_KIND, MODULE_GROUP, MODULE_KIND
from ..paths.roots import parents
from ..rendering.kinds import OWNERS, driven, is_foreign
from ..settings import Intent
from .cluster_inputs import Inputs, unlisted
from .config import Config
from .deployed import is_local

_MODULES = {(MODULE_GROUP, MODULE_KIND), (HUB_GROUP, HUB_KIND)}


def taken_out(intent: Intent, read: Sequence[Inputs], config: Config) -> tuple[list[Inputs], list[Inputs]]:
    """Return the clusters among what was read, and the files that no cluster has.

    What would be deployed is taken out of the latter, with a warning for each file; Profiles, functionConfigs and
    inventories stay, since they are judged by themselves. Where the function does not run, all are clusters.
    """
    apart = [one for one in read if one.cluster.is_apart] if intent.runs_function else []
    if not apart:
        return [*read], []
    kinds = OWNERS | _MODULES | driven(item for one in read for each in one.lists for item in each.items)
    for one in apart:
        for resources in one.lists:
            theirs = [item for item in resources.items if _is_deployed(item, kinds)]
            ids = set(map(id, theirs))
            resources.items = [item for item in resources.items if id(item) not in ids]
            resources.report(unlisted(theirs, partial(_message, one, config)))
    return [one for one in read if not one.cluster.is_apart], apart


def _is_deployed(item: Item, kinds: frozenset[tuple[str, str]]) -> bool:
    """Return True for what krmfn has made nothing of, and somebody meant a cluster to get."""
    is_ours = (item.group, item.kind) in kinds or item.kind == "DeviceConfig"
    return is_ours and not is_local(item) and not is_foreign(item) and OWNER not in item.annotations


def _message(one: Inputs, config: Config, item: Item, others: str) -> str:
    """Return that a file is in no cluster, with the kustomization that stands nearest above it."""
    kustomizations = one.cluster.roots[0].graph.kustomizations
    folders = parents(os.path.realpath(os.path.dirname(item.place.path))) if item.place else ()
    name = next((kustomizations[folder].name for folder in folders if folder in kustomizations), "a kustomization")
    return (
        f"belongs to no cluster: no kustomization lists it and no cluster of {config.name} has it, so it is deployed "
        f"nowhere{others}; list it in {name} or in {config.name}"
    )
