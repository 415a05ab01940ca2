"""Rules that the command line applies to a PATH, to .krmfn.yaml and to --against, where it also does other things."""

from .. import oracles
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

_TWO_CLUSTERS = """\
# .krmfn.yaml
clusters: {lab: [lab.yaml], prod: [prod.yaml]}
---
# lab.yaml
apiVersion: krmfn.dev/v1alpha1
kind: NodeInventory
metadata: {name: lab}
spec: {labelKeys: [], groups: [{nodes: "lab-1 5.14.0-503.el9.x86_64\\n"}]}
---
# prod.yaml
apiVersion: krmfn.dev/v1alpha1
kind: NodeInventory
metadata: {name: prod}
spec: {labelKeys: [], groups: [{nodes: "NODE 5.14.0-503.el9.x86_64\\n"}]}
"""

RULES = (
    Rule(
        "KRM100",
        "a document or an item of a List must have apiVersion and kind; with only one of them it is an error, with "
        "neither it is skipped",
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
        held=oracles.KUSTOMIZE_TESTS,
        severities=("warning", "error"),
    ),
    Rule(
        "KRM106",
        "kustomize should build the directory without printing a message",
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
        remedy="Follow kustomize's advice; `kustomize edit fix` replaces deprecated fields.",
        held=oracles.KUSTOMIZE_PLACES,
        severities=("info",),
    ),
    Rule(
        "KRM109",
        "a PATH should contain a resource that the function reads; otherwise it may be the wrong PATH",
        good="""\
kind: DeviceConfig
""",
        bad="""\
kind: ConfigMap
""",
        remedy="Pass the PATH of a folder with configs in it, and the functionConfig with --function-config.",
        held=oracles.OUR_FILES,
        severities=("warning",),
    ),
    Rule(
        "KRM514",
        "kustomizations that call krmfn must call it for every DeviceConfig, under its final name",
        good=_CALLED,
        bad=f"{_CALLED.replace('# ', '# base/')}---\n# kustomization.yaml\nresources: [base]\nnamePrefix: lab-\n",
        remedy="Call krmfn in the outermost kustomization.",
        held=oracles.KUSTOMIZE_BUILDS,
    ),
    Rule(
        "KRM515",
        "a DeviceConfig must not be changed or removed after krmfn is called: the generated objects would not follow",
        good=_CALLED,
        bad=_CALLED.replace("# ", "# base/")
        + """\
---
# kustomization.yaml
resources: [base]
patches:
- target: {kind: DeviceConfig}
  patch: '[{"op": "replace", "path": "/spec/driverVersion", "value": "2.0"}]'
""",
        remedy="Call krmfn in the outermost kustomization, or patch the DeviceConfig below the call.",
        held=oracles.KUSTOMIZE_PAGE,
    ),
    Rule(
        "KRM516",
        "kustomize must be allowed to run krmfn where a kustomization calls it: without --enable-exec it silently "
        "skips commands",
        good=_CALLED,
        bad=f"# kustomize: --enable-alpha-plugins\n{_CALLED}",
        remedy="Remove `--kustomize`, so that krmfn passes kustomize the flags it needs, or add `--enable-exec`. To "
        "run kustomize without krmfn, pass both `--enable-alpha-plugins` and `--enable-exec`; `kubectl kustomize` runs "
        "no commands.",
        held=oracles.KUSTOMIZE_GUARDS,
    ),
    Rule(
        "KRM613",
        "an inventory should not hold the nodes of another cluster: it may be a copy",
        good=_TWO_CLUSTERS.replace("NODE", "prod-1"),
        bad=_TWO_CLUSTERS.replace("NODE", "lab-1"),
        remedy="Write the inventory again (`krmfn inventory`), with kubectl at its own cluster. Turn the rule off "
        "where the nodes of two clusters have the same names.",
        held=oracles.OUR_NODES,
        severities=("warning",),
        advice=True,
    ),
    Rule(
        "KRM524",
        "files beside a kustomization should be listed in it, except inventories and functionConfigs; configs and "
        "inventories should be in a cluster of .krmfn.yaml",
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
        remedy="List the file under `resources`, add it to a cluster, move it elsewhere, or exclude it (`exclude` in "
        ".krmfn.yaml).",
        held=oracles.OUR_FILES,
        severities=("warning",),
    ),
    Rule(
        "KRM526",
        "what --against names must have no errors, and each Module in it must say which nodes it selects",
        good="""\
kind: DeviceConfig
---
# theirs/nic.yaml
kind: DeviceConfig
metadata: {name: nic}
spec: {moduleName: nic, nodeSelector: {example.com/gpu: "false"}}
""",
        bad="""\
kind: DeviceConfig
---
# theirs/nic.yaml
kind: DeviceConfig
metadata: {name: nic}
spec: {moduleName: nic, nodeSelector: {example.com/gpu: "false"}, driverImage: null}
""",
        remedy="Correct it there, or pass --against something that is correct: rendered manifests, or a dump of the "
        "cluster.",
        held=oracles.OUR_FILES,
    ),
)
