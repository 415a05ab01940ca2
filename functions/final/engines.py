"""What annotations have Argo CD, Helm and Flux do with an object, beside applying it.

Such an object is deleted, made anew, or no longer applied, whatever its spec says. One table, one row an annotation.
"""

from collections.abc import Collection, Iterator
from itertools import chain

from krmfn import Field, Manifest
from krmfn.resource import annotations_of
from krmfn.typed import NamedTuple

from ..kmm.lookup import table

ARGOCD, HELM, FLUX = "Argo CD", "Helm", "Flux"
HOOK, POLICY = "argocd.argoproj.io/hook", "argocd.argoproj.io/hook-delete-policy"
_HELM_HOOK, _HELM_POLICY = "helm.sh/hook", "helm.sh/hook-delete-policy"
_SYNC, _COMPARE = "argocd.argoproj.io/sync-options", "argocd.argoproj.io/compare-options"
_FLUX = "kustomize.toolkit.fluxcd.io"
ANEW, GONE, KEPT, LASTING = "recreated", "deleted", "not applied", "not deleted"
"""What becomes of the object. Deleting a Module unloads its kernel module on all nodes, and so does making it anew."""


class Row(NamedTuple):
    """What one value of an annotation has an engine do."""

    engine: str
    key: str
    value: str
    """The whole text for Flux; else one of those between commas, or several of them together."""
    effect: str
    """ANEW, GONE, KEPT or LASTING."""
    when: str
    """When the engine does that, as the end of a sentence."""
    is_always: bool = False
    """Whether it deletes the object at each change, so that the API server never sees an update of it."""


