"""Generate a Ptemplate's objects: a DeviceConfig's with what the ptemplate operator (5788fd7) has in its code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from krmfn import Field, Item, ResourceList, Result, error, info, warning
from krmfn.resource import join
from krmfn.results import Rule

from ..deviceconfig.render import claim_of
from ..rendering.function_config import FunctionConfig
from ..rendering.generated import Finding, Rendered
from ..rendering.kinds import OURS, SEED
from .generate import as_config, generate


def render(resources: ResourceList, items: Sequence[Item], config: FunctionConfig) -> Rendered:
    """Return the objects of those Ptemplates that are right, and the findings about all."""
    findings: list[Finding] = [(item.ref, finding) for item in items for finding in _rules(item, config.namespace)]
    wrong = {ref for ref, finding in findings if finding.severity == "error"}
    sound = [as_config(item, config.namespace, config.annotations) for item in items if item.ref not in wrong]
    findings += ((None, finding) for finding in _without_effect(resources, config) if items)
    return Rendered(
        [one for each in sound for one in generate(each)],
        [claim_of(each)._replace(field="spec.selector", domain=None) for each in sound],
        findings,
        {each.ref: each.item for each in sound},
    )


def _rules(item: Item, namespace: str) -> Iterator[Result]:
    if not (item.ref.namespace or namespace):
        message = "has no namespace; it is part of the label that KMM puts on nodes"
        yield item.located(error(message, rule="KRM120", field=Field("metadata.namespace")))
    if "KRMFN_" in str(item.manifest["spec"]).upper():
        from ..rendering.variables import references  # here, since hardly any has one

        for path, text, _ in references(item.manifest["spec"], ("spec",)):
            message = f"{text} is not filled in here: only a DeviceConfig has variables"
            yield item.located(error(message, rule="KRM146", field=Field(join(path), text)))
    # KRM141: pods request no more devices than a node has (a maxdev below 1 counts as 1).
    spec = item.manifest["spec"]
    devices, needed = spec.get("maxdev") or 5, spec.get("requiredDevices") or 1
    if needed > devices:
        message = f"each pod requires {needed} devices and a node has {devices} (maxdev), so no pod is ever scheduled"
        yield item.located(warning(message, rule="KRM141", field=Field("spec.requiredDevices", needed)))


def _without_effect(resources: ResourceList, config: FunctionConfig) -> Iterator[Result]:
    """Yield findings about values for DeviceConfigs when there are none."""
    if not any(item.group in (OURS, SEED) for item in resources.select("DeviceConfig")):
        for name, there in (("defaults", config.defaults), ("profiles", config.profiles)):
            if there:
                message = "has no effect: it is for DeviceConfigs, and there are none"
                yield config.source.located(info(message, rule="KRM142", field=Field(f"spec.{name}")))


RULES = (
    Rule(
        "KRM141",
        "a pod of a Ptemplate's DaemonSet should not require more devices than a node has",
        good="""\
kind: Ptemplate
spec: {maxdev: 4, requiredDevices: 2}
""",
        bad="""\
kind: Ptemplate
spec: {maxdev: 2, requiredDevices: 4}
""",
        remedy="Raise maxdev, which is the number of devices on a node, or lower requiredDevices.",
        severities=("warning",),
    ),
)
"""The rule about Ptemplates: a step of `_rules`."""
