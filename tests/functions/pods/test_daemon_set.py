"""DaemonSets are judged as a real API server has judged them: tests/e2e/test_daemonset_checks.py records it."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.pods import daemon_set, quantities

from krmfn import Manifest
from tests.functions.pods.daemon_sets import EDITS, edited

RECORDED = Path(__file__).with_name("recorded.jsonl")


def refused(manifest: Manifest) -> list[str]:
    """Return the fields that krmfn refuses."""
    return [finding.field.path for finding in daemon_set.check(manifest) if finding.field]


def difference(manifest: Manifest, fields: list[str]) -> list[str]:
    """Return how krmfn's verdict is another one than the server's: in all, and about each field."""
    ours = refused(manifest)
    written: Any = manifest.get("spec") or {}
    if written.get("selector") is None:  # to the server it is one that selects nothing, not even these labels
        fields = ["spec.selector" if field == "spec.template.metadata.labels" else field for field in fields]
    missed = [field for field in fields if not any(is_same(field, path) for path in ours)]
    if any(".volumes[" in field for field in fields):  # to the server a wrong volume is none
        missed = [field for field in missed if not re.search(r"volumeMounts.*\.name$", field)]
    invented = [path for path in ours if not any(is_same(field, path) for field in fields)]
    spec = json.dumps(written) if missed or invented else ""
    return [f"missed {missed}, invented {invented}: {spec}"] if spec else []


def is_same(field: str, path: str) -> bool:
    """Return True for one field, or for two of which one holds the other: the server names some by their parent."""
    parts, others = _parts(field), _parts(path)
    shorter = min(len(parts), len(others))
    return parts[:shorter] == others[:shorter]


def _parts(field: str) -> list[str]:
    """Return the parts of a path, as the server names them.

    A mount is without its index, labels are without metadata, and the value of a toleration is its operator's.
    """
    field = re.sub(r"(volumeMounts)\[[0-9]+\]", r"\1", field.replace("template.labels", "template.metadata.labels"))
    field = re.sub(r"(tolerations\[[0-9]+\])\.value", r"\1.operator", field).replace("overhead.limits", "overhead")
    field = re.sub(r"\.serviceAccount$", ".serviceAccountName", field).replace("securityContext.share", "share")
    field = re.sub(r"\.Host(PID|IPC)$", r".host\1", field)
    field = re.sub(r"(initContainers)\[[0-9]+\](.*\.hostPort)$", r"\1\2", field)
    return [part for part in re.split(r"[.\[\]]+", field) if part]


def test_what_the_server_refuses_is_refused() -> None:
    recorded: list[Any] = [json.loads(line) for line in RECORDED.read_text().splitlines()]
    assert recorded
    assert [fault for row in recorded for fault in difference(edited(row["edits"]), row["refused"])] == []


@pytest.mark.parametrize("quantity", ["1" * 5_000, f"0.{'1' * 5_000}", f"{'1' * 5_000}Gi", "1e99999999"])
def test_a_number_of_thousands_of_digits_is_left_to_the_server(quantity: str) -> None:
    container = {"resources": {"requests": {"cpu": quantity}, "limits": {"cpu": "1"}}}
    assert [*quantities.check(container)] == []


_ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([-(16**5_000), 16**5_000, 5, -1, 1.5, float("nan"), float("inf")]),
    st.text(max_size=8),
    st.sampled_from([[], [None], [[]], [{}], {}, {"a": None}, {"a": []}, {1: 2}, "9" * 5_000]),
)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each mapping and list of a manifest with each of its keys."""
    if not isinstance(value, (dict, list)):
        return
    for key, child in value.items() if isinstance(value, dict) else enumerate(value):
        yield value, key
        yield from _places(child)


@given(st.data(), st.sampled_from(EDITS), _ODD)
def test_no_value_is_a_crash(data: st.DataObject, edit: Any, odd: Any) -> None:
    manifest = edited([edit])
    parent, key = data.draw(st.sampled_from([*_places({"spec": manifest.get("spec")})]))
    parent[key] = copy.deepcopy(odd)
    assert all(finding.rule == daemon_set.RULE for finding in daemon_set.check(manifest))


@pytest.mark.parametrize("values", [5, 1.5, "abc", {"a": 1}])
def test_values_of_another_type_are_left_to_the_types(values: Any) -> None:
    expression = [{"key": "app", "operator": "In", "values": values}]
    assert refused(edited([(("spec", "selector", "matchExpressions"), expression)])) == [
        "spec.template.metadata.labels"
    ]
