"""The steps from an operator to Git, in the order that never unloads: kubectl lines, each with what to wait for."""

import json
import shlex
from collections.abc import Iterator, Sequence

from krmfn import Ref
from krmfn.printing import some
from krmfn.typed import Any, NamedTuple

from ..fleet import dumped_kinds
from ..fleet.owned import Head
from .facts import Facts
from .operators import Operator
from .owners import HELM_RELEASE, describe

_AFTER = "after.json"
"""The second dump, which must not be the first one: that shows the owners that are gone."""


class Step(NamedTuple):
    """One step."""

    text: str
    """What to do, and why."""
    command: str = ""
    """The line for a shell; "" where a person edits something."""
    until: str = ""
    """What to wait for before the next step."""


def steps(facts: Facts) -> list[Step]:
    """Return the steps that are left; [] where nothing but Git owns anything and nothing differs."""
    todo = [*_stop_operators(facts), *_release_objects(facts), *_leave_releases(facts), *_make_anew(facts)]
    is_changed = any(entry.differing("changes", "goes") for entry in facts.objects) or facts.created
    if todo or is_changed:
        todo += _sync(facts)
    return [*todo, *_take_configs_away(facts)]


def resource(ref: Ref) -> str:
    """Return what kubectl calls a kind: with its group, so that no other one is meant."""
    known = dumped_kinds.NAMES.get((ref.group, ref.kind))
    return known or (f"{ref.kind.lower()}.{ref.group}" if ref.group else ref.kind.lower())


def kubectl(*words: str) -> str:
    """Return a command line for a shell."""
    return shlex.join(["kubectl", *words])


def _name(ref: Ref) -> list[str]:
    return [resource(ref), *(["-n", ref.namespace] if ref.namespace else []), ref.name]


def _patch(ref: Ref, *operations: dict[str, Any]) -> str:
    return kubectl("patch", *_name(ref), "--type=json", "-p", json.dumps(operations, separators=(",", ":")))


def _stop_operators(facts: Facts) -> Iterator[Step]:
    """Yield how each operator is stopped: it would write its owner references again."""
    is_owned = bool(facts.owners)
    for operator in facts.operators if is_owned or facts.configs else ():
        if operator.version:
            yield from _stop_by_olm(operator)
        elif operator.replicas:
            yield _scale(operator)
    if is_owned and not facts.operators:
        names = some((describe(*owner) for owner in facts.owners), len(facts.owners))
        yield Step(
            f"Stop the operator that acts on {names}, else it writes its owner references again. Its Deployment is "
            "not known from the dump: put the two names in",
            "kubectl scale deployment -n OPERATOR_NAMESPACE OPERATOR --replicas=0",
            "no pod of the operator is left: kubectl get pods -n OPERATOR_NAMESPACE",
        )


def _scale(operator: Operator) -> Step:
    back = (
        f". {' and '.join(operator.put_back)} would put the number back: suspend it first" if operator.put_back else ""
    )
    return Step(
        f"Stop the operator, else it writes its owner references again{back}",
        kubectl("scale", "deployment", "-n", operator.namespace, operator.name, "--replicas=0"),
        _until_stopped(operator),
    )


def _until_stopped(operator: Operator) -> str:
    labels = ["-l", operator.selector] if operator.selector else []
    return f"no pod of it is left: {kubectl('get', 'pods', '-n', operator.namespace, *labels)}"


def _stop_by_olm(operator: Operator) -> Iterator[Step]:
    """Yield how an operator is stopped that OLM runs: OLM puts back what a person writes into its Deployment."""
    if operator.is_automatic:
        namespace, _, name = operator.subscription.partition("/")
        change = {"spec": {"installPlanApproval": "Manual"}}
        yield Step(
            f"Have OLM install nothing by itself: a new version of {operator.version} would start the operator again",
            kubectl(
                *("patch", "subscriptions.operators.coreos.com", "-n", namespace, name, "--type=merge", "-p"),
                json.dumps(change, separators=(",", ":")),
            ),
            "spec.installPlanApproval of the Subscription is Manual",
        )
    if operator.replicas:
        version = Ref("operators.coreos.com/v1alpha1", "ClusterServiceVersion", operator.namespace, operator.version)
        path = f"/spec/install/spec/deployments/{operator.position}"
        operations = (
            {"op": "test", "path": f"{path}/name", "value": operator.name},
            {"op": "add", "path": f"{path}/spec/replicas", "value": 0},
        )
        yield Step(
            "Stop the operator by its ClusterServiceVersion: OLM puts back what is written into the Deployment",
            _patch(version, *operations),
            _until_stopped(operator),
        )


def _release_objects(facts: Facts) -> Iterator[Step]:
    """Yield how the owner references go: of what Git renders, and of what else would go with the owner."""
    for entry in facts.objects:
        if entry.owned.references:
            names = some(
                (describe(o, entry.ref.namespace) for o in entry.owned.references), len(entry.owned.references)
            )
            yield Step(
                f"Take {entry.ref} from its owner, {names}: from then on the garbage collector leaves it alone",
                _patch(entry.ref, *_unowned(entry.owned.head)),
                "the patch is applied; if its test fails, the object has changed: write a new dump",
            )
    for head in facts.gone:
        if head.owners and not any(owner.uid in {other.uid for other in facts.gone} for owner in head.owners):
            yield Step(
                f"{head.ref} is not rendered by Git and goes with its owner, too: add it to Git, or take it from its "
                "owner so that it stays as it is; leave this step out if it is not needed any more",
                _patch(head.ref, *_unowned(head)),
                "the patch is applied",
            )


