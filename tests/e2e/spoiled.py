"""Ways in which a person gets a DeviceConfig wrong, done to an example's file, and what the finding must name."""

from __future__ import annotations

from pathlib import Path

import pytest

REPLACED = {
    "unknown-field": ("driverImage:", "drivrImage:", ["spec.drivrImage", "driverImage"]),
    "number-for-text": ('driverVersion: "1.16.2"', "driverVersion: 1.10", ["spec.driverVersion"]),
    "missing-image": ("  driverImage: registry.example.com/habana/driver\n", "", ["driverImage"]),
}
every_way = pytest.mark.parametrize("way", [*REPLACED, "conflict"])


def spoil(folder: Path, way: str) -> list[str]:
    """Spoil the one deviceconfig.yaml under a folder; what the finding must name."""
    path = next(folder.rglob("deviceconfig.yaml"))
    text = path.read_text()
    if way == "conflict":
        path.write_text(f"{text}---\n{text.replace('name: gaudi', 'name: rival', 1)}")
        return ["gaudi", "rival", "spec.nodeSelector"]
    old, new, fragments = REPLACED[way]
    assert old in text
    path.write_text(text.replace(old, new))
    return fragments
