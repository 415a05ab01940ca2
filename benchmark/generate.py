"""Make the inputs of the benchmark: the same bytes on every machine, laid out as kpt and kyaml send them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random

import vendors
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


def documents(items: Iterable[str]) -> Iterator[str]:
    """The items of a list as files hold them: no dash, and two columns to the left."""
    for item in items:
        yield "".join(line[2:] for line in item.splitlines(keepends=True))


SMALLEST = """\
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata:
  name: gaudi
  namespace: kmm
spec:
  driverImage: registry.example.com/habana/driver
  driverVersion: "1.16.2"
  moduleName: habanalabs
  nodeSelector:
    feature.node.kubernetes.io/pci-1da3.present: "true"
"""


def repository(folder: Path) -> Path:
    """A repository of its own, as a user has it: `check` looks for engines' objects in all that a repository holds."""
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
    return folder


def write_files(folder: Path, items: Iterable[str]) -> None:
    """The same documents twice: in one file, and in a file each."""
    single, many = repository(folder / "one"), repository(folder / "many")
    with (single / "all.yaml").open("w", encoding="utf-8", newline="\n") as file:
        for number, text in enumerate(documents(items)):
            file.write(f"---\n{text}")
            (many / f"{number:05}.yaml").write_text(text, encoding="utf-8", newline="\n")


def write(path: Path, items: Iterable[str]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n")
        file.writelines(items)
        file.write(FUNCTION_CONFIG)


def generate(folder: Path) -> None:
    write(folder / "big.yaml", cluster(5_000, 2_000, 200))
    write(folder / "big2.yaml", cluster(10_000, 4_000, 400))
    write_files(folder / "files", cluster(5_000, 2_000, 200))
    write(folder / "many.yaml", (device_config(number, number, AGENT) for number in range(1_000)))
    vendors.generate(folder)
    write(folder / "ten.yaml", few(configs=1))
    write(folder / "none.yaml", few(configs=0))
    (repository(folder / "few") / "deviceconfig.yaml").write_text(SMALLEST, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    generate(Path(sys.argv[1]))
