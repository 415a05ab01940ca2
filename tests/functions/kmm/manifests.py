"""KMM's checks on manifests, as the tests write Modules."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from krmfn_functions.kmm import resolution
from krmfn_functions.kmm.crd import structure
from krmfn_functions.kmm.lints import module_lints, neighbours
from krmfn_functions.kmm.module import Module
from krmfn_functions.kmm.versions import DEFAULT
from krmfn_functions.kmm.webhook import admission
from krmfn_functions.rendering import module_checks
from krmfn_functions.rule import apply

from krmfn import Manifest, Result


def check(
    manifest: Manifest, version: str = DEFAULT, kernels: Sequence[str] = (), kubelets: Sequence[str] = ()
) -> list[Result]:
    return module_checks.of_written(Module(manifest), version, (kernels, kubelets))


def refused_by_schema(manifest: Manifest, version: str = DEFAULT) -> list[Result]:
    return list(structure.check(Module(manifest), version))


def refused_by_webhook(manifest: Manifest, version: str = DEFAULT) -> list[Result]:
    return admission.check(Module(manifest), version)


def refused_update(old: Manifest, new: Manifest) -> list[Result]:
    return list(apply(admission.UPDATE_RULES, Module(old), Module(new)))


def lints(manifest: Manifest, version: str = DEFAULT, kernels: Sequence[str] = ()) -> list[Result]:
    return list(module_lints.check(Module(manifest), version, kernels))


def across(manifests: Sequence[Manifest]) -> list[Result]:
    return neighbours.check(map(Module, manifests))


def resolve(manifest: Manifest, kernel: str) -> resolution.Resolution:
    return resolution.resolver(Module(manifest))(kernel)


def resolver(manifest: Manifest) -> Callable[[str], resolution.Resolution]:
    return resolution.resolver(Module(manifest))
