"""The first link: the Module on the cluster is what Git renders, and stays."""

from krmfn import Manifest
from krmfn.printing import printable, some

from ..differences import ABSENT, FieldChange, differences
from ..fleet.coverage import coverage
from ..fleet.drivers import Driver, driver
from ..fleet.live import Live
from ..fleet.live_engines import Engine, Name
from ..fleet.live_pods import Pod
from ..kmm.lookup import listing, table, text
from ..kmm.stored import stored
from ..sentence import Sentence
from ..sentence import text as words_of
from . import brought, names
from .held import all_of, ending, holders, holding
from .link import Link, Subject, account_of, described, holds, kubectl, unknown
from .words import difference

_OF_KMM = "kmm.node.kubernetes.io/module-finalizer"
"""KMM takes it off when the Module is unloaded everywhere. Source: KMM v2.6.0, internal/constants/constants.go."""
_FLUX = "kustomize.toolkit.fluxcd.io/"
_RESOURCES = {"Application": "applications.argoproj.io", "Kustomization": "kustomizations.kustomize.toolkit.fluxcd.io"}


def judge(subject: Subject) -> Link:
    """Return whether the Module is on the cluster, is not being deleted, and has the spec that Git renders."""
    modules = subject.live.objects.modules
    if not modules and "Module" not in subject.live.objects.kinds:
        return unknown("modules.kmm.sigs.x-k8s.io")
    namespace, name = subject.module
    command = kubectl("get", "modules.kmm.sigs.x-k8s.io", "-n", namespace, name, "-o", "yaml")
    if (module := modules.get(subject.module)) is None:
        question = "has its hub brought it?" if subject.driver.through_hub else "has it been synced?"
        reason: Sentence = (f"is planned, but the Module is not on the cluster: {question}",)
        return _unsynced(subject, {}, reason, kubectl("get", "modules.kmm.sigs.x-k8s.io", "-A"))
    if text(table(module, "metadata"), "deletionTimestamp"):
        return _deleted(subject, module, command)
    if not isinstance(module.get("spec"), dict):
        doubt = "the Module has no spec in the dump, so it is not known whether it is what Git renders"
        return Link("not known", (), (doubt,), command)
    changes = _changes(subject, module)
    if not changes:
        return _same(subject, module)
    state, waits = "its hub has not brought it" if subject.driver.through_hub else "it has not been synced", False
    if _is_on_its_way(subject, module):
        state, waits = "its engine is at work", True
    reason = ("is not what Git renders: ", *_difference(subject, changes[0]), f"; {state}")
    link = _unsynced(subject, module, reason, command)._replace(waits=waits)
    number = f" and {len(changes) - 1:,} more" if changes[1:] else ""
    return link._replace(evidence=(f"the Module on the cluster differs in {changes[0].path}{number}", *link.evidence))


def on_cluster(subject: Subject) -> Subject:
    """Return the Module on the node as it is on the cluster, by which KMM does all that it does there.

    Without such a Module, or where it is being deleted or does not select the node, this is the one that Git renders.
    """
    manifest = subject.live.objects.modules.get(subject.module)
    if manifest is None or not isinstance(manifest.get("spec"), dict) or subject.driver.cluster is not None:
        return subject
    if text(table(manifest, "metadata"), "deletionTimestamp"):
        return subject
    actual = driver({**manifest, "spec": stored(manifest["spec"])})._replace(consumers=subject.driver.consumers)
    nodes, at = [subject.node], subject.outcome.driver
    blocker = subject.outcome.blocker  # a node that KMM fails on for all nodes
    if blocker in subject.live.nodes and blocker != subject.node.name:
        kernel = text(table(subject.live.nodes[blocker], "status", "nodeInfo"), "kernelVersion")
        nodes.append(subject.node._replace(name=blocker, kernel=kernel))
    groups = coverage(nodes, [actual], False)
    outcomes = [outcome for group in groups if subject.node in group.nodes for outcome in group.outcomes]
    for outcome in outcomes:
        drivers = [*subject.drivers[:at], actual, *subject.drivers[at + 1 :]]
        return subject._replace(drivers=drivers, outcome=outcome._replace(driver=at))
    return subject


