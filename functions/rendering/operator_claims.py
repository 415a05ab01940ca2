"""Configs that an operator of the cluster acts on: two of one kind must not select one node; it would refuse them."""

from collections.abc import Iterator, Mapping

from krmfn import Field, Item, ResourceList, Result, warning
from krmfn.resource import split
from krmfn.typed import Any

from .. import oracles
from ..exclusivity import Claim
from ..kmm.lookup import table
from ..rule import Rule
from .function_config import FunctionConfig


def claims(resources: ResourceList, config: FunctionConfig) -> Iterator[Claim]:
    """Yield the claims of configs whose operator has a `selector` in the functionConfig: a domain for each kind."""
    for item, path in _configs(resources, config):
        selector = selector_of(item.manifest, path)
        if selector is not None:
            domain = f"{item.group}/{item.kind}"
            yield Claim(item.ref, selector, path, domain, place=item.place, module=(item.ref.namespace, item.ref.name))


def selectors_are_there(resources: ResourceList, config: FunctionConfig) -> Iterator[Result]:
    """Yield a warning per config whose selector is not where the functionConfig says that it is."""
    for item, path in _configs(resources, config):
        if selector_of(item.manifest, path) is None:
            message = f"has no labels at {path}, where `operators` in the functionConfig says that its selector is"
            finding = warning(f"{message}, so its nodes are not known", rule=KRM535.id, remedy="correct the path")
            yield item.located(finding._replace(field=Field(path)))


def selector_of(manifest: Mapping[str, Any], path: str) -> dict[str, str] | None:
    """Return the node selector at a path; None where no mapping of strings is there."""
    *parents, last = split(path)
    value = table(manifest, *parents).get(last)
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        return None
    return {str(key): text for key, text in value.items()}


def _configs(resources: ResourceList, config: FunctionConfig) -> Iterator[tuple[Item, str]]:
    for (group, kind), path in config.selectors.items():
        yield from ((item, path) for item in resources.where(kind=kind, group=group))


_GOOD = """\
kind: RenderDeviceConfigs
spec: {operators: [{group: amd.com, kind: DeviceConfig, selector: spec.selector}]}
---
apiVersion: amd.com/v1alpha1
kind: DeviceConfig
metadata: {name: default, namespace: kube-amd-gpu}
spec: {selector: {example.com/gpu: "true"}}
"""

KRM535 = Rule(
    "KRM535",
    "the selector of a config that an operator acts on should be where `operators` of the functionConfig says",
    good=_GOOD,
    bad=_GOOD.replace("selector: spec.selector", "selector: spec.nodeSelector"),
    remedy="Correct the path, such as `spec.selector`, or leave it out: then nothing is said of its nodes.",
    held=oracles.OUR_KINDS,
    severities=("warning",),
    advice=True,
)

RULES = (KRM535,)
"""The rule, which is a step of the pipeline."""
