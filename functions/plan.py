"""Changes on a cluster when one list of manifests takes the place of another. Pure: lists in, changes out."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from krmfn import Manifest, Ref, ResourceList, Result
from krmfn.resource import ref
from krmfn.results import Facts
from krmfn.typed import Any, Literal, NamedTuple

from .differences import ABSENT, FieldChange, Part, differences
from .finding import fact
from .identity import object_id
from .sentence import Sentence, Topic, counted_nodes, text, topic_of

UNKNOWN_NODES = "what happens on the nodes is not known"
"""The note of a change whose effects nobody knows; what follows says why."""
OF_NODES = Topic("nodes")
"""What that note is about."""
_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
EFFECT = "effect"
"""The fact of a finding that says an effect: the effect's word."""


class Change(NamedTuple):
    """An object that is created, changed or deleted.

    `unknown` where its former state is not known, `stays` where it leaves Git, and what deploys it deletes nothing.
    """

    what: Literal["created", "changed", "deleted", "stays", "unknown"]
    ref: Ref
    """The new object's reference; the old one's when it is deleted."""
    old: Manifest | None
    new: Manifest | None
    fields: tuple[FieldChange, ...] = ()


class OnNodes(NamedTuple):
    """The events on nodes for which the same happens."""

    nodes: tuple[str, ...]
    events: tuple[str, ...]
    """In their order."""
    before: str | None
    after: str | None
    """The image that is loaded before and after; None: nothing, or not known."""
    is_known: bool = True
    """Whether None means nothing."""


def effect_in(finding: Result) -> tuple[object, ...]:
    """Return the identity of the effect that a finding says, if it says one."""
    return finding.ref, fact(finding, EFFECT), counted_nodes(finding.sentence)


class Effect(NamedTuple):
    """What the change of one object does to some nodes of the cluster."""

    ref: Ref
    word: str
    """One word for programs: `gained`, `lost`, ..., as `kmm.scheduling.Word` has them."""
    nodes: tuple[str, ...]
    sentence: Sentence
    """What happens, with how many nodes, and the names of some."""
    reason: str = ""
    """Why, as the message has it."""
    parts: tuple[OnNodes, ...] = ()
    """The same nodes, each once."""
    is_short: bool = False
    """Whether an object selects these nodes and they end up without it."""
    rival: Ref | None = None
    """Another object, whose kernel module KMM unloads or loads there at the same time."""
    version: str = ""
    """The version that stays there, whatever the object's is; "" for none."""
    is_deselected: bool = False
    """Whether the reason is that the object selects these nodes no more."""

    @property
    def message(self) -> str:
        """Return what happens, as people read it."""
        return text(self.sentence)

    @property
    def facts(self) -> Facts:
        """Return what a finding that says this effect has as its facts."""
        return ((EFFECT, self.word),)

    @property
    def identity(self) -> tuple[object, ...]:
        """Return what happens with which object on which nodes: a finding with the same says this effect."""
        return self.ref, self.word, counted_nodes(self.sentence)


class Plan(NamedTuple):
    """Two lists of manifests and what leads from one to the other."""

    old: Sequence[Manifest]
    new: Sequence[Manifest]
    changes: tuple[Change, ...]
    unchanged: int
    effects: tuple[Effect, ...] = ()
    """On the nodes, where these are known; there may be some without any change of an object."""


class Opening(NamedTuple):
    """A line that stands before all others about a change."""

    text: str
    topic: Topic | None = None
    """That of a finding which says the same; None where none does."""


class Comparison(NamedTuple):
    """One cluster, or one PATH, before and after a change."""

    name: str
    """As people call it; "" where there is one only."""
    plan: Plan
    notes: Sequence[Result] = ()
    """What the plan does on the nodes, and why a side could not be rendered."""
    failed: bool = False
    """The new side could not be rendered, so the plan says nothing."""
    hidden: int = 0
    """How many changes are not in the plan, since --kinds does not name their kinds."""
    sides: tuple[ResourceList, ResourceList] | None = None
    """What is compared; None where a side is not known."""
    knows_nodes: bool = False
    """What happens on the nodes is known: the effects of the plan are all of it."""
    doubt: Sentence = ()
    """Why the effects are not known, and what to do; () where no nodes are known."""
    spared: frozenset[str] = frozenset()
    """The words of effects that surely happen on no node, such as `lost`, though its former state is not known."""
    is_same: bool = False
    """Both sides have the same inputs, so neither was built."""
    first: tuple[Opening, ...] = ()
    """The lines to print first: changed folders and Profiles, new rights, privileged pods, policies."""
    unapplied: tuple[Result, ...] = ()
    """The changed Modules that an annotation has an engine delete, make anew or not apply: errors for --fail-on."""
    by_former_labels: tuple[Effect, ...] = ()
    """The harms on nodes that do not have the labels yet that this change commits for them."""
    unbuilt: tuple[str, ...] = ()
    """The roots of others that cannot be built: what changes in them is not known."""
    failing: tuple[Effect, ...] = ()
    """The effects that errors of --fail-on tell."""
    doubtful: tuple[Opening, ...] = ()
    """Why what is deployed may be something else than what is compared."""


