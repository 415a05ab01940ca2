"""Checks of our own resources before they are rendered: each stands once and fits its schema."""

from collections.abc import Sequence

from krmfn import Item, ResourceList, error, schema
from krmfn.ownership import Id
from krmfn.results import Rule

from ..fleet import readings
from ..run import run_of
from . import kinds
from .function_config import FunctionConfig
from .generated import Renderer
from .kinds import in_file


def sound(resources: ResourceList, items: Sequence[Item], renderer: Renderer, config: FunctionConfig) -> list[Item]:
    """Report what is wrong with our resources by themselves; return those that stand once and fit their schema."""
    first: dict[Id, Item] = {}
    for item in items:
        other = first.setdefault(item.ref.id, item)
        if other is not item:
            where = in_file(other).replace("(", "(the other one: ", 1)
            folders = {one.place.path.rpartition("/")[0] for one in (item, other) if one.place and one.place.path}
            is_of_two = len(folders) > 1 and not run_of(resources).settings.intent.is_function
            hint = "; if these are two clusters, name the folder of each as a PATH" if is_of_two else ""
            message = f"this {item.kind} appears twice{where}; remove or rename one{hint}"
            resources.report([item.located(error(message, rule="KRM103"))])
    return [item for item in first.values() if _fits(resources, item, renderer, config)]


def _fits(resources: ResourceList, item: Item, renderer: Renderer, config: FunctionConfig) -> bool:
    """Report the schema's findings, and an error for each repeated key, since readers disagree on which one counts."""
    findings = [*readings.repeated(item), *readings.check(item)]
    known = {finding.field.path for finding in findings if finding.field}
    product = config.product(item) if config.products else None
    if product and not product.is_sound:
        return False  # what is wrong is said of the Profile
    name = renderer.schemas[item.group, item.kind]
    misfits = schema.check(item.content.manifest, kinds.schema(name), "KRM101") if name else []
    if product:
        from . import products  # here: few lists have a Profile

        misfits += products.check_options(product, item)
    if misfits:
        from .variables import explained  # here, since most resources fit

        misfits = [one for one in misfits if one.unlisted or not one.field or one.field.path not in known]
        findings += [explained(renderer.hint(finding)) for finding in misfits]
    resources.report(map(item.located, findings))
    return not any(finding.severity == "error" for finding in findings)


RULES = (
    Rule(
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
    ),
    Rule(
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
    ),
    Rule(
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
    ),
)
"""The rules of this stage."""
