"""Images that KMM builds or signs: one image must not be made in two ways, or for two kernels.

KMM keeps an entry per Module and image, that of the node which it sees first: whether the image is built and signed,
from what, and for which kernel. It makes an image only where the registry lacks it, so two Modules share the first one.
Source: KMM v2.6.0 and main (de3f8c9), internal/mic/mic.go and internal/controllers/mic_reconciler.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from krmfn import Field, Item, KrmfnError, ResourceList, Result, warning
from krmfn.printing import some
from krmfn.typed import NamedTuple

from .. import oracles
from ..fleet import nodes
from ..fleet.drivers import Driver, driver
from ..grouping import grouped
from ..image_reference import shortened
from ..kmm.envsubst import parse
from ..kmm.lookup import text
from ..kmm.module import CONTAINER, HUB_KIND, KERNEL_VARIABLES, MAPPINGS, Module
from ..kmm.recipes import (
    ARGUMENTS,
    DOCKERFILE,
    SIGNED,
    Files,
    Recipe,
    different_parts,
    dockerfiles,
    files_of,
    recipe_of,
)
from ..kmm.rule import on_hub
from ..rule import Rule
from .stream import FinalList, modules_of

_ONCE = "KMM makes it once, for the node that it sees first"
_COMPARED = 64
"""How many different uses of an image each Module is compared with: in more than two one is another than its own."""
_ANY_KERNEL = "6.1.0-0.x86_64"
"""Stands for the kernels of a regexp whose image does not depend on the kernel."""


class Use(NamedTuple):
    """A mapping of a Module that gives an image to the nodes of a kernel."""

    item: Item
    module: Module
    mapping: int
    kernel: str
    """The kernel of nodes, or of a literal where no node is known; "" for any."""
    image: str
    recipe: Recipe
    external: bool


def images_are_made_in_one_way(final: FinalList) -> Iterator[Result]:
    """Yield a warning per Module and image that is made for some kernels only, or in two ways, or for two kernels.

    With known nodes only for kernels that these have, else for literals and for images that do not name the kernel.
    """
    pairs = [(item, module, False) for item, module in final.modules]
    pairs += [(item, module, True) for item, module in modules_of(final.external)]
    makers = [(item, module, external) for item, module, external in pairs if module.holds("build", "sign")]
    if not makers:
        return
    files = dockerfiles(item.manifest for item in (*final.external, *final.deployed) if item.kind == "ConfigMap")
    for uses in grouped((use.image, use) for use in _uses(final, makers, files)).values():
        by_module = grouped((use.item.ref, use) for use in uses)
        examples = _examples(uses)
        for uses_of_module in by_module.values():
            first = uses_of_module[0]
            others = [use for use in examples if use.item.ref != first.item.ref and not _is_apart(use, first)]
            if not first.external and (finding := _of_image(uses_of_module, others)):
                yield final.located(first.item, on_hub(finding) if first.item.kind == HUB_KIND else finding)


def _examples(uses: Iterable[Use]) -> list[Use]:
    """Return uses of an image that stand for all, with two Modules each: those of one recipe and kernel are alike."""
    examples: dict[tuple[str, str, bool], dict[object, Use]] = {}
    for use in uses:
        alike = examples.setdefault((repr(use.recipe), use.kernel, use.item.kind == HUB_KIND), {})
        if len(alike) < 2:
            alike.setdefault(use.item.ref, use)
    return [use for alike in list(examples.values())[:_COMPARED] for use in alike.values()]


def _is_apart(use: Use, other: Use) -> bool:
    """Return True for two Modules of which one is a hub's: their images are made on different clusters."""
    return (use.item.kind == HUB_KIND) != (other.item.kind == HUB_KIND)


def _uses(final: FinalList, makers: Iterable[tuple[Item, Module, bool]], files: Files) -> Iterator[Use]:
    """Yield what each Module gives to the kernels that it can be asked for."""
    fleet = nodes.read(ResourceList(final.inputs))
    drivers = {id(module): driver(item.manifest, None, item.place) for item, module, _ in makers}
    has_nodes = bool(fleet.nodes) and not any(finding.severity == "error" for finding in fleet.findings)
    of_nodes = _of_nodes(fleet, list(drivers.values())) if has_nodes else {}
    for item, module, external in makers:
        is_judged_by_nodes = has_nodes and item.kind != HUB_KIND
        results = of_nodes.get(drivers[id(module)].ref, ()) if is_judged_by_nodes else _of_mappings(module)
        named = files_of(item.manifest, module, files)
        recipes = {mapping: recipe_of(module, mapping, named) for mapping, _, _ in results}
        for mapping, kernel, image in results:
            yield Use(item, module, mapping, kernel, image, recipes[mapping], external)


_Result = tuple[int, str, str]
"""A mapping, a kernel that takes it, and its image."""


def _of_nodes(fleet: nodes.Fleet, drivers: Sequence[Driver]) -> Mapping[object, Sequence[_Result]]:
    """Return what each Module gives to the kernels of the known nodes, by the Module's object."""
    from ..fleet.coverage import LOADING, by_driver, coverage  # here: few lists hold nodes

    known = [member for member in drivers if member.cluster is None and not fleet.missing_labels(member.keys)]
    results_of: dict[object, dict[_Result, None]] = {}
    for member, selected in by_driver(coverage(fleet.nodes, known, exclusive=False), known):
        results = results_of.setdefault(member.ref, {})
        for group, outcome in selected:
            mapping, image = outcome.resolution.mapping, outcome.resolution.image
            if outcome.state in LOADING and mapping is not None and image:
                results[mapping, group.kernel.removesuffix("+"), image] = None
    return {key: list(results) for key, results in results_of.items()}


