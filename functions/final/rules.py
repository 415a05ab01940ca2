"""The rules about the final list of a cluster (KRM7xx), and the one function that checks them all."""

from __future__ import annotations

from collections.abc import Iterator

from krmfn import Result
from krmfn.rule import Rule, apply

from . import dollars, objects, order, passed_over, ready, resolved
from .stream import Final


def check(final: Final) -> Iterator[Result]:
    """Yield the findings about what reaches one cluster."""
    yield from apply(RULES, final)


_WAITING = """\
apiVersion: v1
kind: Pod
metadata: {name: trial, namespace: kmm}
spec:
  nodeSelector: {kmm.node.kubernetes.io/kmm.NAME.ready: "VALUE"}
  containers: [{name: trial, image: "registry.example.com/trial:1.0"}]
---
kind: Module
metadata: {name: gpu, namespace: kmm}
"""
_ACCOUNTS = """\
apiVersion: v1
kind: ServiceAccount
metadata: {name: gpu-loader, namespace: kmm}
---
kind: Module
spec: {moduleLoader: {serviceAccountName: NAME}}
"""
_ORDERED = """\
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: agent
  namespace: kmm
  annotations:
    argocd.argoproj.io/sync-wave: "WAVE"
    config.kubernetes.io/depends-on: kmm.sigs.x-k8s.io/namespaces/kmm/Module/gpu
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      containers: [{name: agent, image: "registry.example.com/agent:1.0"}]
---
kind: Module
metadata: {name: gpu, annotations: {argocd.argoproj.io/sync-wave: "0"}}
"""
_TWICE = """\
kind: Module
---
# a.yaml
kind: ConfigMap
metadata: {name: settings}
---
# b.yaml
kind: ConfigMap
metadata: {name: NAME}
"""
_IMAGE = """\
kind: Module
---
kind: DaemonSet
spec: {template: {spec: {containers: [{name: agent, image: "registry.example.com/agent:IMAGE"}]}}}
"""
_OWNED = """\
kind: Module
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  namespace: kmm
  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: parent, uid: "UID"}]
"""
_RENDERED = """\
kind: DeviceConfig
metadata: {annotations: MARK}
---
kind: Module
metadata:
  name: gpu
  annotations:
    krmfn.dev/owner: deviceconfig krmfn.dev|DeviceConfig|kmm|gpu kmm.sigs.x-k8s.io|Module|kmm|gpu
"""

_FUNCTION = """\
---
# function.yaml
apiVersion: krmfn.dev/v1alpha1
kind: RenderDeviceConfigs
metadata:
  name: render
  annotations: {config.kubernetes.io/function: "exec: {path: krmfn}"}
"""
_REPLACED = f"""\
# kustomization.yaml
resources: [config.yaml]
images: [{{name: registry.example.com/gpu, newName: mirror.example.com/gpu}}]
CALLED---
# config.yaml
kind: DeviceConfig
{_FUNCTION}---
# names.yaml
images: [{{group: krmfn.dev, kind: DeviceConfig, path: spec/driverImage}}]
"""
_LABELLED = f"""\
# kustomization.yaml
resources: [config.yaml]
labels: [{{pairs: {{team: storage}}}}]
transformers: [function.yaml]
---
# config.yaml
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata: {{name: gpu, namespace: kmm}}
spec: {{moduleName: gpu, driverImage: registry.example.com/gpu, driverVersion: "1.0", nodeSelector: {{a: b}}LABELS}}
{_FUNCTION}"""
_DOLLARS = """\
kind: Module
spec:
  moduleLoader:
    container:
      kernelMappings: [{regexp: ^.+$, containerImage: "registry.example.com/gpu:IMAGE"}]
"""

