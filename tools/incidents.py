"""Write docs/operate/incident.md from the texts of the chain's links: `python tools/incidents.py`."""

from __future__ import annotations

from pathlib import Path

from krmfn_functions.chain.incidents import INCIDENTS
from krmfn_functions.chain.kernel_words import WORDS

PAGE = Path(__file__).parent.parent / "docs" / "operate" / "incident.md"
HEAD = """\
# A driver is down

Type the four lines below; the first line that `why` prints is the broken link, the next one is what to type. \
[Five bad nights](nights.md) plays five of them, [why](../reference/commands/why.md) has the links of KMM's chain. \
Written by `python tools/incidents.py` from the texts of the links; do not edit.

1. Check out the commit that the cluster is to have, and print the cluster: `krmfn why --kubectl > ../dump.sh`, then \
`DUMP=../dump.json sh ../dump.sh`: beside the repository, for in it a dump is read as what Git has, too.
2. Ask about one node, in the repository: `krmfn why NODE --live CLUSTER=../dump.json`. The first line is the first \
broken link, the next one what to type, then how many nodes have the same. `--verbose` prints the whole chain.
3. Where a worker pod crashes, its log decides: write it to a file, `kubectl logs ... > ../worker.log` as `why` \
names it, then `krmfn why NODE --live CLUSTER=../dump.json --log ../worker.log`.
4. Ask about all nodes: `krmfn nodes --live CLUSTER=../dump.json --problems`.

`krmfn explain ImagePullBackOff` prints the rows that have a word.

## What you see, what it is, what to type
"""
LOG = """\
## What the log of a worker says

| in the log, or in dmesg | is | do |
|---|---|---|
"""


def page() -> str:
    """Return the page: a row for each incident in the order of the chain, then the sentences of the kernel."""
    rows = ["| you see | link | it is | `why` says | type |", "|---|---|---|---|---|"]
    for incident in INCIDENTS:
        cells = (", ".join(f"`{word}`" for word in incident.words), f"`{incident.link}`", incident.sense)
        rows.append(f"| {' | '.join((*cells, f'`...{incident.reason}...`', f'`{incident.command}`'))} |")
    table = "\n".join(f"{row}" for row in rows)
    log = "\n".join(
        f"| {', '.join(f'`{sign}`' for sign in word.signs)} | {word.sense} | {word.remedy} |" for word in WORDS
    )
    return f"{HEAD}\n{table}\n\n{LOG}{log}\n"


if __name__ == "__main__":
    PAGE.write_text(page())
