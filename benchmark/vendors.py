"""Make the inputs of the group `vendors`: 1,000 configs of AMD's kind with its Profile, and the same by hand."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml
from krmfn_functions.deviceconfig import reading
from krmfn_functions.rendering import products
from krmfn_functions.rendering.function_config import FunctionConfig

from krmfn import ResourceList
from krmfn.resource import ref

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "vendor-profiles" / "amd-gpu"
CONFIGS = 1_000
LIST = {"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList"}


def documents(path: Path, manifests: Iterable[Any]) -> None:
    """Write manifests as a stream of documents."""
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    path.write_text(yaml.dump_all(manifests, Dumper=dumper, sort_keys=False), encoding="utf-8", newline="\n")


def generate(folder: Path) -> None:
    """Write vendors.yaml and vendors-by-hand.yaml, which render to as many objects."""
    profile, cr = (yaml.safe_load((EXAMPLE / name).read_text()) for name in ("profile.yaml", "gpu.yaml"))
    cr["spec"]["configManager"]["enable"] = False  # its ConfigMap can have one owner in a namespace
    resources = ResourceList.parse(yaml.safe_dump({**LIST, "items": [profile, cr]}).encode())
    config = products.read(resources, FunctionConfig(kmm_version="2.6"))
    item = next(item for item in resources.items if item.ref == ref(cr))
    fields = dict(reading.from_item(item, config)[0].fields)
    shared = {"extraObjects": fields.pop("extraObjects")}
    head = {"apiVersion": "krmfn.dev/v1alpha1", "kind": "RenderDeviceConfigs", "metadata": {"name": "settings"}}
    with_profile, by_hand = [profile], [{**head, "spec": {"profiles": {"amd": shared}}}]
    for number in range(CONFIGS):
        resource = copy.deepcopy(cr)
        resource["metadata"]["name"] = f"gpu-{number}"
        resource["spec"]["selector"] = {"example.com/node": str(number)}
        spec = {"profile": "amd", **fields, "nodeSelector": resource["spec"]["selector"]}
        with_profile.append(resource)
        by_hand.append({**head, "kind": "DeviceConfig", "metadata": resource["metadata"], "spec": copy.deepcopy(spec)})
    documents(folder / "vendors.yaml", with_profile)
    documents(folder / "vendors-by-hand.yaml", by_hand)
