"""The Profiles of examples/vendor-profiles give what four vendors' operators made, object by object, field by field.

Each difference has its reason below, and superset.md's table is made from both (KRMFN_UPDATE=1 writes it).
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from typing import Any, NamedTuple

import pytest
import yaml
from krmfn_functions.differences import ABSENT, FieldChange, differences

from krmfn import Manifest
from tests.builders import leaves
from tests.commands import cached, example
from tests.functions.profile.recorded import EXAMPLES, FOLDER, holds_page, of_recorded_nodes, recorded, with_texts
from tests.functions.profile.recorded import plain as recorded_form
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
SYSTEM, SERVED = "a regexp per system, not a kernel", "a Service selects a label of ours"
REASONS = (
    ("Module", r"spec\.moduleLoader\.container\.kernelMappings.*\.(literal|regexp)", SYSTEM),
    ("DaemonSet", r"spec\.template\.spec\.nodeSelector.*", "without the Module's selector a node could never unload"),
    ("DaemonSet|Service", r"spec\.(template\.metadata\.labels.*served-by.*|selector.*)", SERVED),
    ("DaemonSet onload", r"spec\.template\.metadata\.labels.*", "labels of a DaemonSet are on its pods, too"),
    ("DaemonSet gpu-operator-node-labeller", r"spec\.(selector|template\.metadata).*", LABELLER),
    ("ClusterRole", r"metadata\.name", "a name that overwrites no role of the cluster"),
    ("ServiceMonitor", r"spec\.endpoints\[0\]\.honorLabels", "a default of the CRD, which was not recorded"),
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
    """Return the object in one form, images without their registry."""
    host = r"^[a-z0-9-]+(\.[a-z0-9-]+)+(:\d+)?/"
    return dict(with_texts(recorded_form(manifest), lambda text: re.sub(host, "", text)))


@functools.cache
def recording(operator: str) -> list[Manifest]:
    """Return what the operator made."""
    return list(yaml.safe_load_all((FOLDER / f"{operator}.yaml").read_text()))


def ours(operator: str) -> dict[str, Manifest]:
    """Return what krmfn makes of the vendor's Profile and custom resource, by kind and name."""
    objects, findings, failed = rendered(
        *(yaml.safe_load(path.read_text()) for path in sorted((EXAMPLES / operator).glob("*.yaml")))
    )
    assert not failed, findings
    return of_recorded_nodes(objects) if operator == "amd-gpu" else objects


@functools.cache
def compared(operator: str) -> list[Compared]:
    """Return each object that an operator made, compared with the one of the same kind and name here."""
    objects = ours(operator)
    rows = []
    for manifest in recording(operator):
        kind, name = manifest["kind"], manifest["metadata"]["name"]
        expected, actual = plain(manifest), objects.get(f"{kind} {ROLES.get(name, name)}")
        if actual:
            changes = list(differences(expected, plain(actual)))
            rows.append(Compared(f"{kind} {name}", sum(1 for _ in leaves(expected)), changes))
        else:
            assert why_absent(manifest), f"{kind} {name} is not made"
    return rows


def why_absent(manifest: Manifest) -> str:
    """Return why an object is not made here; "" where nobody expects that."""
    kind = manifest["kind"]
    return LEFT.get(f"{kind} {manifest['metadata']['name']}", LEFT.get(kind, ""))


def reason_of(name: str, path: str) -> str:
    """Return the reason of a difference; "" for one that nobody expects."""
    reasons = (reason for kind, form, reason in REASONS if re.match(kind, name) and re.fullmatch(form, path))
    return min(reasons, key=lambda reason: reason != LABELLER, default="")


def reasons_of(operator: str) -> Counter[str]:
    """Return how many differences of an operator's objects have each reason."""
    return Counter(reason_of(row.name, change.path) for row in compared(operator) for change in row.changes)


@pytest.mark.parametrize("operator", OPERATORS)
def test_a_vendor_s_profile_can_be_checked_by_itself(operator: str) -> None:
    """What every config of it gets is turned off with a reason in the file, for it is the operator's own choice."""
    done = cached("krmfn", "check", str(example(f"vendor-profiles/{operator}/profile.yaml")))
    turned_off = r"; \d+ findings? turned off" if operator in ("amd-gpu", "habana", "neuron") else ""
    assert done.code == 0
    assert re.fullmatch(f"no findings: 1 Profile in 1 resource, 1 file{turned_off}\n", done.reported), done.text


@pytest.mark.parametrize("operator", OPERATORS)
def test_a_vendor_s_config_gets_no_warning(operator: str) -> None:
    """What cannot be mended in its files is turned off in them, with the reason."""
    done = cached("krmfn", "check", str(example(f"vendor-profiles/{operator}")))
    assert done.code == 0
    assert re.match("no findings: ", done.reported), done.text


@recorded
@pytest.mark.parametrize("operator", OPERATORS)
def test_every_field_of_an_operator_s_objects_is_equal_or_differs_for_a_reason(operator: str) -> None:
    unexpected = [
        f"{row.name}: {change}"
        for row in compared(operator)
        for change in row.changes
        if not reason_of(row.name, change.path)
    ]
    assert unexpected == []


@recorded
def test_every_reason_is_needed() -> None:
    reasons = {reason for operator in OPERATORS for reason in reasons_of(operator)}
    assert reasons == {reason for _, _, reason in REASONS}


def absent_kinds(operator: str) -> str:
    """Return what krmfn does not make of an operator's objects, and why."""
    kinds = Counter((manifest["kind"], why_absent(manifest)) for manifest in recording(operator))
    return "; ".join(f"{number} {kind}: {reason}" for (kind, reason), number in kinds.items() if reason) or "-"


def _size(value: Any) -> int:
    """Return how many fields a value has; none when it is not there."""
    return 0 if value is ABSENT else max(sum(1 for _ in leaves(value)), 1) if isinstance(value, (dict, list)) else 1


def table() -> str:
    """Return the table of docs/internals/superset.md."""
    lines = [
        "| operator | objects | fields | equal | different, and why | not made here |",
        "|---|---|---|---|---|---|",
    ]
    for operator, title in OPERATORS.items():
        rows = compared(operator)
        different = "; ".join(f"{number}: {reason}" for reason, number in reasons_of(operator).items()) or "-"
        lost = sum(_size(change.old) for row in rows for change in row.changes)
        fields = sum(row.fields for row in rows)
        lines.append(f"| {title} | {len(rows)} | {fields} | {fields - lost} | {different} | {absent_kinds(operator)} |")
    return "\n".join(lines) + "\n"


@recorded
def test_superset_md_has_the_table() -> None:
    holds_page("| operator | objects |", table())
