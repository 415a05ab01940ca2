"""The first look at a list: leave at once when nothing in it is ours, else run the pipeline."""

from __future__ import annotations

from collections.abc import Sequence

from krmfn import ResourceList

from ..kmm.module import MODULE_GROUP, MODULE_KIND
from ..run import run_of
from .generated import Renderer
from .kinds import OURS, PROFILE, candidates, of_kinds


def start(resources: ResourceList, renderers: Sequence[Renderer]) -> None:
    """Render the resources of these kinds, and check every KMM Module in the list.

    A list without anything of ours keeps its bytes, and the pipeline is not even imported; a command reads the
    functionConfig and inventories nevertheless.
    """
    handled = frozenset(pair for renderer in renderers for pair in renderer.schemas)
    ours = of_kinds(resources.items, handled)
    misspelt = candidates(resources) if not ours else []
    configured = not run_of(resources).settings.intent.is_function and (
        resources.function_config is not None or resources.select("NodeInventory", OURS)
    )
    marked = resources.marked() if misspelt else []
    generated = misspelt and (
        resources.function_config is not None
        or any(renderer.marked(marked).names(item.mark) for item in marked for renderer in renderers)
    )
    products = resources.select(PROFILE[1], PROFILE[0])
    others = products or run_of(resources).elsewhere
    if ours or configured or generated or others or resources.select(MODULE_KIND, MODULE_GROUP):
        from .pipeline import run

        run(resources, renderers)
    elif misspelt:
        from .recognition import check

        resources.report(check(resources, handled))
