"""Where the fields of a DaemonSet come from: its entry of daemonSets, or a field of the config for all entries."""

from collections.abc import Iterator

from krmfn.resource import FieldPath, is_index, join, split
from krmfn.typed import NamedTuple

from ..kmm.lookup import MISSING, at
from .daemonsets import POD
from .fields import DaemonSet, InitContainer
from .model import DeviceConfig

_OF_ENTRY = ("updateStrategy", "minReadySeconds", "revisionHistoryLimit")
"""Fields of the DaemonSet's own that an entry has under the same name."""
_OF_BOTH: dict[str, tuple[str, ...]] = {
    "nodeSelector": ("nodeSelector",),
    "serviceAccountName": ("serviceAccountName",),
    "imagePullSecrets": ("imagePullSecrets", "imagePullSecret"),
}
"""Fields of a pod that an entry has under the same name, and the config for all entries: those of the config."""


class _Candidate(NamedTuple):
    """A field that another may come from."""

    holder: FieldPath
    """What must be written for that."""
    rest: FieldPath = ()
    """The path of the field in it, which may be missing itself."""


def field_of(config: DeviceConfig, index: int, entry: DaemonSet, path: str) -> str:
    """Return the field of the config's spec that a field of the entry's DaemonSet is made of; "" for none.

    `index` is the position of the entry. A field that is missing is that where it belongs.
    """
    parts: FieldPath = tuple(int(part) if is_index(part) else part for part in split(path))
    for holder, rest in _candidates(config, ("daemonSets", index), entry, parts):
        if at(config.fields, holder) is not MISSING:
            return join((*holder, *rest))
    return ""


def _candidates(config: DeviceConfig, start: FieldPath, entry: DaemonSet, parts: FieldPath) -> Iterator[_Candidate]:
    """Yield the fields that a field may come from, the strongest first; `start` is the path of the entry."""
    match parts:
        case ("spec", "template", "metadata", "labels", *rest):
            yield from (_Candidate((*start, name, *rest)) for name in ("matchLabels", "podLabels", "labels"))
            yield _Candidate(("labels", *rest))
        case ("spec", "template", "metadata", "annotations", *rest):
            yield _Candidate((*start, "podAnnotations", *rest))
        case ("spec", "selector", "matchLabels", *rest):
            yield _Candidate((*start, "matchLabels", *rest))
        case ("spec", "template", "spec", "containers", int(number), *rest):
            holder = (*start, "containers", number - 1) if number else start  # the first of these is the entry itself
            yield from _of_container(holder, entry.containers[number - 1] if number else entry, tuple(rest))
        case ("spec", "template", "spec", "initContainers", int(number), *rest):
            holder = (*start, "initContainers", number)
            yield from _of_container(holder, entry.initContainers[number], tuple(rest))
        case ("spec", "template", "spec", str(name), *rest):
            yield from _of_pod(config, start, entry, (name, *rest))
        case ("spec", str(name), *rest) if name in _OF_ENTRY:
            yield _Candidate(start, (name, *rest))


def _of_container(holder: FieldPath, container: InitContainer, parts: FieldPath) -> Iterator[_Candidate]:
    match parts:
        case ("name",):
            yield _Candidate((*holder, "containerName"))
        case ("volumeMounts", int(number), *_) if number >= len(container.volumeMounts):
            yield _Candidate((*holder, "hostDevices"))
        case ("securityContext", *rest):
            yield _Candidate((*holder, "securityContext"), tuple(rest))
            yield _Candidate((*holder, "privileged"))
    yield _Candidate(holder, parts)


def _of_pod(config: DeviceConfig, start: FieldPath, entry: DaemonSet, parts: FieldPath) -> Iterator[_Candidate]:
    name, *rest = parts
    match parts:
        case ("volumes", int(number), *_):
            is_device = number >= len(entry.volumes)
            yield _Candidate((*start, "hostDevices") if is_device else (*start, *parts))
        case ("tolerations", int(number), *inner):
            shared = 0 if entry.keepPodTemplate else len(config.spec.tolerations)
            holder = ("tolerations", number) if number < shared else (*start, "tolerations", number - shared)
            yield _Candidate(holder, tuple(inner))
        case (str(), *_) if name in _OF_BOTH:
            yield _Candidate((*start, *parts))
            yield from (_Candidate((other, *rest)) for other in _OF_BOTH[name])
        case (str(), *_) if name in POD:
            yield _Candidate(start, parts)
        case _:
            yield _Candidate(start, ("podSpec", *parts))
