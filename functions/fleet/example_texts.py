"""The parts of which the examples of the rules about a fleet are made."""

INVENTORY = """\
apiVersion: krmfn.dev/v1alpha1
kind: NodeInventory
metadata: {name: lab}
spec:
  labelKeys: [example.com/gpu, zone]
  groups:
  - labels: {example.com/gpu: "true", zone: a}
    nodes: |
      gpu-1 5.14.0-503.el9.x86_64
      gpu-2 5.14.0-503.el9.x86_64
"""
MODULE = """\
---
kind: Module
spec:
  selector: {example.com/gpu: "true"}
"""
TWO_MAPPINGS = f"""\
{MODULE}\
  moduleLoader:
    container:
      kernelMappings:
      - {{regexp: el8, containerImage: "registry.example.com/gpu:el8"}}
      - {{regexp: FIRST, containerImage: "registry.example.com/gpu:el9"}}
"""
FOR_UBUNTU = f"""\
{MODULE}\
  moduleLoader:
    container:
      kernelMappings: [{{regexp: ^5, containerImage: "registry.example.com/gpu:1.0-ubuntu22.04-$KERNEL_FULL_VERSION"}}]
"""
TWO_ARCHITECTURES = (
    INVENTORY.replace("    nodes:", "    architecture: amd64\n    nodes:")
    + """\
  - labels: {example.com/gpu: "true"}
    architecture: ARCHITECTURE
    nodes: |
      gpu-3 5.14.0-503.el9.x86_64
"""
)
TAINTED = INVENTORY.replace("    nodes:", "    taints: [{key: gpu, effect: NoSchedule}]\n    nodes:")
TOLERATING = MODULE + "  tolerations: [{key: gpu, operator: Exists}]\n"
CONSUMER = """\
---
kind: DaemonSet
spec:
  template:
    spec:
      nodeSelector: {kmm.node.kubernetes.io/kmm.gpu.ready: ""}
"""
VERSION = "kmm.node.kubernetes.io/version-module.kmm.gpu"
ORDERED = """\
---
kind: DeviceConfig
spec: {driverVersion: "1.0", upgrade: {ordered: true}, nodeSelector: {example.com/gpu: "true"}}
"""
POOLS = """\
---
kind: DeviceConfig
spec:
  nodeSelector: null
  nodePools:
  - {name: a, nodeSelector: {zone: a}}
  - {name: b, nodeSelector: {zone: ZONE}}
"""