class Rollout(NamedTuple):
    """An ordered upgrade of one Module: the nodes whose version label changes, wave by wave."""

    module: Ref
    label: str
    """The node label that chooses the version."""
    ready: str
    """The node label with which KMM says which version is loaded."""
    old: str
    new: str
    waves: tuple[tuple[str, ...], ...]
    others: tuple[str, ...] = ()
    """Nodes that the Module selects and whose label is not the old version: nothing happens there."""
    holders: tuple[str, ...] = ()
    """Workloads that wait for the Module and do not leave a node when the label changes."""
    notes: tuple[Result, ...] = ()
    """What the change does beside."""
    is_begun: bool = False
    """Whether the new state is applied already, as a dump of the cluster says: the plan goes on from there."""
    done: tuple[str, ...] = ()
    """The nodes that run the new version; no wave has them."""
    moved: tuple[str, ...] = ()
    """The nodes that have the new label and do not run the version yet; no wave has them, and the first waits."""


def plan(old: Sequence[Manifest], new: Sequence[Manifest]) -> Plan:
    """Return the changes in the order of the new list, then what is deleted, in the order of the old one.

    Objects are matched by group, kind, namespace and name; those that share all four (a generateName) in their order.
    """
    before, after = _by_id(old), _by_id(new)
    changes: list[Change] = []
    for key, manifest in after.items():
        if key not in before:
            changes.append(Change("created", ref(manifest), None, manifest))
            continue
        fields = tuple(change for change in differences(before[key], manifest) if not _is_mark(change))
        if fields:
            changes.append(Change("changed", ref(manifest), before[key], manifest, fields))
    unchanged = len(after) - len(changes)
    removed = (manifest for key, manifest in before.items() if key not in after)
    changes += (Change("deleted", ref(manifest), manifest, None) for manifest in removed)
    return Plan(old, new, tuple(map(_redacted, changes)), unchanged)


def _is_mark(change: FieldChange) -> bool:
    """Return True for a change of nothing but the version of the Profile that made the object."""
    old, new = (str(profile).partition("@")[0] for profile in (change.old, change.new))
    return change.parts == ("metadata", "annotations", "krmfn.dev/profile") and old == new


def of_kinds(comparison: Comparison, kinds: Collection[str]) -> Comparison:
    """Return a comparison with the changes of some kinds (in lower case), and how many others there are."""
    kept = tuple(change for change in comparison.plan.changes if change.ref.kind.lower() in kinds)
    count = sum(str(manifest.get("kind", "")).lower() in kinds for manifest in comparison.plan.new)
    unchanged = count - sum(change.new is not None for change in kept)
    hidden = len(comparison.plan.changes) - len(kept)
    return comparison._replace(plan=comparison.plan._replace(changes=kept, unchanged=unchanged), hidden=hidden)


def not_as_reviewed(finding: Result) -> Opening:
    """Return the line about a changed Module that an engine does not apply as it is reviewed, given the error about it.

    What --fail-on makes of that error has the same topic.
    """
    topic = Topic((finding.ref.id if finding.ref else None, topic_of(finding.sentence)))
    return Opening(f"not as reviewed: {finding.ref}: {finding.text}", topic)


def undecided(new: Sequence[Manifest]) -> Plan:
    """Return the plan for a list whose former state is not known."""
    return Plan((), new, tuple(_redacted(Change("unknown", ref(manifest), None, manifest)) for manifest in new), 0)


def _by_id(manifests: Iterable[Manifest]) -> dict[tuple[object, int], Manifest]:
    seen: Counter[object] = Counter()
    numbered: dict[tuple[object, int], Manifest] = {}
    for manifest in manifests:
        key = object_id(ref(manifest))
        numbered[key, seen[key]] = manifest
        seen[key] += 1
    return numbered


def _redacted(change: Change) -> Change:
    """Return the change with a Secret's values as stars, since plans are posted where others read them."""
    if (change.ref.group, change.ref.kind) != ("", "Secret"):
        return change
    fields = tuple(
        FieldChange(parts, _hidden(old, parts, "*** (before)"), _hidden(new, parts, "*** (after)"))
        for parts, old, new in change.fields
    )
    return change._replace(old=_hidden(change.old), new=_hidden(change.new), fields=fields)


def _hidden(value: Any, parts: tuple[Part, ...] = (), stars: str = "***") -> Any:
    if isinstance(value, dict):
        return {key: _hidden(child, (*parts, key), stars) for key, child in value.items()}
    secret = parts[:1] in (("data",), ("stringData",)) or parts[:3] == ("metadata", "annotations", _APPLIED)
    return stars if secret and value is not ABSENT else value
