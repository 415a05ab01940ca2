"""The text of a Node of realistic size: labels, images, conditions, nodeInfo, some with a taint."""

from __future__ import annotations

from random import Random

from objects import wire_annotations

KERNELS = ("5.14.0-503.11.1.el9_5.x86_64", "5.14.0-427.42.1.el9_4.x86_64", "4.18.0-553.16.1.el8_10.x86_64")
ZONES = ("eu-central-1a", "eu-central-1b", "eu-central-1c")
FEATURES = ("ADX", "AESNI", "AVX", "AVX2", "AVX512BW", "AVX512CD", "AVX512DQ", "AVX512F", "AVX512VNNI", "FMA3", "GFNI")
CONDITIONS = (
    ("MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("Ready", "KubeletReady", "kubelet is posting ready status"),
)
QUANTITIES = """\
      cpu: "16"
      ephemeral-storage: 104845292Ki
      memory: 64843872Ki
      pods: "250"
"""


def node(random: Random, number: int, pool: int) -> str:
    name, kernel = f"worker-{number:05}", random.choice(KERNELS)
    features = random.sample(FEATURES, random.randint(4, 10))
    labels = "".join(f'      feature.node.kubernetes.io/cpu-cpuid.{feature}: "true"\n' for feature in features)
    return f"""\
- apiVersion: v1
  kind: Node
  metadata:
    name: {name}
    labels:
      beta.kubernetes.io/arch: amd64
      beta.kubernetes.io/os: linux
{labels}\
      feature.node.kubernetes.io/cpu-hardware_multithreading: "true"
      feature.node.kubernetes.io/kernel-version.full: {kernel}
      feature.node.kubernetes.io/kernel-version.major: "{kernel[0]}"
      feature.node.kubernetes.io/pci-1da3.present: "true"
      feature.node.kubernetes.io/system-os_release.ID: rhel
      feature.node.kubernetes.io/system-os_release.VERSION_ID: "9.5"
      kubernetes.io/arch: amd64
      kubernetes.io/hostname: {name}
      kubernetes.io/os: linux
      node-role.kubernetes.io/worker: ""
      node.kubernetes.io/instance-type: m{random.randint(5, 7)}.4xlarge
      pool.example.com/name: pool-{pool:03}
      topology.kubernetes.io/region: eu-central-1
      topology.kubernetes.io/zone: {random.choice(ZONES)}
    annotations:
      csi.volume.kubernetes.io/nodeid: '{{"ebs.csi.example.com":"i-{random.getrandbits(64):016x}"}}'
      node.alpha.kubernetes.io/ttl: "0"
      volumes.kubernetes.io/controller-managed-attach-detach: "true"
{wire_annotations(number, f"nodes/{name}.yaml")}\
{node_spec(random, number)}\
{node_status(random, name, kernel)}"""


def node_spec(random: Random, number: int) -> str:
    text = f"""\
  spec:
    podCIDR: 10.{number // 250 % 250}.{number % 250}.0/24
    providerID: aws:///eu-central-1/i-{random.getrandbits(64):016x}
"""
    if random.random() > 0.2:
        return text
    return f"{text}    taints:\n    - effect: NoSchedule\n      key: example.com/accelerator\n      value: present\n"


def node_status(random: Random, name: str, kernel: str) -> str:
    conditions = "".join(
        f"""\
    - lastHeartbeatTime: "2026-07-{random.randint(10, 28)}T10:{random.randint(10, 59)}:00Z"
      lastTransitionTime: "2026-06-{random.randint(10, 28)}T08:{random.randint(10, 59)}:00Z"
      message: {message}
      reason: {reason}
      status: "{kind == "Ready"}"
      type: {kind}
"""
        for kind, reason, message in CONDITIONS
    )
    return f"""\
  status:
    addresses:
    - address: 10.0.{random.randint(0, 255)}.{random.randint(0, 255)}
      type: InternalIP
    - address: {name}
      type: Hostname
    allocatable:
{QUANTITIES}\
    capacity:
{QUANTITIES}\
    conditions:
{conditions}\
    images:
{"".join(node_image(random) for _ in range(6))}\
    nodeInfo:
      architecture: amd64
      bootID: {random.getrandbits(128):032x}
      containerRuntimeVersion: cri-o://1.31.4
      kernelVersion: {kernel}
      kubeProxyVersion: v1.31.4
      kubeletVersion: v1.31.4
      machineID: ec{random.getrandbits(120):030x}
      operatingSystem: linux
      osImage: Red Hat Enterprise Linux 9.5 (Plow)
"""


def node_image(random: Random) -> str:
    name = f"registry.example.com/team-{random.randint(1, 40)}/service-{random.randint(1, 400)}"
    return f"""\
    - names:
      - {name}@sha256:{random.getrandbits(256):064x}
      - {name}:{random.randint(1, 9)}.{random.randint(0, 30)}.{random.randint(0, 9)}
      sizeBytes: {random.randint(10**7, 10**9)}
"""
