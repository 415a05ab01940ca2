"""Rules about a Module that stays: whether its nodes reload at once or one by one, and what keeps running on them.

Source: KMM v2.6.0 and main (2026-07-29), Module and NodeModulesConfig controllers, as seen on a cluster.
"""

from collections.abc import Iterator, Sequence

from krmfn import Field, Result, info, warning
from krmfn.ownership import mark_of
from krmfn.printing import some
from krmfn.resource import annotations_of, ref

from .. import oracles
from ..grouping import grouped
from ..kmm.lookup import has
from ..kmm.module import CONTAINER, PLUGINS, Module, version_label
from ..rendering.kinds import OWNERS, PROFILE_MARK
from ..rule import Rule
from ..sentence import Nodes, Sentence, named
from .impact import SHOWN, Impact, Kernels, Step, changed_kernels, each_step, reloaded_field, selector

_WITH_VERSION = "change driverVersion with it: then nodes reload one by one, as they are labelled (`upgrade.ordered`)"
_WITHOUT_VERSION = (
    "write `upgrade: {{ordered: true}}`{}, and change driverVersion with each release: then nodes reload one by one, "
    "as they are labelled (KMM cannot add a version to a Module: to begin, delete it once, which unloads its nodes)"
)


def change_is_ordered(impact: Impact, step: Step) -> Iterator[Result]:
    """Yield a finding per Module that nodes reload or unload all at once, with the workloads that use it."""
    if not (step.old and step.old.container and step.new and step.new.container):
        return
    (changed, is_all), (before, after) = changed_kernels(step.old, step.new), step.versions
    reloaded = [kernels for kernels in changed if kernels.new is not None] if before == after else []
    unmapped = [kernels for kernels in changed if kernels.new is None]
    nodes = impact.nodes_with(step, "reloaded")
    if reloaded and nodes != []:
        scope = "on all its nodes at once" if is_all else f"at once on all its nodes with {_kernels(reloaded)}"
        scopes: Sentence = ("at once on ", _share(nodes, impact.nodes.get(step.ref.id) or nodes)) if nodes else (scope,)
        reason = f"the version stays {after}" if after else "the Module has no version"
        message = (f"{reason}, so KMM unloads and reloads the kernel module ", *scopes)
        remedy = _WITH_VERSION if after else _WITHOUT_VERSION.format(_path(step.new))
        yield _unload(impact, step, reloaded[0], message, remedy)
    if unmapped and nodes is None:  # KRM409 names the nodes
        words = f"KMM unloads the kernel module on all its nodes with {_kernels(unmapped)} that no mapping takes now"
        yield _unload(impact, step, unmapped[0], (words,), "keep the mapping until no node has such a kernel")


def _path(module: Module) -> str:
    """Return where `upgrade` is written for a config of a vendor's kind, which lacks the field; "" for our kinds."""
    annotations = annotations_of(module.manifest)
    mark, profile = mark_of(annotations), annotations.get(PROFILE_MARK, "").partition("@")[0]
    if not (mark and profile) or mark.owner[:2] in OWNERS:
        return ""
    return f" under `config` of the Profile {profile}, or under `overrides.{profile}` of the functionConfig"


def _share(nodes: Sequence[str], selected: Sequence[str]) -> Nodes:
    """Return `3 nodes (a, b, c)`, `3 of 40 nodes (a, b, c)`."""
    of_selected = len(selected) if len(selected) > len(nodes) else 0
    return named(nodes, of_selected)._replace(article="")


def _kernels(changed: Sequence[Kernels]) -> str:
    return f"a kernel of {some([kernels.text for kernels in changed], len(changed), SHOWN)}"


def _unload(impact: Impact, step: Step, kernels: Kernels, message: Sentence, remedy: str) -> Result:
    """Return the finding about an unload: a warning where something may hold the kernel module."""
    holders = impact.holders_of(step.module)
    holders += [f"its {name}" for section, name in PLUGINS.items() if step.new and has(step.new.spec, section)]
    field = reloaded_field(step, kernels)
    if holders:
        names = some(holders, len(holders), SHOWN)
        risk = f"the unload fails and is tried again as long as {names} or another workload uses it"
        return warning((*message, f"; {risk}"), field=field, remedy=f"stop them first, or {remedy}")
    risk = "no workload in the input waits for it; any workload that uses it makes the unload fail until it ends"
    return info((*message, f"; {risk}"), field=field, remedy=remedy)


