"""Beside the chain: another Module, of whomever, that loads the same kernel module on the node."""

from collections.abc import Hashable

from krmfn.printing import some

from ..fleet.live_engines import Name
from ..kmm.lookup import table, text
from ..kmm.module import Module
from .link import IS_LOADED, Link, Subject, holds, kubectl, unknown


def rivals(subject: Subject) -> list[tuple[Name, str]]:
    """Return the Modules of the dump, but for those that Git plans, that load a kernel module of this one on the node.

    Each with the kernel module. A Module that is being deleted counts while it is loaded.
    """
    live, node = subject.live, subject.node
    planned = {(driver.module.ref.namespace, driver.module.ref.name) for driver in subject.drivers}
    modules: dict[Name, str] = {}
    for name, manifest in live.objects.modules.items():
        if name in planned:
            continue
        other = Module(manifest)
        shared = sorted(other.loads & subject.driver.module.loads)
        selects = other.selector is not None and other.selector.items() <= node.labels.items()
        is_ending = bool(text(table(manifest, "metadata"), "deletionTimestamp"))
        is_there = (node.name, *name) in live.loaded or (selects and not is_ending)
        if shared and is_there:
            modules[name] = shared[0]
    for name, entry in live.entries_on.get(node.name, ()):
        if name not in planned and entry.module in subject.driver.module.loads:
            modules[name] = entry.module
    return sorted(modules.items())


def judge(subject: Subject) -> Link:
    """Return whether the Module alone loads its kernel module on the node."""
    if not subject.live.objects.modules:
        return unknown("modules.kmm.sigs.x-k8s.io")
    if not subject.driver.loads or not (others := rivals(subject)):
        return holds()
    (namespace, name), kernel_module = others[0]
    names = some((f"{space}/{other}" for (space, other), _ in others), len(others))
    if subject.is_done and subject.is_ready:
        head: Hashable = IS_LOADED
    else:  # without NodeModulesConfigs the ready label alone says what is there
        head = "has its ready label, but " if subject.is_ready and not subject.live.configured else "is not loaded: "
    reason = (head, f"Module {names} loads {kernel_module} on this node, too")
    worker = subject.live.workers.get(subject.key)
    evidence = [f"the pod {worker.pod} ({worker.action}) {worker.status.sentence()}"] if worker else []
    metadata = table(subject.live.objects.modules.get((namespace, name)), "metadata")
    if deleted := text(metadata, "deletionTimestamp"):
        evidence.insert(0, f"Module {namespace}/{name} is being deleted since {deleted[:16].replace('T', ' ')}")
    command = kubectl("get", "modules.kmm.sigs.x-k8s.io", "-n", namespace, name, "-o", "yaml")
    return Link("broken", evidence, reason, command, f"{head}{names}", shared="other Module")