def judge_selector(live: Live, planned: Driver, cluster: str) -> Link | None:
    """Return the broken link of a Module whose selector on the cluster is another one than Git's, None without one.

    Which nodes have it is then not said by the labels that Git asks for.
    """
    key = planned.module.ref.namespace, planned.module.ref.name
    module = live.objects.modules.get(key)
    if module is None or "spec" not in module:
        return None
    old, new = (table(stored(spec), "selector") for spec in (module["spec"], planned.module.spec))
    if old == new:
        return None
    texts = [", ".join(f"{label}={value}" for label, value in labels.items()) or "nothing" for labels in (old, new)]
    reason = f"is not what Git renders: it selects by {texts[0]} there, by {texts[1]} here; it has not been synced"
    command = kubectl("get", "modules.kmm.sigs.x-k8s.io", "-n", *key, "-o", "yaml")
    evidence, command = _told_by_engine(_engine(live, key, cluster, module), command)
    return Link("broken", evidence, (reason,), command, f"{reason} {key}", shared="Module")


def _same(subject: Subject, module: Manifest) -> Link:
    """Return the link to a Module that is what this checkout renders.

    Where the engine that applies it is not through, it may apply another commit than this one, so nothing is claimed.
    """
    engine = _known_engine(subject.live, subject.module, subject.cluster, module)
    if engine is None or not engine.problem or subject.driver.through_hub:
        return holds("the Module on the cluster is what Git renders")
    words, command = _told_by_engine(engine, "")
    evidence = ("the Module on the cluster is what this checkout renders", *words)
    doubt = f"{engine.kind} {engine.namespace}/{engine.name} has not applied all of Git: is this its commit?"
    return Link("not known", evidence, (doubt,), command)


def _changes(subject: Subject, module: Manifest) -> list[FieldChange]:
    """Return the fields in which the Module on the cluster, which has a spec, differs, the image first."""
    present, planned = brought.pair_of_specs(subject, module["spec"])
    changes = [*differences(stored(present), stored(planned), ("spec",))]
    return sorted(changes, key=lambda change: (change.parts[-1] != "version", change.parts[-1] != "containerImage"))


def _difference(subject: Subject, change: FieldChange) -> Sentence:
    """Return how a field differs, the two values shortened to what differs; a list or a mapping only by its name."""
    name = str(change.parts[-1])
    if any(isinstance(value, (dict, list)) for value in (change.old, change.new)):
        how = "only there" if change.new is ABSENT else "only here" if change.old is ABSENT else "differs"
        return (f"{name} {how}",)
    old, new = (names.image(subject, value) for value in _values(change))
    field = "" if name in ("version", "containerImage") else f"{name} "
    return field, old, " there, ", new, " here"


def _values(change: FieldChange) -> tuple[str, str]:
    """Return the two values of a field, shortened to what differs."""
    old, new = ("nothing" if value is ABSENT else str(value) for value in (change.old, change.new))
    is_text = isinstance(change.old, str) and isinstance(change.new, str)
    pair = difference(old, new) if is_text else (old, new)
    words = (printable(value) if len(value) <= 60 else f"another {change.parts[-1]}" for value in pair)
    return next(words), next(words)


def _unsynced(subject: Subject, module: Manifest, reason: Sentence, command: str) -> Link:
    """Return the link to a Module that no engine has applied, with the engine's own words, or that no hub brought."""
    if subject.driver.through_hub:
        evidence = [brought.works(subject)]
    else:
        engine = _engine(subject.live, subject.module, subject.cluster, module)
        evidence, command = _told_by_engine(engine, command)
        if pod := _refusing(subject):
            evidence.append(
                f"KMM's webhook refuses Modules: the pod {pod.full_name} {pod.status.sentence('is not ready')}"
            )
            command = command if engine else described(pod)
    evidence += [_loaded(subject)] if subject.is_ready else []
    return Link("broken", evidence, reason, command, f"{words_of(reason)} {subject.module}", shared="Module")


def _is_on_its_way(subject: Subject, module: Manifest) -> bool:
    """Return whether the engine that applies a Module is at work on it, and nothing says that it fails."""
    if subject.driver.through_hub or _refusing(subject):
        return False
    engine = _known_engine(subject.live, subject.module, subject.cluster, module)
    return engine is not None and engine.is_syncing


