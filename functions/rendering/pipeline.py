"""The pipeline: check the input, generate objects, judge them, stop at errors, put the objects into the list."""

from collections.abc import Iterator, Sequence
from itertools import chain, islice

from krmfn import Item, ResourceList
from krmfn.typed import NamedTuple

from ..fleet import readings
from ..kmm.module import HUB_GROUP, HUB_KIND, module_of
from ..run import note, run_of
from . import (
    claims,
    function_config,
    ignoring,
    leftovers,
    module_checks,
    object_checks,
    recognition,
    settling,
    version_checks,
)
from .function_config import FunctionConfig
from .generated import Finding, Judged, Rendered, Renderer, at_origins, claims_of
from .kinds import OURS, PROFILE, driven_kinds, has_nodes, of_kinds
from .metadata_checks import marks_are_of_use


def run(resources: ResourceList, renderers: Sequence[Renderer]) -> None:
    """Render the resources of several kinds; with an error the list stays as it is, unless the intent `shows_errors`.

    An error in one resource hides no finding about the others: each goes through the stages as far as it is sound.
    """
    if profiles := resources.where(kind=PROFILE[1], group=PROFILE[0]):
        note(resources, driven=driven_kinds(profiles), kept=driven_kinds(profiles, kept=True))
        renderers = [renderer.with_kinds(run_of(resources).driven) for renderer in renderers]
    handled = {pair: name for renderer in renderers for pair, name in renderer.schemas.items()}
    resources.mentioning(OURS)  # first: later searches for words of our marks then look only at these items
    marked = resources.marked()
    scopes = [renderer.marked(marked) if marked else renderer.scope for renderer in renderers]
    items = of_kinds(resources.items, handled)

    config, errors = function_config.read(resources)
    if profiles:
        from . import products  # here: few lists have one

        config = products.read(resources, config)
    if items or any(scope.names(item.mark) for item in marked for scope in scopes):
        errors += recognition.partial_view(resources, config)
    if errors:
        resources.report(errors)
        return
    resources.report(recognition.check(resources, handled, config))
    if config.extra_kinds:
        scopes = [scope._replace(kinds=scope.kinds | config.extra_kinds.keys()) for scope in scopes]
    of_profiles = frozenset(pair for pair, name in handled.items() if not name)
    idle = [item for item in of_kinds(items, of_profiles) if config.product(item) is None] if of_profiles else []
    configs = [item for item in items if item not in idle] if idle else items

    is_settled, intent = run_of(resources).is_settled, run_of(resources).settings.intent
    work = _Work(renderers, configs, config, bool(items or not intent.is_function))
    rendered = _render(resources, work) if not is_settled else Rendered()
    kept, handwritten, findings = leftovers.sort_out(resources, scopes, config, rendered, handled, idle)
    judged = _judge(resources, work, rendered, handwritten)
    resources.report(findings)
    is_sound = resources.report(ignoring.visible(resources, judged, config, handled))
    if (is_sound or intent.shows_errors) and not is_settled:
        settling.settle(resources, scopes, [obj.manifest for obj in rendered.objects], kept, config)


class _Work(NamedTuple):
    """What is rendered in a run, and how."""

    renderers: Sequence[Renderer]
    configs: Sequence[Item]
    config: FunctionConfig
    lint: bool
    """Whether Modules are also held against KMM's lints."""


def _judge(resources: ResourceList, work: _Work, rendered: Rendered, handwritten: Sequence[Item]) -> Judged:
    """Return the findings about generated and hand-written objects, and the resources that may turn them off.

    All is rendered once more when kustomize has called the function already: findings about the objects in the list
    are then moved to the fields of the configs that give them now.
    """
    config = work.config
    resources.report(readings.check(*handwritten, *resources.where(kind=HUB_KIND, group=HUB_GROUP)))
    readable = [item for item in handwritten if not item.content.ambiguous]
    modules = [(item, module) for item in readable if (module := module_of(item.manifest))]
    written, run, objects = [item for item, _ in modules], run_of(resources), rendered.objects
    fleet, of_nodes, of_configs = None, list[Finding](), rendered.findings
    if (run.settings.intent.judges_nodes or run.settings.intent.deploys) and has_nodes(resources):
        from . import fleet_checks  # here: few lists have nodes

        fleet, of_nodes = fleet_checks.check(resources, rendered, written, config)
    of_modules: Iterator[Finding] = chain(module_checks.check(resources, objects, modules, config, work.lint), of_nodes)
    of_marks = marks_are_of_use(work.configs) if run.is_plain else ()
    of_claims = claims.check(resources, rendered.claims, modules, config, fleet)
    first = [*islice(of_modules, 1)] if run.is_settled else []  # the others later: they may be many
    of_modules = chain(first, of_modules)
    if (first or (of_claims and run.is_settled)) and any(item.mark for item in handwritten):
        scratch = ResourceList(resources.items, resources.function_config)  # nobody reads its findings
        note(scratch, config_item=run.config_item, settings=run.settings, sources=run.sources)
        rendered = _render(scratch, work)
        of_modules = at_origins(of_modules, written, rendered.objects)
        of_claims = claims.check(scratch, claims_of(rendered, written), modules, config, None)
    owners = {**rendered.owners, **{item.ref: item for item in handwritten}}
    of_objects = object_checks.check(resources, objects, config, written)
    of_version = version_checks.check(resources, config)
    return chain(
        of_version, _of_operators(resources, config), of_configs, of_modules, of_marks, of_claims, of_objects
    ), owners


def _of_operators(resources: ResourceList, config: FunctionConfig) -> Iterator[Finding]:
    """Yield the findings about configs that operators of the cluster act on."""
    if config.selectors:
        from . import operator_claims  # here, since few functionConfigs have one

        yield from ((finding.ref, finding) for finding in operator_claims.selectors_are_there(resources, config))


def _render(resources: ResourceList, work: _Work) -> Rendered:
    """Render the configs of all kinds into the objects of a list.

    With a functionConfig or a Profile a kind without resources is rendered, too: it finds the errors in these.
    """
    parts, config = list[Rendered](), work.config
    for renderer in work.renderers:
        configs = of_kinds(work.configs, renderer.schemas)
        if configs or config.source.ref.kind or config.products:
            parts.append(renderer.load()(resources, recognition.sound(resources, configs, renderer, config), config))
    return Rendered(
        [obj for part in parts for obj in part.objects],
        [claim for part in parts for claim in part.claims],
        [finding for part in parts for finding in part.findings],
        {ref: item for part in parts for ref, item in part.owners.items()},
    )
