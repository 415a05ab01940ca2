"""Render Ptemplates that fit their schema: each becomes a DeviceConfig with the values of the ptemplate operator.

They are in the operator's code (5788fd7).
"""

from collections.abc import Iterator, Sequence

from krmfn import Field, Item, Ref, ResourceList, Result, error, info, warning
from krmfn.resource import join, moved
from krmfn.typed import NamedTuple

from .. import oracles
from ..deviceconfig import daemonsets
from ..deviceconfig.fields import Spec
from ..deviceconfig.generate import module
from ..deviceconfig.model import DeviceConfig, typed
from ..deviceconfig.render import claim_of
from ..rendering.function_config import FunctionConfig
from ..rendering.generated import Finding, Generated, Rendered
from ..rendering.kinds import OURS, PTEMPLATE, SEED
from ..rule import Rule

_IMAGES = "quay.io/chrisp262"
_FIELDS = {
    "metadata.name": "metadata.name",
    "spec.selector": "spec.selector",
    "spec.imageRepoSecret": "spec.imagePullSecret",
    "spec.devicePlugin.container.image": "spec.deviceplugin",
    "spec.moduleLoader.container.modprobe.parameters[0]": "spec.maxdev",
    "spec.moduleLoader.container.modprobe.parameters[1]": "spec.defaultmsg",
}
"""Fields of the Module, with the fields of the Ptemplate that they come from."""


def render(resources: ResourceList, items: Sequence[Item], config: FunctionConfig) -> Rendered:
    """Return the objects of the Ptemplates without an error, and the findings about all."""
    findings: list[Finding] = [(item.ref, finding) for item in items for finding in _rules(item, config.namespace)]
    faulty_refs = {ref for ref, finding in findings if finding.severity == "error"}
    sound = [as_config(item, config.namespace, config.annotations) for item in items if item.ref not in faulty_refs]
    findings += ((None, finding) for finding in _without_effect(resources, config) if items)
    objects = [generated for driver in sound for generated in generate(driver)]
    claims = [claim_of(driver)._replace(field="spec.selector", domain=None) for driver in sound]
    return Rendered(objects, claims, findings, {driver.ref: driver.item for driver in sound})


def as_config(item: Item, namespace: str, annotations: dict[str, str]) -> DeviceConfig:
    """Return the DeviceConfig for a Ptemplate, in `namespace` if the Ptemplate names none.

    `annotations` are those of the functionConfig for every generated object.
    """
    ref, spec = item.ref, item.content.manifest["spec"]
    consumer = {
        "name": "consumer",
        "image": spec.get("consumer") or f"{_IMAGES}/pt-device-plugin:consumer-latest",
        "imagePullPolicy": "Always",
        "resources": {"limits": {"example.com/ptemplate": spec.get("requiredDevices") or 1}},
        "privileged": True,
        "volumeMounts": [{"name": "host-dev", "mountPath": "/hostdev"}],
        "volumes": [{"name": "host-dev", "hostPath": {"path": "/dev"}}],
        "matchLabels": {"app": ref.name},
    }
    fields = {
        "nodeSelector": spec["selector"],
        "moduleName": "ptemplate_char_dev",
        "parameters": [f"max_dev={spec.get('maxdev') or 5}", f"default_msg={spec.get('defaultmsg', '')}"],
        "kernelMappings": [{"regexp": "^.+$", "image": f"{_IMAGES}/pt-char-dev:$KERNEL_FULL_VERSION-sb"}],
        "imagePullPolicy": "Always",
        # The operator creates the Module with :plugin-latest and changes that to this one when it next reconciles.
        "devicePlugin": {"image": spec.get("deviceplugin") or f"{_IMAGES}/pt-device-plugin:latest"},
        "imagePullSecret": spec.get("imagePullSecret", {}).get("name", ""),
        "daemonSets": [consumer],
    }
    owner = ref if ref.namespace else ref._replace(namespace=namespace)
    return DeviceConfig(item, owner, False, "", "", (), fields, typed(Spec, fields), annotations)


def generate(config: DeviceConfig) -> list[Generated]:
    """Return the Module `<name>` and the DaemonSet `<name>-consumer`."""
    ((_, consumer),) = daemonsets.objects(config, {})
    consumer["metadata"]["labels"]["app"] = config.ref.name
    origin = PtemplateOrigin(config.item, config.ref)
    manifests = (module(config, {}), consumer)
    return [Generated(manifest, PTEMPLATE, config.item, config.ref, origin) for manifest in manifests]


class PtemplateOrigin(NamedTuple):
    """The Ptemplate that a Module is made from."""

    item: Item
    owner: Ref

    def moved(self, finding: Result) -> Result | None:
        """Return a finding about the Module as one about the Ptemplate's field; None when there is no such field."""
        path = moved(finding.field.path, _FIELDS) if finding.field else None
        if path is None or finding.field is None:
            return None
        return self.item.located(finding._replace(ref=self.owner, field=Field(path, finding.field.current)))


def _rules(item: Item, namespace: str) -> Iterator[Result]:
    if not (item.ref.namespace or namespace):
        message, remedy = "has no namespace, which is part of the label that KMM puts on nodes", "write one"
        yield item.located(error(message, rule="KRM120", field=Field("metadata.namespace"), remedy=remedy))
    spec = item.content.manifest["spec"]
    if "KRMFN_" in str(spec).upper():
        from ..rendering.variables import references  # here, since hardly any has one

        for path, text, _ in references(spec, ("spec",)):
            message = f"{text} is not filled in here: only a DeviceConfig has variables"
            remedy = "write the value itself"
            yield item.located(error(message, rule="KRM146", field=Field(join(path), text), remedy=remedy))
    # KRM141; a maxdev below 1 counts as 1
    devices, needed = spec.get("maxdev") or 5, spec.get("requiredDevices") or 1
    if needed > devices:
        message = f"each pod requires {needed} devices and a node has {devices} (maxdev), so no pod is ever scheduled"
        field, remedy = Field("spec.requiredDevices", needed), f"write at most {devices}, or raise maxdev"
        yield item.located(warning(message, rule="KRM141", field=field, remedy=remedy))


def _without_effect(resources: ResourceList, config: FunctionConfig) -> Iterator[Result]:
    """Yield an info per field of the functionConfig that is for DeviceConfigs, if the list has none."""
    has_configs = any(item.group in (OURS, SEED) for item in resources.where(kind="DeviceConfig"))
    for name, value in (("defaults", config.defaults), ("profiles", config.profiles)):
        if value and not has_configs:
            message = "has no effect: it is for DeviceConfigs, and there are none"
            yield config.source.located(info(message, rule="KRM142", field=Field(f"spec.{name}"), remedy="remove it"))


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
        held=oracles.VENDORS,
        severities=("warning",),
    ),
)
"""The rule about Ptemplates, which `_rules` applies."""
