"""Rules about a change: what a plan does on the nodes, for `diff`.

Source: KMM v2.6.0 and main (2026-07-29), Module and NodeModulesConfig controllers and webhook, as seen on a cluster.
"""

from __future__ import annotations

from collections.abc import Iterator

from krmfn import Item, ResourceList, Result, error, info, warning
from krmfn.ownership import mark_of
from krmfn.plan import ABSENT, Plan
from krmfn.resource import ref
from krmfn.results import Field

from ..kmm.lints.neighbours import neighbour
from ..kmm.lookup import has, table
from ..kmm.rule import Rules, apply, refused
from ..kmm.versions import target
from ..kmm.webhook.admission import UPDATE_RULES
from ..rendering import function_config, module_checks
from .impact import CONTAINER, Impact, Step, impact_of, reloads, selected, version_label

_SHOWN = 3


def notes(plan: Plan, resources: ResourceList) -> list[Result]:
    """Return the findings about a plan, errors first: an error is refused by the cluster or never comes to an end.

    `resources` is the new list: its functionConfig counts, and so do its annotations that turn rules off.
    """
    config, _ = function_config.read(resources)
    by_id = {item.ref.id: item for item in resources.items}
    findings: list[Result] = []
    for finding in apply(RULES, impact_of(plan, target(config.kmm_version))):
        source = _source(finding, by_id)
        if source is None:
            findings += [finding] if finding.tags or finding.rule not in config.ignore else []
        else:
            own = finding.ref == source.ref
            finding = source.located(finding) if own else finding._replace(place=source.place)
            findings += [one for one in module_checks.kept([finding], source, config) if one.rule == finding.rule]
    return [
        finding for severity in ("error", "warning", "info") for finding in findings if finding.severity == severity
    ]


def _source(finding: Result, by_id: dict[tuple[str, str, str, str], Item]) -> Item | None:
    """Return the item that a finding is about or, when that is generated, the one it is generated from."""
    item = by_id.get(finding.ref.id) if finding.ref else None
    mark = mark_of(item.annotations) if item else None
    return by_id.get(mark.owner, item) if mark else item


def version_is_kept(impact: Impact) -> Iterator[Result]:
    """Yield the webhook's finding about the update of a Module, with what to do."""
    for step in impact.steps:
        if step.old and step.new:
            for finding in apply(UPDATE_RULES, step.old, step.new):
                hint = "applying it fails from here on; deleting the Module unloads it on all its nodes"
                yield finding._replace(message=f"{finding.message} ({hint})", ref=step.ref)


def change_is_ordered(impact: Impact) -> Iterator[Result]:
    """KRM401: what a Module loads, and how, changes together with its version: else all nodes reload at once."""
    for step in impact.steps:
        fields, (before, after) = reloads(step), step.versions
        if not fields or before != after:
            continue
        why = f"the version stays {after}" if after else "the Module has no version"
        message = f"{why}, so KMM unloads and reloads the kernel module on all its nodes at once"
        holders = impact.waiting(step.module)
        if has(table(step.new, "spec"), "devicePlugin"):
            holders.append("its device plugin")
        field = Field(fields[0].path, _value(fields[0].old), _value(fields[0].new))
        if holders:
            hold = (
                f"the unloader fails and retries as long as {_listed(holders)} or a workload holds it: stop them first"
            )
            yield warning(f"{message}; {hold}: stop them first, or {_one_by_one(after)}", ref=step.ref, field=field)
        else:
            hold = "no consumer of it is in sight here; one that holds it makes the unloader fail and retry"
            yield info(f"{message}; {hold}; {_one_by_one(after)}", ref=step.ref, field=field)


def _one_by_one(version: str) -> str:
    """Return what to write so that nodes reload one after the other."""
    if version:
        return "change driverVersion with it: then nodes reload one by one, as they are labelled (`upgrade.ordered`)"
    return (
        "write `upgrade: {ordered: true}` and another driverVersion each time: then nodes reload one by one, as they "
        "are labelled (KMM gives no version to a Module that has none: delete this one once)"
    )


def daemonsets_go_too(impact: Impact) -> Iterator[Result]:
    """KRM402: a Module is deleted together with its consumers: while one holds the module, it is never unloaded."""
    for step in impact.steps:
        holders = impact.waiting(step.module) if step.new is None else []
        if holders:
            message = (
                f"is deleted, but not {_listed(holders)}: the kernel module is not unloaded while a pod holds it, and "
                "the label that keeps the pod there stays until it is unloaded, so neither ever goes; delete them too"
            )
            yield error(message, ref=step.ref)


