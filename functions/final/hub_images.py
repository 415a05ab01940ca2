"""The names by which a hub keeps the images of its Modules: two pairs of Module and cluster must not share one.

On a hub the images of a ManagedClusterModule for a cluster are the ModuleImagesConfig `MODULE-CLUSTER` of the Module
that has made it first; KMM fails on the other pair, and that cluster gets nothing.
Source: KMM v2.4.0 to main (de3f8c9), internal/controllers/hub/managedclustermodule_reconciler.go, setMicAsDesired;
internal/mic/mic.go, CreateOrPatch (SetControllerReference).
"""

from collections.abc import Iterator

from krmfn import Field, Item, Result, error

from .. import oracles
from ..kmm.lookup import table
from ..kmm.module import HUB_KIND
from ..rule import Rule
from .stream import FinalList


def names_are_told_apart(final: FinalList) -> Iterator[Result]:
    """Yield an error per ManagedClusterModule whose images for a known spoke have the name of another pair's."""
    spokes = final.run.spokes
    members = sorted((item for item, _ in final.modules if item.kind == HUB_KIND), key=lambda item: item.name)
    owners: dict[str, tuple[Item, str]] = {}
    for item in members if spokes and len(members) > 1 else ():
        labels = {str(key): str(value) for key, value in table(item.manifest, "spec", "selector").items()}
        for spoke in spokes:
            if not labels.items() <= dict(spoke.labels).items():
                continue
            name = f"{item.name}-{spoke.name}"
            owner, cluster = owners.setdefault(name, (item, spoke.name))
            if owner is not item:
                problem = f"its images for the cluster {spoke.name} are {name} to KMM, as are those of {owner.ref}"
                message = f"{problem} for {cluster}, so one of the two clusters gets nothing"
                yield final.located(item, error(message, field=Field("metadata.name", item.name), remedy="rename one"))


_HUB = """\
# .krmfn.yaml
clusters:
  hub: [hub.yaml]
  lab: {paths: [lab.yaml], labels: {tier: lab}}
  gpu-lab: {paths: [gpu.yaml], labels: {tier: gpu}}
---
# lab.yaml
kind: ConfigMap
---
# gpu.yaml
kind: ConfigMap
---
# hub.yaml
apiVersion: hub.kmm.sigs.x-k8s.io/v1beta1
kind: ManagedClusterModule
metadata: {name: xpu}
spec:
  spokeNamespace: kmm
  selector: {tier: gpu}
  moduleSpec:
    selector: {example.com/xpu: "true"}
    moduleLoader:
      container:
        modprobe: {moduleName: xpu}
        kernelMappings: [{regexp: ^.+$, containerImage: "registry.example.com/xpu:$KERNEL_FULL_VERSION"}]
---
# hub.yaml
apiVersion: hub.kmm.sigs.x-k8s.io/v1beta1
kind: ManagedClusterModule
metadata: {name: NAME}
spec:
  spokeNamespace: kmm
  selector: {tier: lab}
  moduleSpec:
    selector: {example.com/xpu: "true"}
    moduleLoader:
      container:
        modprobe: {moduleName: xpu}
        kernelMappings: [{regexp: ^.+$, containerImage: "registry.example.com/xpu:$KERNEL_FULL_VERSION"}]
"""

RULES = (
    Rule(
        "KRM632",
        "the names of a ManagedClusterModule and of a cluster, joined by a dash, must differ from those of other pairs",
        good=_HUB.replace("NAME", "xpu-card"),
        bad=_HUB.replace("NAME", "xpu-gpu"),
        remedy="Rename one of the two ManagedClusterModules.",
        held=oracles.HUB,
        check=names_are_told_apart,
    ),
)
"""The rule about images of a hub."""
