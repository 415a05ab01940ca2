"""Namespaces of the final list whose Pod Security level refuses the pods of drivers."""

from collections.abc import Iterator, Sequence

from krmfn import Field, Item, Result, error
from krmfn.printing import some

from .. import oracles
from ..kmm.lookup import has, table
from ..kmm.module import MODULE_GROUP, MODULE_KIND, MODULE_KINDS, PLUGINS
from ..rendering.kinds import of_kinds
from ..rule import Rule
from .pod_security import ENFORCE, PRIVILEGED, RESTRICTED, above_baseline, above_restricted
from .stream import FinalList, pod_of
from .workloads import of_drivers

_NAMESPACE = ("", "Namespace")
_FIELD = f"metadata.labels[{ENFORCE}]"
_REMEDY = f"write {PRIVILEGED}"
_SHOWN = 3


def namespaces_take_drivers(final: FinalList) -> Iterator[Result]:
    """Yield an error per Namespace that refuses the pods of Modules in it, or those of other parts of drivers.

    KMM loads, and runs device plugins and DRA drivers, in the Module's namespace, by pods that no level but privileged
    takes. Those of a ManagedClusterModule run in other clusters. Without the label the cluster's default counts, which
    is not known. Source: KMM v2.4.0 to main, internal/pod/workerpodmanager.go and internal/controllers.
    """
    namespaces = of_kinds(final.deployed, {_NAMESPACE})
    names = {item.name for item in namespaces}
    namespaces += [item for item in of_kinds(final.external, {_NAMESPACE}) if item.name not in names]
    of_namespace = _of_drivers(final) if namespaces else {}
    for item in namespaces:
        level = item.labels.get(ENFORCE, PRIVILEGED)
        items = of_namespace.get(item.name, []) if level != PRIVILEGED else []
        refused = [item for item in items if (item.group, item.kind) in MODULE_KINDS or _reasons(item, level)]
        message = _message(level, refused)
        if message and item.name in names:
            yield final.located(item, error(message, field=Field(_FIELD, level, PRIVILEGED), remedy=_REMEDY))
        elif message:
            yield final.located(refused[0], error(f"{item.ref}: {message}", remedy=_REMEDY))


def _message(level: str, refused: Sequence[Item]) -> str:
    """Return what a level does to pods of drivers; "" for nothing."""
    if not refused:
        return ""
    names = some((str(item.ref) for item in refused), len(refused), _SHOWN)
    loads = any(item.kind == MODULE_KIND for item in refused)
    effect = "so nothing is loaded, and no status says why" if loads else "so none of them starts"
    return f"the level {level} refuses the pods of {names}, {effect}"


def _of_drivers(final: FinalList) -> dict[str, list[Item]]:
    """Return by namespace the Modules with pods, and what else of drivers has pods."""
    by_namespace: dict[str, list[Item]] = {}
    for item, module in final.modules:
        is_local = (item.group, item.kind) == (MODULE_GROUP, MODULE_KIND)
        if is_local and any(has(module.spec, section) for section in ("moduleLoader", *PLUGINS)):
            by_namespace.setdefault(item.ref.namespace, []).append(item)
    for item in of_drivers(final):
        by_namespace.setdefault(item.ref.namespace, []).append(item)
    return by_namespace


def _reasons(item: Item, level: str) -> Sequence[str]:
    path, pod = pod_of(item.group, item.kind, item.manifest)
    if not pod:
        return ()
    annotations = table(item.manifest, *map(str, path[:-1]), "metadata", "annotations")
    reasons = [*above_baseline(pod, annotations), *(above_restricted(pod) if level == RESTRICTED else ())]
    return [reason.text for reason in reasons]


KRM717 = Rule(
    "KRM717",
    "a Namespace with Modules, or with other privileged pods of drivers, must enforce no Pod Security level but "
    "privileged",
    good="""\
kind: Module
---
apiVersion: v1
kind: Namespace
metadata: {name: kmm, labels: {pod-security.kubernetes.io/enforce: privileged}}
""",
    bad="""\
kind: Module
---
apiVersion: v1
kind: Namespace
metadata: {name: kmm, labels: {pod-security.kubernetes.io/enforce: baseline}}
""",
    remedy="Write `pod-security.kubernetes.io/enforce: privileged`, or move the driver into a namespace of its own. "
    "Ignore the finding where the cluster exempts the namespace.",
    held=oracles.POD_SECURITY,
    check=namespaces_take_drivers,
    advice=True,
)

RULES = (KRM717,)
"""The rules about namespaces of drivers."""
