"""Who waits for a Module: labels that KMM puts on nodes, in the selectors and affinities of the list."""

from collections.abc import Iterator

from krmfn import Field, Result, error, warning
from krmfn.resource import join
from krmfn.results import Rule
from krmfn.typed import NamedTuple

from ..kmm.lookup import has
from ..kmm.module import (
    LABELS,
    PLUGINS,
    Module,
    plugin_ready_label,
    ready_label,
    version_label,
    version_ready_label,
)
from .pods import labels_of_kmm
from .stream import Final, modules_of, twin

_VERSION = "version-module."
_SUFFIXES = (".version.ready", ".device-plugin-ready", ".ready")


class Label(NamedTuple):
    """A label that KMM, or for it an administrator, puts on nodes for a Module."""

    module: Module
    never: str = ""
    """Why KMM never sets it for this Module; "" when it does."""
    value: str | None = None
    """Its value; None where it is a version."""
    where: str = ""
    """Where the Module stands, when that is elsewhere (--against)."""


def labels_have_their_module(final: Final) -> Iterator[Result]:
    """Yield a finding per selector or affinity on a label of a Module that is not in the list."""
    naming = [item for item in final.deployed if item.mentions(LABELS)]
    labels = [(item, one) for item in naming for one in labels_of_kmm(item)]
    names = dict[str, set[str]]()
    known = _known(final) if labels else {}
    for _, module in final.modules:
        names.setdefault(module.ref.namespace, set()).add(module.ref.name)
    for item, one in labels:
        parts = _parts(one.key)
        if one.key in known or not parts or parts[1] in names.get("", ()):
            continue
        field = Field(join(one.path), one.key)
        message, is_sure = _missing(final, names, *parts)
        report = error if is_sure and one.is_required else warning
        yield final.located(item, report(message, field=field))


def labels_are_set(final: Final) -> Iterator[Result]:
    """Yield an error per required label that no node ever has: the Module lacks that part, or it has another value."""
    naming = [item for item in final.deployed if item.mentions(LABELS)]
    labels = [(item, one) for item in naming for one in labels_of_kmm(item)]
    known = _known(final) if labels else {}
    for item, one in labels:
        label = known.get(one.key)
        if not label or not one.is_required:
            continue
        field = Field(join(one.path), one.value)
        if label.never:
            message = f"{label.module.ref}{label.where} {label.never}, so KMM never sets it"
            yield final.located(item, error(message, field=field))
        elif one.value is not None and label.value is not None and one.value != label.value:
            message = f"is {one.value!r}, but KMM sets it to {label.value!r}: no node is selected"
            yield final.located(item, error(message, field=field._replace(proposed=label.value)))


def _known(final: Final) -> dict[str, Label]:
    known: dict[str, Label] = {}
    # those that stand elsewhere first: what is here counts
    places = ((module, item.place) for item, module in modules_of(final.theirs))
    theirs = [
        (module, f" (from --against{f': {place.path}:{place.line}' if place else ''})") for module, place in places
    ]
    for module, where in [*theirs, *((module, "") for _, module in final.modules)]:
        named = (module.ref.namespace, module.ref.name)
        loads, plugs = has(module.spec, "moduleLoader"), any(has(module.spec, field) for field in PLUGINS)
        no_loader = "" if loads else "has no moduleLoader"
        no_version = no_loader or ("" if module.version else "has no version")
        no_plugin = "" if plugs else "has no devicePlugin"
        known[ready_label(*named)] = Label(module, no_loader, "", where)
        known[version_ready_label(*named)] = Label(module, no_version, None, where)
        known[version_label(*named)] = Label(module, "", None, where)
        known[plugin_ready_label(*named)] = Label(module, no_plugin, "", where)
    return known


def _parts(key: str) -> tuple[str, str] | None:
    """Return namespace and name of the Module that a label is for; None for another label."""
    rest = key.removeprefix(LABELS)
    if rest.startswith(_VERSION):
        rest = rest.removeprefix(_VERSION)
    else:
        suffix = next((one for one in _SUFFIXES if rest.endswith(one)), "")
        rest = rest.removesuffix(suffix) if suffix else ""
    namespace, dot, name = rest.partition(".")
    return (namespace, name) if dot and namespace and name else None


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


RULES = (
    Rule(
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
    ),
    Rule(
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
    ),
)
"""The rules about labels that wait for a Module."""
