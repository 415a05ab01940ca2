"""Generate a Ptemplate's objects, with the values that the ptemplate operator (5788fd7) has in its code. Pure."""

from __future__ import annotations

from functools import partial

from krmfn import Field, Item, Manifest, Ref, Result
from krmfn.fieldpath import moved
from krmfn.typed import Any

from ..kmm.module import MODULE_API, MODULE_KIND, ready_label
from ..rendering.generated import MODULE_ORDER, Generated, daemonset_order, filled, generated, metadata
from ..rendering.kinds import PTEMPLATE

MODULE = "ptemplate_char_dev"
_IMAGES = "quay.io/chrisp262"


def generate(item: Item, namespace: str, annotations: dict[str, str]) -> list[Generated]:
    """Return the Module `<name>` and the DaemonSet `<name>-consumer`; `namespace` for a Ptemplate that names none.

    `annotations` are those of the functionConfig for every generated object.
    """
    owner = item.ref if item.ref.namespace else item.ref._replace(namespace=namespace)
    spec = item.manifest["spec"]
    made = (_module(owner, spec, annotations), _consumer(owner, spec, annotations))
    return [generated(manifest, PTEMPLATE, item, owner, partial(_origin, item, owner)) for manifest in made]


_FIELDS = {
    "metadata.name": "metadata.name",
    "spec.selector": "spec.selector",
    "spec.imageRepoSecret": "spec.imagePullSecret",
    "spec.devicePlugin.container.image": "spec.deviceplugin",
    "spec.moduleLoader.container.modprobe.parameters[0]": "spec.maxdev",
    "spec.moduleLoader.container.modprobe.parameters[1]": "spec.defaultmsg",
}
"""Fields of the Module, and the fields that they are made from."""


def _origin(item: Item, owner: Ref, finding: Result) -> Result | None:
    """Return the finding about the Module as one about the Ptemplate's field; None when there is no such field."""
    path = moved(finding.field.path, _FIELDS) if finding.field else None
    if path is None or finding.field is None:
        return None
    return item.located(finding._replace(ref=owner, field=Field(path, finding.field.current)))


def _module(owner: Ref, spec: dict[str, Any], annotations: dict[str, str]) -> Manifest:
    # The operator creates with :plugin-latest and changes to the field's default at its second look; the latter stays.
    plugin = spec.get("deviceplugin") or f"{_IMAGES}/pt-device-plugin:latest"
    parameters = [f"max_dev={spec.get('maxdev') or 5}", f"default_msg={spec.get('defaultmsg', '')}"]
    mapping = {"regexp": "^.+$", "containerImage": f"{_IMAGES}/pt-char-dev:$KERNEL_FULL_VERSION-sb"}
    container = {
        "modprobe": {"moduleName": MODULE, "dirName": "/opt", "parameters": parameters},
        "imagePullPolicy": "Always",
        "kernelMappings": [mapping],
    }
    return {
        "apiVersion": MODULE_API,
        "kind": MODULE_KIND,
        "metadata": metadata(owner.name, owner, "module", MODULE_ORDER, {}, annotations),
        "spec": filled(
            moduleLoader={"container": container},
            devicePlugin={"container": {"image": plugin}},
            imageRepoSecret=spec.get("imagePullSecret"),
        )
        | {"selector": dict(spec["selector"])},
    }


def _consumer(owner: Ref, spec: dict[str, Any], annotations: dict[str, str]) -> Manifest:
    container = {
        "name": "consumer",
        "image": spec.get("consumer") or f"{_IMAGES}/pt-device-plugin:consumer-latest",
        "imagePullPolicy": "Always",
        "resources": {"limits": {"example.com/ptemplate": spec.get("requiredDevices") or 1}},
        "securityContext": {"privileged": True},
        "volumeMounts": [{"name": "host-dev", "mountPath": "/hostdev"}],
    }
    secret = spec.get("imagePullSecret")
    pod = filled(
        imagePullSecrets=[dict(secret)] if secret else None,
        nodeSelector={**spec["selector"], ready_label(owner.namespace, owner.name): ""},
        containers=[container],
        volumes=[{"name": "host-dev", "hostPath": {"path": "/dev"}}],
    )
    name = f"{owner.name}-consumer"
    own_metadata = metadata(name, owner, "consumer", daemonset_order(owner.namespace, owner.name), {}, annotations)
    own_metadata["labels"]["app"] = owner.name
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": own_metadata,
        "spec": {
            "selector": {"matchLabels": {"app": owner.name}},
            "template": {"metadata": {"labels": dict(own_metadata["labels"])}, "spec": pod},
        },
    }
