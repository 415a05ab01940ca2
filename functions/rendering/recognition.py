"""Checks of the input: items that kpt hides, misspelt kinds, groups and versions, our resources twice or misshapen."""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from krmfn import Item, ResourceList, Result, error, schema
from krmfn.ownership import Id
from krmfn.printing import closest, is_similar

from .. import oracles
from ..fleet import readings
from ..kmm.module import HUB_GROUP, MODULE_GROUP
from ..mistake import Mistake
from ..rule import Rule
from ..run import run_of
from . import ignoring, kinds, metadata_checks, undriven, unread_lists
from .function_config import FunctionConfig
from .generated import Renderer
from .kinds import GUIDE_GROUP, INVENTORY, KNOWN, SEED, Kinds, candidates, in_file, of_kinds

PARTIAL = "internal.config.k8s.io/kpt-resource-id"
"""kpt's annotation on the items that its selectors pick."""

_SHARED = frozenset({SEED, MODULE_GROUP, HUB_GROUP})
"""Groups that may have kinds of others, which are not judged."""


def partial_view(resources: ResourceList, config: FunctionConfig) -> list[Result]:
    """Return an error when kpt's selectors hide items: generated objects among them would be added twice."""
    if config.partial_view or not any(PARTIAL in item.annotations for item in resources.mentioning(PARTIAL)):
        return []
    message = (
        "kpt shows only the items that its selectors pick, so generated objects that it hides would be added again"
    )
    remedy = (
        "remove `selectors` and `exclude` from this function in the Kptfile, or set `partialView: allow` in the "
        "functionConfig when they pick the generated kinds too"
    )
    return [error(message, rule="KRM112", remedy=remedy)]


def check(resources: ResourceList, handled: Kinds, config: FunctionConfig | None = None) -> Iterator[Result]:
    """Yield the errors about unknown kinds, groups, versions, annotations and labels, unread lists, undriven configs.

    `handled` are the kinds that are rendered in this run: their own schema judges their version. With a functionConfig
    also those about rules that cannot be turned off, and about inputs without the local-config mark.
    """
    yield from unread_lists.check(resources.items, handled)
    items = candidates(resources)
    rendered = frozenset(of_kinds(items, handled))
    misspelt: set[int] = set()
    for item in items:
        if item in rendered or not (wrong := mistake(item.api_version, item.kind)):
            continue
        misspelt.add(id(item))
        if (item.group, item.kind) == INVENTORY:
            from ..fleet import nodes  # here: few lists have one

            yield nodes.other_version(item)  # the same finding as where nodes are read
        else:
            yield item.located(error(wrong.message, rule="KRM108", remedy=wrong.remedy))
    if any(kind == "DeviceConfig" for _, kind in handled):
        yield from undriven.check(resources, handled, config or FunctionConfig(), misspelt)
    for item in items:
        if item in rendered:
            _ = item.content  # it is parsed in any case, and doing so first makes the metadata cheap to read
        yield from metadata_checks.check(item)
    if config and config.ignore:
        yield from ignoring.check_function_config(config)
    if config and any(item.mentions(readings.KUSTOMIZE_ID) for item in resources.items[:1]):
        yield from metadata_checks.inputs_are_marked(resources, handled)


@lru_cache(maxsize=4096)
def mistake(api_version: str, kind: str) -> Mistake | None:
    """Return what is wrong with a kind that is similar to ours or KMM's; None when it exists, or is another's."""
    group, slash, version = api_version.partition("/")
    if not slash:
        group, version = "", api_version
    kinds = KNOWN.get(group, {})
    if version in kinds.get(kind, ()) or (group, kind) == (GUIDE_GROUP, "Ptemplate"):
        return None
    pairs = [(g, k) for g, known in KNOWN.items() for k in known if is_similar(kind, k)]
    if group in KNOWN and group not in _SHARED:
        pairs = pairs or [(group, closest(kind, kinds) or next(iter(kinds)))]
    elif group and kind != "RenderDeviceConfigs" and not any(_is_similar_group(group, known) for known, _ in pairs):
        return None
    if not pairs:
        return None
    names = [f"{g}/{version} {k}" for g, k in pairs for version in KNOWN[g][k]]
    name = f"{api_version} {kind}"
    subject = name if api_version else f"{kind} without an apiVersion"
    outcome = "the cluster refuses it" if pairs[0][0] in (MODULE_GROUP, HUB_GROUP) else "nothing is generated from it"
    return Mistake(f"there is no {subject}, so {outcome}", f"did you mean {closest(name, names, 0)}?")


def _is_similar_group(group: str, known: str) -> bool:
    """Return True for a group that differs from a known one in a letter, in its end, or in a part before it."""
    group = group.lower()
    has_more = known != SEED and (group.endswith(f".{known}") or known.endswith(f".{group}"))
    return has_more or is_similar(group, known) or group.partition(".")[0] == known.partition(".")[0]


