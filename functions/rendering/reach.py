"""Findings about the functionConfig: each is reported once and names the configs that it is about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from krmfn import Ref, Result

from .function_config import Source

_SHOWN = 2
"""How many configs a finding names."""


def reaching(findings: Iterable[tuple[Ref, Result]], source: Source) -> Iterator[Result]:
    """Yield the findings of several configs; one about the functionConfig comes once and names the configs."""
    distinct: dict[str, Result] = {}
    configs: dict[str, set[Ref]] = {}
    for config, finding in findings:
        key = repr(finding)
        distinct.setdefault(key, finding)
        configs.setdefault(key, set()).add(config)
    for key, finding in distinct.items():
        shared = source.ref.kind and finding.ref == source.ref
        yield finding._replace(message=f"{finding.message}; reaches {named(configs[key])}") if shared else finding


def named(configs: Iterable[Ref]) -> str:
    """Return the configs in short: `DeviceConfig kmm/a, kmm/b and 3 more`."""
    refs = sorted(configs, key=lambda ref: ref.id)
    first, *rest = map(str, refs[:_SHOWN])
    shown = ", ".join([first, *(name.partition(" ")[2] for name in rest)])
    return shown + (f" and {len(refs) - _SHOWN} more" if len(refs) > _SHOWN else "")
