"""The cluster's checks and the lints for every Module of a run, written by hand or generated."""

from collections.abc import Collection, Iterator, Sequence

from krmfn import ResourceList, Result
from krmfn.resource import fingerprint
from krmfn.results import Findings

from ..kmm.lints import image_lints, module_lints
from ..kmm.lookup import table, tables
from ..kmm.module import MODULE_KIND, Module, module_of
from ..kmm.versions import DEFAULT
from ..kmm.webhook import admission
from .function_config import FunctionConfig
from .generated import Finding, Generated, Written, at_origin

Nodes = tuple[Sequence[str], Collection[str]]
"""The versions of the kernels of the nodes in a list, sorted, and of their kubelets."""

AS_GIVEN = {
    *("projected", "downwardAPI", "ephemeral", "image"),
    *("awsElasticBlockStore", "azureDisk", "azureFile", "cephfs", "cinder", "fc", "flexVolume", "flocker"),
    *("gcePersistentDisk", "glusterfs", "iscsi", "photonPersistentDisk", "portworxVolume", "quobyte", "rbd"),
    *("scaleIO", "storageos", "vsphereVolume"),
}
"""Volumes that a config's schema leaves to Kubernetes."""


def check(
    resources: ResourceList, objects: Sequence[Generated], written: Written, config: FunctionConfig, lint: bool
) -> Iterator[Finding]:
    """Yield the findings about all Modules and pods; `lint` for more than refusals about those written by hand."""
    generated = [(obj, module_of(obj.manifest)) for obj in objects]
    every = [module for _, module in (*generated, *written) if module]
    kernels, kubelets = list[str](), set[str]()
    several, dra = any(len(module.mappings) > 1 for module in every), any("dra" in module.spec for module in every)
    if several or dra:  # what the Modules ask for
        from ..fleet import nodes  # here, for the start-up of the others

        kernels = sorted(nodes.kernels(resources)) if several else kernels
        kubelets = nodes.kubelets(resources) if dra else kubelets
    for item, module in written:
        for finding in of_written(module, config.kmm_version, *((kernels, kubelets) if lint else ())):
            if lint or finding.severity == "error":
                yield item.ref, item.located(finding)
    yield from _generated(generated, config, (kernels, kubelets))
    if lint:
        own = [(module, obj.owner) for obj, module in generated if module and obj.manifest["kind"] == MODULE_KIND]
        modules = [*own, *((module, item.ref) for item, module in written)]
        if len(modules) > 1:
            from ..kmm.lints import neighbours  # here, since one Module has none

            owners = {module.ref: owner for module, owner in modules}
            for finding in neighbours.check(module for module, _ in modules):
                yield owners[finding.ref] if finding.ref else None, finding


def of_written(
    module: Module, version: str = DEFAULT, kernels: Sequence[str] = (), kubelets: Collection[str] = ()
) -> list[Result]:
    """Return the findings about one Module that somebody wrote, in a stable order.

    First structure (the API server's CRD), then admission (KMM's webhook), then lints (no cluster has them). What the
    cluster would print itself is tagged `first`: what the API server finds before it stops, else the webhook's first.
    Raises KrmfnError for an unknown KMM version. Source: KMM v2.4.0 to main (2026-07-29).
    """
    from ..kmm.crd import structure  # here, since what we generate needs none of the CRD's facts

    refused = list(structure.check(module, version))
    webhook = admission.check(module, version, is_reached=not refused)
    return [*refused, *webhook, *Findings(module_lints.check(module, version, kernels, kubelets))]


def _generated(
    objects: Sequence[tuple[Generated, Module | None]], config: FunctionConfig, nodes: Nodes
) -> Iterator[Finding]:
    """Yield the findings about generated Modules and pods, each with the resource that its object is generated from.

    A finding stands at the field that caused it, where one field did.

    Their structure is right by construction (the end-to-end tests hold it against a real API server), but for fields
    that the cluster's KMM does not have yet, and volumes that are passed on as they are. What users decide is not:
    names, regexps, images, loading orders. Modules that differ in name and selector alone are judged once: of the
    others only these two are.
    """
    sound: set[tuple[str, bytes]] = set()
    for obj, module in objects:
        data = (fingerprint({**module.spec, "selector": None}) or b"") if module else b""
        likeness = obj.manifest["kind"], b"" if b"MOD_NAME" in data else data  # the name may stand elsewhere, too
        if module and likeness in sound:
            findings = [*admission.check_name(module, config.kmm_version), *module_lints.check_without_parts(module)]
        else:
            findings = list(_judged(obj, module, config.kmm_version, nodes))
        if likeness[1] and not findings:
            sound.add(likeness)
        for finding in findings:
            if finding.rule not in obj.covered_rules:
                yield obj.owner, at_origin(obj, finding)


def _judged(obj: Generated, module: Module | None, version: str, nodes: Nodes) -> Iterator[Result]:
    """Yield the findings about one generated object; `module` is the Module that it is or brings to spokes."""
    if module:
        plugin, refused = table(module.spec, "devicePlugin"), list[Result]()
        as_given = any(not AS_GIVEN.isdisjoint(volume) for _, volume in tables(plugin, "volumes"))
        # other fields are right by construction, and in every version that we know
        if as_given or "dra" in module.spec or "automountServiceAccountToken" in plugin:
            from ..kmm.crd import structure  # here, for the start-up of the others

            findings = structure.check(module, version)
            refused = [finding for finding in findings if finding.field and finding.field.path.startswith("spec")]
        yield from refused
        yield from admission.check(module, version, is_reached=not refused)
        kernels, kubelets = nodes
        is_here = obj.manifest["kind"] == MODULE_KIND  # else its nodes are the spokes'
        yield from module_lints.check(module, version, kernels, kubelets if is_here else ())
    elif obj.manifest["kind"] == "DaemonSet":
        yield from image_lints.check_pods(obj.manifest)
