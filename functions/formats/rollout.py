"""An ordered upgrade in waves, for readers: lines for a shell, JSON for programs."""

from collections.abc import Iterator
from shlex import quote

from krmfn.printing import counted, json_text, printable, some
from krmfn.results import reference

from ..plan import Rollout
from ..terminal import finding, plain
from . import findings

_TIMEOUT = "--timeout=30m"


def text(plan: Rollout) -> str:
    """Return the plan as lines to paste into a shell; what is no command is a comment, and so is the way back.

    A wave is labelled only when the one before is done, also where the whole text runs as a script.
    """
    head = [
        f"{plan.module}, version {plan.old} to {plan.new}: {counted(sum(map(len, plan.waves)), 'node')} in "
        f"{counted(len(plan.waves), 'wave')}. Each step was simulated.",
        *_remarks(plan),
        "",
        *(_progress(plan) if plan.is_begun else [f"Apply NEW first: the nodes keep version {plan.old}."]),
        "Before each wave, stop the workloads on its nodes that use the driver: KMM cannot unload it while they run.",
        "Do not cordon the nodes for that, and uncordon those that are: unless the Module tolerates it",
        "(node.kubernetes.io/unschedulable), KMM unloads it from a cordoned node, and does not load it there.",
    ]
    way_back = [
        "",
        "The way back: apply OLD again first, and the nodes keep what they have; a label that is moved back before",
        "unloads the driver and loads nothing. Then, with the workloads stopped as above:",
        *_waves(_backwards(plan), plan.old),
    ]
    lines = [*map(_comment, head), *_waves(plan, plan.new), *map(_comment, way_back)]
    return "".join(f"{line}\n" for line in lines)


def as_json(plan: Rollout) -> str:
    """Return `{module, label, ready, old, new, waves, others, holders, notes, is_begun, done, moved}`."""
    document = {**plan._asdict(), "module": reference(plan.module), "notes": [*map(findings.finding, plan.notes)]}
    return json_text(document, 2) + "\n"


def _backwards(plan: Rollout) -> Rollout:
    """Return the waves of the way back: first of the nodes that have gone over already."""
    begun = (*plan.done, *plan.moved)
    return plan._replace(waves=((begun, *plan.waves) if begun else plan.waves), moved=())


def _progress(plan: Rollout) -> Iterator[str]:
    """Yield where an upgrade that has begun stands."""
    yield f"NEW is applied on the cluster, and the plan goes on from there: {len(plan.done):,} run {plan.new}."
    if plan.moved:
        names = some(plan.moved, len(plan.moved))
        yield f"With its label, and not through yet (`krmfn why NODE` says what holds it): {names}."


def _remarks(plan: Rollout) -> Iterator[str]:
    """Yield the notes, and the nodes and workloads that the upgrade does not touch."""
    yield from (finding(note, plain) for note in plan.notes)
    nodes = counted(len(plan.others), "node")
    others = f"Nothing happens on {nodes} with another version label or none"
    if plan.is_begun:
        others = f"Without a driver until they have the label {plan.label}={plan.new}: {nodes}"
    holders = "Waiting for the Module, and not leaving a node when its label changes"
    for sentence, names in ((others, plan.others), (holders, plan.holders)):
        if names:
            yield f"{sentence}: {some(names, len(names))}."


def _waves(plan: Rollout, version: str) -> Iterator[str]:
    """Yield the commands that bring all waves to a version, each once what comes before it is done."""
    module = plan.module
    path = "{.spec.moduleLoader.container.version}"
    resource = f"{module.kind.lower()}.{module.group}/{module.name} --namespace={module.namespace}"
    if plan.moved:
        path, resource = _ready(plan), " ".join(quote(f"node/{name}") for name in plan.moved)
    for number, wave in enumerate(plan.waves, 1):
        yield ""
        yield f"# wave {number:,} of {len(plan.waves):,}: {counted(len(wave), 'node')}"
        yield f"{_wait(resource, path, version)} &&"
        yield f"  kubectl label node {' '.join(map(quote, wave))} {quote(f'{plan.label}={version}')} --overwrite"
        path = _ready(plan)
        resource = " ".join(quote(f"node/{name}") for name in wave)
    yield ""
    yield "# done when"
    yield _wait(resource, path, version)


def _ready(plan: Rollout) -> str:
    """Return the path of the label that says which version is loaded."""
    return f"{{.metadata.labels.{plan.ready.replace('.', chr(92) + '.')}}}"


def _wait(resource: str, path: str, value: str) -> str:
    return f"kubectl wait {resource} --for=jsonpath={quote(path)}={quote(value)} {_TIMEOUT}"


def _comment(line: str) -> str:
    return printable(f"# {line}") if line else "#"
