"""KMM's checks, offline: the API server's, the webhook's, and lints about what neither refuses.

1. `check`: structure (the API server's CRD), then admission (KMM's webhook), then lints (no cluster has them).
2. `check_update`: the one rule about an old and a new Module.
3. `resolve`: which kernel mapping a kernel takes, and the image that gives.
"""

from __future__ import annotations

from collections.abc import Sequence

from krmfn.resource import Manifest
from krmfn.results import Result

from . import lints
from .lints import across
from .resolution import Resolution, compile_error, resolve, resolver
from .rule import Rules, unmark_first
from .versions import DEFAULT, TARGETS
from .webhook import admission
from .webhook.admission import check_update

__all__ = [
    "TARGETS",
    "Resolution",
    "across",
    "check",
    "check_update",
    "compile_error",
    "resolve",
    "resolver",
    "rules",
]


def check(module: Manifest, version: str = DEFAULT, kernels: Sequence[str] = ()) -> list[Result]:
    """Return the findings about one Module in a stable order; lints may try `kernels`, real kernel versions.

    What the cluster would print itself is tagged `first`: what the API server finds before it stops, else the
    webhook's first. Raises KrmfnError for an unknown KMM version. Source: KMM v2.4.0 to main (2026-07-29).
    """
    from .crd import structure  # here, so that a run over generated Modules does not load it

    refused = list(structure.check(module, version))
    webhook = admission.check(module, version)
    if refused:
        webhook = [unmark_first(finding) for finding in webhook]
    return [*refused, *webhook, *lints.check(module, version, kernels)]


def rules() -> Rules:
    """Return every rule about Modules with its id; the first line of its docstring is `<id>: <sentence>`."""
    from .crd import structure  # here, for the same reason

    return structure.RULES + admission.RULES + lints.RULES
