"""A cluster that is asked by kubectl (`--context`): each kind of the one list, and nothing else."""

from collections.abc import Iterator, Sequence
from functools import cache

from krmfn import KrmfnError, Manifest
from krmfn.streams import max_bytes

from ..fleet import json_stream, live
from ..fleet.dumped_kinds import KINDS, DumpedKind
from ..fleet.live import Live
from ..kmm.lookup import tables, text
from ..options import RunOptions
from ..paths import kubectl
from ..paths.kubectl import Kubectl

_OPTIONAL = ("argoproj.io", "kustomize.toolkit.fluxcd.io", "resource.k8s.io")
"""Groups that servers lack: one of the two engines at least, and what Kubernetes has since 1.34."""
_NO_KIND = "the server doesn't have a resource type"
"""How kubectl says that the server has the group and not the kind."""


def of_options(context: str, options: RunOptions) -> Live:
    """Return the cluster of a context. Raises KrmfnError when it cannot be asked, or has no node."""
    return _read(context, tuple(kubectl.bounds_of(options.paths or (".",), options.root)))


@cache  # several parts of a run want the same cluster
def _read(context: str, bounds: Sequence[str]) -> Live:
    try:
        program = kubectl.find(context, bounds)
        gaps, answers = dict[str, str](), set[str]()
        dump = live.read(objects(program, KINDS, gaps, answers), "-")
    except KrmfnError as failure:
        raise KrmfnError(*(f"--context {context}: {line}" for line in failure.lines())) from failure
    dump.objects.kinds.update(answers)
    sentences = tuple(f"not known of {context}: {name} ({reason})" for name, reason in gaps.items())
    return dump._replace(context=context, gaps=sentences)


def objects(
    program: Kubectl, kinds: Sequence[DumpedKind], gaps: dict[str, str], answers: set[str]
) -> Iterator[Manifest]:
    """Yield the objects of some kinds on the cluster.

    Why the server shows nothing of a kind goes to `gaps`, by its name; the kinds that it shows go to `answers`, also
    where there is no object. Raises KrmfnError when the server cannot be asked, or shows no nodes.
    """
    groups = _groups(program)
    for kind in kinds:
        if kind.group and kind.group not in groups:
            gaps.update({} if kind.group in _OPTIONAL else {kind.name: "the server does not have it"})
            continue
        has_objects = False
        try:
            with kubectl.answer(program, kind.name, "--all-namespaces", "--output=json") as read:
                for manifest in json_stream.objects(read, max_bytes()):
                    has_objects = True
                    yield manifest
        except KrmfnError as failure:
            if has_objects or kind.kind == "Node":
                raise  # a part of a kind would seem to be all of it
            message = " ".join(failure.lines())
            gaps[kind.name] = "the server does not have it" if _NO_KIND in message else message
        else:
            answers.add(kind.kind)


def _groups(program: Kubectl) -> set[str]:
    """Return the API groups that the server has."""
    with kubectl.answer(program, "--raw=/apis") as read:
        documents = [*json_stream.objects(read, max_bytes())]
    return {text(group, "name") for document in documents for _, group in tables(document, "groups")}
