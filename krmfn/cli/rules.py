"""The rules that the command line itself applies to a PATH: steps of `manifests`, `inputs` and `builds`."""

from __future__ import annotations

from ..rule import Rule

_CALLED = """\
# kustomization.yaml
resources: [config.yaml]
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
  annotations:
    config.kubernetes.io/function: "exec: {path: krmfn}"
"""

_LATER = """\
---
# kustomization.yaml
resources: [base]
patches:
- target: {kind: DeviceConfig}
  patch: '[{"op": "replace", "path": "/spec/driverVersion", "value": "2.0"}]'
"""

RULES = (
    Rule(
        "KRM100",
        "a document or an item of a List has apiVersion and kind; one of them alone is an error, and what has neither "
        "is left out",
        good="""\
# notes.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: notes, namespace: kmm}
data: {todo: rename the pool}
""",
        bad="""\
# notes.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: notes, namespace: kmm}
---
# notes.yaml
todo: rename the pool
""",
        remedy="Add apiVersion and kind, or move the document to a file without resources.",
        severities=("warning", "error"),
    ),
    Rule(
        "KRM106",
        "kustomize prints no message about the directory that it builds",
        good="""\
# kustomization.yaml
resources: [config.yaml]
labels: [{pairs: {team: storage}}]
---
# config.yaml
kind: DeviceConfig
""",
        bad="""\
# kustomization.yaml
resources: [config.yaml]
commonLabels: {team: storage}
---
# config.yaml
kind: DeviceConfig
""",
        remedy="Do what kustomize advises; `kustomize edit fix` replaces fields that it will drop.",
        severities=("info",),
    ),
    Rule(
        "KRM109",
        "a PATH holds a resource that the function looks into; without one it may be the wrong PATH",
        good="""\
kind: DeviceConfig
""",
        bad="""\
kind: ConfigMap
""",
        remedy="Give the PATH of a folder with configs in it, and the functionConfig with --function-config.",
        severities=("warning",),
    ),
    Rule(
        "KRM514",
        "where kustomizations call krmfn, they call it for every DeviceConfig, under the name that it has in the end",
        good=_CALLED,
        bad=f"{_CALLED.replace('# ', '# base/')}---\n# kustomization.yaml\nresources: [base]\nnamePrefix: lab-\n",
        remedy="Call krmfn in the outermost kustomization.",
    ),
    Rule(
        "KRM515",
        "a DeviceConfig is neither changed nor removed after the call of krmfn: what is generated would not follow",
        good=_CALLED,
        bad=f"{_CALLED.replace('# ', '# base/')}{_LATER}",
        remedy="Call krmfn in the outermost kustomization, or patch the DeviceConfig below the call.",
    ),
    Rule(
        "KRM516",
        "kustomize calls krmfn where a kustomization says so: without --enable-exec it passes over commands silently",
        good=_CALLED,
        bad=f"# kustomize: --enable-alpha-plugins\n{_CALLED}",
        remedy="Leave `--kustomize` out, so that krmfn gives kustomize the flags it needs, or add `--enable-exec`. "
        "Where kustomize is run without krmfn, it needs both flags; `kubectl kustomize` calls no command.",
    ),
    Rule(
        "KRM524",
        "a resource in a file beside a kustomization is listed by one; inventories and functionConfigs need not be",
        good="""\
# kustomization.yaml
resources: [config.yaml]
---
# config.yaml
kind: DeviceConfig
---
# inventory.yaml
kind: Node
metadata: {name: node-1, labels: {example.com/gpu: "true"}}
""",
        bad="""\
# kustomization.yaml
resources: [config.yaml]
---
# config.yaml
kind: DeviceConfig
---
# settings.yaml
kind: ConfigMap
""",
        remedy="List the file under `resources`, move it elsewhere, or exclude it (`exclude` in .krmfn.yaml).",
        severities=("warning",),
    ),
    Rule(
        "KRM525",
        "the cluster serves the kinds of what is deployed, where Argo CD says which it serves (KUBE_API_VERSIONS)",
        good="""\
# served: apps/v1,apps/v1/DaemonSet,kmm.sigs.x-k8s.io/v1beta1,kmm.sigs.x-k8s.io/v1beta1/Module
kind: Module
""",
        bad="""\
# served: apps/v1,apps/v1/DaemonSet
kind: Module
""",
        remedy="Install what brings the CRD, for a Module that is KMM, before the sync, or in an earlier sync wave.",
        severities=("warning",),
    ),
)
