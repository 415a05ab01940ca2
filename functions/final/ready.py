"""Consumers of a Module: selectors and affinities on the labels that KMM puts on nodes."""

import re
from collections.abc import Iterator

from krmfn import Field, Item, Result, error, warning
from krmfn.resource import join
from krmfn.typed import NamedTuple

from .. import oracles
from ..kmm.lookup import has
from ..kmm.module import LABELS, PLUGINS, node_labels
from ..mistake import Mistake
from ..rule import Rule
from .stream import FinalList, NodeLabel, labels_of_kmm, modules_of
from .twins import Twins

_LABEL = re.compile(rf"{LABELS}(?:version-module\.(.+)|(.+?)\.(?:version\.|device-plugin-)?ready)", re.DOTALL)
"""A label for a Module, with its namespace and name."""


LabelValue = tuple[str, str | None]
"""Why KMM never sets a label ("" when it does), and the value that it sets; None where that is a version."""


def labels_have_their_module(final: FinalList) -> Iterator[Result]:
    """Yield a finding per selector or affinity on a label of a Module that is not in the list."""
    modules = _modules(final)
    for item, label, value in _consumers(final):
        match = _LABEL.fullmatch(label.key)
        namespace, _, name = (match[1] or match[2]).partition(".") if match else ("", "", "")
        if value or not (namespace and name) or name in modules.names.get("", ()):
            continue
        mistake, is_sure = _missing(modules, namespace, name)
        report = error if is_sure and label.is_required else warning
        field = Field(join(label.path), label.key)
        yield final.located(item, report(mistake.message, field=field, remedy=mistake.remedy))


def labels_are_set(final: FinalList) -> Iterator[Result]:
    """Yield an error per required label that no node ever has: the Module lacks that part, or it has another value."""
    for item, label, label_value in _consumers(final):
        if not label_value or not label.is_required:
            continue
        field, (reason, value) = Field(join(label.path), label.value), label_value
        if reason:
            remedy = "wait for a label that the Module has"
            yield final.located(item, error(f"{reason}, so KMM never sets it", field=field, remedy=remedy))
        elif label.value is not None and value is not None and label.value != value:
            message = f"is {label.value!r}, but KMM sets it to {value!r}: no node is selected"
            yield final.located(item, error(message, field=field._replace(proposed=value), remedy=f'write "{value}"'))


def _consumers(final: FinalList) -> Iterator[tuple[Item, NodeLabel, LabelValue | None]]:
    """Yield each selector or affinity on a label of KMM's: the resource, the label, its value (None: no Module)."""
    items = [item for item in final.deployed if item.mentions(LABELS)]
    labels = [(item, label) for item in items for label in labels_of_kmm(item)]
    values: dict[str, LabelValue] = {}
    external = modules_of(final.external) if labels else []
    # the Modules of the list come last, so that they replace external ones
    for index, (item, module) in enumerate([*external, *final.modules] if labels else ()):
        place = f": {item.place.path}:{item.place.line}" if item.place else ""
        origin = f" ({final.origin(item)}{place})" if index < len(external) else ""
        no_loader = "" if has(module.spec, "moduleLoader") else "has no moduleLoader"
        no_version = no_loader or ("" if module.version else "has no version")
        no_plugin = "" if any(has(module.spec, field) for field in PLUGINS) else "has no devicePlugin"
        facts = ((no_loader, ""), (no_version, None), (no_plugin, ""), ("", None))
        for key, (reason, value) in zip(node_labels(module.ref.namespace, module.ref.name), facts, strict=True):
            values[key] = f"{module.ref}{origin} {reason}" if reason else "", value
    yield from ((item, label, values.get(label.key)) for item, label in labels)


class _Modules(NamedTuple):
    """The names of the Modules: thousands of labels may be held against thousands of them."""

    names: dict[str, set[str]]
    """By namespace."""
    twins: dict[str, Twins]
    """By namespace."""
    namespaces: dict[str, str]
    """The first namespace that has a Module of a name."""
    renamed: list[str]
    """The namespaces that kustomize has put Modules into."""


