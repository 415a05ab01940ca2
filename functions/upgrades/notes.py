"""The notes of `diff` on a plan: the findings of all rules about changes, without those that are turned off."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from krmfn import Item, Manifest, Place, Ref, ResourceList, Result
from krmfn.ownership import Id, mark_of
from krmfn.resource import annotations_of, ref

from ..deviceconfig.reading import profile_of
from ..differences import FieldChange, differences
from ..grouping import grouped
from ..kmm.module import HUB_KIND
from ..kmm.rule import on_hub
from ..kmm.versions import target
from ..plan import Plan
from ..rendering import function_config, ignoring
from ..rendering.generated import Finding, of_value, place_of, place_of_field
from ..rendering.kinds import CONFIG, PROFILE, driven_kinds
from ..rule import apply
from ..run import origin_of, run_of
from . import known_nodes
from .change_rules import RULES, version_is_kept
from .impact import Impact, builds, changed_modules, restarts
from .lost_labels import lost_labels


def notes(
    plan: Plan, resources: ResourceList, knows_nodes: bool = False, before: ResourceList | None = None
) -> list[Result]:
    """Return the findings about a plan, errors first: the cluster refuses such a change, or it never ends.

    `resources` is the new list: its functionConfig counts, and its annotations turn rules off. `knows_nodes` says
    whether the plan's effects are all that happens on the nodes. `before` is the old list: a finding about a generated
    object is placed where its config, its Profile or a functionConfig has changed.
    """
    config, _ = function_config.read(resources)
    by_id = {item.ref.id: item for item in resources.items}
    former = {item.ref.id: item for item in before.items} if before else {}
    findings: list[Finding] = []
    owners: dict[Ref, Item] = {}
    manifests = {ref(manifest).id: manifest for manifest in (*plan.old, *plan.new)}
    other_list = run_of(resources).external
    external = [(item.manifest, origin_of(other_list, item)) for item in other_list.items] if other_list else []
    nodes = known_nodes.nodes(resources, config) if restarts(plan) else {}
    kernels = known_nodes.kernels(before or ResourceList(), resources) if knows_nodes and builds(plan) else {}
    effects = grouped((effect.ref.id, effect) for effect in plan.effects)
    changed = changed_modules(plan, external)
    settings = [*resources.where(kind=PROFILE[1], group=PROFILE[0]), *resources.where(kind=CONFIG[1], group=CONFIG[0])]
    labels = lost_labels(before, resources, plan.effects) if before and knows_nodes else {}
    impact = Impact(plan, *changed, target(config.kmm_version), nodes, kernels, knows_nodes, effects, labels)
    for finding in (*version_is_kept(impact, run_of(resources).renewed), *apply(RULES, impact)):
        finding = _on_hub(finding)
        if source := _source(finding, manifests, by_id):
            owners[source.ref] = source
            if finding.ref == source.ref:
                finding = source.located(finding)
            elif not finding.place:
                finding = finding._replace(place=_cause(finding, source, former, settings))
        findings.append((source.ref if source else None, finding))
    results = [finding for _, finding in ignoring.not_ignored(findings, owners, config, Counter())]
    return sorted(results, key=lambda finding: ("error", "warning", "info").index(finding.severity))


def at_their_causes(findings: Iterable[Result], before: ResourceList, resources: ResourceList) -> Iterator[Result]:
    """Yield findings about objects that a change does something to, each with the place of the change behind it.

    One has none where nothing of the new list `resources` is behind it, such as a config that is gone.
    """
    manifests = {ref(item.manifest).id: item.manifest for side in (before, resources) for item in side.items}
    by_id, former = ({item.ref.id: item for item in side.items} for side in (resources, before))
    settings = [*resources.where(kind=PROFILE[1], group=PROFILE[0]), *resources.where(kind=CONFIG[1], group=CONFIG[0])]
    for finding in findings:
        source = _source(finding, manifests, by_id)
        yield finding._replace(place=_cause(finding, source, former, settings)) if source else finding


def _cause(finding: Result, source: Item, former: Mapping[Id, Item], settings: Sequence[Item]) -> Place | None:
    """Return the place of the change behind a finding about what is generated from `source`, else that of its value.

    Of several changes it is the one with the longest new text that is part of the finding's value, such as a version in
    an image; else the first. `settings` are the Profiles and functionConfigs of the new list.
    """
    value = finding.field.proposed if finding.field else None
    changes = list(_changes(source, former, settings))
    matching = [pair for pair in changes if isinstance(pair[1].new, str) and pair[1].new in str(value)]
    if changes:
        item, change = max(matching, key=lambda pair: len(pair[1].new), default=changes[0])
        path = of_value({"spec": item.manifest.get("spec")}, change.new, str(change.parts[-1]))
        return place_of_field(item, path or change.path)  # a place is found by indexes, not by the names of entries
    return place_of(source, finding.field and finding.field._replace(current=value))


def _changes(source: Item, former: Mapping[Id, Item], settings: Sequence[Item]) -> Iterator[tuple[Item, FieldChange]]:
    """Yield the changes of the config that something is generated from, of its Profile and of the functionConfigs."""
    profile, kind = profile_of(source), (source.group, source.kind)
    for item in (source, *settings):
        is_other = item.kind == PROFILE[1] and item is not source
        if is_other and item.name != profile and kind not in driven_kinds([item]):
            continue
        if old := former.get(item.ref.id):
            specs = (old.manifest.get("spec"), item.manifest.get("spec"))
            yield from ((item, change) for change in differences(*specs, ("spec",)))


def _on_hub(finding: Result) -> Result:
    """Return a finding with the path of its field in a ManagedClusterModule, where it is about the Module of one."""
    return on_hub(finding) if finding.ref and finding.ref.kind == HUB_KIND else finding


def _source(finding: Result, manifests: Mapping[Id, Manifest], by_id: Mapping[Id, Item]) -> Item | None:
    """Return the item that a finding is about or, where that is or was generated, the one it is generated from."""
    key = finding.ref.id if finding.ref else ("", "", "", "")
    mark = mark_of(annotations_of(manifests.get(key, {})))
    return (by_id.get(mark.owner) if mark else None) or by_id.get(key)
