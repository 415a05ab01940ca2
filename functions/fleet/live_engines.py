"""What applies Modules on a cluster, as a dump shows it: Applications of Argo CD, Kustomizations of Flux."""

from krmfn import Manifest
from krmfn.printing import printable
from krmfn.typed import NamedTuple

from ..kmm.lookup import Table, table, tables, text
from .pod_status import LONGEST

Name = tuple[str, str]
"""Namespace and name."""
ENGINES = {("argoproj.io", "Application"), ("kustomize.toolkit.fluxcd.io", "Kustomization")}


class Engine(NamedTuple):
    """An Application of Argo CD or a Kustomization of Flux: what applies Modules."""

    kind: str
    namespace: str
    name: str
    problem: str
    """Why it is not through, in its own words; "" where nothing says so."""
    applies: frozenset[Name]
    """The Modules that it says it applies; empty where it names none."""
    is_syncing: bool = False
    """Whether it is at work, and says nothing of a failure."""


def engine_of(manifest: Manifest, kind: str, name: Name) -> Engine:
    """Return an engine's object with why it is not through.

    Sources: Argo CD 3.2, pkg/apis/application/v1alpha1; Flux's kustomize-controller, api/v1.
    """
    status = table(manifest, "status")
    problem, is_syncing = _of_argo(status) if kind == "Application" else _of_flux(manifest)
    entries = (entry for _, entry in tables(status, "resources") if text(entry, "kind") == "Module")
    applies = {(text(entry, "namespace"), text(entry, "name")) for entry in entries}
    ids = (text(entry, "id").split("_") for _, entry in tables(table(status, "inventory"), "entries"))
    applies |= {(parts[0], parts[1]) for parts in ids if parts[-1] == "Module" and len(parts) > 3}
    return Engine(kind, *name, printable(problem)[:LONGEST], frozenset(applies), is_syncing)


def _of_argo(status: Table) -> tuple[str, bool]:
    """Return why an Application is not through, and whether a sync of it runs that has not failed yet.

    What Argo CD has compared after its last sync decides: where that is the same as Git, the sync's failure is over, or
    is one of a hook's. A sync that failed and is tried again stays Running.
    """
    operation, sync = table(status, "operationState"), text(table(status, "sync"), "status")
    phase, message = text(operation, "phase"), text(operation, "message")
    finished, compared = text(operation, "finishedAt"), text(status, "reconciledAt")
    is_over = sync == "Synced" and "" < finished <= compared
    errors = [entry for _, entry in tables(status, "conditions") if text(entry, "type").endswith("Error")]
    if errors and not is_over:
        return f"{text(errors[-1], 'type')}: {text(errors[-1], 'message')}", False
    if phase in ("Failed", "Error") and not is_over:
        return f"{phase}: {message}", False
    if phase in ("Running", "Terminating"):
        words = f"a sync is {phase}{': ' if message else ''}{message}"
        return words, phase == "Running" and not operation.get("retryCount")
    return ("" if sync in ("", "Synced") else f"its sync status is {sync}"), False


def _of_flux(manifest: Manifest) -> tuple[str, bool]:
    """Return why a Kustomization is not through, and whether Flux is at work on it."""
    status, problems, is_syncing = table(manifest, "status"), list[str](), False
    is_suspended = table(manifest, "spec").get("suspend") is True
    if is_suspended:
        problems.append("suspended (spec.suspend)")
    generation, observed = table(manifest, "metadata").get("generation"), status.get("observedGeneration")
    if isinstance(generation, int) and isinstance(observed, int) and observed < generation:
        problems.append("Flux has not looked at its newest spec")
    for _, condition in tables(status, "conditions"):
        if text(condition, "type") == "Ready" and text(condition, "status") in ("False", "Unknown"):
            problems.append(f"{text(condition, 'reason')}: {text(condition, 'message')}")
            is_syncing = text(condition, "status") == "Unknown" and not is_suspended
    return "; ".join(problems), is_syncing
