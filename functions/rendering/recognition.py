"""What is read: items that kpt hides, misspelt kinds, groups and versions; and each of ours stands once and fits."""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from krmfn import Item, ResourceList, Result, error, schema
from krmfn.ownership import Id
from krmfn.printing import closest
from krmfn.results import Rule

from ..fleet import readings
from ..kmm.module import HUB_GROUP, MODULE_GROUP
from ..run import run_of
from . import ignoring, kinds, metadata_checks, undriven
from .function_config import FunctionConfig
from .generated import Renderer
from .kinds import GUIDE_GROUP, INVENTORY, KNOWN, SEED, Kinds, candidates, in_file, is_similar, of_kinds

PARTIAL = "internal.config.k8s.io/kpt-resource-id"
"""kpt's annotation on the items that its selectors pick."""

_SHARED = frozenset({SEED, MODULE_GROUP, HUB_GROUP})
"""Groups that may have other kinds, which are none of our business."""


def partial_view(resources: ResourceList, config: FunctionConfig) -> list[Result]:
    """Return an error when kpt's selectors hide items: generated objects among them would be added twice."""
    if config.partial_view or not any(PARTIAL in item.annotations for item in resources.mentioning(PARTIAL)):
        return []
    message = (
        "kpt shows only the items that its selectors pick, so generated objects that it hides would be added again; "
        "remove `selectors` and `exclude` from this function in the Kptfile, or set `partialView: allow` in the "
        "functionConfig when they pick the generated kinds too"
    )
    return [error(message, rule="KRM112")]


def check(resources: ResourceList, handled: Kinds, config: FunctionConfig | None = None) -> Iterator[Result]:
    """Yield the errors about unknown kinds, groups, versions, annotations and labels, and about undriven configs.

    `handled` are the pairs that are rendered in this run: their own schema judges their version. With a functionConfig
    also those about rules turned off in vain, and about inputs without a mark.
    """
    items = candidates(resources)
    rendered = frozenset(of_kinds(items, handled))
    wrong: set[int] = set()
    for item in items:
        if item in rendered or not (message := mistake(item.api_version, item.kind)):
            continue
        wrong.add(id(item))
        if (item.group, item.kind) == INVENTORY:
            from ..fleet import nodes  # here: few lists have one

            yield nodes.other_version(item)  # as those say it that read the nodes
        else:
            yield item.located(error(message, rule="KRM108"))
    if any(kind == "DeviceConfig" for _, kind in handled):
        yield from undriven.check(resources, handled, config or FunctionConfig(), wrong)
    for item in items:
        if item in rendered:
            _ = item.content  # read in full in any case; doing it first makes the looks at its metadata cheap
        yield from metadata_checks.check(item)
    if config and config.ignore:
        yield from ignoring.check_function_config(config)
    if config:
        yield from metadata_checks.inputs_are_marked(resources, handled)


@lru_cache(maxsize=4096)
def mistake(api_version: str, kind: str) -> str:
    """Return what is wrong with a kind that is nearly ours or KMM's; "" when it exists or is none of our business."""
    group, slash, version = api_version.partition("/")
    if not slash:
        group, version = "", api_version
    kinds = KNOWN.get(group, {})
    if version in kinds.get(kind, ()) or (group, kind) == (GUIDE_GROUP, "Ptemplate"):
        return ""
    alike = [(g, k) for g, known in KNOWN.items() for k in known if is_similar(kind, k)]
    if group in KNOWN and group not in _SHARED:
        alike = alike or [(group, closest(kind, kinds) or next(iter(kinds)))]
    elif group and kind != "RenderDeviceConfigs" and not any(_near_group(group, known) for known, _ in alike):
        return ""
    if not alike:
        return ""
    names = [f"{g}/{version} {k}" for g, k in alike for version in KNOWN[g][k]]
    written = f"{api_version} {kind}"
    name = written if api_version else f"{kind} without an apiVersion"
    outcome = "the cluster refuses it" if alike[0][0] in (MODULE_GROUP, HUB_GROUP) else "nothing is generated from it"
    return f"there is no {name}, so {outcome}; did you mean {closest(written, names, 0)}?"


def _near_group(group: str, known: str) -> bool:
    """Return True for a group that is a known one but for a letter, for its end, or for a part before it."""
    group = group.lower()
    part = known != SEED and (group.endswith(f".{known}") or known.endswith(f".{group}"))
    return part or is_similar(group, known) or group.partition(".")[0] == known.partition(".")[0]


def sound(resources: ResourceList, items: Sequence[Item], renderer: Renderer, config: FunctionConfig) -> list[Item]:
    """Report what is wrong with our resources by themselves; return those that stand once and fit their schema."""
    first: dict[Id, Item] = {}
    for item in items:
        other = first.setdefault(item.ref.id, item)
        if other is not item:
            where = in_file(other).replace("(", "(the other one: ", 1)
            folders = {item.place.path.rpartition("/")[0] for item in (item, other) if item.place and item.place.path}
            is_of_two = len(folders) > 1 and not run_of(resources).settings.intent.is_function
            hint = "; if these are two clusters, name the folder of each as a PATH" if is_of_two else ""
            message = f"this {item.kind} appears twice{where}; remove or rename one{hint}"
            resources.report([item.located(error(message, rule="KRM103"))])
    fitting: list[Item] = []
    for item in first.values():
        product = config.product(item) if config.products else None
        findings = [*readings.repeated(item), *readings.check(item)]  # readers disagree on which of two keys counts
        known = {finding.field.path for finding in findings if finding.field}
        if product and not product.is_sound:
            continue  # what is wrong is said of the Profile
        name = renderer.schemas[item.group, item.kind]
        misfits = schema.check(item.content.manifest, kinds.schema(name), "KRM101") if name else []
        if product:
            from . import products  # here: few lists have a Profile

            misfits += products.check_options(product, item)
        if misfits:
            from .variables import explained  # here, since most resources fit

            misfits = [item for item in misfits if item.unlisted or not item.field or item.field.path not in known]
            findings += [explained(renderer.hint(finding)) for finding in misfits]
        resources.report(map(item.located, findings))
        if not any(finding.severity == "error" for finding in findings):
            fitting.append(item)
    return fitting


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
    remedy="Remove or rename one of the two.",
)

RULES = (KRM108, KRM112, KRM101, KRM102, KRM103)
"""The rules about kinds and schemas, and about lists that are shown in part."""
