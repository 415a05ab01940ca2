"""Fleets for reports, made from a seed: clusters with configs and inventories that show every kind of thing."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import NamedTuple

KERNELS = (
    "5.14.0-427.42.1.el9_4.x86_64",
    "5.14.0-503.11.1.el9_5.x86_64",
    "5.14.0-570.12.1.el9_6.x86_64",
    "6.12.0-55.9.1.el10_0.x86_64",
)
CARDS = ("gaudi2", "gaudi3", "instinct", "flex")
ZONES = ("a", "b", "c")


class Group(NamedTuple):
    """Nodes of a cluster with the same labels."""

    card: str
    zone: str
    taint: bool
    lines: list[str]


def plant(folder: Path, nodes: int, clusters: int = 1, seed: int = 14) -> list[Path]:
    """Write `clusters` folders with a share of `nodes` each; return them."""
    random = Random(seed)
    folders = []
    for at in range(clusters):
        cluster = folder / f"{('lab', 'east', 'west', 'edge', 'north', 'south')[at % 6]}{at // 6 or ''}"
        cluster.mkdir(parents=True)
        number = nodes * (at + 1) // clusters - nodes * at // clusters
        (cluster / "nodes.yaml").write_text(inventory(random, cluster.name, number))
        for card in CARDS[: 1 + (nodes > 10) * 3]:
            (cluster / f"{card}.yaml").write_text(config(card, at))
        folders.append(cluster)
    if nodes > 10:  # a second config for some nodes of the first cluster
        again = config("gaudi3", 0).replace("name: gaudi3", "name: canary", 1)
        again = again.replace("example.com/card: gaudi3", "example.com/canary: 'true'")
        (folders[0] / "canary.yaml").write_text(again)
    return folders


def inventory(random: Random, cluster: str, number: int) -> str:
    """Return a NodeInventory: most kernels are usual, few are new, some nodes have a taint or no card."""
    groups: dict[tuple[str, str, bool], list[str]] = {}
    for at in range(number):
        card = random.choice([*CARDS, *CARDS, ""]) if number > 10 else CARDS[0] if at < 8 else ""
        tainted = number > 10 and random.random() < 0.04
        (kernel,) = random.choices([*KERNELS, "-"], [50, 40, 8, 2, 0.2])
        if number <= 10:
            kernel = KERNELS[at % 3]
        canary = " example.com/canary=true" if card == "gaudi3" and random.random() < 0.02 else ""
        line = f"{cluster}-{card or 'cpu'}-{at:05} {kernel}{canary}\n"
        groups.setdefault((card, random.choice(ZONES), tainted), []).append(line)
    parts = [_group(Group(*key, lines)) for key, lines in sorted(groups.items())]
    keys = "[example.com/card, example.com/canary, topology.kubernetes.io/zone]"
    return (
        "apiVersion: krmfn.dev/v1alpha1\nkind: NodeInventory\nmetadata:\n  name: nodes\n  annotations:\n"
        f'    config.kubernetes.io/local-config: "true"\nspec:\n  labelKeys: {keys}\n  groups:\n{"".join(parts)}'
    )


def _group(group: Group) -> str:
    card = f"      example.com/card: {group.card}\n" if group.card else ""
    taint = "    taints:\n    - {key: example.com/maintenance, effect: NoSchedule}\n" if group.taint else ""
    lines = "".join(f"      {line}" for line in group.lines)
    return (
        f"  - architecture: amd64\n    osImage: Red Hat Enterprise Linux\n    labels:\n{card}"
        f"      topology.kubernetes.io/zone: {group.zone}\n{taint}    nodes: |\n{lines}"
    )


def config(card: str, cluster: int) -> str:
    """Return a DeviceConfig whose mappings leave the newest kernels without a driver, in some clusters more."""
    releases = ("el9_4", "el9_5", "el9_6")[: 2 + (cluster + len(card)) % 2]
    mappings = "".join(f"  - regexp: '^.*[.]{release}[.].*$'\n" for release in releases)
    return (
        "apiVersion: krmfn.dev/v1alpha1\nkind: DeviceConfig\nmetadata:\n"
        f'  name: {card}\n  namespace: kmm\n  annotations:\n    config.kubernetes.io/local-config: "true"\n'
        f"spec:\n  moduleName: {card}\n  driverImage: registry.example.com/{card}\n"
        f'  driverVersion: "1.20"\n  nodeSelector:\n    example.com/card: {card}\n  kernelMappings:\n{mappings}'
        f"  daemonSets:\n  - name: agent\n    image: registry.example.com/{card}-agent:1.20\n"
    )
