"""The first look at a list: leave at once when nothing in it is ours, else run the pipeline."""

from collections.abc import Sequence

from krmfn import ResourceList, error
from krmfn.resource import ref

from ..kmm.module import MODULE_KINDS
from ..mistake import Mistake
from ..run import run_of
from .generated import Renderer
from .kinds import INVENTORY, PROFILE, candidates, is_ours, of_kinds

_GENERATOR = Mistake(
    "the functionConfig is the only resource, as kustomize gives it to a generator, so nothing would be made",
    "list it under transformers",
)
_EMPTY = Mistake(
    "the list has no items, so nothing would be made", "list the functionConfig under transformers, beside resources"
)


def start(resources: ResourceList, renderers: Sequence[Renderer]) -> None:
    """Render the resources of these kinds, and check every KMM Module and ManagedClusterModule in the list.

    A list without anything of ours is left as it is, without importing the pipeline. A command also reads a
    functionConfig and inventories in such a list. With an error the list stays as it is.
    """
    if _is_generator(resources):
        message, remedy = _GENERATOR if resources.items else _EMPTY
        of_config = ref(resources.function_config or {})
        resources.report([error(message, rule="KRM511", ref=of_config, remedy=remedy)])
        return
    handled = frozenset(pair for renderer in renderers for pair in renderer.schemas)
    ours = of_kinds(resources.items, handled)
    misspelt = candidates(resources) if not ours else []
    config, is_function = resources.function_config, run_of(resources).settings.intent.is_function
    is_configured = not is_function and (config is not None or resources.where(kind=INVENTORY[1], group=INVENTORY[0]))
    marked = resources.marked() if misspelt else []
    scopes = [renderer.marked(marked) for renderer in renderers if marked]
    has_generated = any(scope.names(item.mark) for scope in scopes for item in marked)
    may_be_ours = misspelt and (config is not None or has_generated)
    has_modules = any(resources.where(kind=kind, group=group) for group, kind in MODULE_KINDS)
    profiles = resources.where(kind=PROFILE[1], group=PROFILE[0]) or run_of(resources).elsewhere
    if ours or is_configured or may_be_ours or profiles or has_modules:
        from .pipeline import run

        run(resources, renderers)
    elif misspelt or any(item.kind.endswith("List") for item in resources.items):
        from .recognition import check

        resources.report(check(resources, handled))


def _is_generator(resources: ResourceList) -> bool:
    """Return whether kustomize runs this function as a generator: its functionConfig is the only item, without a path.

    So is a functionConfig of our own with an empty list: a run never leaves one (see `pipeline.settle`). Source:
    kustomize 5.8, api/internal/plugins/fnplugin/fnplugin.go, Generate. kpt gives each item a path.
    """
    config, items = resources.function_config, resources.items
    if len(items) > 1 or not config or not run_of(resources).settings.intent.is_function:
        return False
    if not items:
        return is_ours(config)
    return items[0].ref == ref(config) and not items[0].path
