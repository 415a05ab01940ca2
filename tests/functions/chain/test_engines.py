"""What Argo CD and Flux say of themselves: told in their words, and neither a false red nor a false green."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import pytest
from krmfn_functions.fleet import live_engines

from krmfn import Manifest
from tests.builders import manifest
from tests.functions.chain.clusters import Objects, healthy, seen
from tests.functions.chain.nights import CRASH, OLD_SPEC, field

APPLIES = {"resources": [{"kind": "Module", "namespace": "kmm", "name": "simple"}]}
INVENTORY = {"inventory": {"entries": [{"id": "kmm_simple_kmm.sigs.x-k8s.io_Module"}]}}
BEFORE, AFTER = "2026-11-28T01:00:00Z", "2026-11-28T01:05:00Z"


def application(**status: Any) -> Manifest:
    return {**manifest("argoproj.io/v1alpha1", "Application", "lab", "argocd"), "status": {**APPLIES, **status}}


def kustomization(spec: dict[str, Any], **status: Any) -> Manifest:
    head = manifest("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "lab", "flux-system")
    return {**head, "spec": spec, "status": {**INVENTORY, **status}}


def ready(status: str, reason: str, message: str) -> dict[str, Any]:
    return {"conditions": [{"type": "Ready", "status": status, "reason": reason, "message": message}]}


class Case(NamedTuple):
    engine: Manifest
    words: str
    """What is told of it; "" where it is through."""
    is_syncing: bool = False


SYNCED, UNSYNCED = {"sync": {"status": "Synced"}}, {"sync": {"status": "OutOfSync"}}
FAILED = {"phase": "Failed", "message": "one or more objects failed to apply", "finishedAt": BEFORE}
FETCHING = ready("Unknown", "Progressing", "Fetching manifests")
CASES = {
    "synced": Case(application(**SYNCED, operationState={"phase": "Succeeded"}), ""),
    "out of sync": Case(application(**UNSYNCED), "its sync status is OutOfSync"),
    "unknown": Case(application(sync={"status": "Unknown"}), "its sync status is Unknown"),
    "cannot compare": Case(
        application(
            sync={"status": "Unknown"},
            conditions=[{"type": "ComparisonError", "message": "failed to load target state"}],
        ),
        "ComparisonError: failed to load target state",
    ),
    "a warning": Case(application(**SYNCED, conditions=[{"type": "OrphanedResourceWarning", "message": "m"}]), ""),
    "runs": Case(
        application(**UNSYNCED, operationState={"phase": "Running", "message": "waiting for healthy state"}),
        "a sync is Running: waiting for healthy state",
        True,
    ),
    "tries again": Case(
        application(**UNSYNCED, operationState={"phase": "Running", "retryCount": 2, "message": "no endpoints"}),
        "a sync is Running: no endpoints",
    ),
    "terminates": Case(application(**UNSYNCED, operationState={"phase": "Terminating"}), "a sync is Terminating"),
    "failed": Case(application(**UNSYNCED, operationState=FAILED, reconciledAt=AFTER), "Failed: one or more objects"),
    "failed, applied since": Case(application(**SYNCED, operationState=FAILED, reconciledAt=AFTER), ""),
    "failed, compared before": Case(
        application(**SYNCED, operationState={**FAILED, "finishedAt": AFTER}, reconciledAt=BEFORE), "Failed: one or"
    ),
    "failed, no time": Case(
        application(**SYNCED, operationState={**FAILED, "finishedAt": ""}, reconciledAt=AFTER), "Failed: one or"
    ),
    "applied": Case(kustomization({}, **ready("True", "ReconciliationSucceeded", "Applied revision: main@sha1:a")), ""),
    "not applied": Case(
        kustomization({}, **ready("False", "ReconciliationFailed", "denied")), "ReconciliationFailed: den"
    ),
    "at work": Case(kustomization({}, **FETCHING), "Progressing: Fetching manifests", True),
    "suspended": Case(
        kustomization({"suspend": True}, **ready("True", "ReconciliationSucceeded", "m")), "suspended (spec.suspend)"
    ),
    "suspended at work": Case(
        kustomization({"suspend": True}, **FETCHING), "suspended (spec.suspend); Progressing: Fetching manifests"
    ),
    "not suspended": Case(kustomization({"suspend": "yes"}), ""),
    "new spec": Case(
        {**kustomization({}, observedGeneration=1), "metadata": {"name": "lab", "namespace": "f", "generation": 2}},
        "Flux has not looked at its newest spec",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_an_engine_is_told_in_its_own_words(name: str) -> None:
    case = CASES[name]
    engine = live_engines.engine_of(case.engine, case.engine["kind"], ("argocd", "lab"))
    assert (case.words in engine.problem, bool(engine.problem)) == (True, bool(case.words)), engine.problem
    assert engine.is_syncing is case.is_syncing and engine.applies == {("kmm", "simple")}


def old(*more: Manifest) -> Objects:
    """A cluster on which the driver of an older commit runs."""
    objects = [*healthy(), *map(copy.deepcopy, more)]
    OLD_SPEC(objects)
    return objects


@pytest.mark.parametrize("name", CASES)
def test_a_module_that_differs_is_red_unless_its_engine_is_at_work(name: str) -> None:
    case, objects = CASES[name], old(CASES[name].engine)
    links, first, is_fine = seen(objects)
    assert (first, is_fine) == ("synced", case.is_syncing)
    assert case.words in " ".join(links[first].evidence)
    assert links[first].reason.endswith("its engine is at work" if case.is_syncing else "it has not been synced")
    field("Pod", "plugin-1", "status", {"phase": "Running", **CRASH})(objects)
    assert seen(objects)[1:] == ("synced", False), "what crashes is no sync on its way"


@pytest.mark.parametrize("name", CASES)
def test_a_module_that_is_the_same_is_never_red_for_its_engine(name: str) -> None:
    links, first, is_fine = seen([*healthy(), copy.deepcopy(CASES[name].engine)])
    assert (first, is_fine) == ("", True)
    assert links["synced"].state == ("not known" if CASES[name].words else "holds")


def test_an_engine_that_is_only_guessed_makes_nothing_green() -> None:
    """The only Application of the dump may be another team's."""
    engine = application(**UNSYNCED, operationState={"phase": "Running"})
    engine = {
        **engine,
        "metadata": {"name": "shop", "namespace": "argocd"},
        "status": {**engine["status"], "resources": []},
    }
    assert seen(old(engine))[1:] == ("synced", False)
