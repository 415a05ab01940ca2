"""Other tools and the final list: Flux's substitution, the labels of Node Feature Discovery, dumps of a cluster."""

from collections.abc import Iterator, Sequence

from krmfn import Field, Item, Result, error, info, itemtext
from krmfn.printing import some
from krmfn.resource import join

from .. import oracles
from ..cluster_dump import is_dumped
from ..kmm.lookup import table, tables, text
from ..rendering.generated import DISABLED, SUBSTITUTE, changed_at
from ..rendering.kinds import of_kinds
from ..rule import Rule
from .stream import CONFIG_MAP, FinalList

_FLUX = ("toolkit.fluxcd.io", "fluxcd.controlplane.io")
"""How the groups of Flux's kinds end, and of those of its operator."""


def has_flux(items: Sequence[Item]) -> bool:
    """Return whether something of Flux is among some items; an annotation for it is nothing of it."""
    return any(item.group.endswith(_FLUX) for item in itemtext.mentioning(items, _FLUX))


def dollars_are_kept(final: FinalList) -> Iterator[Result]:
    """Yield an info per Module and Dockerfile in which Flux's substitution would change what KMM reads.

    Where nothing of Flux was read there is none.
    """
    if not (final.run.has_flux or has_flux((*final.deployed, *final.inputs, *final.external))):
        return
    builds = [(module.ref.namespace, build) for _, module in final.modules for _, build in module.sections("build")]
    names = {(namespace, text(table(build, "dockerfileConfigMap"), "name")) for namespace, build in builds}
    config_maps = of_kinds(final.deployed, {CONFIG_MAP}) if names else []
    dockerfiles = [item for item in config_maps if (item.ref.namespace, item.name) in names]
    for item in (*(item for item, _ in final.modules), *dockerfiles):
        if DISABLED in (item.annotations.get(SUBSTITUTE), item.labels.get(SUBSTITUTE)):
            continue
        path = changed_at(item.manifest)
        if path:
            remedy = f"where Flux applies it, set the annotation {SUBSTITUTE}: {DISABLED}"
            message = "holds ${ or $$, which Flux's postBuild would substitute before KMM reads it"
            yield final.located(item, info(message, field=Field(join(path)), remedy=remedy))


_LIVE = {("kmm.sigs.x-k8s.io", "NodeModulesConfig"), ("", "Event"), ("events.k8s.io", "Event"), ("", "Pod")}
"""(group, kind) of the resources that only a cluster writes; of Pods only those from a dump count."""


def nothing_is_of_a_dump(final: FinalList) -> Iterator[Result]:
    """Yield an error per file with resources that only a cluster writes, or with a Pod from a dump."""
    by_file: dict[str, list[Item]] = {}
    for item in of_kinds(final.deployed, _LIVE):
        if item.kind != "Pod" or is_dumped(item.manifest):
            by_file.setdefault(item.place.path if item.place else "", []).append(item)
    for first, *rest in by_file.values():
        others = f", as are {len(rest):,} more in this file" if rest else ""
        message = f"is part of a dump of a cluster{others}, and would be deployed"
        yield first.located(error(message, remedy="move the dump out of PATH, and pass it with --live"))


_DOMAIN = "feature.node.kubernetes.io/"
_SOURCES = ("cpu-", "kernel-", "memory-", "network-", "pci-", "storage-", "system-", "usb-")
"""Prefixes of the names of labels that NFD makes by itself (its built-in sources, of v0.17)."""