def _refusing(subject: Subject) -> Pod | None:
    """Return a pod of KMM's webhook where none of them is ready: then the API server takes no Module."""
    pods = [pod for pod in subject.live.objects.operators if "webhook" in pod.name]
    return pods[0] if pods and not any(pod.is_ready for pod in pods) else None


def _told_by_engine(engine: Engine | None, command: str) -> tuple[list[str], str]:
    """Return what the engine says that applies a Module, and the command to see more; without one, `command`."""
    if engine is None:
        return [], command
    words = f": {engine.problem}" if engine.problem else " says nothing of a problem"
    describe = kubectl("describe", _RESOURCES[engine.kind], "-n", engine.namespace, engine.name)
    return [f"{engine.kind} {engine.namespace}/{engine.name}{words}"], describe


def _loaded(subject: Subject) -> str:
    """Return that the driver is loaded, and which image."""
    is_other = subject.loaded is not None and subject.loaded.image != subject.image
    image = f" in {difference(subject.loaded.image, subject.image)[0]}" if subject.loaded and is_other else ""
    return f"the driver is still loaded{image}: its ready label is there"


def _engine(live: Live, key: Name, cluster: str, module: Manifest) -> Engine | None:
    """Return the engine that applies a Module: by its list or its mark on the Module, by name, or the only one."""
    free = [engine for engine in live.objects.engines if not engine.applies]
    return _known_engine(live, key, cluster, module) or (free[0] if len(free) == 1 else None)


def _known_engine(live: Live, key: Name, cluster: str, module: Manifest) -> Engine | None:
    """Return the engine that lists a Module, that has marked it, or that has the cluster's name."""
    engines = live.objects.engines
    labels, annotations = table(module, "metadata", "labels"), table(module, "metadata", "annotations")
    tracked = text(annotations, "argocd.argoproj.io/tracking-id").partition(":")[0]
    names = {tracked.rpartition("_")[2], text(labels, "argocd.argoproj.io/instance"), text(labels, f"{_FLUX}name")}
    for engine in engines:
        if key in engine.applies or engine.name in names - {""}:
            return engine
    return next((engine for engine in engines if engine.name == cluster), None)


def _keepers(module: Manifest) -> list[str]:
    """Return the finalizers that keep a deleted Module after KMM has taken its own off; [] before."""
    finalizers = [name for name in listing(table(module, "metadata"), "finalizers") or () if isinstance(name, str)]
    return [] if _OF_KMM in finalizers else finalizers


def _deleted(subject: Subject, module: Manifest, command: str) -> Link:
    """Return the link to a Module that is being deleted: since when, what holds it, and what of it is still there."""
    deleted = text(table(module, "metadata"), "deletionTimestamp")
    since = f" since {deleted[:10]} {deleted[11:16]}" if len(deleted) > 15 else ""
    head = f"is being deleted{since}, though Git has it"
    reason: Sentence = (f"{head}, so KMM unloads it",)
    evidence = [_loaded(subject)] if subject.is_ready else []
    namespace, _ = subject.module
    account = namespace, account_of(subject)
    objects = subject.live.objects
    if held := holders(subject):
        pod = held[0]
        reason = (f"{head}; {holding(held)} it",)
        command = kubectl("describe", "pod", "-n", pod.namespace, pod.name)
        evidence += [*all_of(held), *(ending(pod) for pod in held if pod.deleted)]
    elif keepers := _keepers(module):
        reason = (f"{head}; finalizer {some(keepers, len(keepers))} keeps it",)
        evidence.append("KMM has unloaded it, and has taken its own finalizer off")
    elif subject.is_ready and "ServiceAccount" in objects.kinds and account not in objects.accounts:
        reason = (f"{head}; its ", names.account(subject, account[1]), " is gone")
        evidence.append("no pod can unload it without its ServiceAccount")
        command = kubectl("create", "serviceaccount", "-n", *account)
    elif subject.key in subject.live.workers:
        worker = subject.live.workers[subject.key]
        evidence.append(f"the pod {worker.pod} ({worker.action}) {worker.status.sentence()}")
    cause = f"{subject.module} is deleted" if not held else ""
    return Link("broken", evidence, reason, command, cause, shared="Module")
