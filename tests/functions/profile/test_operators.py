"""The Profiles of examples/vendor-profiles give what four vendors' operators made, object by object, field by field.

Each difference has its reason below, and the table of docs/superset.md is made from both (KRMFN_UPDATE=1 writes it).
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any, NamedTuple

import pytest
import yaml
from krmfn_functions.differences import ABSENT, FieldChange, differences

from krmfn import Manifest
from tests.builders import leaves
from tests.commands import cached
from tests.functions.profile import recorded as recordings
from tests.functions.profile.recorded import EXAMPLES, FOLDER, recorded
from tests.functions.profile.vendor import rendered

OPERATORS = {
    "habana": "habana-ai-operator",
    "amd-gpu": "ROCm/gpu-operator",
    "neuron": "AWS Neuron operator",
    "onload": "kubernetes-onload",
}
ROLES = {
    "awslabs-gpu-operator-kmm-device-plugin": "krmfn.aws-neuron-operator.device-config:device-plugin",
    "awslabs-gpu-operator-node-metrics": "krmfn.aws-neuron-operator.device-config:node-metrics",
}
"""ClusterRoles by the names that a config's have here, which overwrite none of the cluster's."""

LABELLER = "the labeller has the device plugin's selector: one of the two adopts the other's pods (KRM150)"
REASONS = (
    (
        "Module",
        r"spec\.moduleLoader\.container\.kernelMappings.*\.(literal|regexp)",
        "a regexp per system, not a kernel",
    ),
    ("DaemonSet", r"spec\.template\.spec\.nodeSelector.*", "without the Module's selector a node could never unload"),
    (
        "DaemonSet|Service",
        r"spec\.(template\.metadata\.labels.*served-by.*|selector.*)",
        "a Service selects a label of ours",
    ),
    ("DaemonSet onload", r"spec\.template\.metadata\.labels.*", "labels of a DaemonSet are on its pods, too"),
    ("DaemonSet gpu-operator-node-labeller", r"spec\.(selector|template\.metadata).*", LABELLER),
    ("ClusterRole", r"metadata\.name", "a name that overwrites no role of the cluster"),
    ("Service", r"metadata\.labels.*", "app.kubernetes.io labels are ours"),
)
"""The kinds or objects, the paths and why another value is meant there."""
LEFT = {
    "Deployment": "one per cluster and not per node: install it with the cluster",
    "ClusterRole awslabs-gpu-operator-kmm-module-loader": "`openshift: true` binds OpenShift's own role in its place",
}
"""What is not generated, and why."""


class Compared(NamedTuple):
    """One object of an operator: how many fields it has, and those that differ."""

    name: str
    fields: int
    changes: list[FieldChange]


def plain(manifest: Manifest) -> Manifest:
    """The object in one form, images without their registry."""
    host = r"^[a-z0-9-]+(\.[a-z0-9-]+)+(:\d+)?/"
    form: Manifest = recordings.with_texts(recordings.plain(manifest), lambda text: re.sub(host, "", text))
    return form


def made(operator: str) -> dict[str, Manifest]:
    """What krmfn makes of the vendor's Profile and custom resource, by kind and name."""
    files = [yaml.safe_load(path.read_text()) for path in sorted((EXAMPLES / operator).glob("*.yaml"))]
    objects, findings, failed = rendered(*files)
    assert not failed, findings
    return objects


def compared(operator: str) -> list[Compared]:
    """Each object that an operator made, compared with the one of the same kind and name here."""
    objects = made(operator)
    found = []
    for manifest in yaml.safe_load_all((FOLDER / f"{operator}.yaml").read_text()):
        name = f"{manifest['kind']} {manifest['metadata']['name']}"
        theirs = plain(manifest)
        own = objects.get(f"{manifest['kind']} {ROLES.get(manifest['metadata']['name'], manifest['metadata']['name'])}")
        fields = sum(1 for _ in leaves(theirs))
        changes = list(differences(theirs, plain(own))) if own else []
        if own or not why_left(name):
            assert own, f"{name} is not made"
            found.append(Compared(name, fields, changes))
    return found


def why_left(name: str) -> str:
    return LEFT.get(name, LEFT.get(name.partition(" ")[0], ""))


def why(name: str, path: str) -> str:
    """The reason of a difference; "" for one that nobody expects."""
    found = (reason for kind, form, reason in REASONS if re.match(kind, name) and re.fullmatch(form, path))
    return min(found, key=lambda reason: reason != LABELLER, default="")


@pytest.mark.parametrize("operator", OPERATORS)
def test_a_vendor_s_profile_can_be_checked_by_itself(operator: str) -> None:
    done = cached("krmfn", "check", str(EXAMPLES / operator / "profile.yaml"))
    assert (done.code, done.text) == (0, "no findings: 1 Profile in 1 resource, 1 file\n")


@recorded
@pytest.mark.parametrize("operator", OPERATORS)
def test_every_field_of_an_operator_s_objects_is_equal_or_differs_for_a_reason(operator: str) -> None:
    unexpected = [
        f"{one.name}: {change}"
        for one in compared(operator)
        for change in one.changes
        if not why(one.name, change.path)
    ]
    assert unexpected == []


@recorded
def test_every_reason_is_needed() -> None:
    met = {why(one.name, change.path) for operator in OPERATORS for one in compared(operator) for change in one.changes}
    assert met == {reason for _, _, reason in REASONS}


def _left(operator: str) -> str:
    """What krmfn does not make of an operator's objects, and why."""
    kinds = Counter(
        (manifest["kind"], why_left(f"{manifest['kind']} {manifest['metadata']['name']}"))
        for manifest in yaml.safe_load_all((FOLDER / f"{operator}.yaml").read_text())
    )
    return "; ".join(f"{number} {kind}: {reason}" for (kind, reason), number in kinds.items() if reason) or "-"


def _size(value: Any) -> int:
    """How many fields a value has; none when it is not there."""
    return 0 if value is ABSENT else max(sum(1 for _ in leaves(value)), 1) if isinstance(value, (dict, list)) else 1


def table() -> str:
    """The table of docs/superset.md."""
    lines = [
        "| operator | objects | fields | equal | different, and why | not made here |",
        "|---|---|---|---|---|---|",
    ]
    for operator, title in OPERATORS.items():
        whole = compared(operator)
        reasons = Counter(why(one.name, change.path) for one in whole for change in one.changes)
        different = "; ".join(f"{number}: {reason}" for reason, number in reasons.items()) or "-"
        lost = sum(_size(change.old) for one in whole for change in one.changes)
        fields = sum(one.fields for one in whole)
        lines.append(f"| {title} | {len(whole)} | {fields} | {fields - lost} | {different} | {_left(operator)} |")
    return "\n".join(lines) + "\n"


@recorded
def test_superset_md_has_the_table() -> None:
    recordings.holds_page("| operator | objects |", table())
