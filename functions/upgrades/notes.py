"""What `diff` says about a plan: the findings of all rules about changes, but for those that are turned off."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

from krmfn import Item, KrmfnError, Manifest, Place, Ref, ResourceList, Result
from krmfn.ownership import Id, mark_of
from krmfn.resource import annotations_of, ref
from krmfn.results import apply

from ..deviceconfig.reading import domain_of, profile_of
from ..differences import FieldChange, differences
from ..fleet import cluster, rules
from ..fleet.findings import join
from ..kmm.module import HUB_KIND
from ..kmm.versions import target
from ..plan import Plan
from ..rendering import function_config, ignoring
from ..rendering.generated import Finding, of_value, place_of, place_of_field
from ..rendering.kinds import CONFIG, PROFILE, driven_kinds
from ..run import run_of
from .change_rules import RULES, version_is_kept
from .impact import Impact, changed_modules


def notes(
    plan: Plan, resources: ResourceList, knows_nodes: bool = False, before: ResourceList | None = None
) -> list[Result]:
    """Return the findings about a plan, errors first: an error is refused by the cluster or never comes to an end.

    `resources` is the new list: its functionConfig counts, and so do its annotations that turn rules off. `knows_nodes`
    says whether the plan's effects are all that happens on the nodes. `before` is the old list: what is said of a
    generated object stands where its config, or what that takes its fields from, has changed.
    """
    config, _ = function_config.read(resources)
    by_id = {item.ref.id: item for item in resources.items}
    former = {item.ref.id: item for item in before.items} if before else {}
    findings: list[Finding] = []
    owners: dict[Ref, Item] = {}
    manifests = {ref(manifest).id: manifest for manifest in (*plan.old, *plan.new)}
    external = run_of(resources).external
    theirs = (item.manifest for item in external.items) if external else ()
    nodes_of, kmm = _nodes_of(resources, config), target(config.kmm_version)
    impact = Impact(plan, *changed_modules(plan, theirs), kmm, nodes_of, knows_nodes)
    for finding in (*version_is_kept(impact), *apply(RULES, impact)):
        finding = _on_hub(finding)
        if source := _source(finding, manifests, by_id):
            owners[source.ref] = source
            if finding.ref == source.ref:
                finding = source.located(finding)
            else:
                finding = finding._replace(place=_cause(finding, source, former, resources))
        findings.append((source.ref if source else None, finding))
    shown = list(ignoring.not_ignored(findings, owners, config, Counter()))
    return [one for severity in ("error", "warning", "info") for _, one in shown if one.severity == severity]


def _cause(finding: Result, source: Item, former: Mapping[Id, Item], resources: ResourceList) -> Place | None:
    """Return the place of the change behind a finding about what is generated from `source`, else that of its value.

    Of several changes it is the one whose new text is in the finding's, such as a version in an image; else the first.
    """
    value = finding.field.proposed if finding.field else None
    changed = list(_changed(source, former, resources))
    told = ((item, one) for item, one in changed if isinstance(one.new, str) and one.new in str(value))
    if first := max(told, key=lambda pair: len(pair[1].new), default=changed[0] if changed else None):
        item, one = first
        own = of_value({"spec": item.manifest.get("spec")}, one.new, str(one.parts[-1]))
        return place_of_field(item, own or one.path)  # a place is found by indexes, not by the names of entries
    return place_of(source, finding.field and finding.field._replace(current=value))


def _changed(source: Item, former: Mapping[Id, Item], resources: ResourceList) -> Iterator[tuple[Item, FieldChange]]:
    """Yield what has changed in the config that something is generated from, its Profile and the functionConfigs."""
    profiles, kind = resources.select(PROFILE[1], PROFILE[0]), (source.group, source.kind)
    products = (item for item in profiles if item.name == profile_of(source) or kind in driven_kinds([item]))
    for item in (source, *products, *resources.select(CONFIG[1], CONFIG[0])):
        if old := former.get(item.ref.id):
            was, now = (one.manifest.get("spec") for one in (old, item))
            yield from ((item, change) for change in differences(was, now, ("spec",)))


def _on_hub(finding: Result) -> Result:
    """Return a finding about a Module with the path that its field has in the ManagedClusterModule that brings it."""
    field = finding.field
    is_hub = finding.ref is not None and finding.ref.kind == HUB_KIND
    if not is_hub or field is None or not field.path.startswith(("spec.moduleLoader", "spec.devicePlugin")):
        return finding
    return finding._replace(field=field._replace(path=field.path.replace("spec.", "spec.moduleSpec.", 1)))


def _nodes_of(resources: ResourceList, config: function_config.FunctionConfig) -> Callable[[Ref], Sequence[str] | None]:
    """Return on which nodes a Module, or the pods of an object, run; None is not known. Joined when it is asked."""

    @cache
    def places() -> Mapping[Id, Sequence[str]]:
        whole = cluster.of_list(resources, domain_of)
        wrong = rules.about_input(whole, rules.today())
        if not whole.fleet.nodes or any(finding.severity == "error" for finding in wrong):
            return {}
        try:
            fleet = join(whole, config.exclusivity != "off", target(config.kmm_version))
        except KrmfnError:
            return {}
        names = {
            driver.ref.id: [node.name for group, one in selected if one.state == "planned" for node in group.nodes]
            for driver, selected in fleet.drivers
        }
        return names | {workload.ref.id: [node.name for node in where.nodes] for workload, where in fleet.workloads}

    return lambda ref: places().get(ref.id)


def _source(finding: Result, manifests: Mapping[Id, Manifest], by_id: Mapping[Id, Item]) -> Item | None:
    """Return the item that a finding is about or, when that is or was generated, the one it is generated from."""
    own = finding.ref.id if finding.ref else ("", "", "", "")
    mark = mark_of(annotations_of(manifests.get(own, {})))
    return (by_id.get(mark.owner) if mark else None) or by_id.get(own)