RULES = (
    Rule(
        "KRM701",
        "a Module that a selector or an affinity waits for should be deployed, too; it is an error if it was renamed",
        good=_WAITING.replace("NAME", "gpu").replace("VALUE", ""),
        bad=_WAITING.replace("NAME", "fpga").replace("VALUE", ""),
        remedy="Correct the name, or call krmfn in the outermost kustomization, so that the label is made from the "
        "final names. Turn the rule off if the Module is deployed from elsewhere.",
        check=ready.labels_have_their_module,
        severities=("warning", "error"),
        advice=True,
    ),
    Rule(
        "KRM702",
        "a label that a selector requires must be one that KMM sets for its Module, with the value that KMM gives it",
        good=_WAITING.replace("NAME", "gpu").replace("VALUE", ""),
        bad=_WAITING.replace("NAME", "gpu").replace("VALUE", "true"),
        remedy='Write the value "", or wait for a label that the Module has: without a device plugin there is no '
        "device-plugin-ready label, without a loader no ready label.",
        check=ready.labels_are_set,
    ),
    Rule(
        "KRM703",
        "a ServiceAccount, Secret, ConfigMap, PriorityClass or DeviceClass that is named should be deployed, too",
        good=_ACCOUNTS.replace("NAME", "gpu-loader"),
        bad=_ACCOUNTS.replace("NAME", "gpu-lodaer"),
        remedy="Correct the name. If kustomize changed it, list what `krmfn kustomize-config` prints under "
        "`configurations:`. Turn the rule off if it is deployed from elsewhere.",
        check=resolved.names_are_there,
        severities=("warning", "error"),
        advice=True,
    ),
    Rule(
        "KRM704",
        "what config.kubernetes.io/depends-on names should be deployed, and not in a later sync wave",
        good=_ORDERED.replace("WAVE", "1"),
        bad=_ORDERED.replace("WAVE", "-1"),
        remedy="Give the resource the sync wave of what it depends on, or a later one, or correct the annotation.",
        check=order.dependencies_come_first,
        severities=("warning",),
        advice=True,
    ),
    Rule(
        "KRM705",
        "a resource must be deployed only once",
        good=_TWICE.replace("NAME", "others"),
        bad=_TWICE.replace("NAME", "settings"),
        remedy="Remove or rename one of the two; if they are for two clusters, check the clusters one by one.",
        check=objects.ids_stand_once,
    ),
    Rule(
        "KRM706",
        "an image must not lack a part, as it does after a substitution without a value",
        good=_IMAGE.replace("IMAGE", "1.0-rc1"),
        bad=_IMAGE.replace("IMAGE", "1.0-"),
        remedy="Give the variable a value where it is substituted (Flux: `postBuild.substitute`), or prevent the "
        "substitution: `kustomize.toolkit.fluxcd.io/substitute: disabled`.",
        check=objects.images_are_whole,
    ),
    Rule(
        "KRM707",
        "an owner reference must have a uid, which only a live object has",
        good=_OWNED.replace("UID", "8c4f8a5e-3f5b-4c8e-9d55-6a3c3d2f9b10"),
        bad=_OWNED.replace("UID", ""),
        remedy="Remove `ownerReferences` from manifests in Git.",
        check=objects.owners_have_uids,
    ),
    Rule(
        "KRM708",
        "an input should have the local-config annotation if it is beside its generated objects or in a kpt package",
        good=_RENDERED.replace("MARK", '{config.kubernetes.io/local-config: "true"}'),
        bad=_RENDERED.replace("MARK", "{}"),
        remedy='Add the annotation `config.kubernetes.io/local-config: "true"` to it.',
        check=objects.inputs_stay_behind,
        severities=("warning",),
        advice=True,
    ),
    Rule(
        "KRM709",
        "an image that `images` of a kustomization replaces should be replaced everywhere",
        good=_REPLACED.replace("CALLED", "transformers: [function.yaml]\nconfigurations: [names.yaml]\n"),
        bad=_REPLACED.replace("CALLED", "transformers: [function.yaml]\n"),
        remedy="List what `krmfn kustomize-config` prints under `configurations:`, and call krmfn in the kustomization "
        "that has `images`; or write the new image itself.",
        check=passed_over.images_are_replaced,
        severities=("warning",),
        advice=True,
    ),
    Rule(
        "KRM710",
        "a label that a kustomization adds to all resources should be on what krmfn generates, too",
        good=_LABELLED.replace("LABELS", ", labels: {team: storage}"),
        bad=_LABELLED.replace("LABELS", ""),
        remedy="Write the label into `spec.labels` of the DeviceConfig, of its profile or of the defaults.",
        check=passed_over.labels_are_passed_on,
        severities=("info",),
        advice=True,
    ),
    Rule(
        "KRM711",
        "text for KMM should not look like a Flux variable, unless an annotation keeps Flux from substituting it",
        good=_DOLLARS.replace("IMAGE", "1.0-$KERNEL_FULL_VERSION"),
        bad=_DOLLARS.replace("IMAGE", "1.0-${KERNEL_FULL_VERSION}"),
        remedy="Add the annotation `kustomize.toolkit.fluxcd.io/substitute: disabled`, which generated objects have. "
        "Ignore the finding if Flux does not apply the object, or has no `postBuild`.",
        check=dollars.dollars_are_kept,
        severities=("info",),
        advice=True,
    ),
)
"""The rules about the final list."""
