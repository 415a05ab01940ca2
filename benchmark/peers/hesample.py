"""Decide exclusivity as the he-sample operator does, written plainly: every config lists every node that it selects.

One pass over all configs; the operator makes one at every reconcile of any of them. A node that is in the list already
is a conflict. The last line of the output says how long that took, without reading the input.
"""

from __future__ import annotations

import json
import sys
import time


def main() -> int:
    received = json.load(sys.stdin)
    start = time.perf_counter()
    seen: set[str] = set()
    for selector in received["selectors"]:
        for name, labels in received["nodes"].items():
            if all(labels.get(key) == value for key, value in selector.items()):
                if name in seen:
                    print(f"conflicting selectors: {name}", file=sys.stderr)
                    return 1
                seen.add(name)
    print(f"{len(seen)}\nseconds {time.perf_counter() - start}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
