"""The cluster's checks and the lints for every Module of a run, written by hand or generated."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from krmfn import Manifest, ResourceList, Result
from krmfn.findings import Findings
from krmfn.resource import fingerprint, ref
from krmfn.typed import TYPE_CHECKING

from ..kmm.lints import image_lints, module_lints
from ..kmm.lookup import table, tables
from ..kmm.module import HUB_KIND, MODULE_KIND, Module, module_of
from ..kmm.rule import on_hub
from ..kmm.versions import DEFAULT
from ..kmm.webhook import admission
from ..pods import daemon_set, rolling_update
from ..run import run_of
from .function_config import FunctionConfig
from .generated import Finding, Generated, Written, at_origin

if TYPE_CHECKING:
    from ..kmm.crd.user_facts import UserFacts

Nodes = tuple[Sequence[str], Collection[str]]
"""The versions of the kernels of the nodes in a list, sorted, and of their kubelets."""

NO_NODES: Nodes = ((), ())

_NEWER = {"automountServiceAccountToken", "startupProbe", "livenessProbe", "securityContext", "modprobedDir"}
"""Fields that an older KMM does not have."""
UNCHECKED_VOLUMES = {
    *("projected", "downwardAPI", "ephemeral", "image"),
    *("awsElasticBlockStore", "azureDisk", "azureFile", "cephfs", "cinder", "fc", "flexVolume", "flocker"),
    *("gcePersistentDisk", "glusterfs", "iscsi", "photonPersistentDisk", "portworxVolume", "quobyte", "rbd"),
    *("scaleIO", "storageos", "vsphereVolume"),
}
"""Volumes that a config's schema does not check."""


def check(
    resources: ResourceList, objects: Sequence[Generated], written: Written, config: FunctionConfig, lint: bool
) -> Iterator[Finding]:
    """Yield the findings about all Modules and pods; without `lint` only the errors about those written by hand."""
    generated = [(obj, module_of(obj.manifest)) for obj in objects]
    modules = [module for _, module in (*generated, *written) if module]
    kernels, kubelets = list[str](), set[str]()
    has_mappings = any(len(module.mappings) > 1 for module in modules)
    has_dra = any("dra" in module.spec for module in modules)
    if has_mappings or has_dra:
        from ..fleet import nodes  # here: other Modules are judged without nodes

        kernels = sorted(nodes.kernels(resources)) if has_mappings else kernels
        kubelets = nodes.kubelets(resources) if has_dra else kubelets
    user_facts = facts_of_user(resources) if modules else None
    for item, module in written:
        if item.kind == HUB_KIND:
            findings = of_hub(item.manifest, module, config.kmm_version, user_facts)
        else:
            findings = of_written(module, config.kmm_version, (kernels, kubelets) if lint else NO_NODES, user_facts)
        for finding in findings:
            if lint or finding.severity == "error":
                yield item.ref, item.located(finding)
    yield from _generated(generated, config, (kernels, kubelets), user_facts)
    if lint and run_of(resources).settings.intent.is_function:  # commands judge the final list of the cluster
        owned = [(module, obj.owner) for obj, module in generated if module and obj.manifest["kind"] == MODULE_KIND]
        owned += [(module, item.ref) for item, module in written if item.kind == MODULE_KIND]
        if len(owned) > 1:
            from ..kmm.lints import neighbours  # here, since one Module has none

            owners = {module.ref: owner for module, owner in owned}
            for finding in neighbours.check(module for module, _ in owned):
                yield owners[finding.ref] if finding.ref else None, finding


def facts_of_user(resources: ResourceList) -> UserFacts | None:
    """Return what the CRDs of KMM say that the cluster is known to have, or that are among the resources, if any."""
    crds, items = run_of(resources).crds, resources.where(kind="CustomResourceDefinition", group="apiextensions.k8s.io")
    if not crds and not items:
        return None
    from ..kmm.crd.user_facts import NAMES, is_crd, read  # here, since few lists have a CRD

    # another CRD may be too large to be read
    return read(filter(is_crd, crds or [item.manifest for item in items if item.name in NAMES]))


def of_written(
    module: Module, version: str = DEFAULT, nodes: Nodes = NO_NODES, user_facts: UserFacts | None = None
) -> list[Result]:
    """Return the findings about one Module that is written by hand, in a stable order.

    First structure (the API server's CRD), then admission (KMM's webhook), then lints (which no cluster has). The
    findings that the cluster itself would print are tagged `first`: what the API server finds before it stops, else the
    first of the webhook. `user_facts` are the facts of the cluster's own CRDs, where they are known.
    Raises KrmfnError for an unknown KMM version. Source: KMM v2.4.0 to main (2026-07-29).
    """
    from ..kmm.crd import structure  # here: most generated Modules do without the facts of the CRD

    refused = list(structure.check(module, version, user_facts))
    webhook = admission.check(module, version, is_reached=not refused)
    return [*refused, *webhook, *Findings(module_lints.check(module, version, *nodes))]


