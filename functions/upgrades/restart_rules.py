"""The rule about pods that a change restarts: those of a Module's plugin, and of DaemonSets that wait for a Module."""

from collections.abc import Iterator

from krmfn import Field, Ref, Result, info

from .. import oracles
from ..differences import differences
from ..kmm.lookup import has, table, text
from ..kmm.module import LABELS, PLUGINS
from ..plan import Change
from ..rule import Rule
from ..sentence import named
from .impact import Impact, Step, field_of, selector


def pods_restart(impact: Impact) -> Iterator[Result]:
    """Yield an info per Module whose plugin's pods restart, and per DaemonSet that waits for a Module and restarts."""
    for step in impact.steps:
        for section, name in PLUGINS.items():
            if field := _plugin_field(step, section):
                yield from _restart(impact, step.ref, f"KMM restarts the pods of its {name}", field)
    for change in impact.plan.changes:
        if field := _daemonset_field(change):
            yield from _restart(impact, change.ref, "restarts its pods", field)


def _restart(impact: Impact, ref: Ref, message: str, field: Field) -> Iterator[Result]:
    """Yield the finding about pods that restart, with the nodes that they run on; none where they run on no node."""
    remedy = "check that nothing depends on them meanwhile"
    if (names := impact.nodes.get(ref.id)) is None:
        yield info(f"{message} on each node that they run on", ref=ref, field=field, remedy=remedy)
    elif names:
        yield info((f"{message} on ", named(sorted(names))), ref=ref, field=field, remedy=remedy)


def _plugin_field(step: Step, section: str) -> Field | None:
    """Return the field whose change restarts a plugin's pods; None with another version: they get another DaemonSet.

    Source: KMM v2.6.0, internal/controllers/device_plugin_reconciler.go: tolerations and the pull secret are copied.
    """
    old, new = step.old, step.new
    if not (old and new and old.version == new.version and has(old.spec, section) and has(new.spec, section)):
        return None
    for key in (section, "tolerations", "imageRepoSecret"):
        if first := next(differences(old.spec.get(key) or [], new.spec.get(key) or [], ("spec", key)), None):
            return field_of(first)
    return None


def _daemonset_field(change: Change) -> Field | None:
    """Return the field whose change restarts the pods of a DaemonSet that waits for a Module; None with OnDelete."""
    if change.new is None or (change.ref.group, change.ref.kind) != ("apps", "DaemonSet"):
        return None
    if text(table(change.new, "spec", "updateStrategy"), "type") == "OnDelete":
        return None
    first = next((field for field in change.fields if field.parts[:2] == ("spec", "template")), None)
    return field_of(first) if first and any(key.startswith(LABELS) for key in selector(change.new)) else None


RULES = (
    Rule(
        "KRM413",
        "pods that use a device should restart only when that is intended: a new image or setting restarts them",
        good="""\
# before
spec: {devicePlugin: {image: "registry.example.com/plugin:1.0"}}
---
# after
spec: {devicePlugin: {image: "registry.example.com/plugin:1.0"}, driverVersion: "1.1"}
""",
        bad="""\
# before
spec: {devicePlugin: {image: "registry.example.com/plugin:1.0"}}
---
# after
spec: {devicePlugin: {image: "registry.example.com/plugin:1.1"}}
""",
        remedy="Check that nothing depends on these pods while they restart. Set `updateStrategy: {type: OnDelete}` in "
        "a DaemonSet whose pods are to be deleted by hand.",
        held=oracles.KUBERNETES_UPDATES,
        check=pods_restart,
        severities=("info",),
        advice=True,
    ),
)
"""The rule."""
