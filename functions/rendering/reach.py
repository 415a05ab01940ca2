"""Findings about the functionConfig: each stands once and names the configs it reaches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from krmfn import Ref, Result

from .function_config import Source

_SHOWN = 2
"""How many configs a finding names."""


def reaching(told: Iterable[tuple[Ref, Result]], source: Source) -> Iterator[Result]:
    """Yield the findings of several configs; one about the functionConfig comes once and names those it reaches."""
    found: dict[str, Result] = {}
    configs: dict[str, set[Ref]] = {}
    for config, finding in told:
        key = repr(finding)
        found.setdefault(key, finding)
        configs.setdefault(key, set()).add(config)
    for key, finding in found.items():
        shared = source.ref.kind and finding.ref == source.ref
        yield finding._replace(message=f"{finding.message}; reaches {named(configs[key])}") if shared else finding


def named(configs: Iterable[Ref]) -> str:
    """The configs in a few words: `DeviceConfig kmm/a, kmm/b and 3 more`."""
    refs = sorted(configs, key=lambda ref: ref.id)
    first, *rest = map(str, refs[:_SHOWN])
    shown = ", ".join([first, *(name.partition(" ")[2] for name in rest)])
    return shown + (f" and {len(refs) - _SHOWN} more" if len(refs) > _SHOWN else "")
