"""Generate a Ptemplate's objects: a DeviceConfig's with what the ptemplate operator (5788fd7) has in its code."""

from __future__ import annotations

from functools import partial

from krmfn import Field, Item, Ref, Result
from krmfn.resource import moved

from ..deviceconfig import daemonsets
from ..deviceconfig.generate import module
from ..deviceconfig.model import DeviceConfig, spec
from ..rendering.generated import Generated, generated
from ..rendering.kinds import PTEMPLATE

_IMAGES = "quay.io/chrisp262"
_FIELDS = {
    "metadata.name": "metadata.name",
    "spec.selector": "spec.selector",
    "spec.imageRepoSecret": "spec.imagePullSecret",
    "spec.devicePlugin.container.image": "spec.deviceplugin",
    "spec.moduleLoader.container.modprobe.parameters[0]": "spec.maxdev",
    "spec.moduleLoader.container.modprobe.parameters[1]": "spec.defaultmsg",
}
"""Fields of the Module, and the fields that they are made from."""


def as_config(item: Item, namespace: str, annotations: dict[str, str]) -> DeviceConfig:
    """Return the DeviceConfig that makes the objects of a Ptemplate; `namespace` for one that names none.

    `annotations` are those of the functionConfig for every generated object.
    """
    ref, own = item.ref, item.manifest["spec"]
    consumer = {
        "name": "consumer",
        "image": own.get("consumer") or f"{_IMAGES}/pt-device-plugin:consumer-latest",
        "imagePullPolicy": "Always",
        "resources": {"limits": {"example.com/ptemplate": own.get("requiredDevices") or 1}},
        "privileged": True,
        "volumeMounts": [{"name": "host-dev", "mountPath": "/hostdev"}],
        "volumes": [{"name": "host-dev", "hostPath": {"path": "/dev"}}],
        "matchLabels": {"app": ref.name},
    }
    fields = {
        "nodeSelector": own["selector"],
        "moduleName": "ptemplate_char_dev",
        "parameters": [f"max_dev={own.get('maxdev') or 5}", f"default_msg={own.get('defaultmsg', '')}"],
        "kernelMappings": [{"regexp": "^.+$", "image": f"{_IMAGES}/pt-char-dev:$KERNEL_FULL_VERSION-sb"}],
        "imagePullPolicy": "Always",
        # The operator creates with :plugin-latest and changes to this at its second look, which stays.
        "devicePlugin": {"image": own.get("deviceplugin") or f"{_IMAGES}/pt-device-plugin:latest"},
        "imagePullSecret": own.get("imagePullSecret", {}).get("name", ""),
        "daemonSets": [consumer],
    }
    owner = ref if ref.namespace else ref._replace(namespace=namespace)
    return DeviceConfig(item, owner, False, "", "", (), fields, spec(fields), annotations)


def generate(config: DeviceConfig) -> list[Generated]:
    """Return the Module `<name>` and the DaemonSet `<name>-consumer`."""
    ((_, consumer),) = daemonsets.objects(config)
    consumer["metadata"]["labels"]["app"] = config.ref.name
    origin = partial(_origin, config.item, config.ref)
    made = (module(config, {}), consumer)
    return [generated(manifest, PTEMPLATE, config.item, config.ref, origin) for manifest in made]


def _origin(item: Item, owner: Ref, finding: Result) -> Result | None:
    """Return the finding about the Module as one about the Ptemplate's field; None when there is no such field."""
    path = moved(finding.field.path, _FIELDS) if finding.field else None
    if path is None or finding.field is None:
        return None
    return item.located(finding._replace(ref=owner, field=Field(path, finding.field.current)))
