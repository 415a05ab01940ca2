"""Rules about Namespaces that leave a cluster, and the Modules in them.

Source: KMM v2.6.0 and main, internal/webhook/namespace.go: the webhook refuses to delete a namespace that has Modules;
as seen on a cluster: one that ends while a Module in it unloads can make no pod for that, and so never ends.
"""

from collections.abc import Iterable, Iterator

from krmfn import Manifest, Ref, Result, error, warning
from krmfn.printing import some
from krmfn.resource import annotations_of, ref

from .. import oracles
from ..grouping import grouped
from ..kmm.module import MODULE_GROUP, MODULE_KIND
from ..rule import Rule
from .impact import SHOWN, Impact

_KEPT = (
    ("argocd.argoproj.io/sync-options", "Prune=false"),
    ("argocd.argoproj.io/sync-options", "Prune=confirm"),
    ("helm.sh/resource-policy", "keep"),
    ("kustomize.toolkit.fluxcd.io/prune", "disabled"),
)
"""Annotations with which an object stays on the cluster when it leaves Git, and what is in their values."""


def namespaces_stay(impact: Impact) -> Iterator[Result]:
    """Yield an error per deleted Namespace whose Modules stay."""
    present = _modules(impact.plan.new)
    for namespace in _deleted(impact):
        if modules := present.get(namespace.name):
            stay = f"is deleted, but not {some(modules, len(modules), SHOWN)} in it"
            effect = "KMM's webhook refuses that and every sync hangs, or, without it, the Module is deleted, too"
            yield error(f"{stay}: {effect}", ref=namespace, remedy="keep the Namespace")


def modules_go_first(impact: Impact) -> Iterator[Result]:
    """Yield a warning per Namespace that is deleted by the same change as Modules in it, when no Module stays there."""
    present = _modules(impact.plan.new)
    deleted = _modules(change.old for change in impact.plan.changes if change.what == "deleted" and change.old)
    for namespace in _deleted(impact):
        modules = [] if namespace.name in present else deleted.get(namespace.name, [])
        if modules:
            go = f"is deleted together with {some(modules, len(modules), SHOWN)}"
            effect = (
                "KMM cannot create its pods for unloading in a Namespace that is being deleted, so both wait for ever"
            )
            yield warning(f"{go}: {effect}", ref=namespace, remedy="delete it in a later change")


def _deleted(impact: Impact) -> Iterator[Ref]:
    """Yield the Namespaces that leave the cluster; one with an annotation that keeps it there does not."""
    for change in impact.plan.changes:
        if change.what == "deleted" and change.old and (change.ref.group, change.ref.kind) == ("", "Namespace"):
            annotations = annotations_of(change.old)
            if not any(value in str(annotations.get(key)) for key, value in _KEPT):
                yield change.ref


def _modules(manifests: Iterable[Manifest]) -> dict[str, list[str]]:
    """Return the Modules by their namespaces; those of a ManagedClusterModule are in other clusters."""
    refs = (ref(manifest) for manifest in manifests if manifest.get("kind") == MODULE_KIND)
    return grouped((module.namespace, str(module)) for module in refs if module.group == MODULE_GROUP)


_NAMESPACE = """\
# before
apiVersion: v1
kind: Namespace
metadata: {name: kmm}
---
# before
kind: Module
"""

RULES = (
    Rule(
        "KRM415",
        "a Namespace must stay while there are Modules in it: KMM's webhook refuses to delete it",
        good=f"{_NAMESPACE}---\n# after\napiVersion: v1\nkind: Namespace\nmetadata: {{name: kmm}}\n---\n# after\n"
        "kind: Module\n",
        bad=f"{_NAMESPACE}---\n# after\nkind: Module\n",
        remedy="Keep the Namespace, or delete its Modules in an earlier change.",
        held=oracles.WEBHOOK_NAMESPACE,
        check=namespaces_stay,
        advice=True,
    ),
    Rule(
        "KRM416",
        "a Namespace should be deleted after its Modules, in a later change: it can end before they are unloaded",
        good=f"{_NAMESPACE}---\n# after\napiVersion: v1\nkind: Namespace\nmetadata: {{name: kmm}}\n",
        bad=f"{_NAMESPACE}---\n# after\nkind: ConfigMap\n",
        remedy="Keep the Namespace until KMM has unloaded the kernel modules, and the Modules are gone.",
        held=oracles.WEBHOOK_NAMESPACE,
        check=modules_go_first,
        severities=("warning",),
        advice=True,
    ),
)
"""The rules about Namespaces that are deleted."""
