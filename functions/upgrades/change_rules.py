"""Rules about a change: what a plan does on the nodes.

Source: KMM v2.6.0 and main (2026-07-29), Module and NodeModulesConfig controllers and webhook, as seen on a cluster.
"""

from __future__ import annotations

from collections.abc import Iterator

from krmfn import Result, error, info, warning
from krmfn.differences import ABSENT
from krmfn.resource import ref
from krmfn.results import Field
from krmfn.rule import Rule, apply

from ..kmm.lookup import has
from ..kmm.module import CONTAINER, NAME_LABEL, version_label
from ..kmm.rule import refused
from ..kmm.webhook.admission import UPDATE_RULES
from .impact import Impact, Step, label_keys, reloads, selected

_SHOWN = 3


def version_is_kept(impact: Impact) -> Iterator[Result]:
    """Yield the webhook's finding about the update of a Module, with what to do."""
    for step in impact.steps:
        if step.old and step.new:
            for finding in apply(UPDATE_RULES, step.old, step.new):
                hint = "applying it fails from here on; deleting the Module unloads it on all its nodes"
                yield finding._replace(message=f"{finding.message} ({hint})", ref=step.ref)


def change_is_ordered(impact: Impact) -> Iterator[Result]:
    """Yield a finding per Module whose nodes all reload at once, with the workloads that stand in the way."""
    for step in impact.steps:
        fields, (before, after) = reloads(step), step.versions
        if not fields or before != after:
            continue
        why = f"the version stays {after}" if after else "the Module has no version"
        message = f"{why}, so KMM unloads and reloads the kernel module on all its nodes at once"
        holders = impact.waiting(step.module)
        if step.new and has(step.new.spec, "devicePlugin"):
            holders.append("its device plugin")
        field = Field(fields[0].path, _value(fields[0].old), _value(fields[0].new))
        if holders:
            hold = f"the unload fails and is tried again as long as {_listed(holders)} or another workload uses it"
            yield warning(f"{message}; {hold}: stop them first, or {_one_by_one(after)}", ref=step.ref, field=field)
        else:
            hold = "no workload in the input waits for it; one that uses it makes the unload fail until it ends"
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
    """Yield an error per deleted Module whose DaemonSets stay."""
    for step in impact.steps:
        holders = impact.waiting(step.module) if step.new is None else []
        if holders:
            message = (
                f"is deleted, but not {_listed(holders)}: the kernel module is not unloaded while a pod uses it, and "
                "the node label that keeps the pod there stays until the unload, so neither ever ends; delete them too"
            )
            yield error(message, ref=step.ref)


def consumers_go_first(impact: Impact) -> Iterator[Result]:
    """Yield an info per deleted Module whose DaemonSets are deleted by the same change."""
    leaving = [change.old for change in impact.plan.changes if change.what == "deleted" and change.old]
    for step in impact.steps:
        keys = set(label_keys(step.module) if step.new is None else ())
        holders = [str(ref(manifest)) for manifest in leaving if keys & selected(manifest).keys()]
        if holders:
            message = (
                f"is deleted together with {_listed(holders)}; Argo CD deletes these first, by their sync waves, but "
                "Flux the Module: its unload fails and is tried again until their pods are gone; with Flux, delete "
                "them in a change of their own before"
            )
            yield info(message, ref=step.ref)


def selector_is_kept(impact: Impact) -> Iterator[Result]:
    """Yield the API server's refusal of each changed selector of a workload."""
    for change in impact.plan.changes:
        field = next((field for field in change.fields if field.parts[:2] == ("spec", "selector")), None)
        if field and change.ref.group == "apps":
            hint = f"the API server refuses the change; delete the {change.ref.kind} first, or give it another name"
            refusal = refused("field is immutable", field.path, _value(field.old), hint)
            yield refusal._replace(ref=change.ref, field=Field(field.path, _value(field.old), _value(field.new)))


def plugin_stays(impact: Impact) -> Iterator[Result]:
    """Yield a warning per Module without its former devicePlugin section, where KMM leaves the DaemonSet."""
    for step in impact.steps:
        if step.lost("devicePlugin") and impact.kmm.leaves_plugins:
            chosen = f"-n {step.module.namespace} -l {NAME_LABEL}={step.module.name}"
            message = f"KMM {impact.kmm.name} leaves the device plugin's DaemonSet running; delete it by hand: "
            yield warning(f"{message}kubectl delete daemonset {chosen}", ref=step.ref, field=Field("spec.devicePlugin"))


def loader_stays(impact: Impact) -> Iterator[Result]:
    """Yield a warning per Module without its former moduleLoader section."""
    for step in impact.steps:
        if step.lost("moduleLoader"):
            message = (
                "KMM does not unload what it has loaded, and the ready label stays; only deleting the Module unloads"
            )
            yield warning(message, ref=step.ref, field=Field("spec.moduleLoader"))


def name_is_kept(impact: Impact) -> Iterator[Result]:
    """Yield a warning per new Module that loads what a deleted one did."""
    leaving: dict[str, Step] = {}
    for step in impact.steps:
        if step.old and step.new is None:
            leaving |= dict.fromkeys(step.old.loads, step)
    for step in impact.steps:
        loads = sorted(step.new.loads & leaving.keys()) if step.new and step.old is None else []
        if loads:
            message = (
                f"loads {loads[0]} in place of {leaving[loads[0]].ref}, which is deleted; to KMM that is no new name "
                "but another Module: the old one unloads on all its nodes, and the ready label gets another name"
            )
            yield warning(message, ref=step.ref, field=Field("metadata.name", step.ref.name))


