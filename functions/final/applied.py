"""Whether engines apply the Modules of a list as any other object, or annotations have them do something else."""

from collections.abc import Iterator

from krmfn import Item, Result, info, warning

from .. import oracles
from ..kmm.module import MODULE_GROUP, MODULE_KINDS
from ..rendering.kinds import of_kinds
from ..rule import Rule
from .engines import ANEW, GONE, KEPT, LASTING, behaviours, is_read_by
from .stream import FinalList

_EFFECTS = {
    ANEW: "all its nodes unload {} and load it again",
    GONE: "all its nodes unload {}",
    KEPT: "no change of {} that is reviewed here reaches the cluster",
    LASTING: "removing it from Git does not unload {}",
}
"""What the effect is on nodes."""
_NAMESPACE, _CRD = ("", "Namespace"), ("apiextensions.k8s.io", "CustomResourceDefinition")
_CRDS = {f"{plural}.{MODULE_GROUP}" for plural in ("modules", "managedclustermodules")}


def modules_are_applied(final: FinalList) -> Iterator[Result]:
    """Yield a warning per annotation by which an engine deletes, recreates or does not apply a Module.

    It is the same with what takes its Modules along when it is deleted: their Namespace, and the CRD of Modules. An
    annotation for an engine that does not deploy the object is an info.
    """
    for item in _holders(final):
        subject = "the Module" if (item.group, item.kind) in MODULE_KINDS else "the Modules in it"
        for behaviour in behaviours(item.manifest):
            effect = _EFFECTS[behaviour.row.effect].format(subject)
            engines = final.run.deployers.get(item.ref.id, frozenset())
            if is_read_by(behaviour.row, engines):
                message = f"{behaviour.sentence}, so {effect}"
                yield final.located(
                    item, warning(message, field=behaviour.field, remedy=f"remove {behaviour.annotation}")
                )
            else:
                message = f"{behaviour.annotation} is for {behaviour.row.engine}, and {min(engines)} deploys it"
                yield final.located(item, info(message, field=behaviour.field, remedy="remove it"))


def _holders(final: FinalList) -> Iterator[Item]:
    """Yield the Modules, their Namespaces, and the CRDs of Modules."""
    if not final.modules:
        return
    namespaces = {item.ref.namespace for item, _ in final.modules}
    for item in of_kinds(final.deployed, {*MODULE_KINDS, _NAMESPACE, _CRD}):
        if (item.group, item.kind) in MODULE_KINDS or item.name in (namespaces if item.kind == "Namespace" else _CRDS):
            yield item


KRM720 = Rule(
    "KRM720",
    "an annotation should not make Argo CD, Helm or Flux delete or recreate a Module, or not apply it",
    good="""\
kind: Module
metadata: {annotations: {argocd.argoproj.io/sync-wave: "0"}}
""",
    bad="""\
kind: Module
metadata: {annotations: {argocd.argoproj.io/hook: Sync}}
""",
    remedy="Remove the annotation; whatever deletes a Module unloads its kernel module on all nodes.",
    held=oracles.GITOPS_ENGINE,
    check=modules_are_applied,
    severities=("warning", "info"),
    advice=True,
)

RULES = (KRM720,)
"""The rules about how engines apply the list."""
