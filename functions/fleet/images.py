"""The images that the nodes of a cluster pull: for which objects, on how many nodes, copied from where, or built."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from krmfn import KrmfnError, Ref, Result, error
from krmfn.results import reference
from krmfn.typed import Any, NamedTuple

from ..exclusivity.node import Node
from ..grouping import grouped
from ..kmm.envsubst import substitute, variables
from ..kmm.lookup import has, table, tables, text
from ..kmm.module import PLUGINS
from ..kmm.resolution import Resolution, resolver
from ..sentence import Verb, named
from .cluster import Cluster, placements
from .coverage import LOADING, Group, by_driver
from .drivers import Driver, Drivers

Nodes = set[tuple[object, object]]
"""Nodes by their cluster and name."""


class Need(NamedTuple):
    """An object that needs an image."""

    ref: Ref
    purpose: str
    """The kernel module, a plugin, a container, the unsigned image, ..."""


class Image(NamedTuple):
    """An image with all that need it."""

    name: str
    nodes: int | None
    """How many nodes pull it, each counted once; None when that is not known."""
    built: bool
    """Whether KMM builds or signs it in the cluster for one of those that need it."""
    needs: tuple[Need, ...]
    waiting: int = 0
    """How many of these nodes do not pull it yet: they are cordoned, lack a version label, or the like."""


class _Pull(NamedTuple):
    """An image that is pulled for an object."""

    name: str
    need: Need
    nodes: Nodes | None
    """The nodes that pull it; None when they are not known: of a Deployment, or of an image pulled to be signed."""
    built: bool = False
    """Whether it is built or signed in the cluster."""
    waiting: frozenset[tuple[object, object]] = frozenset()
    """Nodes that do not pull it yet."""


def images(groups: Sequence[Group], cluster: Cluster, kernels: Sequence[Sequence[str]] = ()) -> list[Image]:
    """Return the images that a cluster needs, sorted by name, given its coverage.

    `kernels` are further kernels for each Module: future ones or, where no node is known, the present ones.
    Raises KrmfnError for a kernel among them that KMM fails on, and without nodes and kernels for a Module whose image
    depends on the kernel.
    """
    pulls: list[_Pull] = []
    futures = kernels or [()] * len(cluster.drivers)
    for (driver, selected), future in zip(by_driver(groups, cluster.drivers), futures, strict=True):
        nodes_of: dict[str, Nodes] = {kernel: set() for kernel in future}
        waiting = Nodes()
        for group, outcome in selected:  # an unknown kernel is ""
            if outcome.state in LOADING or (outcome.state == "kernel unknown" and _has_one_image(driver)):
                nodes_of.setdefault(group.kernel, set()).update(_nodes(group.nodes))
            if outcome.state in LOADING and outcome.state != "planned":
                waiting |= _nodes(group.nodes)
        pulled = _of_driver(driver, nodes_of, bool(groups or any(kernels)))
        pulls += (pull._replace(waiting=frozenset(waiting)) for pull in pulled)
    gates = _gates(groups, cluster.drivers)
    for workload, placement in placements(cluster, groups):
        nodes = _nodes(placement.nodes) if placement and groups else None
        waiting = Nodes().union(*(gates[key] for key in gates.keys() & workload.selector.keys()))
        for name, purpose in workload.images():
            pulls.append(_Pull(name, Need(workload.ref, purpose), nodes, waiting=frozenset(waiting)))
    by_name = grouped((pull.name, pull) for pull in pulls if pull.name)
    return [_image(name, by_name[name]) for name in sorted(by_name)]


def _nodes(nodes: Iterable[Node]) -> Nodes:
    return {(node.cluster, node.name) for node in nodes}


def _gates(groups: Sequence[Group], drivers: Drivers) -> dict[str, Nodes]:
    """Return the nodes that do not have a label of KMM's yet, by label: its Module waits there until the node is well.

    A DaemonSet that selects by such a label waits there, too.
    """
    gates: dict[str, Nodes] = {}
    for driver, selected in by_driver(groups, drivers):
        if waiting := Nodes().union(
            *(_nodes(group.nodes) for group, outcome in selected if outcome.state == "waiting")
        ):
            gates |= dict.fromkeys(driver.set_by_kmm, waiting)
    return gates


def _image(name: str, pulls: Sequence[_Pull]) -> Image:
    """Return an image, given its pulls; several pulls by one object for one purpose are one need."""
    known = [pull for pull in pulls if pull.nodes is not None]
    nodes = Nodes().union(*(pull.nodes or () for pull in known))
    ready = Nodes().union(*((pull.nodes or set()) - pull.waiting for pull in known))
    number, waiting = (len(nodes), len(nodes - ready)) if len(known) == len(pulls) else (None, 0)
    needs = tuple(dict.fromkeys(pull.need for pull in pulls))
    return Image(name, number, any(pull.built for pull in pulls), needs, waiting)


def unknown_images(groups: Sequence[Group], drivers: Drivers) -> Iterator[Result]:
    """Yield an error per Module whose images depend on kernels that are not known, so that some are not listed."""
    for driver, selected in by_driver(groups, drivers):
        unknown = [group for group, outcome in selected if outcome.state == "kernel unknown"]
        if unknown and not _has_one_image(driver):
            names = sorted(node.name for group in unknown for node in group.nodes)
            has = Verb(len(names), "has", "have")
            message = (named(names), " ", has, " reported no kernel, so not all of its images are known")
            yield error(message, ref=driver.ref)


def unjudged_images(groups: Sequence[Group], drivers: Drivers) -> Iterator[Result]:
    """Yield an error per Module some of whose images are not listed, since a regexp is not judged."""
    for driver, selected in by_driver(groups, drivers):
        unjudged = [(group, outcome.failure) for group, outcome in selected if outcome.state == "not judged"]
        if unjudged:
            names = sorted(node.name for group, _ in unjudged for node in group.nodes)
            message = ("its images for ", named(names), f" are not known: {unjudged[0][1]}")
            yield error(message, ref=driver.ref)


def _has_one_image(driver: Driver) -> bool:
    """Return True for a Module with one image, whatever the kernel."""
    try:
        return driver.module.takes_every_kernel and bool(_fixed_resolution(driver, 0).image)
    except KrmfnError:
        return False


def _of_driver(driver: Driver, nodes_of: Mapping[str, Nodes], decided: bool) -> Iterator[_Pull]:
    """Yield the images of a Module, given the nodes of each kernel; `decided` is False when no kernel is known."""
    if driver.loads and not decided:
        for position, entry in enumerate(driver.module.mappings):
            yield from _of_mapping(driver, _fixed_resolution(driver, position), None, text(entry, "literal"))
    elif driver.loads:
        resolve = resolver(driver.module, driver.cluster is not None)
        for kernel, nodes in nodes_of.items():
            try:
                resolution = resolve(kernel) if kernel else _fixed_resolution(driver, 0)
            except KrmfnError as failure:
                raise KrmfnError(f"{driver.ref}, kernel {kernel}: {failure}") from failure
            yield from _of_mapping(driver, resolution, nodes, kernel)
    everywhere = Nodes().union(*nodes_of.values()) if decided else None
    for plugin, noun in PLUGINS.items():
        for part in ("initContainer", "container"):
            yield _Pull(text(table(driver.module.spec, plugin, part), "image"), Need(driver.ref, noun), everywhere)
        for _, volume in tables(table(driver.module.spec, plugin), "volumes"):
            yield _Pull(text(table(volume, "image"), "reference"), Need(driver.ref, noun), everywhere)


def _fixed_resolution(driver: Driver, position: int) -> Resolution:
    """Return the image of a mapping where no node is known.

    Raises KrmfnError when it depends on the kernel: a regexp's mapping with kernel variables in the image.
    """
    entry = driver.module.mappings[position]
    if literal := text(entry, "literal"):
        return resolver(driver.module)(literal)
    image = text(entry, "containerImage") or text(driver.module.container, "containerImage")
    names = {"MOD_NAME": driver.module.ref.name, "MOD_NAMESPACE": driver.module.ref.namespace}
    first, second = (substitute(image, variables(kernel) | names) for kernel in ("1.2.3-a", "4.5.6-b"))
    if first != second:
        remedy = "add a NodeInventory (see `krmfn inventory`) to PATH, or pass --kernel VERSION"
        subject = f"the image of {driver.ref}, kernelMappings[{position}] ({image})"
        raise KrmfnError(f"{subject} depends on the node's kernel, and no nodes are known; {remedy}")
    return Resolution(position, first)


def _of_mapping(driver: Driver, resolution: Resolution, nodes: Nodes | None, kernel: str) -> Iterator[_Pull]:
    """Yield the image of a kernel mapping and, when it is signed in the cluster, the unsigned one."""
    if resolution.mapping is None or not resolution.image:
        return
    holders = (driver.module.mappings[resolution.mapping], driver.module.container)
    build, sign = (any(has(holder, key) for holder in holders) for key in ("build", "sign"))
    yield _Pull(resolution.image, Need(driver.ref, "kernel module"), nodes, build or sign)
    unsigned = next(filter(None, (text(table(holder, "sign"), "unsignedImage") for holder in holders)), "")
    if sign and not build and unsigned:
        values = variables(kernel.removesuffix("+")) if kernel else {}
        yield _Pull(substitute(unsigned, values), Need(driver.ref, "unsigned image"), None)


def builds(groups: Sequence[Group], drivers: Drivers, kernels: Sequence[Sequence[str]]) -> Iterator[dict[str, Any]]:
    """Yield the images that the nodes need for their kernels, and for the further `kernels` of each driver.

    Each is an entry of the matrix of a CI job, for one kernel and one architecture (as Kubernetes calls it, None where
    the nodes do not say). `dockerfileConfigMap` is the ConfigMap with the Dockerfile where KMM builds in the cluster.
    Raises KrmfnError for a kernel that KMM fails on.
    """
    for (driver, selected), future in zip(by_driver(groups, drivers), kernels, strict=True):
        resolve = resolver(driver.module)
        for group, outcome in selected:
            if not driver.loads or outcome.state not in (*LOADING, "no mapping"):
                continue
            known = [(group.kernel, outcome.resolution)] if outcome.state in LOADING else []
            for kernel, resolution in (*known, *((kernel, resolve(kernel)) for kernel in future)):
                for architecture in dict.fromkeys(node.architecture for node in group.nodes if resolution.image):
                    yield {
                        "image": resolution.image,
                        "module": reference(driver.ref),
                        "kernel": kernel,
                        "architecture": architecture or None,
                        "dockerfileConfigMap": _dockerfile(driver, resolution) or None,
                    }


def _dockerfile(driver: Driver, resolution: Resolution) -> str:
    """Return the name of the ConfigMap with the Dockerfile of an image; "" without one."""
    entry = driver.module.mappings[resolution.mapping] if resolution.mapping is not None else {}
    maps = (table(holder, "build", "dockerfileConfigMap") for holder in (entry, driver.module.container))
    return next(filter(None, (text(config_map, "name") for config_map in maps)), "")


def matrix(builds: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return the builds, each once, as the matrix of a CI job."""
    distinct = {str(build): build for build in builds}.values()
    return {"include": sorted(distinct, key=lambda row: (row["image"], row["kernel"], row["architecture"] or ""))}
