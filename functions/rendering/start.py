"""The first look at a list: leave at once when nothing in it is ours, else run the pipeline."""

from collections.abc import Sequence

from krmfn import ResourceList

from ..kmm.module import MODULE_GROUP, MODULE_KIND
from ..run import run_of
from .generated import Renderer
from .kinds import INVENTORY, PROFILE, candidates, of_kinds


def start(resources: ResourceList, renderers: Sequence[Renderer]) -> None:
    """Render the resources of these kinds, and check every KMM Module in the list.

    A list without anything of ours keeps its bytes, and the pipeline is not even imported; a command reads the
    functionConfig and inventories nevertheless.
    """
    handled = frozenset(pair for renderer in renderers for pair in renderer.schemas)
    ours = of_kinds(resources.items, handled)
    misspelt = candidates(resources) if not ours else []
    config, is_function = resources.function_config, run_of(resources).settings.intent.is_function
    configured = not is_function and (config is not None or resources.select(INVENTORY[1], INVENTORY[0]))
    marked = resources.marked() if misspelt else []
    scopes = [renderer.marked(marked) for renderer in renderers if marked]
    named = any(scope.names(item.mark) for scope in scopes for item in marked)
    generated = misspelt and (config is not None or named)
    others = resources.select(PROFILE[1], PROFILE[0]) or run_of(resources).elsewhere
    if ours or configured or generated or others or resources.select(MODULE_KIND, MODULE_GROUP):
        from .pipeline import run

        run(resources, renderers)
    elif misspelt:
        from .recognition import check

        resources.report(check(resources, handled))