def of_hub(
    manifest: Manifest, module: Module, version: str = DEFAULT, user_facts: UserFacts | None = None
) -> list[Result]:
    """Return the findings about a ManagedClusterModule that is written by hand; `module` is what it brings to spokes.

    What the hub prints is tagged `first`, as for `of_written`: its webhook judges the Module without name and
    namespace. Which kernels the spokes have is not known.
    Source: KMM main (de3f8c9), internal/webhook/hub/managedclustermodule_webhook.go.
    """
    from ..kmm.crd import structure
    from ..kmm.lints import hub_lints

    nameless = Module({**module.manifest, "metadata": {}})
    refused = list(structure.check_hub(manifest, version, user_facts))
    webhook = admission.check(nameless, version, is_reached=not refused)
    lints = [*hub_lints.check(module), *module_lints.check(module, version, (), ())]
    of_spokes = [finding._replace(tags=()) for finding in admission.check_name(module, version)]
    findings = [finding._replace(ref=ref(manifest)) for finding in (*webhook, *of_spokes, *Findings(lints))]
    return [*refused, *map(on_hub, findings)]


def _generated(
    objects: Sequence[tuple[Generated, Module | None]],
    config: FunctionConfig,
    nodes: Nodes,
    user_facts: UserFacts | None,
) -> Iterator[Finding]:
    """Yield the findings about generated Modules and pods, each with the resource that its object is generated from.

    A finding stands at the field of the config that caused it, where there is one.

    Their structure is right by construction (the end-to-end tests compare it with a real API server), except for fields
    that the cluster's KMM does not have yet, and for volumes that are copied from the config. What users choose is not:
    names, regexps, images, loading orders. Of several Modules that differ only in name and selector the first is
    judged; of the others only the name and the selector are, when the first has no finding.
    """
    sound: set[tuple[str, bytes]] = set()
    for obj, module in objects:
        spec = (fingerprint({**module.spec, "selector": None}) or b"") if module else b""
        key = obj.manifest["kind"], b"" if b"MOD_NAME" in spec else spec  # a spec with MOD_NAME depends on the name
        if module and key in sound:
            findings = [*admission.check_name(module, config.kmm_version), *module_lints.check_without_parts(module)]
        else:
            findings = list(_judged(obj, module, config.kmm_version, nodes, user_facts))
        if key[1] and not findings:
            sound.add(key)
        for finding in findings:
            if finding.rule not in obj.covered_rules:
                yield obj.owner, at_origin(obj, finding)


def _judged(
    obj: Generated, module: Module | None, version: str, nodes: Nodes, user_facts: UserFacts | None
) -> Iterator[Result]:
    """Yield the findings about one generated object; `module` is the Module that it is, or that it brings to spokes."""
    if module:
        plugin, refused = table(module.spec, "devicePlugin"), list[Result]()
        has_unchecked = any(not UNCHECKED_VOLUMES.isdisjoint(volume) for _, volume in tables(plugin, "volumes"))
        # other fields are right by construction, in every version of KMM that we know
        newer = (*plugin, *table(plugin, "container"), *module.modprobe)
        is_newer = "dra" in module.spec or not _NEWER.isdisjoint(newer)
        if user_facts or has_unchecked or is_newer:
            from ..kmm.crd import structure  # here, since most Modules need no such check

            findings = structure.check(module, version, user_facts)
            refused = [finding for finding in findings if finding.field and finding.field.path.startswith("spec")]
        yield from refused
        yield from admission.check(module, version, is_reached=not refused)
        kernels, kubelets = nodes
        is_local = obj.manifest["kind"] == MODULE_KIND  # else it is for the nodes of spokes
        if not is_local:
            from ..kmm.lints import hub_lints  # here, since few fleets have a hub

            yield from hub_lints.check(module)
        yield from module_lints.check(module, version, kernels, kubelets if is_local else ())
    elif obj.manifest["kind"] == "DaemonSet":
        yield from image_lints.check_pods(obj.manifest)
        yield from rolling_update.check(obj.manifest)
        for finding in daemon_set.check(obj.manifest):
            if not (finding.field and daemon_set.is_mount(finding.field.path)):  # KRM126 says so of the config
                yield finding