def version_moves_with_labels(impact: Impact) -> Iterator[Result]:
    """Yield an info per Module with a new version."""
    for step in impact.steps:
        before, after = step.versions
        if before and after and before != after:
            message = f"nodes keep version {before} until their label {version_label(*step.module[2:])} says {after}"
            yield info(message, ref=step.ref, field=Field(f"{CONTAINER}.version", before, after))


def old_version_keeps_its_daemonsets(impact: Impact) -> Iterator[Result]:
    """Yield a warning per workload that selects the nodes of a Module's former version and that the plan loses."""
    kept = {pair for manifest in impact.plan.new for pair in selected(manifest).items()}
    for step in impact.steps:
        label, (before, after) = version_label(*step.module[2:]), step.versions
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


RULES = (
    Rule(
        "KRM401",
        "what a Module loads, and how, changes together with its version: else all nodes reload at once",
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
        "one by one, as they are labelled. Else stop the pods that use it first: all nodes reload at once.",
        check=change_is_ordered,
    ),
    Rule(
        "KRM402",
        "a Module is deleted together with its DaemonSets: while a pod uses it, nothing is unloaded",
        good="""\
# before
kind: Module
---
# before
kind: DaemonSet
spec: {template: {spec: {nodeSelector: {kmm.node.kubernetes.io/kmm.gpu.ready: ""}}}}
""",
        bad="""\
# before
kind: Module
---
kind: DaemonSet
spec: {template: {spec: {nodeSelector: {kmm.node.kubernetes.io/kmm.gpu.ready: ""}}}}
""",
        remedy="Delete the workloads that wait for the Module's ready label, too, or keep the Module.",
        check=daemonsets_go_too,
    ),
    Rule(
        "KRM403",
        "the selector of a DaemonSet, Deployment, StatefulSet or ReplicaSet is what it was: it is immutable",
        good="""\
# before
kind: DaemonSet
---
# after
kind: DaemonSet
metadata: {name: another-agent}
spec:
  selector: {matchLabels: {app: another-agent}}
  template: {metadata: {labels: {app: another-agent}}}
""",
        bad="""\
# before
kind: DaemonSet
---
# after
kind: DaemonSet
spec:
  selector: {matchLabels: {app: another-agent}}
  template: {metadata: {labels: {app: another-agent}}}
""",
        remedy="Keep the selector, give the workload another name, or delete it before the new one is applied.",
        check=selector_is_kept,
    ),
    Rule(
        "KRM404",
        "a Module keeps its devicePlugin section: KMM up to 2.6 leaves the DaemonSet of a removed one running",
        good="""\
# before
spec: {devicePlugin: {image: "registry.example.com/plugin:1.0"}}
---
# after
spec: {devicePlugin: {image: "registry.example.com/plugin:1.1"}}
""",
        bad="""\
# before
spec: {devicePlugin: {image: "registry.example.com/plugin:1.0"}}
---
# after
metadata: {name: gpu}
""",
        remedy="Delete the device plugin's DaemonSet by hand once the change is applied; the finding has the command.",
        check=plugin_stays,
    ),
    Rule(
        "KRM405",
        "a Module keeps its moduleLoader section: without it KMM unloads nothing and the ready label stays",
        good="""\
# before
kind: Module
---
# after
kind: Module
metadata: {name: gpu-plugin}
spec:
  moduleLoader: null
  devicePlugin: {container: {image: "registry.example.com/plugin:1.0"}}
""",
        bad="""\
# before
kind: Module
---
# after
kind: Module
spec:
  moduleLoader: null
  devicePlugin: {container: {image: "registry.example.com/plugin:1.0"}}
""",
        remedy="Delete the Module, which unloads the kernel module, and give what stays of it another name.",
        check=loader_stays,
    ),
    Rule(
        "KRM406",
        "a Module keeps its name and namespace: under another one it is unloaded everywhere and loaded anew",
        good="""\
# before
metadata: {name: gpu}
---
# after
metadata: {name: gpu}
spec: {driverVersion: "1.1"}
""",
        bad="""\
# before
metadata: {name: gpu}
---
# after
metadata: {name: accelerator}
spec: {driverVersion: "1.1"}
""",
        remedy="Keep the name and the namespace; where they have to change, stop what uses the device first.",
        check=name_is_kept,
    ),
    Rule(
        "KRM407",
        "a new version is loaded node by node, as the nodes' version labels are changed; nothing else does it",
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
        remedy="Change the version label of each node once the change is applied; the finding has the label.",
        check=version_moves_with_labels,
    ),
    Rule(
        "KRM408",
        "the DaemonSets of a Module's old version stay while nodes run it (`upgrade.retain`)",
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
        remedy="Name the old version in `upgrade.retain` until no node has its label.",
        check=old_version_keeps_its_daemonsets,
    ),
    Rule(
        "KRM410",
        "where Flux applies both, what waits for a Module is deleted before it, in a change of its own",
        good="""\
# before
kind: Module
---
# after
kind: ConfigMap
""",
        bad="""\
# before
kind: Module
---
# before
kind: DaemonSet
spec: {template: {spec: {nodeSelector: {kmm.node.kubernetes.io/kmm.gpu.ready: ""}}}}
""",
        remedy="With Flux, take `daemonSets` out of the config (or give them `enabled: false`) in a first change, and "
        "delete the config in a second one. With Argo CD there is nothing to do.",
        check=consumers_go_first,
    ),
)
"""Every rule about a change of ours, in the order of ids; KMM's own is among KMM's (KMM002)."""
