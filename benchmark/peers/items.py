"""Parse a List of any size piece by piece with ijson (its C backend), and keep nothing of it."""

from __future__ import annotations

import sys

import ijson

print(ijson.backend, sum(1 for _ in ijson.items(sys.stdin.buffer, "items.item", use_float=True)))