def _modules(final: FinalList) -> _Modules:
    names = dict[str, set[str]]()
    for _, module in final.modules:
        names.setdefault(module.ref.namespace, set()).add(module.ref.name)
    twins = {namespace: Twins(present, final.run.transformed, hashed=False) for namespace, present in names.items()}
    namespaces = dict[str, str]()
    for namespace in sorted(names):
        for name in names[namespace]:
            namespaces.setdefault(name, namespace)
    renamed = [namespace for namespace in sorted(names) if namespace in final.run.transformed.namespaces]
    return _Modules(names, twins, namespaces, renamed)


def _missing(modules: _Modules, namespace: str, name: str) -> tuple[Mistake, bool]:
    """Return the mistake about a Module that is not in the list, and whether a renamed one is surely meant."""
    prefix = f"waits for Module {namespace}/{name}"
    for space in (namespace, *modules.renamed):
        other = name if name in modules.names.get(space, ()) else ""
        if not other and space in modules.twins:
            other = modules.twins[space].of(name)
        if other:
            problem = f"which is called {space}/{other} in the end: kustomize does not transform the keys of labels"
            return Mistake(f"{prefix}, {problem}", "call krmfn in the outermost kustomization"), True
    if other_namespace := modules.namespaces.get(name, ""):
        return Mistake(
            f"{prefix}, but the Module of that name is {other_namespace}/{name}", "correct one of the two"
        ), False
    problem = "which is not among the deployed objects: without it no node has this label"
    return Mistake(f"{prefix}, {problem}", "add the Module, or pass where it stands with --against"), False


KRM701 = Rule(
    "KRM701",
    "a Module that a selector or an affinity waits for should be deployed, too; it is an error if it was renamed",
    good="""\
apiVersion: v1
kind: Pod
metadata: {name: trial, namespace: kmm}
spec:
  nodeSelector: {kmm.node.kubernetes.io/kmm.gpu.ready: ""}
  containers: [{name: trial, image: "registry.example.com/trial:1.0"}]
---
kind: Module
metadata: {name: gpu, namespace: kmm}
""",
    bad="""\
apiVersion: v1
kind: Pod
metadata: {name: trial, namespace: kmm}
spec:
  nodeSelector: {kmm.node.kubernetes.io/kmm.fpga.ready: ""}
  containers: [{name: trial, image: "registry.example.com/trial:1.0"}]
---
kind: Module
metadata: {name: gpu, namespace: kmm}
""",
    remedy="Correct the name, or call krmfn in the outermost kustomization, so that the label is made from the "
    "final names. Turn the rule off if the Module is deployed from elsewhere.",
    held=oracles.DAEMONSETS,
    check=labels_have_their_module,
    severities=("warning", "error"),
    advice=True,
)

KRM702 = Rule(
    "KRM702",
    "a label that a selector requires must be one that KMM sets for its Module, with the value that KMM gives it",
    good="""\
apiVersion: v1
kind: Pod
metadata: {name: trial, namespace: kmm}
spec:
  nodeSelector: {kmm.node.kubernetes.io/kmm.gpu.ready: ""}
  containers: [{name: trial, image: "registry.example.com/trial:1.0"}]
---
kind: Module
metadata: {name: gpu, namespace: kmm}
""",
    bad="""\
apiVersion: v1
kind: Pod
metadata: {name: trial, namespace: kmm}
spec:
  nodeSelector: {kmm.node.kubernetes.io/kmm.gpu.ready: "true"}
  containers: [{name: trial, image: "registry.example.com/trial:1.0"}]
---
kind: Module
metadata: {name: gpu, namespace: kmm}
""",
    remedy='Write the value "", or wait for a label that the Module has: without a device plugin there is no '
    "device-plugin-ready label, without a loader no ready label.",
    held=oracles.NODES_CONTROLLER,
    check=labels_are_set,
)

RULES = (KRM701, KRM702)
"""The rules about labels that wait for a Module."""
