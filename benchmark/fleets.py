"""Make the inputs of the group `fleet`: configs with inventories, a dump of Nodes, selectors that all overlap."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

SEED = 20_261_122
KERNELS = ("5.14.0-503.11.1.el9_5.x86_64", "5.14.0-427.42.1.el9_4.x86_64", "6.12.0-55.9.1.el10_0.x86_64")
LABELS = 40
"""Labels of a node; a handful decide."""


def config(number: int, selector: str) -> str:
    return f"""\
---
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata:
  name: config-{number:05}
  namespace: kmm
spec:
  moduleName: driver
  driverImage: registry.example.com/driver
  driverVersion: "1.0"
  nodeSelector:
    {selector}
"""


def configs(number: int) -> Iterator[str]:
    """Configs with a rack of their own each."""
    return (config(at, f'example.com/rack: "{at}"') for at in range(number))


def labels(number: int, racks: int) -> dict[str, str]:
    features = {f"feature.example.com/f{at:02}": str(number % (at + 2)) for at in range(LABELS - 3)}
    everywhere = {"example.com/accelerator": "true", "topology.kubernetes.io/zone": "abc"[number % 3]}
    return {"example.com/rack": str(number % racks), **everywhere, **features}


def inventory(number: int, racks: int) -> Iterator[str]:
    """An inventory, laid out as `krmfn inventory` does: labels of few values with the groups, others in the lines."""
    random = Random(SEED)
    yield "---\napiVersion: krmfn.dev/v1alpha1\nkind: NodeInventory\nmetadata:\n  name: nodes\n"
    yield f"spec:\n  nodeCount: {number}\n  labelKeys:\n  - '*'\n  groups:\n"
    for zone in range(3):
        yield "  - architecture: amd64\n    osImage: Red Hat Enterprise Linux\n    labels:\n"
        yield f"      example.com/accelerator: 'true'\n      topology.kubernetes.io/zone: {'abc'[zone]}\n    nodes: |\n"
        for node in range(zone, number, 3):
            shared = ("example.com/accelerator", "topology.kubernetes.io/zone")
            words = " ".join(f"{key}={value}" for key, value in labels(node, racks).items() if key not in shared)
            yield f"      node-{node:06} {random.choice(KERNELS)} {words}\n"


def dump(number: int) -> Iterator[str]:
    """What `kubectl get nodes -o json` prints: some 6 KB a node, most of it of no use here."""
    random = Random(SEED)
    yield '{\n"apiVersion": "v1",\n"items": [\n'
    for at in range(number):
        names = [f"registry.example.com/team-{random.randint(1, 40)}/service@sha256:{random.getrandbits(256):064x}"]
        status = {
            "images": [{"names": [*names, f"tag-{item}"], "sizeBytes": random.getrandbits(30)} for item in range(18)],
            "nodeInfo": {"kernelVersion": KERNELS[at % 3], "architecture": "amd64", "osImage": "Linux 9"},
        }
        metadata = {"name": f"node-{at:06}", "labels": labels(at, 1_000)}
        node = {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": {}, "status": status}
        yield f"{json.dumps(node, indent=4)}{',' if at + 1 < number else ''}\n"
    yield '],\n"kind": "List"\n}\n'


def lists(number: int, nodes: int) -> str:
    """Selectors and nodes for algorithms that only decide exclusivity."""
    selectors = [{"example.com/rack": str(at)} for at in range(number)]
    named = {f"node-{at:06}": labels(at, number) for at in range(nodes)}
    return json.dumps({"selectors": selectors, "nodes": named})


CLUSTERS, FILES = 1_000, 20
"""Folders with a cluster each, and the files of one."""
SOME = 50
"""Folders that get a process each: all of them would take minutes."""


def workload(number: int) -> str:
    name = f"service-{number:02}"
    return f"""\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {name}
  namespace: apps
  labels:
    app: {name}
spec:
  replicas: 2
  selector:
    matchLabels:
      app: {name}
  template:
    metadata:
      labels:
        app: {name}
    spec:
      containers:
      - name: main
        image: registry.example.com/apps/{name}:1.{number}
        ports:
        - containerPort: 8080
---
apiVersion: v1
kind: Service
metadata:
  name: {name}
  namespace: apps
spec:
  selector:
    app: {name}
  ports:
  - port: 80
    targetPort: 8080
"""


def clusters(folder: Path) -> None:
    """Folders as teams keep them: a config, an inventory of ten nodes, and what else is deployed, a file each."""
    names = []
    for number in range(CLUSTERS):
        cluster = folder / "clusters" / f"cluster-{number:04}"
        cluster.mkdir(parents=True, exist_ok=True)
        names.append(f"{cluster}\n")
        (cluster / "config.yaml").write_text(config(0, 'example.com/accelerator: "true"'))
        (cluster / "nodes.yaml").write_text("".join(inventory(10, 1)))
        for file in range(FILES - 2):
            (cluster / f"service-{file:02}.yaml").write_text(workload(file))
    (folder / "clusters.txt").write_text("".join(names))
    (folder / "clusters-some.txt").write_text("".join(names[:SOME]))


def generate(folder: Path) -> None:
    clusters(folder)
    sizes = {"fleet": (1, 1), "fleet-nodes2": (1, 2), "fleet-configs2": (2, 1), "fleet2": (2, 2)}
    for name, (more_configs, more_nodes) in sizes.items():
        with (folder / f"{name}.yaml").open("w") as file:
            file.writelines(configs(10_000 * more_configs))
            file.writelines(inventory(100_000 * more_nodes, 10_000))
    with (folder / "fleet-inventory.yaml").open("w") as file:
        file.writelines(inventory(100_000, 10_000))
    with (folder / "report.yaml").open("w") as file:
        file.writelines(configs(20))
        file.writelines(inventory(50_000, 25))
    for name, number in (("crowded", 1_000), ("crowded2", 2_000)):
        with (folder / f"{name}.yaml").open("w") as file:
            file.writelines(config(at, 'example.com/accelerator: "true"') for at in range(number))
            file.writelines(inventory(number * 10, 1_000))
    with (folder / "nodes.json").open("w") as file:
        file.writelines(dump(100_000))
    (folder / "lists.json").write_text(lists(1_000, 5_000))


if __name__ == "__main__":
    generate(Path(sys.argv[1]))
