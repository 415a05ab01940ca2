"""Lints: what KMM accepts and fails with on the node, in one Module or in Modules that meet on a node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from krmfn.resource import Manifest, ref
from krmfn.results import Result

from ..rule import Rules, apply
from ..versions import DEFAULT, target
from . import image_lints, mapping_lints, module_lints, neighbours

RULES: Rules = module_lints.RULES + mapping_lints.RULES + image_lints.RULES + neighbours.RULES


def check(module: Manifest, version: str = DEFAULT, kernels: Sequence[str] = ()) -> Iterator[Result]:
    """Yield the lints about one Module; `kernels` are real kernel versions to try its mappings with."""
    kmm, subject = target(version), ref(module)
    findings = [
        *apply(module_lints.RULES, module, kmm),
        *mapping_lints.check(module, kernels),
        *image_lints.check(module),
    ]
    for finding in findings:
        yield finding._replace(ref=subject)


def check_pods(workload: Manifest) -> Iterator[Result]:
    """Yield the lints about the images that a DaemonSet's pods run."""
    for finding in image_lints.check_pods(workload):
        yield finding._replace(ref=ref(workload))


def across(modules: Iterable[Manifest]) -> list[Result]:
    """Return the lints about Modules of one cluster together: those that remove what another one loads."""
    return list(apply(neighbours.RULES, list(modules)))
