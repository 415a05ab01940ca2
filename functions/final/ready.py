"""Who waits for a Module: labels that KMM puts on nodes, in the selectors and affinities of the list."""

import re
from collections.abc import Iterator

from krmfn import Field, Item, Result, error, warning
from krmfn.resource import join
from krmfn.results import Rule

from ..kmm.lookup import has
from ..kmm.module import LABELS, PLUGINS, node_labels
from .stream import Final, NodeLabel, labels_of_kmm, modules_of, twin

_LABEL = re.compile(rf"{LABELS}(?:version-module\.(.+)|(.+?)\.(?:version\.|device-plugin-)?ready)", re.DOTALL)
"""A label that is for a Module, with its namespace and name."""


Label = tuple[str, str | None]
"""What is known of a label of KMM's: why it is never set ("" when it is), and its value; None where it is a version."""


def labels_have_their_module(final: Final) -> Iterator[Result]:
    """Yield a finding per selector or affinity on a label of a Module that is not in the list."""
    names = dict[str, set[str]]()
    for _, module in final.modules:
        names.setdefault(module.ref.namespace, set()).add(module.ref.name)
    for item, one, label in _waiting(final):
        match = _LABEL.fullmatch(one.key)
        namespace, _, name = (match[1] or match[2]).partition(".") if match else ("", "", "")
        if label or not (namespace and name) or name in names.get("", ()):
            continue
        message, is_sure = _missing(final, names, namespace, name)
        report = error if is_sure and one.is_required else warning
        yield final.located(item, report(message, field=Field(join(one.path), one.key)))


def labels_are_set(final: Final) -> Iterator[Result]:
    """Yield an error per required label that no node ever has: the Module lacks that part, or it has another value."""
    for item, one, label in _waiting(final):
        if not label or not one.is_required:
            continue
        field, (never, value) = Field(join(one.path), one.value), label
        if never:
            yield final.located(item, error(f"{never}, so KMM never sets it", field=field))
        elif one.value is not None and value is not None and one.value != value:
            message = f"is {one.value!r}, but KMM sets it to {value!r}: no node is selected"
            yield final.located(item, error(message, field=field._replace(proposed=value)))


def _waiting(final: Final) -> Iterator[tuple[Item, NodeLabel, Label | None]]:
    """Yield each selector or affinity on a label of KMM's, with what is known of the label."""
    naming = [item for item in final.deployed if item.mentions(LABELS)]
    labels = [(item, one) for item in naming for one in labels_of_kmm(item)]
    known: dict[str, Label] = {}
    theirs = modules_of(final.theirs) if labels else []
    # those that stand elsewhere first: what is here counts
    for at, (item, module) in enumerate([*theirs, *final.modules] if labels else ()):
        place = f": {item.place.path}:{item.place.line}" if item.place else ""
        where = f" (from --against{place})" if at < len(theirs) else ""
        no_loader = "" if has(module.spec, "moduleLoader") else "has no moduleLoader"
        no_version = no_loader or ("" if module.version else "has no version")
        no_plugin = "" if any(has(module.spec, field) for field in PLUGINS) else "has no devicePlugin"
        facts = ((no_loader, ""), (no_version, None), (no_plugin, ""), ("", None))
        for key, (never, value) in zip(node_labels(module.ref.namespace, module.ref.name), facts, strict=True):
            known[key] = f"{module.ref}{where} {never}" if never else "", value
    yield from ((item, one, known.get(one.key)) for item, one in labels)


def _missing(final: Final, names: dict[str, set[str]], namespace: str, name: str) -> tuple[str, bool]:
    """Return what is said of a Module that is not there, and whether it is surely a renamed one that was meant."""
    waits = f"waits for Module {namespace}/{name}"
    moved = [space for space in sorted(names) if space in final.run.transformed.namespaces]
    for space in (namespace, *moved):
        present = names.get(space, set())
        other = name if name in present else twin(name, present, final.run.transformed, hashed=False)
        if other:
            what = f"which is called {space}/{other} in the end; kustomize does not transform the keys of labels"
            return f"{waits}, {what}: call krmfn in the outermost kustomization", True
    elsewhere = next((space for space in sorted(names) if name in names[space]), "")
    if elsewhere:
        return f"{waits}, but the Module of that name is {elsewhere}/{name}; correct one of the two", False
    return f"{waits}, which is not among the deployed objects: without it no node has this label", False


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
    check=labels_are_set,
)

RULES = (KRM701, KRM702)
"""The rules about labels that wait for a Module."""
