"""Our function for the pass-through case, as a user of the SDK writes it: one annotation on every DeviceConfig."""

from typing import Any

import krmfn


def touched(manifest: dict[str, Any]) -> dict[str, Any]:
    metadata = manifest["metadata"]
    annotations = metadata.get("annotations", {}) | {"benchmark.example.com/touched": "yes"}
    return manifest | {"metadata": metadata | {"annotations": annotations}}


def touch(resources: krmfn.ResourceList) -> None:
    configs = resources.where(group="krmfn.dev", kind="DeviceConfig")
    resources.upsert([touched(item.manifest) for item in configs])


if __name__ == "__main__":
    krmfn.main(touch)
