"""Counts of a fleet, in time that grows with the fleet alone."""

from __future__ import annotations

from krmfn_functions.report import parts, tallies

from krmfn import Ref


def test_nodes_without_a_driver_are_counted_once() -> None:
    """The page asks for them at each kernel: of 20,000 it took most of a minute."""
    kernels = tuple(parts.Kernel(f"5.14.{at}", 1, at % 2 or None) for at in range(5_000))
    used = parts.Usage(Ref("", "Module", "kmm", "gpu"), "gpu", ("x",), kernels)
    (panel,) = tallies.panels([parts.unknown_part("lab", "")._replace(modules=(used,))])
    assert panel.holes == 2_500
    assert "holes" in panel._fields  # a number that the panel has, and counts no more
