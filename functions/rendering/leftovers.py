"""Generated objects in the list that no config in it gives any more: they are removed, kept or refused.

Where the output is kept beside the input, as in a kpt package, a missing owner was deleted by somebody. Elsewhere it
means that the input is incomplete: `kustomize build | render -` of an output whose DeviceConfigs kustomize has dropped,
a rendered branch, a dump of a cluster. Removing the objects there would unload drivers that are still in use.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence

from krmfn import Field, Item, ResourceList, Result, error, warning
from krmfn.annotations import PATH
from krmfn.ownership import OWNER, Id, known_as
from krmfn.printing import counted, some

from .. import oracles
from ..fleet.readings import KUSTOMIZE_ID
from ..grouping import grouped
from ..kmm.module import HUB_GROUP, HUB_KIND, MODULE_GROUP, MODULE_KIND
from ..rule import Rule
from ..run import run_of
from .function_config import FunctionConfig
from .generated import Rendered
from .kinds import OWNERS, PROFILE_MARK, Items, Kinds, Scope, Scopes, of_kinds

_FATES = {"always": "removed", "never": "kept"}
WAYS_OUT = (
    "pass --prune always (in the functionConfig `prune: always`) to remove it, or pass --prune never (`prune: "
    "never`) to keep it"
)


LeftOvers = tuple[Sequence[Item], Sequence[Item], Sequence[Result]]
"""Objects in the list that this run does not generate, and the findings about them.

First the generated objects that are kept without their owner (it is not in the list, or nothing drives it), then the
KMM Modules and ManagedClusterModules that are neither generated nor removed (written by hand, copied, or left over).
"""


def sort_out(
    resources: ResourceList, scopes: Scopes, config: FunctionConfig, rendered: Rendered, handled: Kinds, idle: Items
) -> LeftOvers:
    """Return what happens to objects that this run does not generate; `prune`, the intent and kpt decide it.

    `rendered` is what the run generates, `handled` the kinds that it renders, and `idle` the configs of these kinds
    that nothing drives: objects from such a config are kept as long as it is in the list. In a list that is rendered
    already no object is left over, and every Module is judged.
    """
    marked = resources.marked()
    modules = [*resources.where(kind=MODULE_KIND, group=MODULE_GROUP), *resources.where(kind=HUB_KIND, group=HUB_GROUP)]
    if not marked:
        return (), modules, ()
    by_scope = [(scope, generated_by(scope, marked)) for scope in scopes]
    objects = dict.fromkeys(item for _, items in by_scope for item in items)
    ids = {obj.ref.id for obj in rendered.objects}
    ours = {item for item in marked if any(scope.names(item.mark) for scope in scopes)}
    others = [item for item in marked if item.ref.id not in ids and item not in objects]
    copies = [item for item in others if item in ours or not item.mark]
    if run_of(resources).is_settled:
        return (), modules, [*_findings((), (), copies, ())]
    orphaned = [item for scope, items in by_scope for item in orphans(resources.items, items, scope, config.namespace)]
    orphaned = [item for item in orphaned if item.ref.id not in ids]
    packages = _kpt_folders(resources) if orphaned else ()
    default = "kept" if run_of(resources).settings.intent.keeps_left_overs else "refused"
    fates: dict[Item, str] = {}
    for item in orphaned:
        path = _path(item)
        is_in_package = path != "" and path.startswith(packages)  # so its owner was there, too
        fates[item] = _FATES.get(config.prune, "removed" if is_in_package else default)
    kept, refused = ([item for item in orphaned if fates[item] == fate] for fate in ("kept", "refused"))
    idle_ids = _ids(idle, config.namespace)
    rest = [(item, item.mark) for item in objects if item not in fates]
    undriven = [item for item, mark in rest if mark and (mark.owner[:2] not in handled or mark.owner in idle_ids)]
    replaced = {item for item in ours if item.ref.id in ids}
    removed = objects.keys() if config.prune != "never" else set()
    replaced = (replaced | removed).difference(kept, refused, undriven)
    of_idle = [item for item, mark in rest if mark and mark.owner in idle_ids]
    findings = [*_findings(refused, kept if config.prune == "auto" else (), copies, of_idle)]
    return [*kept, *undriven], [item for item in modules if item not in replaced], findings


def generated_by(scope: Scope, marked: Iterable[Item]) -> list[Item]:
    """Return those of the items with a mark that `scope` generated: mark, kind and the object's own id all fit."""
    return [item for item in marked if scope.names(item.mark) and scope.has_generated(item.ref, item.annotations)]


def orphans(items: Iterable[Item], objects: Collection[Item], scope: Scope, namespace: str = "") -> list[Item]:
    """Return the objects whose owner is not among the items, not even under a former name.

    `namespace` is that of owners without one.
    """
    ids = _ids(of_kinds(items, scope.owners), namespace) if objects else ()
    return [item for item in objects if item.mark and item.mark.owner not in ids]


def _ids(items: Iterable[Item], namespace: str) -> set[Id]:
    """Return every id of some items, former ones included; an id without a namespace also with `namespace`."""
    ids = set[Id]().union(*(known_as(item.ref, item.annotations) for item in items))
    return ids | {(group, kind, namespace, name) for group, kind, space, name in ids if not space}


