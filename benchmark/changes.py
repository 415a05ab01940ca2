"""Say what a change does on the nodes of a fleet, as `diff` does: the driver of every node gets another version.

`changes.py read` reads and renders the two sides and their nodes; `changes.py play` does the same and then says what
becomes of each node. The last line of the output says how many seconds of the processor that one step took.
"""

from __future__ import annotations

import gc
import sys
import time

from krmfn_functions.all_kinds import krmfn
from krmfn_functions.paths import manifests
from krmfn_functions.upgrades.known_nodes import clusters
from krmfn_functions.upgrades.node_effects import effects

from krmfn import ResourceList

gc.disable()  # as our commands do


def side(text: bytes) -> ResourceList:
    resources = manifests.read("-", text)
    krmfn(resources)
    return resources


def main() -> int:
    text = sys.stdin.buffer.read()
    start = time.process_time()
    old, new = side(text), side(text.replace(b'driverVersion: "1.0"', b'driverVersion: "1.1"'))
    if sys.argv[1:] == ["read"]:
        clusters(old, new)
    else:
        start = time.process_time()
        node_effects, _ = effects(old, new)
        print(f"{sum(len(effect.nodes) for effect in node_effects if effect.word == 'reloaded')} nodes reload")
    print(f"seconds {time.process_time() - start}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
