"""KMM's webhook for a Module: every rule, in its order and with its messages.

The webhook stops at its first error; here every finding is reported, and the one it would print is tagged `first`.
Source: KMM v2.4.0, v2.5.0, v2.6.0 and main (2026-07-29), internal/webhook/module.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from krmfn.resource import Manifest, Ref, ref
from krmfn.results import Result

from ..gotext import size
from ..lookup import has, table, text
from ..rule import Rules, apply, mark_first, unmark_first
from ..rule import refused as _refused
from ..versions import DEFAULT, Target, target
from . import mappings, modprobe, plugins, tolerations
from .decoding import RULES as DECODING_RULES
from .plugins import Cluster


def check(module: Manifest, version: str = DEFAULT, cluster: Cluster | None = None) -> list[Result]:
    """Return the findings of the webhook when the Module is created, in its order.

    `cluster` is the cluster's version where it is known; without it DRA's minimum is not checked, as on a hub.
    Raises KrmfnError for an unknown KMM version.
    """
    return _located(_findings(module, target(version), cluster), ref(module))


def check_update(old: Manifest, new: Manifest, version: str = DEFAULT, cluster: Cluster | None = None) -> list[Result]:
    """Return the findings of the webhook when `old` is on the cluster and `new` is applied, in its order."""
    update = apply(UPDATE_RULES, old, new)
    return _located((*update, *map(unmark_first, check(new, version, cluster))), ref(new))


def _located(findings: Iterable[Result], subject: Ref) -> list[Result]:
    located = [finding._replace(ref=subject) for finding in findings]
    return [mark_first(finding) if at == 0 else finding for at, finding in enumerate(located)]


def _findings(module: Manifest, kmm: Target, cluster: Cluster | None) -> Iterator[Result]:
    spec = table(module, "spec")
    yield from apply(DECODING_RULES, module, kmm)
    yield from apply(NAME_RULES, module, kmm)
    yield from tolerations.check(spec, kmm)
    yield from plugins.check(spec, kmm, cluster)
    if has(table(spec, "moduleLoader"), "container"):
        container = table(spec, "moduleLoader", "container")
        yield from mappings.check(container)
        yield from modprobe.check(container, kmm)


def version_is_kept(old: Manifest, new: Manifest) -> Iterator[Result]:
    """KMM002: a Module keeps a version or keeps none: adding or removing it later is refused. KMM 2.0+, on update."""
    before, after = (table(module, "spec", "moduleLoader") for module in (old, new))
    if not all(has(table(module, "spec"), "moduleLoader") for module in (old, new)):
        return
    versions = [text(table(loader, "container"), "version") for loader in (before, after)]
    if (versions[0] == "") != (versions[1] == ""):
        message = "cannot update to or from an empty version; please delete the Module and create it again"
        yield _refused(message, "spec.moduleLoader.container.version", versions[1] or None)


def name_fits_a_label(module: Manifest, kmm: Target) -> Iterator[Result]:
    """KMM003: name and namespace together are 40 bytes at most (main: 41), with or without a version. KMM 2.0+."""
    named = ref(module)
    length = size(named.name + named.namespace)
    if length > kmm.name_limit:
        message = (
            f"module name and namespace have a combined length of {length} characters, "
            f"which exceeds the maximum of {kmm.name_limit} when version is set"
        )
        hint = f"{length - kmm.name_limit} too many: shorten the name or the namespace by as much"
        yield _refused(message, "metadata.name", named.name, hint)


UPDATE_RULES: Rules = (("KMM002", version_is_kept),)
NAME_RULES: Rules = (("KMM003", name_fits_a_label),)
RULES: Rules = (
    DECODING_RULES + UPDATE_RULES + NAME_RULES + tolerations.RULES + plugins.RULES + mappings.RULES + modprobe.RULES
)
"""Every rule of the webhook, in its order."""
