"""Findings of several configs: one about the functionConfig comes once."""

from collections.abc import Iterable, Iterator

from krmfn import Ref, Result
from krmfn.findings import Findings
from krmfn.printing import some

from .function_config import Source


def merge_repeats(findings: Iterable[tuple[Ref | None, Result]], source: Source) -> Iterator[Result]:
    """Yield the findings of several configs; one about the functionConfig comes once, and names those configs."""
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
        yield finding._replace(message=f"{finding.message} (affects {_summary(configs)})") if configs else finding


def _summary(configs: Iterable[Ref]) -> str:
    """Return the configs in short: `DeviceConfig kmm/a, kmm/b and 3 more`."""
    first, *others = sorted(configs, key=lambda ref: ref.id)
    names = (f"{other.namespace + '/' if other.namespace else ''}{other.name or '(no name)'}" for other in others)
    return some([str(first), *names], 1 + len(others), limit=2)
