"""Report an import: what was written, which differences there are and why, and what to do next."""

import json
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence

from krmfn import Manifest
from krmfn.printing import counted, listed, printable
from krmfn.resource import ref
from krmfn.typed import Any, NamedTuple

from ..differences import ABSENT
from ..kmm.lookup import leaves
from .comparing import is_replaced
from .importer import Conversion, Import
from .normal import OUR_ANNOTATIONS, OUR_LABELS, normal, owner

_WIDEST = 60


class ClusterImport(NamedTuple):
    """The import of one cluster, and the folder it was written to."""

    folder: str
    baseline: str
    """The PATH to give to `diff` as the state before the import; "" for none."""
    result: Import

    @property
    def has_rest(self) -> bool:
        """Return whether the import has made or kept anything."""
        return bool(self.result.conversions or self.result.kept or self.result.siblings)


def report(
    imports: Sequence[ClusterImport],
    function_config: Manifest | None,
    files: Sequence[str] = (),
    crds: Sequence[str] = (),
) -> str:
    """Return the report of an import, in lines for people.

    `files` are functionConfigs outside of the folders, `crds` files with CRDs of KMM: the next commands need them, too.
    """
    pairs = [*(("--function-config", path) for path in files), *(("--kmm-crd", path) for path in crds)]
    options = "".join(f" {option} {shlex.quote(path)}" for option, path in pairs)
    single_config = function_config if len(imports) == 1 else None
    lines = [line for cluster in imports for line in _cluster_lines(cluster.result, single_config, cluster.folder)]
    if function_config and not single_config:
        profiles = len(function_config["spec"].get("profiles", {}))
        lines.insert(0, f"{files[-1]}: {counted(profiles, 'profile')} that the clusters share")
    conversions = [conversion for cluster in imports for conversion in cluster.result.conversions]
    if conversions:
        lines += [*_difference_lines(conversions), *_next_steps(conversions, imports, options)]
    return "".join(f"{printable(line)}\n" for line in lines)


def _cluster_lines(result: Import, function_config: Manifest | None, folder: str) -> Iterator[str]:
    """Yield what was written for a cluster, what was not, and how many fields of each object are the same."""
    objects = [manifest for conversion in result.conversions for manifest in conversion.objects]
    if objects:
        profiles = len(((function_config or {}).get("spec") or {}).get("profiles", {}))
        files = listed({"DeviceConfig": len(result.conversions), "functionConfig": int(bool(function_config))})
        shared = f" with {counted(profiles, 'profile')}" if profiles else ""
        yield f"{folder}: {files}{shared}, in place of {listed(Counter(str(manifest['kind']) for manifest in objects))}"
    else:
        yield f"{folder}: no DeviceConfig, since nothing can be expressed as one"
    if result.kept:
        kept = counted(len(result.kept), "object")
        yield f"{kept} kept beside them as written by hand: no DeviceConfig can express that"
    if result.others:
        yield f"{counted(result.others, 'other object')} left out: neither a Module nor a DaemonSet that waits for one"
    if result.siblings:
        yield "among them these belong to the owner of a Module, and no profile can have them; deploy them yourself:"
        yield from (f"  {sibling}" for sibling in result.siblings)
    if objects:
        yield ""
    for conversion in result.conversions:
        for target, manifest in ((ref(manifest), manifest) for manifest in conversion.objects):
            size = sum(1 for _ in leaves(normal(manifest)))
            changes = (difference.change for other, difference in conversion.differences if other == target)
            changed = {str(change.path) for change in changes if change.old is not ABSENT}
            yield f"{target}: {size - len(changed)} of {counted(size, 'field')}"


def _difference_lines(conversions: Sequence[Conversion]) -> Iterator[str]:
    """Yield what every object gets, and then the differences of each, by their reasons."""
    yield ""
    yield "rendered back, every object means the same as before, and has in addition"
    yield f"  the labels {', '.join(OUR_LABELS)}"
    yield f"  the annotations {', '.join(OUR_ANNOTATIONS)}, as far as they apply"
    if any(manifest["kind"] == "DaemonSet" for conversion in conversions for manifest in conversion.objects):
        specs = (conversion.config["spec"] for conversion in conversions)
        if any(entry.get("keepPodTemplate") for spec in specs for entry in spec.get("daemonSets", ())):
            yield "nothing is added to pods of DaemonSets; `kubectl diff` below shows whether one is replaced"
        else:
            yield "pods of DaemonSets get the labels, too, so each of them rolls out once; no Module is reloaded"
    reasons: dict[str, dict[str, None]] = {}
    for conversion in conversions:
        for target, difference in conversion.differences:
            change = difference.change
            new = "its own" if difference.reason and is_replaced(change) else _value_text(change.new)
            line = f"  {target}: {change.path}: {_value_text(change.old)} -> {new}"
            reasons.setdefault(difference.reason, {})[line] = None
    for reason, lines in reasons.items():
        yield f"{reason}:"
        yield from lines


def _value_text(value: Any) -> str:
    if value is ABSENT:
        return "(none)"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 3]}..."


def _next_steps(conversions: Sequence[Conversion], imports: Sequence[ClusterImport], options: str) -> Iterator[str]:
    folders = " ".join(cluster.folder for cluster in imports)
    yield ""
    yield "next:"
    yield f"  krmfn check {folders}{options}"
    yield from (f"  krmfn diff {cluster.baseline} {cluster.folder}{options}" for cluster in imports if cluster.baseline)
    for cluster in imports:
        render = f"krmfn render {cluster.folder}{options}"
        yield f"  {render} | kubectl diff -f -    # what an apply would change on the cluster"
    if any(owner(manifest) for conversion in conversions for manifest in conversion.objects):
        yield "  an operator runs them: in this order the driver stays loaded"
        yield "    1. scale the operator's Deployment to 0, so that it writes nothing any more"
        yield "    2. remove the finalizers of its custom resources, since nobody acts on them any more"
        yield "    3. delete these with `kubectl delete --cascade=orphan`, or remove ownerReferences from all objects"
        yield "       above: else the garbage collector deletes the Module with its owner, and KMM unloads the driver"
        yield "    4. sync what is rendered"
    yield f"  then let {folders} take the place of the hand-written files; a list that holds both needs"
    yield "  `adopt: true` in the functionConfig, and the objects are taken over where they are"