_HOOKS = "gitops-engine pkg/sync/hook/hook.go; docs/user-guide/resource_hooks.md"
_OPTIONS = "gitops-engine pkg/sync/sync_context.go; docs/user-guide/sync-options.md"
SOURCES = {
    HOOK: f"Argo CD: {_HOOKS}",
    POLICY: "Argo CD: gitops-engine pkg/sync/hook/delete_policy.go",
    _SYNC: f"Argo CD: {_OPTIONS}; controller/appcontroller.go, shouldBeDeleted, for Delete",
    _COMPARE: "Argo CD: docs/user-guide/compare-options.md",
    _HELM_HOOK: "Helm: docs/topics/charts_hooks.md; Argo CD: gitops-engine pkg/sync/hook/helm, which reads it, too",
    _HELM_POLICY: "Helm: pkg/action/hooks.go; Argo CD: gitops-engine pkg/sync/hook/helm/delete_policy.go",
    "helm.sh/resource-policy": "Helm: pkg/action/resource_policy.go; Argo CD: controller/appcontroller.go",
    f"{_FLUX}/reconcile": "Flux: kustomize-controller internal/controller, apply (ExclusionSelector)",
    f"{_FLUX}/ssa": "Flux: kustomize-controller internal/controller, apply (Exclusion-, IfNotPresentSelector)",
    f"{_FLUX}/force": "Flux: kustomize-controller internal/controller, apply (ForceSelector)",
    f"{_FLUX}/prune": "Flux: kustomize-controller internal/controller, prune (Exclusions)",
}
"""Where it is known from what an engine does with each annotation."""
ROWS = (
    Row(ARGOCD, HOOK, "Skip", KEPT, ""),
    Row(ARGOCD, HOOK, "SyncFail", KEPT, " unless a sync fails"),
    Row(ARGOCD, HOOK, "PreDelete", KEPT, " until its Application is deleted"),
    Row(ARGOCD, HOOK, "PostDelete", KEPT, " until its Application is deleted"),
    Row(ARGOCD, POLICY, "BeforeHookCreation", ANEW, " at every sync", True),
    Row(ARGOCD, POLICY, "HookSucceeded", GONE, " after every sync", True),
    Row(ARGOCD, POLICY, "HookFailed", GONE, " after a sync that fails"),
    Row(ARGOCD, _SYNC, "Replace=true", ANEW, " where it cannot be replaced"),
    Row(ARGOCD, _SYNC, "Force=true", ANEW, " where a change is refused"),
    Row(ARGOCD, _SYNC, "Replace=true,Force=true", ANEW, " at every change", True),
    Row(ARGOCD, _SYNC, "Prune=false", LASTING, " when it leaves Git"),
    Row(ARGOCD, _SYNC, "Prune=confirm", LASTING, " when it leaves Git until somebody confirms it"),
    Row(ARGOCD, _SYNC, "Delete=false", LASTING, " with its Application"),
    Row(ARGOCD, _SYNC, "Delete=confirm", LASTING, " with its Application until somebody confirms it"),
    Row(ARGOCD, _COMPARE, "IgnoreExtraneous", LASTING, " by an automatic sync when it leaves Git"),
    *(Row(HELM, _HELM_HOOK, f"{when}-delete", KEPT, " until its release is deleted") for when in ("pre", "post")),
    *(Row(HELM, _HELM_HOOK, f"{when}-rollback", KEPT, " unless it rolls back") for when in ("pre", "post")),
    *(Row(HELM, _HELM_HOOK, test, KEPT, " unless tests are run") for test in ("test", "test-success", "test-failure")),
    Row(HELM, _HELM_POLICY, "before-hook-creation", ANEW, " at every upgrade", True),
    Row(HELM, _HELM_POLICY, "hook-succeeded", GONE, " after every upgrade", True),
    Row(HELM, _HELM_POLICY, "hook-failed", GONE, " after an upgrade that fails"),
    Row(HELM, "helm.sh/resource-policy", "keep", LASTING, " when it leaves its chart"),
    Row(FLUX, f"{_FLUX}/reconcile", "disabled", KEPT, ""),
    Row(FLUX, f"{_FLUX}/ssa", "Ignore", KEPT, ""),
    Row(FLUX, f"{_FLUX}/ssa", "IfNotPresent", KEPT, " once it is there"),
    Row(FLUX, f"{_FLUX}/force", "enabled", ANEW, " where a change is refused"),
    Row(FLUX, f"{_FLUX}/prune", "disabled", LASTING, " when it leaves Git"),
)
"""What is done for each value. Values that change neither, such as `Validate=false`, have no row."""
_PHASES = {"PreSync", "Sync", "PostSync", "pre-install", "post-install", "pre-upgrade", "post-upgrade"}
"""The hooks that each sync or upgrade makes; their policies say what happens with the former one."""
_DEFAULTS = {HOOK: (POLICY, "BeforeHookCreation"), _HELM_HOOK: (_HELM_POLICY, "before-hook-creation")}
"""For each annotation of a hook: the one of its delete policies, and the policy without any."""
_UNKNOWN = Row(ARGOCD, HOOK, "", KEPT, ", since there is no such hook")
_HOOK_KEYS = (HOOK, POLICY, _HELM_HOOK, _HELM_POLICY)
_HELM_CRD = "crd-install"
"""No hook, in spite of its annotation: a leftover of Helm 2."""


class Behaviour(NamedTuple):
    """A row that an object has, and where."""

    row: Row
    field: Field

    @property
    def sentence(self) -> str:
        """What happens: `Argo CD deletes and recreates it at every sync`."""
        verbs = {ANEW: "deletes and recreates it", GONE: "deletes it", KEPT: "does not apply it"}
        return f"{self.row.engine} {verbs.get(self.row.effect, 'does not delete it')}{self.row.when}"

    @property
    def annotation(self) -> str:
        """The annotation or label: `argocd.argoproj.io/hook: Sync`."""
        return f"{self.field.path.partition('[')[2].rstrip(']')}: {self.field.current}"


