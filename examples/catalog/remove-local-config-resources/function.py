#!/usr/bin/env python3
"""Remove what no cluster gets: the resources with the annotation `config.kubernetes.io/local-config`."""

from __future__ import annotations

from krmfn import ResourceList, function, info


@function
def remove_local_config_resources(resources: ResourceList) -> None:
    """Remove them, and say how many they were."""
    items = resources.where(local=True)
    for item in items:
        resources.remove(item)
    if items:
        resources.report(info(f"removed {len(items)} local-config resources"))


if __name__ == "__main__":
    remove_local_config_resources.main()
