"""Write docs/operate/incident.md from the texts of the chain's links: `python tools/incidents.py`."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from krmfn_functions.chain.incidents import INCIDENTS
from krmfn_functions.chain.kernel_words import WORDS

PAGE = Path(__file__).parent.parent / "docs" / "operate" / "incident.md"
HEAD = """\
# A driver is down

In the repository, at the commit that is deployed, type:

```sh
krmfn why --kubectl > ../dump.sh && DUMP=../dump.json sh ../dump.sh   # asks the cluster
krmfn why NODE --live CLUSTER=../dump.json                            # one node
krmfn nodes --live CLUSTER=../dump.json --problems                    # all nodes
```

The first line that `why` prints is the broken link of KMM's chain, the next one what to type, then
how many nodes have the same. `--verbose` prints the whole chain. Keep the dump beside the
repository: in it, krmfn would read the dump as what Git has.

If a worker pod crashes, only its log says why. `why` names the command that prints it:

```sh
kubectl logs ... > ../worker.log
krmfn why NODE --live CLUSTER=../dump.json --log ../worker.log
```

## What you see

"""
FOOT = """
## Read on

`krmfn explain ImagePullBackOff` prints the entry of a word. [Five bad nights](nights.md) plays five
incidents; [why](../reference/commands/why.md) explains the links.

Written by `python tools/incidents.py` from the texts of the links; do not edit.
"""
_NOT_RUN = "<!-- not run: it needs a cluster; docs/operate/nights.md runs it on dumps -->\n"
_SHOWN = 54
"""How wide the words of a row in the first table are, so that a terminal of 80 columns shows a row in a line."""
_COLUMNS = 100
_SPAN = re.compile(r"`[^`]*`")
_KEPT = "\u00a0"
"""Stands for a space in a code span while a line is folded, so that no command is."""


def page() -> str:
    """Return the page: what leads to which link, the incidents in the order of the chain, the kernel's sentences."""
    parts = [HEAD.replace("```sh\n", f"{_NOT_RUN}```sh\n"), "| you see | go to |\n|---|---|\n"]
    parts += [f"| {_first(incident.words)} | [{incident.link}](#{incident.link}) |\n" for incident in INCIDENTS]
    for link, incidents in groupby(INCIDENTS, key=lambda incident: incident.link):
        parts.append(f"\n## {link}\n")
        for incident in incidents:
            parts.append(
                _entry(
                    incident.sense,
                    ("you see", _spans(incident.words)),
                    ("`why` says", f"`...{incident.reason}...`"),
                    ("type", f"`{incident.command}`"),
                )
            )
    parts.append("\n## What the log of a worker says\n")
    for word in WORDS:
        parts.append(_entry(f"{word.sense}.", ("the log", _spans(word.signs)), ("do", word.remedy)))
    return "".join([*parts, FOOT])


def _first(words: Sequence[str]) -> str:
    """Return as many of the words as a row has place for, at least one."""
    count = 1
    while count < len(words) and len(_spans(words[: count + 1])) <= _SHOWN:
        count += 1
    return _spans(words[:count])


def _spans(words: Sequence[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def _entry(sense: str, *rows: tuple[str, str]) -> str:
    """Return an entry: what it is, its first sentence in bold, and a line for each of what is known of it."""
    lead, stop, rest = sense.partition(". ")
    text = f"**{lead[0].upper()}{lead[1:]}{stop.strip()}** {rest}".strip()
    lines = [_folded(text, ""), "", *(_folded(f"* {title}: {words}", "  ") for title, words in rows)]
    return "\n" + "\n".join(lines) + "\n"


def _folded(text: str, indent: str) -> str:
    kept = _SPAN.sub(lambda span: span[0].replace(" ", _KEPT), text)
    folded = textwrap.fill(kept, _COLUMNS, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return folded.replace(_KEPT, " ")


if __name__ == "__main__":
    PAGE.write_text(page())
