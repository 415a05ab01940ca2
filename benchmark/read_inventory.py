"""Merely read an inventory with the project's own reader: files in, nodes out, nothing decided."""

from __future__ import annotations

import gc
import sys

from krmfn_functions.fleet import nodes
from krmfn_functions.paths import manifests

gc.disable()  # as our commands do
fleet = nodes.read(manifests.read("-", sys.stdin.buffer.read()))
print(len(fleet.nodes), len(fleet.findings))
