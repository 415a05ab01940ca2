"""The cluster's checks and the lints for every Module of a run, written by hand or generated."""

from collections.abc import Collection, Iterator, Sequence

from krmfn import ResourceList, Result
from krmfn.resource import fingerprint

from ..kmm.lints import image_lints, module_lints
from ..kmm.lookup import table, tables
from ..kmm.module import MODULE_KIND, Module, module_of
from ..kmm.webhook import admission
from .function_config import FunctionConfig
from .generated import Finding, Generated, Handwritten
from .origins import at_origin

Nodes = tuple[Sequence[str], Collection[str]]
"""The versions of the kernels of the nodes in a list, sorted, and of their kubelets."""

AS_GIVEN = frozenset(
    {
        *("projected", "downwardAPI", "ephemeral", "image"),
        *("awsElasticBlockStore", "azureDisk", "azureFile", "cephfs", "cinder", "fc", "flexVolume", "flocker"),
        *("gcePersistentDisk", "glusterfs", "iscsi", "photonPersistentDisk", "portworxVolume", "quobyte", "rbd"),
        *("scaleIO", "storageos", "vsphereVolume"),
    }
)
"""Volumes that a config's schema leaves to Kubernetes."""


def check(
    resources: ResourceList,
    objects: Sequence[Generated],
    handwritten: Sequence[Handwritten],
    config: FunctionConfig,
    lint: bool,
) -> Iterator[Finding]:
    """Yield the findings about all Modules and pods; `lint` for more than refusals about those written by hand."""
    generated = [(one, module_of(one.manifest)) for one in objects]
    nodes = _nodes(resources, [module for _, module in (*generated, *handwritten) if module])
    if handwritten:
        from ..kmm.checks import check as check_all  # here, since what we generate needs none of the CRD's facts

        for item, module in handwritten:
            for finding in check_all(module, config.kmm_version, *(nodes if lint else ((), ()))):
                if lint or finding.severity == "error":
                    yield item.ref, item.located(finding)
    yield from _generated(generated, config, nodes)
    if lint:
        here = [(module, one.owner) for one, module in generated if module and one.manifest["kind"] == MODULE_KIND]
        modules = [*here, *((module, item.ref) for item, module in handwritten)]
        if len(modules) > 1:
            from ..kmm.lints import neighbours  # here, since one Module has none

            owners = {module.ref: owner for module, owner in modules}
            for finding in neighbours.check(module for module, _ in modules):
                yield owners[finding.ref] if finding.ref else None, finding


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
    for one, module in objects:
        likeness = one.manifest["kind"], _likeness(module) if module else b""
        if module and likeness in sound:
            findings = [*admission.check_name(module, config.kmm_version), *module_lints.check_without_parts(module)]
        else:
            findings = list(_judged(one, module, config.kmm_version, nodes))
        if likeness[1] and not findings:
            sound.add(likeness)
        for finding in findings:
            if finding.rule not in one.answered:
                yield one.owner, at_origin(one, finding)


def _likeness(module: Module) -> bytes:
    """Return the same bytes for Modules that differ in name and selector alone; b"" for one with its name elsewhere."""
    data = fingerprint({**module.spec, "selector": None}) or b""
    return b"" if b"MOD_NAME" in data else data


def _nodes(resources: ResourceList, modules: Sequence[Module]) -> Nodes:
    """Return what the Modules ask for: kernels where one has several mappings, kubelets where one has a DRA driver."""
    several, dra = {len(one.mappings) > 1 for one in modules}, {"dra" in one.spec for one in modules}
    if True not in several | dra:
        return (), ()
    from ..fleet import nodes  # here, for the start-up of the others

    return sorted(nodes.kernels(resources)) if True in several else (), nodes.kubelets(resources) if True in dra else ()


def _judged(one: Generated, module: Module | None, version: str, nodes: Nodes) -> Iterator[Result]:
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
        is_here = one.manifest["kind"] == MODULE_KIND  # else its nodes are the spokes'
        yield from module_lints.check(module, version, kernels, kubelets if is_here else ())
    elif one.manifest["kind"] == "DaemonSet":
        yield from image_lints.check_pods(one.manifest)
