"""The names that are made from several parts, for the generator and for the rules about them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from .model import DeviceConfig


class Made(NamedTuple):
    """A name made from several parts: the kind of object, the field that decides it, and its named parts."""

    kind: str
    name: str
    field: str
    parts: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        """Return the parts in a sentence: `version '1-0' of daemonSet 'agent' of pool 'big'`."""
        return " of ".join(f"{what} {text!r}" for what, text in reversed(self.parts))


def of_daemon_set(config: DeviceConfig, entry: dict[str, Any], version: str) -> str:
    """Return `<config>-<pool>-<entry>-<version>`, without what is not there."""
    name = of_service(config, entry)
    return f"{name}-{version.lower().replace('.', '-').replace('_', '-')}" if version else name


def of_service(config: DeviceConfig, entry: dict[str, Any]) -> str:
    """Return `<config>-<pool>-<entry>`: a Service stands in front of all versions."""
    return f"{config.base}-{entry['name']}"


def of_role_binding(config: DeviceConfig) -> str:
    """Return `<serviceAccountName>-privileged`."""
    return f"{config.spec.get('serviceAccountName', '')}-privileged"


def of_devices(entry: dict[str, Any]) -> dict[str, str]:
    """Return the name of the volume for each path of a DaemonSet's hostDevices."""
    return {path: f"host-device-{number}" for number, path in enumerate(dict.fromkeys(entry.get("hostDevices", [])))}


def versions(config: DeviceConfig) -> list[str]:
    """Return the versions that have a DaemonSet each, the current one first; [""] without an ordered upgrade."""
    return [config.version, *config.spec.get("upgrade", {}).get("retain", [])] if config.version else [""]


def made(config: DeviceConfig) -> Iterator[Made]:
    """Yield the names of the config's DaemonSets, one per version, and of their Services."""
    for index, entry in enumerate(config.daemon_sets):
        field = config.at(f"daemonSets[{index}].name")
        parts = (*((("pool", config.pool),) if config.pool else ()), ("daemonSet", entry["name"]))
        for number, version in enumerate(versions(config)):
            decides = config.at(f"upgrade.retain[{number - 1}]") if number else field
            all_parts = (*parts, ("version", version)) if version else parts
            yield Made("DaemonSet", of_daemon_set(config, entry, version), decides, all_parts)
        if "service" in entry:
            yield Made("Service", of_service(config, entry), field, parts)