def _findings(
    refused: Iterable[Item], kept: Sequence[Item], copies: Sequence[Item], idle: Iterable[Item]
) -> Iterator[Result]:
    """Yield an error per refused object, and one warning each about the objects kept, the copies, and each idle config.

    Copies are objects whose mark names another object. `idle` are objects whose config nothing drives any more.
    """
    for item in refused:
        owner = _owner(item)
        message = f"was generated from {owner}, which is missing from the input; not removed, because it may exist"
        product = item.annotations.get(PROFILE_MARK)
        missing = f"{owner} and the Profile {product}" if product else owner
        yield item.located(
            error(f"{message} elsewhere", rule="KRM116", remedy=f"add {missing} to the input, {WAYS_OUT}")
        )
    if kept:
        count, names = len(kept), some((str(item.ref) for item in kept), len(kept))
        owners = sorted({_owner(item) for item in kept})
        verb = "they were" if count > 1 else "it was"
        origin = f"what {verb} generated from ({some(owners, len(owners))})"
        message = f"the input has {counted(count, 'generated object')} ({names}) without {origin}"
        remedy = "add that to the input, or remove the generated objects"
        finding = warning(f"{message}: checked as if written by hand", rule="KRM116", remedy=remedy)
        yield kept[0].located(finding)
    if copies:
        names = some((str(item.ref) for item in copies), len(copies))
        outcome = "it is neither updated nor removed"
        message = f"on {names} this annotation was written for another object, so this is a copy: {outcome}"
        field = Field(f"metadata.annotations[{OWNER}]")
        yield copies[0].located(warning(message, rule="KRM117", field=field, remedy="remove the annotation"))
    for owner, items in grouped((_owner(item), item) for item in idle).items():
        names = some((str(item.ref) for item in items), len(items))
        remedy = "remove these objects when its own operator has taken over"
        message = f"nothing drives {owner} any more, so what was generated from it stays as it is: {names}"
        yield items[0].located(warning(message, rule="KRM116", remedy=remedy))


def _owner(item: Item) -> str:
    mark = item.mark
    group, kind, namespace, name = mark.owner if mark else ("", "", "", "")
    vendor = f"{group} " if (group, kind) not in OWNERS else ""
    return f"{vendor}{kind} {namespace + '/' if namespace else ''}{name}"


def _kpt_folders(resources: ResourceList) -> tuple[str, ...]:
    """Return the folders of kpt packages with a final slash ("" for the top); none for a list from kustomize."""
    if any(KUSTOMIZE_ID in item.annotations for item in resources.mentioning(KUSTOMIZE_ID)):
        return ()
    files = map(_path, resources.where(kind="Kptfile", group="kpt.dev"))
    return tuple(path[: path.rfind("/") + 1] for path in files if path)


def _path(item: Item) -> str:
    """Return the item's file, from kpt's annotation or as it was read; "" for an item of a stream."""
    place = item.place
    path = item.annotations.get(PATH) or (place.path if place and place.path != "stdin" else "")
    return path.replace("\\", "/")


KRM116 = Rule(
    "KRM116",
    "a generated object's owner must be in the input; otherwise the object is not removed, because it may exist "
    "elsewhere",
    good="""\
kind: Module
metadata:
  name: gpu
  annotations:
    krmfn.dev/owner: deviceconfig krmfn.dev|DeviceConfig|kmm|gpu kmm.sigs.x-k8s.io|Module|kmm|gpu
---
kind: DeviceConfig
metadata: {name: gpu}
""",
    bad="""\
kind: Module
metadata:
  name: gpu
  annotations:
    krmfn.dev/owner: deviceconfig krmfn.dev|DeviceConfig|kmm|gpu kmm.sigs.x-k8s.io|Module|kmm|gpu
""",
    remedy="Add the owner to the input, or choose what happens to such objects: `--prune always` (in the "
    "functionConfig `prune: always`) removes them, `--prune never` keeps them.",
    held=oracles.OUR_MARKS,
    severities=("warning", "error"),
)

KRM117 = Rule(
    "KRM117",
    "the annotation krmfn.dev/owner should name the object that has it: a renamed copy is neither updated nor removed",
    good="""\
kind: DeviceConfig
metadata: {name: gpu}
---
kind: Module
metadata: {name: copy}
spec: {selector: {site: lab}, moduleLoader: {container: {modprobe: {moduleName: another}}}}
""",
    bad="""\
kind: DeviceConfig
metadata: {name: gpu}
---
kind: Module
metadata:
  name: copy
  annotations:
    krmfn.dev/owner: deviceconfig krmfn.dev|DeviceConfig|kmm|gpu kmm.sigs.x-k8s.io|Module|kmm|gpu
spec: {selector: {site: lab}, moduleLoader: {container: {modprobe: {moduleName: another}}}}
""",
    remedy="Remove the annotation `krmfn.dev/owner` from the copy.",
    held=oracles.KUSTOMIZE_BUILDS,
    severities=("warning",),
)

RULES = (KRM116, KRM117)
"""The rules about generated objects without their owner: `findings` and `strays`."""
