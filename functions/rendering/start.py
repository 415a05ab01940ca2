"""The first look at a list: leave at once when nothing in it is ours, else run the pipeline."""

from collections.abc import Sequence

from krmfn import ResourceList

from ..kmm.module import MODULE_GROUP, MODULE_KIND
from ..run import run_of
from .generated import Renderer
from .kinds import INVENTORY, PROFILE, candidates, of_kinds


def start(resources: ResourceList, renderers: Sequence[Renderer]) -> None:
    """Render the resources of these kinds, and check every KMM Module in the list.

    A list without anything of ours is left as it is, without importing the pipeline. A command also reads a
    functionConfig and inventories in such a list.
    """
    handled = frozenset(pair for renderer in renderers for pair in renderer.schemas)
    ours = of_kinds(resources.items, handled)
    misspelt = candidates(resources) if not ours else []
    config, is_function = resources.function_config, run_of(resources).settings.intent.is_function
    is_configured = not is_function and (config is not None or resources.select(INVENTORY[1], INVENTORY[0]))
    marked = resources.marked() if misspelt else []
    scopes = [renderer.marked(marked) for renderer in renderers if marked]
    has_generated = any(scope.names(item.mark) for scope in scopes for item in marked)
    is_ours = misspelt and (config is not None or has_generated)
    profiles = resources.select(PROFILE[1], PROFILE[0]) or run_of(resources).elsewhere
    if ours or is_configured or is_ours or profiles or resources.select(MODULE_KIND, MODULE_GROUP):
        from .pipeline import run

        run(resources, renderers)
    elif misspelt:
        from .recognition import check

        resources.report(check(resources, handled))
