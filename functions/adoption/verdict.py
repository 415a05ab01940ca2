"""Whether Git can take over: the facts, the nodes, the steps, and why not yet."""

from collections.abc import Iterator, Sequence

from krmfn.printing import counted, some
from krmfn.typed import NamedTuple

from ..kmm.lookup import table, text
from .dump import Dump
from .facts import Facts, Rendered, gather
from .nodes import Nodes
from .owners import describe, where
from .steps import Step, steps

_PODS = frozenset({"Module", "ManagedClusterModule", "DaemonSet", "Deployment", "StatefulSet", "Job", "CronJob", "Pod"})
"""Kinds of which a new object does something on nodes."""


class Adoption(NamedTuple):
    """What is concluded about one cluster."""

    cluster: str
    facts: Facts
    nodes: Nodes
    steps: tuple[Step, ...]
    reasons: tuple[str, ...]
    """Why Git cannot take over yet, in sentences; () where it can."""
    notes: tuple[str, ...]
    """What the dump does not say, and what changes nothing."""

    @property
    def fields(self) -> tuple[int, int]:
        """How many fields Git makes of the objects on the cluster, and how many of them are equal there."""
        compared = [entry.compared for entry in self.facts.objects]
        return sum(entry.fields for entry in compared), sum(entry.equal for entry in compared)


def adoption(cluster: str, rendered: Rendered, dump: Dump, nodes: Nodes, rivals: Sequence[str] = ()) -> Adoption:
    """Return whether Git can take over a cluster from what owns its objects now.

    `rivals` says which nodes a Module that Git does not have loads one of the same kernel modules on.
    """
    facts = gather(rendered, dump)
    of_objects = (*_owners(facts), *_leaving(facts), *_differences(facts), *_absent(facts))
    reasons = (*_in_git(rendered), *of_objects, *rivals, *_on_nodes(nodes))
    return Adoption(cluster, facts, nodes, tuple(steps(facts)), reasons, tuple(_notes(facts)))


def _in_git(rendered: Rendered) -> Iterator[str]:
    """Yield why Git has not all that it should."""
    if rendered.is_failed:
        yield "what Git renders has errors, so objects may be missing: correct them, and ask again"
    elif not rendered.manifests:
        yield "Git renders no object, so nothing takes the place of what runs: pass the PATHs of the cluster"


def _owners(facts: Facts) -> Iterator[str]:
    """Yield what else than Git owns something."""
    referring = [entry for entry in facts.objects if entry.owned.references]
    if referring:
        names = some((describe(*owner) for owner in facts.owners), len(facts.owners))
        number = counted(len(referring), "object")
        yield f"{number} of Git's {'goes' if len(referring) == 1 else 'go'} when {names} is deleted"
    for owner, namespace in facts.owners:
        if reason := where(owner, facts.dump, namespace):
            yield f"an owner is {describe(owner, namespace)}, {reason}"
    for release in dict.fromkeys(entry.owned.release for entry in facts.objects if entry.owned.release):
        yield f"the Helm release {release} owns objects of Git's, and its uninstall deletes them"
    if facts.gone:
        names = some((str(head.ref) for head in facts.gone), len(facts.gone))
        yield f"not rendered by Git, and deleted with its owner: {names}"
    running = [operator for operator in facts.operators if operator.replicas and facts.configs]
    for operator in running if not referring else ():
        name = f"{operator.namespace}/{operator.name}"
        yield f"the operator {name} runs and {facts.configs[0].ref} is there, so it may write owner references again"


def _leaving(facts: Facts) -> Iterator[str]:
    """Yield which objects of Git's are being deleted: a deletion cannot be undone, and a sync makes them anew."""
    for entry in facts.objects:
        since = text(table(facts.dump.objects.get(entry.ref.id, {}), "metadata"), "deletionTimestamp")
        if since:
            yield f"{entry.ref} is being deleted since {since}; wait until it is gone, a sync recreates it"


def _differences(facts: Facts) -> Iterator[str]:
    """Yield which objects a sync changes, or cannot change."""
    changed = [entry for entry in facts.objects if entry.differing("changes", "goes")]
    if changed:
        number = sum(len(entry.differing("changes", "goes")) for entry in changed)
        names = some((str(entry.ref) for entry in changed), len(changed))
        yield f"{counted(number, 'field')} {'differs' if number == 1 else 'differ'}: {names}"
    for entry in facts.objects:
        if fields := entry.differing("refused"):
            yield f"{entry.ref}: {some((f.path for f in fields), len(fields))} cannot be changed on the cluster"


def _absent(facts: Facts) -> Iterator[str]:
    """Yield what the cluster does not have, and what the dump does not show."""
    created = [ref for ref in facts.created if ref.kind in _PODS]
    if created:
        yield f"not on the cluster, so a sync makes it: {some(map(str, created), len(created))}"
    if facts.unknown:
        names = some(map(str, facts.unknown), len(facts.unknown))
        yield f"not in the dump, so who owns it is not known: {names}; `krmfn adopt --kubectl` writes a whole dump"


def _on_nodes(nodes: Nodes) -> Iterator[str]:
    """Yield what changes on nodes."""
    if nodes.doubt:
        yield f"what happens on the nodes is not known: {nodes.doubt}"
    yield from nodes.messages


def _notes(facts: Facts) -> Iterator[str]:
    """Yield what is worth knowing and keeps nobody from going on."""
    heads = [entry.owned.head for entry in facts.objects]
    if heads and not any(head.has_managers for head in heads):
        yield "the managers of fields are not known: add --show-managed-fields to `kubectl get`"
    if facts.dump.secrets:
        number = counted(len(facts.dump.secrets), "Secret")
        yield f"the dump has {number}; nothing of their values is read or printed: write the dump without them"
    other = [ref for ref in facts.created if ref.kind not in _PODS]
    if other:
        yield f"not on the cluster, and a sync makes it: {some(map(str, other), len(other))}"
    stay = [f"{entry.ref} {field.path}" for entry in facts.objects for field in entry.differing("stays")]
    if stay:
        yield f"only on the cluster, and an apply leaves it there: {some(stay, len(stay))}"