def labels_have_a_rule(final: FinalList) -> Iterator[Result]:
    """Yield an info per label of NFD in a selector that no NodeFeatureRule makes and that no node has.

    Without such rules in the list there is no finding: the labels may have another origin.
    """
    rules = [item for item in (*final.deployed, *final.external) if item.kind == "NodeFeatureRule"]
    labels = set[str]()
    for item in rules:
        for _, rule in tables(table(item.manifest, "spec"), "rules"):
            if rule.get("labelsTemplate"):
                return  # its labels depend on the node
            labels.update(key if "/" in key else f"{_DOMAIN}{key}" for key in table(rule, "labels"))
    if not rules:
        return
    items = (*final.inputs, *final.deployed, *final.external)
    nodes = [item for item in items if item.kind in ("Node", "NodeInventory") and item.mentions(_DOMAIN)]
    known = f"the rules make: {some(sorted(labels), len(labels)) or 'none'}"
    is_held: dict[str, bool] = {}
    for item, module in final.modules:
        for key in module.selector or {}:
            name = key.removeprefix(_DOMAIN)
            if name == key or name.startswith(_SOURCES) or key in labels:
                continue
            if key not in is_held:
                is_held[key] = any(node.mentions(key) for node in nodes)
            if is_held[key]:
                continue
            reason = "no node has it, and Node Feature Discovery does not make it by itself"
            message = f"no NodeFeatureRule here makes the label {key}, {reason}"
            field = Field(join(("spec", "selector", key)))
            yield final.located(
                item, info(message, field=field, remedy=f"select by one of them, or add a rule ({known})")
            )


KRM711 = Rule(
    "KRM711",
    "where Flux is used, text for KMM should not look like one of its variables, unless an annotation keeps Flux from "
    "substituting it",
    good="""\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: drivers, namespace: flux-system}
---
kind: Module
spec:
  moduleLoader:
    container:
      kernelMappings: [{regexp: ^.+$, containerImage: "registry.example.com/gpu:1.0-$KERNEL_FULL_VERSION"}]
""",
    bad="""\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: drivers, namespace: flux-system}
---
kind: Module
spec:
  moduleLoader:
    container:
      kernelMappings: [{regexp: ^.+$, containerImage: "registry.example.com/gpu:1.0-${KERNEL_FULL_VERSION}"}]
""",
    remedy="Add the annotation `kustomize.toolkit.fluxcd.io/substitute: disabled`, which generated objects have. "
    "Ignore the finding if Flux does not apply the object, or has no `postBuild`.",
    held=oracles.FLUX_SUBSTITUTION,
    check=dollars_are_kept,
    severities=("info",),
    advice=True,
)

KRM713 = Rule(
    "KRM713",
    "a label of Node Feature Discovery in a selector should be made by a NodeFeatureRule, or be on a node",
    good="""\
kind: Module
spec: {selector: {feature.node.kubernetes.io/gpu: "true"}}
---
apiVersion: nfd.k8s-sigs.io/v1alpha1
kind: NodeFeatureRule
metadata: {name: gpu}
spec: {rules: [{name: gpu, labels: {feature.node.kubernetes.io/gpu: "true"}}]}
""",
    bad="""\
kind: Module
spec: {selector: {feature.node.kubernetes.io/gpux: "true"}}
---
apiVersion: nfd.k8s-sigs.io/v1alpha1
kind: NodeFeatureRule
metadata: {name: gpu}
spec: {rules: [{name: gpu, labels: {feature.node.kubernetes.io/gpu: "true"}}]}
""",
    remedy="Correct the label in the selector, or write a NodeFeatureRule that makes it.",
    held=oracles.NFD,
    check=labels_have_a_rule,
    severities=("info",),
    advice=True,
)

KRM714 = Rule(
    "KRM714",
    "a dump of a cluster must not be among the files: it is passed with --live",
    good="""\
kind: DeviceConfig
""",
    bad="""\
apiVersion: kmm.sigs.x-k8s.io/v1beta1
kind: NodeModulesConfig
metadata: {name: gpu-1}
spec: {modules: []}
""",
    remedy="Move the dump out of PATH, or exclude it (`exclude` in .krmfn.yaml), and pass it with `--live`.",
    held=oracles.OUR_FILES,
    check=nothing_is_of_a_dump,
)

RULES = (KRM711, KRM713, KRM714)
"""The rules about what other tools do to the list."""
