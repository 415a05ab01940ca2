"""What an import says: what was written, what differs and why that is meant, and what to do next."""

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
from .comparing import REPLACED
from .importer import Imported, Taken
from .normal import OUR_ANNOTATIONS, OUR_LABELS, normal, owner

_WIDEST = 60


class Written(NamedTuple):
    """What was made of a cluster, and where it was written."""

    folder: str
    compared: str
    """The PATH that `diff` takes as what was there before; "" for none."""
    whole: Imported


def report(written: Sequence[Written], function_config: Manifest | None, files: Sequence[str] = ()) -> str:
    """Return the report of an import, in lines for people; `files` are functionConfigs that the folders do not hold."""
    options = "".join(f" --function-config {shlex.quote(path)}" for path in files)
    own = function_config if len(written) == 1 else None
    lines = [line for one in written for line in _written(one.whole, own, one.folder)]
    if function_config and not own:
        profiles = len(function_config["spec"].get("profiles", {}))
        lines.insert(0, f"{files[-1]}: {counted(profiles, 'profile')} that the clusters share")
    taken = [one for each in written for one in each.whole.taken]
    lines += [*_differences(taken), *(_next(taken, written, options) if taken else ())]
    return "".join(f"{printable(line)}\n" for line in lines)


def _written(whole: Imported, function_config: Manifest | None, folder: str) -> Iterator[str]:
    profiles = len(((function_config or {}).get("spec") or {}).get("profiles", {}))
    objects = Counter(str(manifest["kind"]) for one in whole.taken for manifest in one.objects)
    wrote = listed({"DeviceConfig": len(whole.taken), "functionConfig": int(bool(function_config))})
    shared = f" with {counted(profiles, 'profile')}" if profiles else ""
    if whole.taken:
        yield f"{folder}: {wrote}{shared}, in place of {listed(objects)}"
    else:
        yield f"{folder}: no DeviceConfig, since nothing can be expressed as one"
    if whole.kept:
        kept = counted(len(whole.kept), "object")
        yield f"{kept} kept beside them as written by hand: no DeviceConfig can express that"
    if whole.others:
        yield f"{counted(whole.others, 'other object')} left out: neither a Module nor a DaemonSet that waits for one"
    if whole.left:
        yield "among them these belong to the owner of a Module, and no profile can have them; deploy them yourself:"
        yield from (f"  {one}" for one in whole.left)
    if whole.taken:
        yield ""
    for one in whole.taken:
        for manifest in one.objects:
            own = ref(manifest)
            size = sum(1 for _ in leaves(normal(manifest)))
            changes = (each.change for at, each in one.differences if at == own)
            changed = {str(change.path) for change in changes if change.old is not ABSENT}
            yield f"{own}: {size - len(changed)} of {counted(size, 'field')}"


def _differences(taken: Sequence[Taken]) -> Iterator[str]:
    """Yield what every object gets, and then the differences of each, by their reasons."""
    if not taken:
        return
    yield ""
    yield "rendered back, every object means the same as before, and has in addition"
    yield f"  the labels {', '.join(OUR_LABELS)}"
    yield f"  the annotations {', '.join(OUR_ANNOTATIONS)}, as far as they apply"
    if any(manifest["kind"] == "DaemonSet" for one in taken for manifest in one.objects):
        if any(entry.get("keepPodTemplate") for one in taken for entry in one.config["spec"].get("daemonSets", ())):
            yield "nothing is added to pods of DaemonSets; `kubectl diff` below shows whether one is replaced"
        else:
            yield "pods of DaemonSets get the labels, too, so each of them rolls out once; no Module is reloaded"
    reasons: dict[str, dict[str, None]] = {}
    for one in taken:
        for own, difference in one.differences:
            change = difference.change
            new = "its own" if difference.why == REPLACED else _value(change.new)
            line = f"  {own}: {change.path}: {_value(change.old)} -> {new}"
            reasons.setdefault(difference.why, {})[line] = None
    for why, lines in reasons.items():
        yield f"{why}:"
        yield from lines


def _value(value: Any) -> str:
    if value is ABSENT:
        return "(none)"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 3]}..."


def _next(taken: Sequence[Taken], written: Sequence[Written], options: str) -> Iterator[str]:
    where = " ".join(one.folder for one in written)
    yield ""
    yield "next:"
    yield f"  krmfn check {where}{options}"
    yield from (f"  krmfn diff {one.compared} {one.folder}{options}" for one in written if one.compared)
    for one in written:
        yield f"  krmfn render {one.folder}{options} | kubectl diff -f -    # what an apply would change on the cluster"
    if any(owner(manifest) for one in taken for manifest in one.objects):
        yield "  an operator runs them: in this order the driver stays loaded"
        yield "    1. scale the operator's Deployment to 0, so that it writes nothing any more"
        yield "    2. remove the finalizers of its custom resources, since nobody acts on them any more"
        yield "    3. delete these with `kubectl delete --cascade=orphan`, or remove ownerReferences from all objects"
        yield "       above: else the garbage collector deletes the Module with its owner, and KMM unloads the driver"
        yield "    4. sync what is rendered"
    yield f"  then let {where} take the place of the hand-written files; a list that holds both needs"
    yield "  `adopt: true` in the functionConfig, and the objects are taken over where they are"
