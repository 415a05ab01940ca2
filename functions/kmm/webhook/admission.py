"""KMM's webhook for a Module: every rule, in its order and with its messages.

The webhook stops at its first error; here every finding is reported, and the one it would print is tagged `first`.
The rules about a part are loaded only for a Module that has the part.
Source: KMM v2.4.0, v2.5.0, v2.6.0 and main (2026-07-29), internal/webhook/module.go.
"""

from collections.abc import Iterable, Iterator

from krmfn import Ref, Result
from krmfn.findings import Findings

from ... import oracles
from ...rule import Rule, apply
from ..lookup import has, text
from ..module import CONTAINER, Module
from ..rule import mark_first, refusal
from ..versions import DEFAULT, Target, target

_RARE = frozenset({"rawArgs", "modulesLoadingOrder"})
"""The fields that the rules about modprobe are about, beside a missing moduleName."""


def check(module: Module, version: str = DEFAULT, is_reached: bool = True) -> list[Result]:
    """Return the findings of the webhook when the Module is created, in its order.

    `is_reached` is False where the API server refuses it before: then none is `first`. Raises KrmfnError for an unknown
    KMM version.
    """
    kmm, findings = target(version), list[Result]()
    if has_plugin := has(module.spec, "devicePlugin") or has(module.spec, "dra"):
        from . import decoding

        findings += decoding.check(module)
    findings += apply(NAME_RULES, module, kmm)
    if module.spec.get("tolerations"):
        from . import tolerations

        findings += tolerations.check(module, kmm)
    if kmm.host_paths and has_plugin:
        from . import plugins

        findings += plugins.check(module, kmm)
    if module.container:
        from . import loader

        findings += loader.check(module)
        if not text(module.modprobe, "moduleName") or not module.modprobe.keys().isdisjoint(_RARE):
            from . import kernel_modules

            findings += kernel_modules.check(module, kmm)
    if kmm.sign_files and module.holds("sign"):
        from . import sign

        findings += sign.check(module)
    return _with_ref(findings, module.ref, is_reached)


def check_name(module: Module, version: str = DEFAULT) -> list[Result]:
    """Return those of its findings that are about the Module's name."""
    return _with_ref(apply(NAME_RULES, module, target(version)), module.ref)


def _with_ref(results: Iterable[Result], subject: Ref, is_reached: bool = True) -> list[Result]:
    findings = [result._replace(ref=subject) for result in Findings(results)]
    return [*map(mark_first, findings[:1]), *findings[1:]] if is_reached else findings


def _version_is_kept(old: Module, new: Module) -> Iterator[Result]:
    if has(old.spec, "moduleLoader") and has(new.spec, "moduleLoader") and (old.version == "") != (new.version == ""):
        message = "cannot update to or from an empty version; please delete the Module and create it again"
        yield refusal(message, f"{CONTAINER}.version", new.version or None)


KMM002 = Rule(
    "KMM002",
    "an update must not add a version to a Module or remove it (KMM 2.0+)",
    good="""\
# before
spec: {moduleLoader: {container: {version: "1.0"}}}
---
# after
spec: {moduleLoader: {container: {version: "1.1"}}}
""",
    bad="""\
# before
kind: Module
---
# after
spec: {moduleLoader: {container: {version: "1.0"}}}
""",
    remedy="Keep the version, or keep the Module without one. To change that, delete the Module, which unloads its "
    "kernel module on all nodes, and create it again.",
    held=oracles.WEBHOOK,
    check=_version_is_kept,
)


def _name_fits_a_label(module: Module, kmm: Target) -> Iterator[Result]:
    # The length that Go's `len` gives: bytes.
    length = len((module.ref.name + module.ref.namespace).encode("utf-8", "surrogatepass"))
    if length > kmm.name_limit:
        exceeds = f"which exceeds the maximum of {kmm.name_limit} when version is set"
        message = f"module name and namespace have a combined length of {length} characters, {exceeds}"
        remedy = f"shorten the name or the namespace by {length - kmm.name_limit}"
        yield refusal(message, "metadata.name", module.ref.name, remedy)


KMM003 = Rule(
    "KMM003",
    "name and namespace together must have at most 40 bytes (41 after KMM 2.6), with or without a version (KMM 2.0+)",
    good="metadata: {name: gpu, namespace: kmm}\n",
    bad="metadata: {name: gpu-of-the-third-generation, namespace: drivers-of-vendors}\n",
    remedy="Shorten the Module's name or its namespace: KMM builds node labels from both.",
    held=oracles.WEBHOOK,
    check=_name_fits_a_label,
)

UPDATE_RULES = (KMM002,)
NAME_RULES = (KMM003,)
RULES = UPDATE_RULES + NAME_RULES