def version_moves_with_labels(impact: Impact, step: Step) -> Iterator[Result]:
    """Yield an info per Module whose version changes: which labels choose it on the nodes."""
    before, after = step.versions
    if before and after and before != after:
        label = version_label(*step.module[2:])
        message = f"nodes keep version {before} until their label {label} says {after}"
        if impact.nodes_with(step, "kept") == []:
            message = f"no node has version {before}; a node gets {after} as soon as its label {label} says so"
        remedy = f"label them one after the other: `kubectl label node NODE {label}={after} --overwrite`"
        yield info(message, field=Field(f"{CONTAINER}.version", before, after), remedy=remedy)


def old_version_keeps_its_daemonsets(impact: Impact) -> Iterator[Result]:
    """Yield a warning per removed workload that selects the nodes of a Module's former version."""
    kept = {pair for manifest in impact.plan.new for pair in selector(manifest).items()}
    former = grouped((pair, manifest) for manifest in impact.plan.old for pair in selector(manifest).items())
    for step in impact.steps:
        label, (before, after) = version_label(*step.module[2:]), step.versions
        if not before or not after or before == after or (label, before) in kept:
            continue
        for manifest in former.get((label, before), ()):
            remedy = f'keep it for them with `upgrade.retain: ["{before}"]` until no node has the label'
            nodes = f"also those that still run version {before} of {step.module}"
            remedy += f" {label}: {before}"
            yield warning(f"leaves all nodes at once, {nodes}", ref=ref(manifest), remedy=remedy)


RULES = (
    Rule(
        "KRM401",
        "a Module's version should change together with what it loads, and how: otherwise all nodes reload at once",
        good="""\
# before
spec: {driverVersion: "1.0", upgrade: {ordered: true}}
---
# after
spec: {driverVersion: "1.1", upgrade: {ordered: true}}
""",
        bad="""\
# before
spec: {driverVersion: "1.0"}
---
# after
spec: {driverVersion: "1.1"}
""",
        remedy="Write `upgrade: {ordered: true}` and change driverVersion with what is loaded, so that nodes reload "
        "one by one as they are labelled. Otherwise, stop the pods that use it first. Keep a mapping until no node has "
        "such a kernel.",
        held=oracles.CHANGES,
        check=each_step(change_is_ordered),
        severities=("info", "warning"),
        advice=True,
    ),
    Rule(
        "KRM407",
        "a node must get a new version label before KMM loads a new version on it",
        good="""\
# before
spec: {driverVersion: "1.0", upgrade: {ordered: true}}
---
# after
spec: {driverVersion: "1.0", upgrade: {ordered: true}, tolerations: [{operator: Exists}]}
""",
        bad="""\
# before
spec: {driverVersion: "1.0", upgrade: {ordered: true}}
---
# after
spec: {driverVersion: "1.1", upgrade: {ordered: true}}
""",
        remedy="Change the version label of each node after the change is applied; the finding names the label.",
        held=oracles.CONTROLLERS,
        check=each_step(version_moves_with_labels),
        severities=("info",),
        advice=True,
    ),
    Rule(
        "KRM408",
        "DaemonSets of a Module's old version should stay while nodes still run it (`upgrade.retain`)",
        good="""\
# before
spec:
  driverVersion: "1.0"
  upgrade: {ordered: true}
  daemonSets: [{name: agent, image: "registry.example.com/agent:1.0"}]
---
# after
spec:
  driverVersion: "1.1"
  upgrade: {ordered: true, retain: ["1.0"]}
  daemonSets: [{name: agent, image: "registry.example.com/agent:1.0"}]
""",
        bad="""\
# before
spec:
  driverVersion: "1.0"
  upgrade: {ordered: true}
  daemonSets: [{name: agent, image: "registry.example.com/agent:1.0"}]
---
# after
spec:
  driverVersion: "1.1"
  upgrade: {ordered: true}
  daemonSets: [{name: agent, image: "registry.example.com/agent:1.0"}]
""",
        remedy="Add the old version to `upgrade.retain` until no node has its label.",
        held=oracles.DAEMONSETS,
        check=old_version_keeps_its_daemonsets,
        severities=("warning",),
        advice=True,
    ),
)
