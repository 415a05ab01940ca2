"""Findings about the functionConfig: each is reported once and names the configs that it is about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from krmfn import Ref, Result
from krmfn.counts import some
from krmfn.results import Findings

from .function_config import Source
from .generated import Finding

_SHOWN = 2
"""How many configs a finding names."""


def reaching(findings: Iterable[Finding], source: Source) -> Iterator[Result]:
    """Yield the findings of several configs; one about the functionConfig comes once and names those that it affects.

    The functionConfig itself is not among these.
    """
    distinct: Findings | None = None
    affected: dict[str, set[Ref]] = {}
    for config, finding in findings:
        name = repr(finding)
        distinct = distinct or Findings()
        distinct.add(finding, name)
        if config and config != source.ref and source.ref.kind and finding.ref == source.ref:
            affected.setdefault(name, set()).add(config)
    for finding in distinct or ():
        configs = affected and affected.get(repr(finding))
        yield finding._replace(message=f"{finding.message}; affects {named(configs)}") if configs else finding


def named(configs: Iterable[Ref]) -> str:
    """Return the configs in short: `DeviceConfig kmm/a, kmm/b and 3 more`."""
    first, *rest = map(str, sorted(configs, key=lambda ref: ref.id))
    return some([first, *(name.partition(" ")[2] for name in rest)], 1 + len(rest), _SHOWN)
