"""What mends may change: resources with a mended finding, what is generated from them, and nothing else."""

from __future__ import annotations

import pytest
from krmfn_functions.mending.outcome import Snapshot, Texts, changed, problem

from krmfn import Place, Ref, error, info
from krmfn.ownership import Id

GPU: Id = ("krmfn.dev", "DeviceConfig", "kmm", "gpu")
NIC: Id = ("krmfn.dev", "DeviceConfig", "kmm", "nic")
MODULE: Id = ("kmm.sigs.x-k8s.io", "Module", "kmm", "gpu")


def snapshot(inputs: Texts, final: Texts, *mended: Id, failed: bool = False) -> dict[str, Snapshot]:
    return {"lab": Snapshot(inputs, final, failed, frozenset(mended))}


def one(id_: Id, text: bytes, owner: Id | None = None) -> Texts:
    return {id_: ((text, owner),)}


@pytest.mark.parametrize(
    ("before", "after", "other"),
    [
        (snapshot(one(GPU, b"1"), {}, GPU), snapshot(one(GPU, b"2"), {}), ""),
        (snapshot(one(NIC, b"1"), {}, GPU), snapshot(one(NIC, b"2"), {}), "DeviceConfig kmm/nic"),
        (snapshot(one(NIC, b"1"), {}, GPU), snapshot({}, {}), "DeviceConfig kmm/nic"),
        (snapshot({}, one(MODULE, b"1", GPU), GPU), snapshot({}, one(MODULE, b"2", GPU)), ""),
        (snapshot({}, one(MODULE, b"1", NIC), GPU), snapshot({}, one(MODULE, b"2", NIC)), "Module kmm/gpu"),
        (snapshot({}, one(MODULE, b"1"), GPU), snapshot({}, one(MODULE, b"2")), "Module kmm/gpu"),
        (snapshot({}, {}, GPU), snapshot({}, one(MODULE, b"2", NIC)), "Module kmm/gpu"),
        (snapshot({}, {}, GPU, failed=True), snapshot({}, one(MODULE, b"2", NIC)), ""),
        (snapshot(one(NIC, b"1"), {}, GPU), {}, "DeviceConfig kmm/nic"),
    ],
)
def test_what_changes_without_a_mended_finding_is_named(
    before: dict[str, Snapshot], after: dict[str, Snapshot], other: str
) -> None:
    assert changed(before, after) == other


MENDED = error("unknown field", rule="KRM101", ref=Ref("krmfn.dev/v1alpha1", "DeviceConfig", "kmm", "gpu"))
OTHER = info("may be otherwise", rule="KRM139", place=Place("a.yaml", 0, 3))


def test_each_mended_finding_is_gone_and_none_is_new() -> None:
    assert problem([MENDED], [MENDED, OTHER], [OTHER]) == ""
    assert problem([MENDED], [MENDED], [OTHER]).startswith("a finding would be new: a.yaml:3")
    assert problem([MENDED], [MENDED], [MENDED]).startswith("a finding would stay: ")
    assert problem([MENDED], [MENDED, MENDED], [MENDED]) == ""
    assert problem([], [OTHER], [OTHER._replace(severity="warning")]).startswith("a finding would be new: ")