def _of_mappings(module: Module) -> list[_Result]:
    """Return what a Module gives to its literals, and to kernels whose image does not name them."""
    from ..kmm.resolution import resolver  # here: few Modules build

    resolve, results = resolver(module), list[_Result]()
    for mapping, entry in enumerate(module.mappings):
        literal, template = text(entry, "literal"), text(entry, "containerImage")
        try:
            if literal:
                resolution = resolve(literal)
                if resolution.mapping == mapping and resolution.image:
                    results.append((mapping, literal, resolution.image))
            elif not _names_kernel(template or text(module.container, "containerImage")):
                single = Module({**module.manifest, "spec": {"moduleLoader": {"container": _any(module, mapping)}}})
                results.append((mapping, "", resolver(single)(_ANY_KERNEL).image or ""))
        except KrmfnError:  # KMM fails on it, and makes nothing
            continue
    return results


def _any(module: Module, mapping: int) -> dict[str, object]:
    """Return the container with this mapping alone, for every kernel."""
    entry = {key: part for key, part in module.mappings[mapping].items() if key != "literal"}
    return {**module.container, "kernelMappings": [{**entry, "regexp": ".*"}]}


def _names_kernel(template: str) -> bool:
    """Return True for an image with a variable that depends on the kernel. Raises KrmfnError for an unclosed `${`."""
    return any(part.name in KERNEL_VARIABLES for part in parse(template))


def _of_image(uses: Sequence[Use], others: Sequence[Use]) -> Result | None:
    """Return the finding about one image of a Module, from its uses of it; `others` are those of other Modules."""
    image = shortened(uses[0].image)
    builds, pulled = [use for use in uses if use.recipe], [use for use in uses if not use.recipe]
    if not builds:
        return None
    if pulled:
        mappings = f"kernelMappings[{builds[0].mapping}] and not by kernelMappings[{pulled[0].mapping}]"
        outcome = "if KMM sees a node of the latter first, it waits for the image"
        return _warning(pulled[0], f"{image} is made by {mappings}: {outcome}", "name two images")
    for use in builds[1:]:
        if parts := different_parts(builds[0].recipe, use.recipe) or _sections(builds[0], use):
            mappings = f"kernelMappings[{builds[0].mapping}] and kernelMappings[{use.mapping}]"
            return _warning(
                use, f"{image} is made by {mappings} from different {_in_words(parts)}: {_ONCE}", "name two images"
            )
    for use in (use for use in others if use.recipe):
        if parts := different_parts(builds[0].recipe, use.recipe):
            origin = " from --against" if use.external else ""
            problem = f"{image} is made by {use.item.ref}{origin}, too, from different {_in_words(parts)}"
            return _warning(builds[0], f"{problem}: the first that is made stays", "name two images")
    kernels = sorted({use.kernel for use in (*builds, *others) if use.kernel and _depends_on_kernel(use.recipe)})
    if len(kernels) > 1:
        names = some(kernels, len(kernels), 2)
        return _warning(
            builds[0], f"{image} is built for one kernel, but is for {names}: {_ONCE}", "name the kernel in it"
        )
    return None


def _sections(use: Use, other: Use) -> list[str]:
    """Return the parts that only one of two mappings has."""
    return sorted(use.recipe.keys() ^ other.recipe.keys())


def _in_words(parts: Iterable[str]) -> str:
    """Return what differs between two recipes, given the parts."""
    words = {DOCKERFILE: "Dockerfiles", ARGUMENTS: "build arguments", SIGNED: "`sign` sections"}
    return " and ".join(words[part] for part in parts)


def _depends_on_kernel(recipe: Recipe) -> bool:
    """Return True for an image that is built for a kernel: its Dockerfile asks for it, or is not known."""
    if DOCKERFILE not in recipe:
        return False
    file = recipe[DOCKERFILE][1]
    return not file or "KERNEL_FULL_VERSION" in file or "KERNEL_VERSION" in file


def _warning(use: Use, message: str, remedy: str) -> Result:
    """Return the finding at the image of a mapping."""
    entry = use.module.mappings[use.mapping]
    path, holder = (
        (f"{MAPPINGS}[{use.mapping}]", entry) if text(entry, "containerImage") else (CONTAINER, use.module.container)
    )
    template = text(holder, "containerImage")
    field = Field(f"{path}.containerImage", template)
    return warning(message, field=field, facts=(("image", use.image),), remedy=remedy)


_MADE = """\
kind: Module
spec:
  moduleLoader:
    container:
      kernelMappings:
      - literal: 6.1.0-1-amd64
        containerImage: registry.example.com/gpu:1.0-a
        build: {dockerfileConfigMap: {name: recipe}}
      - literal: 6.1.0-2-amd64
        containerImage: registry.example.com/gpu:1.0-SECOND
"""

RULES = (
    Rule(
        "KRM614",
        "an image that KMM builds or signs should be made in one way, for one kernel: KMM makes each image once",
        good=_MADE.replace("SECOND", "b"),
        bad=_MADE.replace("SECOND", "a"),
        remedy="Give each mapping and each kernel an image of its own ($KERNEL_FULL_VERSION in its tag). Or write a "
        "Dockerfile that does not ask for the kernel.",
        held=oracles.IMAGES_CONTROLLER,
        check=images_are_made_in_one_way,
        severities=("warning",),
        advice=True,
    ),
)
"""The rule about images that are made in the cluster."""
