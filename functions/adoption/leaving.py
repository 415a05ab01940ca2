"""An operator's config that leaves what is deployed, while the objects that it owns on the cluster stay in Git."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from krmfn import Item, Ref, Result, error
from krmfn.ownership import Id
from krmfn.printing import some
from krmfn.typed import NamedTuple

from .. import oracles
from ..fleet.live import Live
from ..fleet.owned import Head, Owner, owned_by, references
from ..rule import Rule


class Leaving(NamedTuple):
    """A config that leaves, and what stays of the objects that its operator made."""

    config: Item
    objects: tuple[Ref, ...]
    """Those that go with the config, or may."""
    doubt: str = ""
    """The part of a sentence about what the dump does not show; "" without a dump, and where it shows the owners."""

    @property
    def finding(self) -> Result:
        """The error about it."""
        reason = self.doubt or "the cluster deletes with it what it owns"
        message = f"leaves what is deployed, and {reason}: {_some(self.objects)}"
        return error(message, rule="KRM730", ref=self.config.ref, remedy="first take the steps of `krmfn adopt`")


def leaving(old: Sequence[Item], new: Sequence[Item], live: Live | None) -> list[Leaving]:
    """Return the configs that are deployed before a change and not after it, whose operator's objects stay.

    `old` and `new` are what is deployed. The objects are those that a Profile makes of the config on either side, and
    those that name it as their owner in the dump. Without a dump they count as owned.
    """
    present = {item.ref.id for item in new}
    leavers = [item for item in old if item.ref.id not in present]
    if not leavers:
        return []
    children = dict[Id, dict[Id, None]]()
    for item in (*old, *new):
        if mark := item.mark:
            children.setdefault(mark.owner, {})[item.ref.id] = None
    refs = {item.ref.id: item.ref for item in new}
    known = _known(live.objects.heads) if live else None
    return [*filter(None, (_leaving(config, children.get(config.ref.id, {}), refs, known) for config in leavers))]


class _Known(NamedTuple):
    """The objects of a dump, found by what is asked of them; it is made once, whatever number of configs leaves."""

    heads: Mapping[Id, Head]
    dependents: Mapping[str, Sequence[Head]]
    """What refers to an owner, by its uid."""
    by_owner: Mapping[tuple[str, str, str], Sequence[Head]]
    """What refers to an owner, by its group, kind and name."""
    kinds: frozenset[tuple[str, str]]
    namespaces: frozenset[str]


def _known(heads: Sequence[Head]) -> _Known:
    by_id = {head.ref.id: head for head in heads}
    by_owner = dict[tuple[str, str, str], list[Head]]()
    for head in by_id.values():
        for key in dict.fromkeys((owner.group, owner.kind, owner.name) for owner in head.owners):
            by_owner.setdefault(key, []).append(head)
    kinds = frozenset((head.ref.group, head.ref.kind) for head in heads)
    return _Known(by_id, references(by_id.values()), by_owner, kinds, frozenset(head.ref.namespace for head in heads))


def _leaving(config: Item, children: Iterable[Id], refs: dict[Id, Ref], known: _Known | None) -> Leaving | None:
    """Return what happens when a config leaves; None for one that takes nothing along."""
    objects = tuple(refs[key] for key in children if key in refs)
    if known is None:
        return Leaving(config, objects) if objects else None
    goers = tuple(head.ref for head in _dependents(config.ref, known))
    rendered = tuple(ref for ref in goers if ref.id in refs)
    if rendered:
        return Leaving(config, rendered)
    unknown = [ref for ref in objects if ref.id not in known.heads and not _is_absent(ref, known)]
    if unknown:
        return Leaving(config, tuple(unknown), "the dump does not show that it owns nothing of")
    return None


def _dependents(config: Ref, known: _Known) -> list[Head]:
    """Return what goes with a config: what names it as its owner, and what names that, in turn."""
    named = known.by_owner.get((config.group, config.kind, config.name), ())
    direct = [head for head in named if config.namespace in ("", head.ref.namespace)]
    return [*{head.ref.id: head for head in (*direct, *owned_by(known.dependents, direct))}.values()]


def _is_absent(ref: Ref, known: _Known) -> bool:
    """Return whether a dump shows that the cluster lacks an object: others of its kind and namespace are there."""
    return (ref.group, ref.kind) in known.kinds and ref.namespace in known.namespaces


def owned_elsewhere(items: Sequence[Item], live: Live, inputs: Iterable[Item] = ()) -> Iterator[Result]:
    """Yield an error per owner on the cluster that Git does not deploy, and with which objects of Git's are deleted.

    Owners are followed to the top. One that Git deploys (`keep: true`) stays, and so does what it owns. `items` are
    what is deployed; an owner among the `inputs` is the place of the finding.
    """
    heads = {head.ref.id: head for head in live.objects.heads}
    by_uid = {head.uid: head for head in heads.values() if head.uid}
    deployed = {item.ref.id for item in items}
    goers = dict[Owner, list[Item]]()
    for item in items:
        if (head := heads.get(item.ref.id)) and (item.mark or item.kind == "Module"):
            for owner in _tops(head, by_uid):
                namespaces = ("", head.ref.namespace)
                if not any((owner.group, owner.kind, name, owner.name) in deployed for name in namespaces):
                    goers.setdefault(owner, []).append(item)
    configs = {item.ref.id: item for item in inputs}
    for owner, owned in goers.items():
        namespace = owned[0].ref.namespace
        message = (
            f"Git does not deploy it, and the cluster deletes with it what it owns: {_some([i.ref for i in owned])}"
        )
        config = configs.get((owner.group, owner.kind, namespace, owner.name))
        ref = config.ref if config else Ref(owner.api_version, owner.kind, namespace, owner.name)
        finding = error(message, rule="KRM730", ref=ref, remedy="take the steps of `krmfn adopt`")
        yield config.located(finding) if config else finding


def _some(refs: Sequence[Ref]) -> str:
    """Return the first object, a Module where there is one, and how many there are beside it."""
    ordered = sorted(refs, key=lambda ref: ref.kind != "Module")
    return some(map(str, ordered), len(ordered), 1)


def _tops(head: Head, by_uid: dict[str, Head]) -> list[Owner]:
    """Return the owners of an object that have no owner of their own, as far as the dump shows them."""
    tops, seen, rest = list[Owner](), set[Owner](), list(head.owners)
    while rest:
        owner = rest.pop()
        if owner in seen:
            continue
        seen.add(owner)
        parent = by_uid.get(owner.uid)
        rest += parent.owners if parent else ()
        if not (parent and parent.owners):
            tops.append(owner)
    return tops


RULES = (
    Rule(
        "KRM730",
        "the config of an operator must stay deployed while it owns objects that are to stay: the cluster "
        "deletes them with it",
        good="""\