def _unowned(head: Head) -> list[dict[str, Any]]:
    """Return the operations that remove the owner references of an object, the last one first, if they are these."""
    operations: list[dict[str, Any]] = []
    for index in reversed(range(len(head.owners))):
        path = f"/metadata/ownerReferences/{index}"
        operations.append({"op": "test", "path": f"{path}/uid", "value": head.owners[index].uid})
        operations.append({"op": "remove", "path": path})
    return operations


def _leave_releases(facts: Facts) -> Iterator[Step]:
    """Yield how Helm forgets a release, whose uninstall would delete the objects."""
    appliers = (applier for entry in facts.objects for applier in entry.owned.appliers)
    flux = {str(applier) for applier in appliers if applier.kind == HELM_RELEASE}
    for release in dict.fromkeys(entry.owned.release for entry in facts.objects if entry.owned.release):
        namespace, _, name = release.partition("/")
        back = f"; suspend {some(sorted(flux), len(flux))} first, which would install it again" if flux else ""
        yield Step(
            f"Have Helm forget the release {release}, whose objects stay as they are{back}; other objects of the "
            "release are then nobody's, so look at `helm get manifest` first",
            kubectl("delete", "secret", "-n", namespace, "-l", f"owner=helm,name={name}"),
            f"helm list -n {namespace} does not show it any more",
        )


def _make_anew(facts: Facts) -> Iterator[Step]:
    """Yield what to do about fields that nobody can change."""
    for entry in facts.objects:
        if fields := entry.differing("refused"):
            paths = some((field.path for field in fields), len(fields))
            if entry.ref.kind == "DaemonSet":
                yield Step(
                    f"{entry.ref}: {paths} cannot be changed. Write the cluster's labels into `matchLabels` of the "
                    "Profile; or remove the DaemonSet alone, whose pods go on until the sync recreates it",
                    kubectl("delete", *_name(entry.ref), "--cascade=orphan"),
                    "the DaemonSet is gone and its pods are there; after the sync, remove those of the old labels",
                )
            else:
                yield Step(f"{entry.ref}: {paths} cannot be changed. Make Git render what the cluster has")


def _sync(facts: Facts) -> Iterator[Step]:
    """Yield the sync and its proof; before it, what to write into Git so that the sync changes nothing."""
    paths = facts.rendered.paths
    dump = shlex.quote(f"{facts.rendered.cluster}={_AFTER}") if facts.rendered.cluster else _AFTER
    fields = [f"{entry.ref} {field.path}" for entry in facts.objects for field in entry.differing("changes", "goes")]
    if fields:
        yield Step(
            f"Write into Git what the cluster has, else the sync changes it: {some(fields, len(fields))}. Or "
            "go on, and let the sync reload the nodes that are named above",
        )
    yield Step(
        "Sync: merge, and let Argo CD or Flux apply; without them this line does it",
        f"krmfn render {paths} | kubectl apply --server-side --force-conflicts -f -",
        "the sync is through, and the nodes keep their ready labels",
    )
    yield Step(
        "Prove it: write a new dump, and ask again",
        f"krmfn adopt {paths} --kubectl | DUMP={_AFTER} sh && krmfn adopt {paths} --live {dump}",
        "exit code 0: all fields are equal, and nothing but Git owns anything",
    )


def _take_configs_away(facts: Facts) -> Iterator[Step]:
    """Yield how the configs of the operator go, at the very end: nobody answers their finalizers any more."""
    for head in facts.configs:
        kind = (head.ref.group, head.ref.kind)
        if kind in facts.rendered.kept:
            yield Step(
                f"Take `keep: true` for {head.ref.kind} out of the Profile, so that no sync makes {head.ref} again; "
                "with Argo CD or Flux the config is pruned by that, so take its finalizers away before",
            )
        if head.finalizers:
            operations = (
                {"op": "test", "path": "/metadata/finalizers", "value": list(head.finalizers)},
                {"op": "remove", "path": "/metadata/finalizers"},
            )
            yield Step(
                f"Take the finalizers of {head.ref} away: the operator, which would remove them, is stopped",
                _patch(head.ref, *operations),
                "the patch is applied",
            )
        yield Step(
            f"Remove {head.ref}: nothing refers to it as its owner any more",
            kubectl("delete", *_name(head.ref), "--cascade=orphan"),
            "it is gone, and the objects are there; then the operator itself can be uninstalled",
        )


def lines(step: Step, number: int) -> Sequence[str]:
    """Return a step as lines of text."""
    rows = [f"{number}. {step.text}"]
    rows += [f"   {step.command}"] if step.command else []
    return rows + ([f"   wait until {step.until}"] if step.until else [])
