"""Decide exclusivity as krmfn does, on the input of peers/hesample.py: the same claims and nodes, read the same way.

The last line of the output says how long that took, without reading the input.
"""

from __future__ import annotations

import gc
import json
import sys
import time

from krmfn_functions.exclusivity import Claim, Node, check

from krmfn import Ref

gc.set_threshold(100_000, 50, 50)  # as our commands do


def main() -> int:
    input_data = json.load(sys.stdin)
    start = time.perf_counter()
    refs = (
        Ref("krmfn.dev/v1alpha1", "DeviceConfig", "kmm", f"config-{at}") for at in range(len(input_data["selectors"]))
    )
    claims = [Claim(ref, selector, domain="") for ref, selector in zip(refs, input_data["selectors"], strict=True)]
    results = check(claims, [Node(name, labels) for name, labels in input_data["nodes"].items()])
    seconds = time.perf_counter() - start
    print(*results, f"seconds {seconds}", sep="\n")
    return int(bool(results))


if __name__ == "__main__":
    sys.exit(main())