# before
apiVersion: krmfn.dev/v1alpha1
kind: Profile
metadata: {name: npu}
spec:
  version: 1.0.0
  for: {group: npu.example.org, versions: [v1], kind: NpuPolicy, keep: true}
  schema: {type: object, properties: {spec: {type: object, properties: {image: {type: string}}}}}
  config:
    nodeSelector: {npu: "true"}
    moduleName: npu
    kernelMappings: [{regexp: ^.+$, image: "${spec.image}"}]
---
# after
apiVersion: krmfn.dev/v1alpha1
kind: Profile
metadata: {name: npu}
spec:
  version: 1.0.0
  for: {group: npu.example.org, versions: [v1], kind: NpuPolicy, keep: true}
  schema: {type: object, properties: {spec: {type: object, properties: {image: {type: string}}}}}
  config:
    nodeSelector: {npu: "true"}
    moduleName: npu
    kernelMappings: [{regexp: ^.+$, image: "${spec.image}"}]
---
apiVersion: npu.example.org/v1
kind: NpuPolicy
metadata: {name: main, namespace: kmm}
spec: {image: "registry.example.com/npu:1-${KERNEL_FULL_VERSION}"}
""",
        bad="""\
# before
apiVersion: krmfn.dev/v1alpha1
kind: Profile
metadata: {name: npu}
spec:
  version: 1.0.0
  for: {group: npu.example.org, versions: [v1], kind: NpuPolicy, keep: true}
  schema: {type: object, properties: {spec: {type: object, properties: {image: {type: string}}}}}
  config:
    nodeSelector: {npu: "true"}
    moduleName: npu
    kernelMappings: [{regexp: ^.+$, image: "${spec.image}"}]
---
# after
apiVersion: krmfn.dev/v1alpha1
kind: Profile
metadata: {name: npu}
spec:
  version: 1.0.0
  for: {group: npu.example.org, versions: [v1], kind: NpuPolicy}
  schema: {type: object, properties: {spec: {type: object, properties: {image: {type: string}}}}}
  config:
    nodeSelector: {npu: "true"}
    moduleName: npu
    kernelMappings: [{regexp: ^.+$, image: "${spec.image}"}]
---
apiVersion: npu.example.org/v1
kind: NpuPolicy
metadata: {name: main, namespace: kmm}
spec: {image: "registry.example.com/npu:1-${KERNEL_FULL_VERSION}"}
""",
        remedy="Keep the config deployed (`keep: true` in `for` of the Profile), take the steps that `krmfn adopt` "
        "prints, and remove it when a dump shows that nothing names it as its owner.",
        held=oracles.GARBAGE_COLLECTOR,
    ),
)