def is_read_by(row: Row, engines: Collection[str]) -> bool:
    """Return False for a row of none of the engines that deploy an object; without any it is not known who does.

    Argo CD reads Helm's annotations, too, and Fleet deploys all as charts.
    """
    readers = {row.engine, *(("Argo CD", "Fleet") if row.engine == HELM else ())}
    return not engines or not readers.isdisjoint(engines)


def is_unpruned(manifest: Manifest, engines: Collection[str]) -> bool:
    """Return True where an annotation keeps an object that leaves Git, and each engine that deploys it reads that."""
    rows = [behaviour.row for behaviour in behaviours(manifest) if behaviour.row.effect == LASTING]
    rows = [row for row in rows if not row.value.startswith("Delete=")]  # these are about the whole Application
    return bool(engines) and all(any(is_read_by(row, (engine,)) for row in rows) for engine in engines)


def is_renewed(manifest: Manifest, engines: Collection[str]) -> bool:
    """Return True where an annotation has each engine that deploys an object delete it at each change.

    `engines` are those known to deploy it; where none is known, any that reads the annotation may. `Replace=true` alone
    replaces it in place (gitops-engine, pkg/utils/kube/resource_ops.go), and `Force=true` makes anew what is invalid or
    in conflict, not what a webhook refuses.
    """
    rows = [behaviour.row for behaviour in behaviours(manifest) if behaviour.row.is_always]
    return bool(rows) and all(any(is_read_by(row, (engine,)) for row in rows) for engine in engines)


def behaviours(manifest: Manifest) -> Iterator[Behaviour]:
    """Yield what annotations (of Flux also labels) have engines do with an object, each once."""
    annotations = annotations_of(manifest)
    labels = {key: value for key, value in table(manifest, "metadata", "labels").items() if isinstance(value, str)}
    for hook in _DEFAULTS:
        yield from _hook_rows(annotations, hook)
    for name, texts in (("annotations", annotations), ("labels", labels)):
        rows = [row for row in ROWS if name == "annotations" or row.engine == FLUX]
        held = [row for row in rows if row.key not in _HOOK_KEYS and _has(row, texts.get(row.key, ""))]
        for row in held:
            if not any(row.key == other.key and {*_values(row.value)} < {*_values(other.value)} for other in held):
                yield Behaviour(row, Field(f"metadata.{name}[{row.key}]", texts[row.key]))


def _has(row: Row, text: str) -> bool:
    """Return True where the text of an annotation holds the value of a row, as its engine compares them."""
    if row.engine == FLUX:  # fluxcd/pkg ssa/utils: strings.EqualFold
        return text.lower() == row.value.lower()
    return {*_values(row.value)} <= {*_values(text)}


def _values(text: str) -> list[str]:
    return [value for value in map(str.strip, text.split(",")) if value]


def _hook_rows(annotations: dict[str, str], key: str) -> Iterator[Behaviour]:
    """Yield what happens with an object that the annotation `key` makes a hook."""
    values = _values(annotations.get(key, ""))
    if not values or (key == _HELM_HOOK and values == [_HELM_CRD]):
        return
    field = Field(f"metadata.annotations[{key}]", annotations[key])
    rows = {row.value: row for row in ROWS if row.key == key}
    if "Skip" not in values and _PHASES.intersection(values):
        policy, default = _DEFAULTS[key]
        known = {row.value: row for row in ROWS if row.key in (POLICY, _HELM_POLICY)}
        texts = chain.from_iterable(_values(annotations.get(name, "")) for name in (policy, _HELM_POLICY))
        policies = [known[text] for text in dict.fromkeys(texts) if text in known]
        engine = rows[next(iter(rows))].engine
        for row in policies or [known[default]]:
            yield Behaviour(row._replace(engine=engine), field)
        return
    first = next((rows[value] for value in ("Skip", *values) if value in values and value in rows), None)
    yield Behaviour(first or _UNKNOWN._replace(engine=HELM if key == _HELM_HOOK else ARGOCD), field)
