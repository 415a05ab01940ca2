"""The pipeline: check, generate, judge what was generated, stop at errors, put the objects into the list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice

from krmfn import Item, Manifest, Ref, ResourceList
from krmfn.resource import ref
from krmfn.typed import TYPE_CHECKING

from ..fleet import readings
from ..kmm.module import HUB_GROUP, HUB_KIND, Module
from ..run import note, run_of
from . import claims, function_config, ignoring, input_checks, leftovers, module_checks, object_checks, recognition
from .function_config import FunctionConfig
from .generated import Finding, Generated, Handwritten, Rendered, Renderer
from .kinds import OURS, PROFILE, Scope, driven, of_kinds
from .metadata_checks import marks_are_of_use

if TYPE_CHECKING:
    from ..exclusivity import Claim
    from ..fleet.nodes import Fleet


def run(resources: ResourceList, renderers: Sequence[Renderer]) -> None:
    """Render the resources of several kinds; with any error finding nothing is changed unless it `shows_errors`.

    What is wrong with one resource hides nothing about the others: each goes through the stages as far as it is sound.
    """
    if profiles := resources.select(PROFILE[1], PROFILE[0]):
        note(resources, driven=driven(profiles), kept=driven(profiles, kept=True))
        renderers = [renderer.driving(run_of(resources).driven) for renderer in renderers]
    handled = frozenset(pair for renderer in renderers for pair in renderer.schemas)
    resources.mentioning(OURS)  # first: what our marks hold besides is then looked for where this word is
    marked = resources.marked()
    scopes = [renderer.marked(marked) if marked else renderer.scope for renderer in renderers]
    items = of_kinds(resources.items, handled)

    config, errors = function_config.read(resources)
    if profiles:
        config = function_config.with_products(resources, config)
    if items or any(scope.names(item.mark) for item in marked for scope in scopes):
        errors += recognition.partial_view(resources, config)
    if errors:
        resources.report(errors)
        return
    resources.report(recognition.check(resources, handled, config))
    of_profiles = {pair for renderer in renderers for pair, name in renderer.schemas.items() if not name}
    idle = [item for item in items if (item.group, item.kind) in of_profiles and config.product(item) is None]
    rest = [item for item in items if item not in idle] if idle else items

    known = run_of(resources)
    rendered = [_render(renderer, resources, rest, config) for renderer in renderers if not known.is_settled]
    wanted = [one for part in rendered for one in part.objects]
    left = leftovers.sort_out(resources, scopes, config, {one.ref.id for one in wanted}, handled, idle)
    lint = bool(items or not known.settings.intent.is_function)
    findings, owners = _judge(resources, renderers, rest, rendered, left, config, lint)
    resources.report(left.findings)
    is_sound = resources.report(ignoring.told(resources, findings, owners, config, handled))
    if (is_sound or known.settings.intent.shows_errors) and not known.is_settled:
        settle(resources, scopes, [one.manifest for one in wanted], left.kept, config)


def _judge(
    resources: ResourceList,
    renderers: Sequence[Renderer],
    items: Sequence[Item],
    rendered: Sequence[Rendered],
    left: leftovers.LeftOvers,
    config: FunctionConfig,
    lint: bool,
) -> tuple[Iterator[Finding], Mapping[Ref, Item]]:
    """Return the findings about what is rendered and what is written by hand, and the resources that they are about."""
    objects = [one for part in rendered for one in part.objects]
    own = [claim for part in rendered for claim in part.claims]
    resources.report(readings.check(*left.handwritten, *resources.select(HUB_KIND, HUB_GROUP)))
    modules = [(item, Module(item.manifest)) for item in left.handwritten if not item.content.ambiguous]
    fleet, of_nodes = _about_nodes(resources, objects, own, [item for item, _ in modules], config)
    of_configs = [finding for part in rendered for finding in part.findings]
    of_modules: Iterator[Finding] = chain(module_checks.check(resources, objects, modules, config, lint), of_nodes)
    of_marks = marks_are_of_use(items) if run_of(resources).is_plain else ()
    of_claims = claims.check(resources, own, modules, config, fleet)
    if off := claims.turned_off(resources, own, modules, config, fleet):
        note(resources, turned_off=run_of(resources).turned_off + len(off))
    if run_of(resources).is_settled and any(item.mark for item in left.handwritten):
        moved = _at_origins(resources, renderers, items, modules, of_modules, of_claims, config)
        of_modules, of_claims, rendered = moved
    owners = {ref: item for part in rendered for ref, item in part.owners.items()}
    owners |= {item.ref: item for item in left.handwritten}
    of_objects = object_checks.check(resources, objects, config)
    return chain(of_configs, of_modules, of_marks, of_claims, of_objects), owners


def _at_origins(
    resources: ResourceList,
    renderers: Sequence[Renderer],
    items: Sequence[Item],
    modules: Sequence[Handwritten],
    of_modules: Iterator[Finding],
    of_claims: list[Finding],
    config: FunctionConfig,
) -> tuple[Iterator[Finding], list[Finding], list[Rendered]]:
    """Return findings about objects that kustomize had generated at the fields of configs, and what these give now."""
    first = [*islice(of_modules, 1)]  # never all at once: they may be many
    if not first and not of_claims:
        return of_modules, of_claims, []
    from . import origins  # here: few builds call us, and fewer have findings

    scratch = ResourceList(resources.items, resources.function_config)  # nobody reads its findings
    note(scratch, config_item=run_of(resources).config_item, settings=run_of(resources).settings)
    rendered = [_render(renderer, scratch, items, config) for renderer in renderers]
    written = [item for item, _ in modules]
    known = origins.unchanged(rendered, written)
    moved = origins.at_origins(chain(first, of_modules), written, known.objects)
    return moved, claims.check(resources, known.claims, modules, config), rendered


def _about_nodes(
    resources: ResourceList,
    wanted: Sequence[Generated],
    own: Sequence[Claim],
    handwritten: Sequence[Item],
    config: FunctionConfig,
) -> tuple[Fleet | None, list[Finding]]:
    """Return the nodes of a list, None without any, and what is found about those that the Modules select."""
    has_nodes = resources.select("Node", "") or resources.select("NodeInventory", OURS)
    intent = run_of(resources).settings.intent
    if not has_nodes or not (intent.judges_nodes or intent.warns_of_nodes):
        return None, []
    from ..fleet.nodes import read  # here, as what follows: few lists have nodes
    from . import fleet_checks

    fleet = read(resources)
    findings = fleet_checks.check(resources, fleet, wanted, own, handwritten, config)
    return fleet, [(owner, claims.advised(resources, one)) for owner, one in findings]


def settle(
    resources: ResourceList,
    scopes: Sequence[Scope],
    wanted: Sequence[Manifest],
    kept: Sequence[Item],
    config: FunctionConfig,
) -> None:
    """Put the objects in place of their earlier versions or at the end, and remove the obsolete ones."""
    keep = [*wanted, *(item.manifest for item in kept)]
    for scope in scopes if config.prune != "never" else ():  # first, so that it need not look at what is new
        objects = leftovers.made(resources.marked(), scope)
        kept_ids = {ref(manifest).id for manifest in keep} if objects else ()
        stale = {id(item): item.ref for item in objects if item.ref.id not in kept_ids}
        resources.items = [item for item in resources.items if id(item) not in stale]
        resources.changes += [("removed", old) for old in stale.values()]
    resources.upsert_owned(wanted)


def _render(renderer: Renderer, resources: ResourceList, items: Sequence[Item], config: FunctionConfig) -> Rendered:
    """Render the resources of one kind; without any, what the functionConfig says of them is looked at."""
    own = [item for item in items if (item.group, item.kind) in renderer.schemas]
    if not own and not config.source.ref.kind and not config.products:
        return Rendered()
    return renderer.load()(resources, input_checks.sound(resources, own, renderer, config), config)
