"""Ways in which a person gets a DeviceConfig wrong, done to an example's file, and what the finding must name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.trees import altered

REPLACED = {
    "unknown-field": ("driverImage:", "drivrImage:", ["spec.drivrImage", "driverImage"]),
    "number-for-text": ('driverVersion: "1.16.2"', "driverVersion: 1.10", ["spec.driverVersion"]),
    "missing-image": ("  driverImage: registry.example.com/habana/driver\n", "", ["driverImage"]),
}
every_mistake = pytest.mark.parametrize("mistake", [*REPLACED, "conflict"])


def spoil(folder: Path, mistake: str) -> list[str]:
    """Spoil the one deviceconfig.yaml under a folder; what the finding must name."""
    path = next(folder.rglob("deviceconfig.yaml"))
    text = path.read_text()
    if mistake == "conflict":
        path.write_text(f"{text}---\n{text.replace('name: gaudi', 'name: rival', 1)}")
        return ["gaudi", "rival", "spec.nodeSelector"]
    old, new, fragments = REPLACED[mistake]
    altered(path, old, new)
    return fragments
