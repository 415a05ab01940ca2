"""Changes of kustomize that do not reach everything: images, and labels of the objects that krmfn generates."""

from collections.abc import Iterator

from krmfn import Field, Item, Result, info, warning
from krmfn.ownership import Id
from krmfn.printing import some
from krmfn.resource import join

from .. import oracles
from ..fleet import registry
from ..rule import Rule
from .stream import FinalList, images

_WHY = "it skips unknown fields, and tags with a $"
_REMEDY = (
    "call krmfn in the kustomization with `images`, write the new image, or list what `krmfn kustomize-config` prints"
)


def images_are_replaced(final: FinalList) -> Iterator[Result]:
    """Yield a warning per image that an entry of `images` names and that kustomize has not replaced."""
    entries = {entry.name: entry for entry in final.run.transformed.images}
    for item in final.deployed if entries else ():
        if any(map(item.mentions, entries)):
            for path, image in images(item):
                name, tag, digest = registry.parts(image)
                if not (entry := entries.get(name)):
                    continue
                is_old = (entry.digest and entry.digest != digest) or (entry.tag and entry.tag != tag)
                if entry.new_name != name if entry.new_name else is_old:
                    message = f"kustomize's `images` replaces {entry.name}, but not here: {_WHY}"
                    yield final.located(item, warning(message, field=Field(join(path), image), remedy=_REMEDY))


def labels_are_passed_on(final: FinalList) -> Iterator[Result]:
    """Yield an info per owner with labels from kustomize that an object generated from it does not have."""
    owners: dict[Id, tuple[Item, dict[str, None], dict[str, None]]] = {}
    labels = final.run.transformed.labels
    for item in final.deployed if labels else ():
        owner = final.owner(item)
        missing = [key for key, value in labels if owner and owner.labels.get(key) == value and key not in item.labels]
        if owner and missing:
            _, keys, names = owners.setdefault(owner.ref.id, (owner, {}, {}))
            keys |= dict.fromkeys(missing)
            names[str(item.ref)] = None
    for owner, keys, names in owners.values():
        problem = f"{some(names, len(names), limit=3)}, which krmfn generates afterwards, does not have it"
        label = f"the label {', '.join(keys)}"
        message = f"kustomize gives it {label}, but {problem}"
        yield owner.located(
            info(message, field=Field("metadata.labels"), remedy="add it to spec.labels as well if that matters")
        )


KRM709 = Rule(
    "KRM709",
    "an image that `images` of a kustomization replaces should be replaced everywhere",
    good="""\
# kustomization.yaml
resources: [config.yaml]
images: [{name: registry.example.com/gpu, newName: mirror.example.com/gpu}]
transformers: [function.yaml]
configurations: [names.yaml]
---
# config.yaml
kind: DeviceConfig
---
# function.yaml
apiVersion: krmfn.dev/v1alpha1
kind: RenderDeviceConfigs
metadata:
  name: render
  annotations: {config.kubernetes.io/function: "exec: {path: krmfn}"}
---
# names.yaml
images: [{group: krmfn.dev, kind: DeviceConfig, path: spec/driverImage}]
""",
    bad="""\
# kustomization.yaml
resources: [config.yaml]
images: [{name: registry.example.com/gpu, newName: mirror.example.com/gpu}]
transformers: [function.yaml]
---
# config.yaml
kind: DeviceConfig
---
# function.yaml
apiVersion: krmfn.dev/v1alpha1
kind: RenderDeviceConfigs
metadata:
  name: render
  annotations: {config.kubernetes.io/function: "exec: {path: krmfn}"}
---
# names.yaml
images: [{group: krmfn.dev, kind: DeviceConfig, path: spec/driverImage}]
""",
    remedy="List what `krmfn kustomize-config` prints under `configurations:`, and call krmfn in the kustomization "
    "that has `images`; or write the new image itself.",
    held=oracles.KUSTOMIZE_PAGE,
    check=images_are_replaced,
    severities=("warning",),
    advice=True,
)

KRM710 = Rule(
    "KRM710",
    "a label that a kustomization adds to all resources should be on what krmfn generates, too",
    good="""\
# kustomization.yaml
resources: [config.yaml]
labels: [{pairs: {team: storage}}]
transformers: [function.yaml]
---
# config.yaml
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata: {name: gpu, namespace: kmm}
spec: {moduleName: gpu, driverImage: registry.example.com/gpu, driverVersion: "1.0", nodeSelector: {a: b},
  labels: {team: storage}}
---
# function.yaml
apiVersion: krmfn.dev/v1alpha1
kind: RenderDeviceConfigs
metadata:
  name: render
  annotations: {config.kubernetes.io/function: "exec: {path: krmfn}"}
""",
    bad="""\
# kustomization.yaml
resources: [config.yaml]
labels: [{pairs: {team: storage}}]
transformers: [function.yaml]
---
# config.yaml
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata: {name: gpu, namespace: kmm}
spec: {moduleName: gpu, driverImage: registry.example.com/gpu, driverVersion: "1.0", nodeSelector: {a: b}}
---
# function.yaml
apiVersion: krmfn.dev/v1alpha1
kind: RenderDeviceConfigs
metadata:
  name: render
  annotations: {config.kubernetes.io/function: "exec: {path: krmfn}"}
""",
    remedy="Write the label into `spec.labels` of the DeviceConfig, of its profile or of the defaults.",
    held=oracles.KUSTOMIZE_PAGE,
    check=labels_are_passed_on,
    severities=("info",),
    advice=True,
)

RULES = (KRM709, KRM710)
"""The rules about what kustomize passes over."""