def selector_is_kept(impact: Impact) -> Iterator[Result]:
    """KRM403: the selector of a DaemonSet, Deployment, StatefulSet or ReplicaSet is what it was: it is immutable."""
    for change in impact.plan.changes:
        field = next((field for field in change.fields if field.parts[:2] == ("spec", "selector")), None)
        if field and change.ref.group == "apps":
            hint = f"the API server refuses the change; delete the {change.ref.kind} first, or give it another name"
            refusal = refused("field is immutable", field.path, _value(field.old), hint)
            yield refusal._replace(ref=change.ref, field=Field(field.path, _value(field.old), _value(field.new)))


def plugin_stays(impact: Impact) -> Iterator[Result]:
    """KRM404: a Module keeps its devicePlugin section: KMM up to 2.6 leaves the DaemonSet of a removed one running."""
    for step in impact.steps:
        if step.lost("devicePlugin") and impact.kmm.name in ("2.4", "2.5", "2.6"):
            chosen = f"-n {step.module.namespace} -l kmm.node.kubernetes.io/module.name={step.module.name}"
            message = f"KMM {impact.kmm.name} leaves the device plugin's DaemonSet running; delete it by hand: "
            yield warning(f"{message}kubectl delete daemonset {chosen}", ref=step.ref, field=Field("spec.devicePlugin"))


def loader_stays(impact: Impact) -> Iterator[Result]:
    """KRM405: a Module keeps its moduleLoader section: without it KMM unloads nothing and the ready label stays."""
    for step in impact.steps:
        if step.lost("moduleLoader"):
            message = (
                "KMM does not unload what it has loaded, and the ready label stays; only deleting the Module unloads"
            )
            yield warning(message, ref=step.ref, field=Field("spec.moduleLoader"))


def name_is_kept(impact: Impact) -> Iterator[Result]:
    """KRM406: a Module keeps its name and namespace: under another one it is unloaded everywhere and loaded anew."""
    leaving: dict[str, Step] = {}
    for step in impact.steps:
        if step.old and step.new is None:
            leaving |= dict.fromkeys(neighbour(step.old).loads, step)
    for step in impact.steps:
        loads = sorted(neighbour(step.new).loads & leaving.keys()) if step.new and step.old is None else []
        if loads:
            message = (
                f"loads {loads[0]} in place of {leaving[loads[0]].ref}, which is deleted; to KMM that is no new name "
                "but another Module: the old one unloads on all its nodes, and the ready label gets another name"
            )
            yield warning(message, ref=step.ref, field=Field("metadata.name", step.ref.name))


def version_moves_with_labels(impact: Impact) -> Iterator[Result]:
    """KRM407: a new version is loaded node by node, as the nodes' version labels are changed; nothing else does it."""
    for step in impact.steps:
        before, after = step.versions
        if before and after and before != after:
            message = f"nodes keep version {before} until their label {version_label(step.module)} says {after}"
            yield info(message, ref=step.ref, field=Field(f"{CONTAINER}.version", before, after))


def old_version_keeps_its_daemonsets(impact: Impact) -> Iterator[Result]:
    """KRM408: the consumers of a Module's old version stay while nodes run it (`upgrade.retain`)."""
    kept = {pair for manifest in impact.plan.new for pair in selected(manifest).items()}
    for step in impact.steps:
        label, (before, after) = version_label(step.module), step.versions
        if not before or not after or before == after or (label, before) in kept:
            continue
        for manifest in impact.plan.old:
            if selected(manifest).get(label) == before:
                message = (
                    f"leaves all nodes at once, also those that still run version {before} of {step.module}; keep it "
                    f'for them with `upgrade.retain: ["{before}"]` until no node has the label {label}: {before}'
                )
                yield warning(message, ref=ref(manifest))


def _value(value: object) -> object:
    return None if value is ABSENT else value


def _listed(names: list[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


RULES: Rules = (
    ("KMM002", version_is_kept),
    ("KRM401", change_is_ordered),
    ("KRM402", daemonsets_go_too),
    ("KRM403", selector_is_kept),
    ("KRM404", plugin_stays),
    ("KRM405", loader_stays),
    ("KRM406", name_is_kept),
    ("KRM407", version_moves_with_labels),
    ("KRM408", old_version_keeps_its_daemonsets),
)
"""Every rule about a change, with its id."""
