"""Whether mends did what they should, and nothing else: judged by the clusters before and after them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from krmfn import Item, ResourceList, Result
from krmfn.ownership import Id
from krmfn.typed import NamedTuple

from ..cluster.deployed import Cluster, Clusters
from ..formats.checked import names_of
from ..run import run_of

Texts = Mapping[Id, tuple[tuple[bytes, Id | None], ...]]
"""The resources of a list by their ids: the text of each, and the owner that its mark names."""


class Snapshot(NamedTuple):
    """A cluster at one time."""

    inputs: Texts
    """What was read and built, before the function."""
    final: Texts
    failed: bool
    mended: frozenset[Id]
    """The ids, here and in their files, of the resources with one of the mended findings."""


def snapshots(streams: Clusters, mended: Collection[str]) -> dict[str, Snapshot]:
    """Return each cluster as it is now; `mended` are the ids of the findings that are mended."""
    clusters = (*streams.clusters, *streams.unassigned)
    holders = {cluster.name: frozenset(_holders(cluster.final, mended)) for cluster in clusters}
    return {cluster.name: _snapshot(cluster, holders[cluster.name]) for cluster in clusters}


def _snapshot(cluster: Cluster, mended: frozenset[Id]) -> Snapshot:
    read = (item for part in cluster.inputs for item in part.items if item.file)  # others were made by the function
    inputs = _texts((item, item.data[item.start : item.end]) for item in read)
    final = _texts((item, item.text) for item in cluster.final.items)
    return Snapshot(inputs, final, cluster.final.failed, mended)


def _texts(pairs: Iterator[tuple[Item, bytes]]) -> Texts:
    texts: dict[Id, tuple[tuple[bytes, Id | None], ...]] = {}
    for item, text in pairs:
        mark = item.mark
        texts[item.ref.id] = (*texts.get(item.ref.id, ()), (text, mark.owner if mark else None))
    return texts


def _holders(final: ResourceList, mended: Collection[str]) -> Iterator[Id]:
    """Yield the ids of the resources with one of these findings: as a build has named them, and as their files do."""
    sources = run_of(final).sources
    for finding in final.results:
        placed = sources.located(finding)
        if placed.id in mended:
            yield from (ref.id for ref in (finding.ref, placed.ref) if ref)


def problem(mended: Sequence[Result], before: Sequence[Result], after: Sequence[Result]) -> str:
    """Return why mends may not stay, by the findings before and after them; "" when they may.

    Each mended finding must be gone, and none may be new, whatever its severity.
    """
    former, new, gone = (Counter(map(_key, findings)) for findings in (before, after, mended))
    for finding in mended:
        if new[_key(finding)] > max(0, former[_key(finding)] - gone[_key(finding)]):
            return f"a finding would stay: {finding.line}"
    for finding in after:
        if new[_key(finding)] > former[_key(finding)]:
            return f"a finding would be new: {finding.line}"
    return ""


def _key(finding: Result) -> tuple[object, ...]:
    return finding.severity, finding.id, finding.unlisted, tuple(names_of(finding))


def changed(before: Mapping[str, Snapshot], after: Mapping[str, Snapshot]) -> str:
    """Return the first resource that mends change though nothing of it was mended, in words; "" for none.

    An object counts as its owner's, by its mark. Where an error kept a list from being rendered, there were no
    generated objects yet: what goes into the function is compared there.
    """
    for name, old in before.items():
        new = after.get(name, Snapshot({}, {}, True, frozenset()))
        allowed = old.mended | new.mended
        lists = [(old.inputs, new.inputs)] + ([] if old.failed else [(old.final, new.final)])
        for texts, others in lists:
            for id_ in sorted({*texts, *others} - allowed):
                versions = texts.get(id_, ()), others.get(id_, ())
                is_owned = all(owner in allowed for version in versions for _, owner in version)
                if versions[0] != versions[1] and not is_owned:
                    return f"{id_[1]} {'/'.join(filter(None, id_[2:]))}"
    return ""
