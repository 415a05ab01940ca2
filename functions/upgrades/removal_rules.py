"""Rules about removals: of a Module, of a section in it, and of the workloads that wait for it.

Source: KMM v2.6.0 and main (2026-07-29), Module and NodeModulesConfig controllers, as seen on a cluster.
"""

from collections.abc import Iterator

from krmfn import Field, Result, error, info, warning
from krmfn.printing import some
from krmfn.resource import ref

from .. import oracles
from ..grouping import grouped
from ..kmm.module import NAME_LABEL, node_labels, version_label
from ..rule import Rule
from .impact import SHOWN, Impact, Step, each_step, selector


def daemonsets_go_too(impact: Impact, step: Step) -> Iterator[Result]:
    """Yield an error per deleted Module whose DaemonSets stay."""
    if step.new is None and (holders := impact.holders_of(step.module)):
        yield error(
            f"is deleted, but not {some(holders, len(holders), SHOWN)}: "
            "KMM unloads nothing while a pod uses it, and the pod stays until then, so both wait for ever",
            remedy="delete them too",
        )


def plugin_stays(impact: Impact, step: Step) -> Iterator[Result]:
    """Yield a warning per Module without its former devicePlugin section, where KMM leaves the DaemonSet."""
    if step.removes("devicePlugin") and impact.kmm.leaves_plugins:
        command = f"kubectl delete daemonset -n {step.module.namespace} -l {NAME_LABEL}={step.module.name}"
        message = f"KMM {impact.kmm.name} leaves the device plugin's DaemonSet running"
        yield warning(message, field=Field("spec.devicePlugin"), remedy=f"delete it by hand: {command}")


def loader_stays(impact: Impact, step: Step) -> Iterator[Result]:
    """Yield a warning per Module without its former moduleLoader section."""
    if step.removes("moduleLoader"):
        message = "KMM does not unload what it has loaded, and the ready label stays"
        remedy = "delete the Module, which unloads it, and apply this one when that is done"
        yield warning(message, field=Field("spec.moduleLoader"), remedy=remedy)


def name_is_kept(impact: Impact) -> Iterator[Result]:
    """Yield a warning per new Module that loads a kernel module of a deleted one."""
    deleted = {name: step.ref for step in impact.steps if step.old and step.new is None for name in step.old.loads}
    for step in impact.steps:
        if names := sorted(step.new.loads & deleted.keys()) if step.new and step.old is None else []:
            reason = "to KMM this is another Module"
            effect = "the old one unloads on all its nodes, and the ready label changes"
            message = f"loads {names[0]} in place of {deleted[names[0]]}, which is deleted: {reason}, so {effect}"
            remedy = "keep the name of the old one, or stop first what uses its driver"
            yield warning(message, ref=step.ref, field=Field("metadata.name", step.ref.name), remedy=remedy)


def version_labels_are_removed(impact: Impact, step: Step) -> Iterator[Result]:
    """Yield an info per deleted Module with a version: the labels that choose it stay on the nodes."""
    if step.old and step.new is None and step.old.version:
        label = version_label(*step.module[2:])
        remedy = f"after it is unloaded, remove the label: kubectl label nodes -l {label} {label}-"
        reason = "a Module of this name and version would load on them at once"
        yield info(f"is deleted, but its nodes keep the label {label}: {reason}", remedy=remedy)


def consumers_go_first(impact: Impact) -> Iterator[Result]:
    """Yield an info per deleted Module whose DaemonSets are deleted by the same change."""
    deleted = (change.old for change in impact.plan.changes if change.what == "deleted" and change.old)
    places = enumerate(deleted)
    by_label = grouped((key, (at, str(ref(manifest)))) for at, manifest in places for key in selector(manifest))
    for step in impact.steps:
        labels = node_labels(*step.module[2:]) if step.new is None else ()
        if holders := [name for _, name in sorted({pair for key in labels for pair in by_label.get(key, ())})]:
            yield info(
                f"is deleted together with {some(holders, len(holders), SHOWN)}; Argo CD deletes these first, but Flux "
                "deletes the Module first, whose unload fails until their pods are gone",
                ref=step.ref,
                remedy="with Flux, delete them in an earlier change of their own",
            )


RULES = (
    Rule(
        "KRM402",
        "the workloads that wait for a Module must be deleted with it: nothing is unloaded while a pod uses the device",
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
        held=oracles.NODES_CONTROLLER,
        check=each_step(daemonsets_go_too),
        advice=True,
    ),
    Rule(
        "KRM404",
        "a Module should keep its devicePlugin section: KMM up to 2.6 does not delete the DaemonSet when the section "
        "is removed",
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
        remedy="Delete the device plugin's DaemonSet by hand after the change is applied; the finding has the command.",
        held=oracles.PLUGIN_CONTROLLER,
        check=each_step(plugin_stays),
        severities=("warning",),
        advice=True,
    ),
    Rule(
        "KRM405",
        "a Module should keep its moduleLoader section: without it KMM unloads nothing, and the ready label stays",
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
        remedy="Delete the Module, which unloads the kernel module, and create what remains of it under another name.",
        held=oracles.MODULE_CONTROLLER,
        check=each_step(loader_stays),
        severities=("warning",),
        advice=True,
    ),
    Rule(
        "KRM406",
        "a Module should keep its name and namespace: otherwise it is unloaded and loaded again on all nodes",
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
        remedy="Keep the name and the namespace; if they have to change, stop what uses the device first.",
        held=oracles.HISTORIES,
        check=name_is_kept,
        severities=("warning",),
        advice=True,
    ),
    Rule(
        "KRM410",
        "where Flux applies both, workloads that wait for a Module should be deleted before it, in a separate change",
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
        remedy="Remove `daemonSets` from the config (or give them `enabled: false`) in a first change, and delete the "
        "config in a second one. Ignore the finding if Argo CD applies them.",
        held=oracles.FLUX,
        check=consumers_go_first,
        severities=("info",),
        advice=True,
    ),
    Rule(
        "KRM411",
        "when a Module is deleted, its version labels should be removed from the nodes afterwards",
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
spec: {moduleLoader: {container: {version: "1.0"}}}
---
# after
kind: ConfigMap
""",
        remedy="Remove the label from the nodes when the Module is unloaded; the finding has the command.",
        held=oracles.LABEL_CONTROLLER,
        check=each_step(version_labels_are_removed),
        severities=("info",),
        advice=True,
    ),
)