def sound(resources: ResourceList, items: Sequence[Item], renderer: Renderer, config: FunctionConfig) -> list[Item]:
    """Report the errors in our resources by themselves; return those that stand once and fit their schema."""
    first: dict[Id, Item] = {}
    for item in items:
        other = first.setdefault(item.ref.id, item)
        if other is not item:
            where = in_file(other).replace("(", "(the other one: ", 1)
            folders = {twin.place.path.rpartition("/")[0] for twin in (item, other) if twin.place and twin.place.path}
            has_folders = len(folders) > 1 and not run_of(resources).settings.intent.is_function
            hint = "; if these are two clusters, name the folder of each as a PATH" if has_folders else ""
            message = f"this {item.kind} appears twice{where}"
            resources.report([item.located(error(message, rule="KRM103", remedy=f"remove or rename one{hint}"))])
    sound_items: list[Item] = []
    for item in first.values():
        product = config.product(item) if config.products else None
        findings = [*readings.repeated(item), *readings.check(item)]  # readers disagree on which of two keys counts
        reported = {finding.field.path for finding in findings if finding.field}
        if product and not product.is_sound:
            continue  # the errors are reported about the Profile
        name = renderer.schemas[item.group, item.kind]
        misfits = schema.check(item.content.manifest, kinds.schema(name), "KRM101") if name else []
        if product:
            from . import products  # here: few lists have a Profile

            misfits += products.check_options(product, item)
        if misfits:
            from .variables import explain  # here, since most resources fit

            for misfit in misfits:
                if misfit.unlisted or not misfit.field or misfit.field.path not in reported:
                    findings.append(explain(renderer.hint(misfit)))
        resources.report(map(item.located, findings))
        if not any(finding.severity == "error" for finding in findings):
            sound_items.append(item)
    return sound_items


KRM108 = Rule(
    "KRM108",
    "the kind, group and version of a krmfn or KMM resource must be spelled correctly: nothing reads a misspelled one",
    good="""\
apiVersion: krmfn.dev/v1alpha1
kind: RenderDeviceConfigs
metadata: {name: settings}
""",
    bad="""\
apiVersion: krmfn.dev/v1alpha1
kind: RenderDeviceConfig
metadata: {name: settings}
""",
    remedy="Correct the kind, the group or the version; the finding names the closest match.",
    held=oracles.OUR_KINDS,
)

KRM112 = Rule(
    "KRM112",
    "kpt must pass all items, not a selection: objects that it hides would be generated again in every render",
    good="""\
kind: RenderDeviceConfigs
spec: {partialView: allow}
---
metadata: {annotations: {internal.config.k8s.io/kpt-resource-id: krmfn.dev/v1alpha1/DeviceConfig/kmm/gpu}}
""",
    bad="""\
metadata: {annotations: {internal.config.k8s.io/kpt-resource-id: krmfn.dev/v1alpha1/DeviceConfig/kmm/gpu}}
""",
    remedy="Remove `selectors` and `exclude` from this function in the Kptfile, or set `partialView: allow` in the "
    "functionConfig if they select the generated kinds, too.",
    held=oracles.OUR_MARKS,
)

KRM101 = Rule(
    "KRM101",
    "a resource must match its schema: known fields, with the right types and shapes",
    good="""\
spec: {driverVersion: "1.10"}
""",
    bad="""\
spec: {driverVersion: 1.10}
""",
    remedy="Correct the field as the finding says; quote text that looks like a number. `krmfn schema` prints the "
    "schema, for editors.",
    held=oracles.APISERVER_KINDS,
)

KRM102 = Rule(
    "KRM102",
    "a key must not appear twice in a mapping: readers disagree about which one counts",
    good="""\
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata: {name: gpu, namespace: kmm}
spec:
  moduleName: gpu
  driverImage: registry.example.com/gpu
  driverVersion: "1.1"
  nodeSelector: {example.com/gpu: "true"}
""",
    bad="""\
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata: {name: gpu, namespace: kmm}
spec:
  moduleName: gpu
  driverImage: registry.example.com/gpu
  driverVersion: "1.0"
  driverVersion: "1.1"
  nodeSelector: {example.com/gpu: "true"}
""",
    remedy="Remove all but one of them.",
    held=oracles.KUSTOMIZE_SOURCE,
)

KRM103 = Rule(
    "KRM103",
    "a resource must appear only once in the list",
    good="""\
metadata: {name: east}
spec: {nodeSelector: {site: east}}
---
metadata: {name: west}
spec: {nodeSelector: {site: west}}
""",
    bad="""\
metadata: {name: east}
spec: {nodeSelector: {site: east}}
---
metadata: {name: east}
spec: {nodeSelector: {site: west}}
""",
    remedy="Remove or rename one of the two. Correct the destination where two Applications for different clusters "
    "have the same one; where each cluster has an Argo CD of its own, name the clusters in .krmfn.yaml.",
    held=oracles.OUR_FILES,
)

RULES = (KRM108, KRM112, KRM101, KRM102, KRM103)
"""The rules about kinds and schemas, and about lists that are shown in part."""
