"""Annotations that have Argo CD, Helm or Flux delete a Module, make it anew, or not apply it."""

from __future__ import annotations

import pytest
from krmfn_functions.commands.change_findings import change_errors
from krmfn_functions.comparing.attention import unapplied
from krmfn_functions.final.engines import ANEW, GONE, KEPT, LASTING, ROWS, SOURCES, behaviours
from krmfn_functions.plan import Comparison, plan

from krmfn import Manifest
from tests.builders import manifest, module

from .lists import judged, rows

ARGO, HELM, FLUX = "argocd.argoproj.io", "helm.sh", "kustomize.toolkit.fluxcd.io"


def annotated(annotations: dict[str, str], place: str = "annotations") -> Manifest:
    wanted = module()
    wanted["metadata"][place] = annotations
    return wanted


HOOKS: list[tuple[dict[str, str], list[str]]] = [
    ({f"{ARGO}/hook": "Sync"}, [ANEW]),
    ({f"{ARGO}/hook": "PreSync, PostSync"}, [ANEW]),
    ({f"{ARGO}/hook": "Sync", f"{ARGO}/hook-delete-policy": "HookSucceeded"}, [GONE]),
    ({f"{ARGO}/hook": "Sync", f"{ARGO}/hook-delete-policy": "HookSucceeded,BeforeHookCreation"}, [GONE, ANEW]),
    ({f"{ARGO}/hook": "Sync", f"{HELM}/hook-delete-policy": "hook-failed"}, [GONE]),
    ({f"{ARGO}/hook": "Sync", f"{ARGO}/hook-delete-policy": "Never"}, [ANEW]),
    ({f"{ARGO}/hook": "Skip"}, [KEPT]),
    ({f"{ARGO}/hook": "SyncFail"}, [KEPT]),
    ({f"{ARGO}/hook": "PostDelete"}, [KEPT]),
    ({f"{ARGO}/hook": "sync"}, [KEPT]),
    ({f"{HELM}/hook": "pre-install,pre-upgrade"}, [ANEW]),
    ({f"{HELM}/hook": "post-upgrade", f"{HELM}/hook-delete-policy": "hook-succeeded"}, [GONE]),
    ({f"{HELM}/hook": "test"}, [KEPT]),
    ({f"{HELM}/hook": "crd-install"}, []),
    ({f"{ARGO}/hook-delete-policy": "HookSucceeded"}, []),
    ({f"{ARGO}/hook": ""}, []),
]
OPTIONS: list[tuple[dict[str, str], list[str]]] = [
    ({f"{ARGO}/sync-options": "Replace=true,Force=true"}, [ANEW]),
    ({f"{ARGO}/sync-options": "SkipDryRunOnMissingResource=true, Force=true"}, [ANEW]),
    ({f"{ARGO}/sync-options": "Replace=true"}, [ANEW]),
    ({f"{ARGO}/sync-options": "Prune=false,Delete=false"}, [LASTING, LASTING]),
    ({f"{ARGO}/sync-options": "Validate=false,ServerSideApply=true,Prune=true,Replace=false"}, []),
    ({f"{ARGO}/compare-options": "IgnoreExtraneous"}, [LASTING]),
    ({f"{ARGO}/compare-options": "ServerSideDiff=true"}, []),
    ({f"{ARGO}/sync-wave": "5"}, []),
    ({f"{HELM}/resource-policy": "keep"}, [LASTING]),
    ({f"{FLUX}/reconcile": "Disabled"}, [KEPT]),
    ({f"{FLUX}/ssa": "ignore"}, [KEPT]),
    ({f"{FLUX}/ssa": "IfNotPresent"}, [KEPT]),
    ({f"{FLUX}/ssa": "Merge"}, []),
    ({f"{FLUX}/force": "enabled"}, [ANEW]),
    ({f"{FLUX}/prune": "disabled"}, [LASTING]),
    ({f"{FLUX}/substitute": "disabled"}, []),
    ({"example.com/note": "Replace=true"}, []),
]
CASES = [*HOOKS, *OPTIONS]


@pytest.mark.parametrize("case", range(len(CASES)))
def test_each_annotation_has_its_effect_and_is_one_warning(case: int) -> None:
    annotations, effects = CASES[case]
    wanted = annotated(annotations)
    found = [*behaviours(wanted)]
    assert [behaviour.row.effect for behaviour in found] == effects
    results = [row for row in rows(judged(wanted)) if row[0] == "KRM720"]
    assert results == [("KRM720", "warning", behaviour.field.path) for behaviour in found]
    assert all(len(result.message.partition("; ")[0]) <= 160 for result in judged(wanted))


@pytest.mark.parametrize("case", range(len(CASES)))
def test_a_change_of_such_a_module_counts_for_lost_and_reload(case: int) -> None:
    annotations, effects = CASES[case]
    changes = plan([module()], [annotated(annotations)])
    comparison = Comparison("", changes, unapplied=tuple(unapplied(changes)), knows_nodes=True)
    assert len(comparison.unapplied) == len(effects)
    for word in ("lost", "reload"):
        assert len(change_errors([comparison], [word])) == len(effects)
    assert change_errors([comparison], ["blocked"]) == []


def test_every_row_has_a_source_and_is_reached() -> None:
    assert {row.key for row in ROWS} == SOURCES.keys()
    reached = {behaviour.row.value for annotations, _ in CASES for behaviour in behaviours(annotated(annotations))}
    assert {row.value for row in ROWS if row.engine != "Helm"} - reached == {
        "HookFailed",
        "PreDelete",
        "Prune=confirm",
        "Delete=confirm",
    }


def test_flux_reads_labels_and_argo_cd_does_not() -> None:
    assert [b.field.path for b in behaviours(annotated({f"{FLUX}/reconcile": "disabled"}, "labels"))] == [
        f"metadata.labels[{FLUX}/reconcile]"
    ]
    assert [*behaviours(annotated({f"{ARGO}/hook": "Skip"}, "labels"))] == []


@pytest.mark.parametrize(("name", "count"), [("kmm", 1), ("other", 0)])
def test_the_namespace_of_a_module_goes_with_it(name: str, count: int) -> None:
    namespace = manifest("v1", "Namespace", name, "")
    namespace["metadata"]["annotations"] = {f"{ARGO}/hook": "PreSync"}
    assert [row[0] for row in rows(judged(namespace, module())) if row[0] == "KRM720"] == ["KRM720"] * count
    assert len([*unapplied(plan([module()], [namespace, module()]))]) == count


def test_what_is_removed_and_kept_by_an_annotation_is_said() -> None:
    """Git no longer has the Module, and the cluster still does."""
    (error,) = unapplied(plan([annotated({f"{FLUX}/prune": "disabled"})], []))
    assert error.message == f"Flux does not delete it when it leaves Git ({FLUX}/prune: disabled)"
    assert [*unapplied(plan([annotated({f"{ARGO}/hook": "Skip"})], []))] == []
