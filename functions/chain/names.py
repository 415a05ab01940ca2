"""Names in what is said of a Module on a node, each with what may stand in its place where a line would be too long."""

from collections.abc import Hashable

from krmfn.typed import NamedTuple

from ..fleet.live import Worker
from ..fleet.live_pods import Pod
from .link import Subject

WORKER, LABEL, NAMESPACE, ACCOUNT, TAINT, PLANNED, LOADED, REFUSAL, SPACE, BESIDE, BEHIND, POD = RANKS = range(12)
"""What is shortened, in this order: what says least goes first."""


class Name(NamedTuple):
    """A name with the words around it."""

    words: str
    shorter: tuple[tuple[int, str], ...]
    """What stands in their place, by rank; the last of several is the shortest."""
    needed: str = ""
    """The name that must stand below the line then; "" for none."""

    def __str__(self) -> str:
        return self.words


def worker_pod(worker: Worker) -> Name:
    """Return the pod of KMM's that loads or unloads a Module."""
    return Name(f"the pod {worker.pod}", ((WORKER, "its worker pod"),), worker.pod.rpartition("/")[2])


def a_pod(pod: Pod, noun: str = "pod") -> Name:
    """Return a pod, such as `the pull pod kmm/simple-pull-x`."""
    full, name = f"the {noun} {pod.full_name}", f"the {noun} {pod.name}"
    return Name(full, ((SPACE, name), *_bare(pod, POD, f"the {noun}")), pod.name)


def pod_beside(pod: Pod) -> Name:
    """Return a pod in brackets, behind what is said of it."""
    return Name(f" (pod {pod.full_name})", ((SPACE, f" (pod {pod.name})"), *_bare(pod, BESIDE, "")), pod.name)


def pod_behind(pod: Pod) -> Name:
    """Return a pod behind a colon, with another colon to follow."""
    shorter = (SPACE, f": the pod {pod.name}"), *_bare(pod, BEHIND, "")
    return Name(f": the pod {pod.full_name}", shorter, pod.name)


def _bare(pod: Pod, rank: int, words: str) -> tuple[tuple[int, str], ...]:
    """Return the words without the name of a pod that something has made: that has a hyphen."""
    return ((rank, words),) if "-" in pod.name else ()


def ready_label(subject: Subject) -> Name:
    """Return KMM's ready label of a Module."""
    return Name(f"the label {subject.driver.ready}", ((LABEL, "its ready label"),))


def namespace(subject: Subject) -> Name:
    """Return the namespace of a Module."""
    return Name(f"the namespace {subject.module[0]}", ((NAMESPACE, "its namespace"),))


def account(subject: Subject, name: str) -> Name:
    """Return a ServiceAccount in the namespace of a Module."""
    return Name(f"ServiceAccount {subject.module[0]}/{name}", ((ACCOUNT, f"ServiceAccount {name}"),))


def image(subject: Subject, words: str) -> Hashable:
    """Return the planned or the loaded image, which may lack its registry; a part of an image, or another, as it is."""
    loaded = subject.loaded.image if subject.loaded else ""
    rank = PLANNED if words == subject.image else LOADED
    name = words.rpartition("/")[2]
    return Name(words, ((rank, name),), name) if words in (subject.image, loaded) else words
