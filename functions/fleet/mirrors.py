"""Images before they are pulled: from where each is copied, and what has to be built for which kernel."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from krmfn import KrmfnError
from krmfn.results import reference
from krmfn.typed import Any

from ..kmm.lookup import table, text
from ..kmm.resolution import Resolution, resolver
from . import registry
from .coverage import LOADING, Group, by_driver
from .drivers import Driver

Mirror = tuple[str, str]
"""What an image's name begins with at its source, and where it is pulled from."""


def mirror(given: str) -> Mirror:
    """Return a mirror from `SOURCE=DESTINATION`. Raises KrmfnError for anything else."""
    source, _, destination = given.partition("=")
    if not source or not destination or "=" in destination:
        raise KrmfnError(f"--mirror {given}: write SOURCE=DESTINATION, such as registry.example.com=mirror.lab:5000")
    return source.rstrip("/"), destination.rstrip("/")


def pairs(names: Iterable[str], mirrors: Sequence[Mirror]) -> Iterator[tuple[str, str]]:
    """Yield each image with the one that it is a copy of, source first; one that no mirror has is its own source.

    The longest destination counts; it ends where a part of the name does.
    """
    known = sorted(mirrors, key=lambda one: -len(one[1]))
    for name in names:
        source, destination = next((one for one in known if _is_below(name, one[1])), ("", ""))
        yield source + name[len(destination) :], name


def _is_below(name: str, destination: str) -> bool:
    end = ("/", ":", "@") if "/" in destination else ("/",)  # what follows a registry's name may be its port
    return name.startswith(destination) and name[len(destination) :].startswith(end)


def skopeo(names: Iterable[str]) -> dict[str, Any]:
    """Return the sources as `skopeo sync --src yaml` reads them: registries, repositories, tags and digests.

    Source: skopeo-sync(1), YAML file content.
    """
    registries: dict[str, dict[str, list[str]]] = {}
    for name in names:
        full, tag, digest = registry.parts(registry.normal(name))
        host, _, repository = full.partition("/")
        registries.setdefault(host, {}).setdefault(repository, []).append(digest or tag)
    return {host: {"images": repositories} for host, repositories in registries.items()}


def builds(
    groups: Sequence[Group], drivers: Sequence[Driver], kernels: Sequence[Sequence[str]]
) -> Iterator[dict[str, Any]]:
    """Yield the images that the nodes need for the kernels that they have, and for those to come of each driver.

    Each is an entry of the matrix of a CI job, for one kernel and one architecture (as Kubernetes calls it, None where
    the nodes do not say). `dockerfileConfigMap` is the ConfigMap that has it where KMM builds it in the cluster.
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
    own = driver.module.mappings[resolution.mapping] if resolution.mapping is not None else {}
    holders = (own, driver.module.container)
    return next(filter(None, (text(table(one, "build", "dockerfileConfigMap"), "name") for one in holders)), "")


def matrix(builds: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return the builds, each once, as the matrix of a CI job."""
    once = {str(build): build for build in builds}.values()
    return {"include": sorted(once, key=lambda one: (one["image"], one["kernel"], one["architecture"] or ""))}
