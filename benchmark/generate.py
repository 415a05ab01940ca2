"""Make the inputs of the benchmark: the same bytes on every machine, laid out as kpt and kyaml send them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random

from nodes import node
from objects import deployment, device_config

SEED = 20_260_801
FUNCTION_CONFIG = """\
functionConfig:
  apiVersion: krmfn.dev/v1alpha1
  kind: RenderDeviceConfigs
  metadata:
    name: render
  spec:
    exclusivity:
      mode: auto
"""
AGENT = "    daemonSets:\n    - name: agent\n      image: registry.example.com/agent:1.0\n"


def cluster(nodes: int, deployments: int, configs: int) -> Iterator[str]:
    """Nodes, Deployments and DeviceConfigs; every DeviceConfig drives a pool of nodes of its own."""
    random = Random(SEED)
    for number in range(nodes):
        yield node(random, number, number % configs)
    for number in range(nodes, nodes + deployments):
        yield deployment(random, number)
    for pool in range(configs):
        yield device_config(nodes + deployments + pool, pool)


def few(configs: int) -> Iterator[str]:
    """Ten items of an ordinary package."""
    random = Random(SEED)
    for number in range(10 - configs):
        yield deployment(random, number)
    for pool in range(configs):
        yield device_config(10 - configs + pool, pool)


def write(path: Path, items: Iterable[str]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n")
        file.writelines(items)
        file.write(FUNCTION_CONFIG)


def generate(folder: Path) -> None:
    write(folder / "big.yaml", cluster(5_000, 2_000, 200))
    write(folder / "big2.yaml", cluster(10_000, 4_000, 400))
    write(folder / "many.yaml", (device_config(number, number, AGENT) for number in range(1_000)))
    write(folder / "ten.yaml", few(configs=1))
    write(folder / "none.yaml", few(configs=0))


if __name__ == "__main__":
    generate(Path(sys.argv[1]))
