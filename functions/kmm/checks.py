"""All checks of a Module that somebody wrote; a generated one is judged part by part in `rendering.module_checks`."""

from collections.abc import Collection, Sequence

from krmfn import Result
from krmfn.results import Findings

from .crd import structure
from .lints import module_lints
from .module import Module
from .versions import DEFAULT
from .webhook import admission


def check(
    module: Module, version: str = DEFAULT, kernels: Sequence[str] = (), kubelets: Collection[str] = ()
) -> list[Result]:
    """Return the findings about one Module in a stable order; lints may ask for `kernels` and `kubelets` of nodes.

    First structure (the API server's CRD), then admission (KMM's webhook), then lints (no cluster has them). What the
    cluster would print itself is tagged `first`: what the API server finds before it stops, else the webhook's first.
    Raises KrmfnError for an unknown KMM version. Source: KMM v2.4.0 to main (2026-07-29).
    """
    refused = list(structure.check(module, version))
    webhook = admission.check(module, version, is_reached=not refused)
    return [*refused, *webhook, *Findings(module_lints.check(module, version, kernels, kubelets))]
