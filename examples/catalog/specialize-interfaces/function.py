#!/usr/bin/env python3
"""Make a NetworkAttachmentDefinition from each Interface (`req.nephio.org`), as Nephio's specializer does."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated

from krmfn import Doc, Item, Manifest, ResourceList, error, function

GROUP = "req.nephio.org"
OWNER = "specializer.nephio.org/owner"
"""Nephio's SDK marks what it has made with it: such an object is taken over."""
CNI_TYPES = ("ipvlan", "macvlan")


@dataclass(frozen=True)
class SpecializeInterfaces:
    """Make a NetworkAttachmentDefinition from each Interface."""

    master: Annotated[str, Doc("the network card of the nodes")] = "eth0"


@function(config=SpecializeInterfaces, group="fn.example.com")
def specialize_interfaces(resources: ResourceList, config: SpecializeInterfaces) -> None:
    """Make them; one whose Interface is gone or has no CNI type any more goes, and another CNI type is an error."""
    manifests: dict[Item, list[Manifest]] = {}
    for interface in resources.where(kind="Interface", group=GROUP):
        cni_type = interface.get("spec.cniType", str, "")
        if cni_type and cni_type not in CNI_TYPES:
            types = " or ".join(CNI_TYPES)
            resources.report(error(f"is {cni_type!r}; must be {types}", at=interface.at("spec.cniType")))
            continue
        manifests[interface] = [attachment(interface, cni_type, config.master)] if cni_type else []
    resources.own_all(manifests, kind="Interface", group=GROUP, adopt=lambda item: OWNER in item.annotations)


def attachment(interface: Item, cni_type: str, master: str) -> Manifest:
    """Return the NetworkAttachmentDefinition of an Interface."""
    config = {"cniVersion": "0.3.1", "type": cni_type, "master": master}
    metadata = {"name": interface.name}
    if interface.namespace:
        metadata["namespace"] = interface.namespace
    return {
        "apiVersion": "k8s.cni.cncf.io/v1",
        "kind": "NetworkAttachmentDefinition",
        "metadata": metadata,
        "spec": {"config": json.dumps(config)},
    }


if __name__ == "__main__":
    specialize_interfaces.main()
