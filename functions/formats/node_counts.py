"""Messages that count and name nodes: one for several clusters, with the numbers of all. Pure values."""

import re
from collections.abc import Sequence

from krmfn.printing import counted

NODES = re.compile(r"(?<![\w.,-])([\d,]+)(?: of (?:the )?([\d,]+))? nodes?( \([^()]*\))?")
"""How a message counts and names nodes: `3 of the 40 nodes (a, b, c)`."""
_INVENTORY = re.compile(r"(?<!, )NodeInventory [^\s,]+(?:, NodeInventory [^\s,]+)*(?= does not hold)")
_VERB = re.compile(r"\b(?:(get|run)s?|is|are|has|have)\b")
_SINGULAR = re.compile(r"(\d nodes (?:\([^()]*\) )?(?:that it selects |that )?)(gets|is|has|runs)\b")
_PLURAL = {"gets": "get", "is": "are", "has": "have", "runs": "run"}
_SHOWN = 4
"""Clusters whose numbers are told; of more there is the sum."""


def merged(messages: Sequence[tuple[str, str]]) -> str:
    """Return one message for several clusters, which differs in the nodes only: those are counted per cluster."""
    if len(messages) == 1:
        return messages[0][1]
    every = [list(NODES.finditer(text)) for _, text in messages]
    # where one cluster has one node its verbs are singular
    longest = max(range(len(messages)), key=lambda at: sum(number(one[1]) for one in every[at]))
    at = iter(range(len(every[0])))

    def total(shown: re.Match[str]) -> str:
        column = next(at)
        numbers = [(cluster, number(found[column][1])) for (cluster, _), found in zip(messages, every, strict=True)]
        whole = sum(number(found[column][2]) for found in every)
        return total_of(numbers, f" of the {whole:,}" if whole else "", bool(shown[3]))

    text = _SINGULAR.sub(lambda verb: verb[1] + _PLURAL[verb[2]], NODES.sub(total, messages[longest][1]))
    return _INVENTORY.sub("the NodeInventory of each cluster", text)


def total_of(numbers: Sequence[tuple[str, int]], whole: str = "", names_clusters: bool = True) -> str:
    """Return `50 nodes (dev 4, stage 6, prod-a 40)`, `400 of the 600 nodes in 40 clusters`."""
    total = sum(one for _, one in numbers)
    nodes = f"{total:,}{whole} nodes" if whole else counted(total, "node")
    if not names_clusters:
        return nodes
    if len(numbers) > _SHOWN:
        return f"{nodes} in {len(numbers):,} clusters"
    return f"{nodes} ({', '.join(f'{cluster} {number:,}' for cluster, number in numbers)})"


def alike(message: str) -> str:
    """Return what a message says of any nodes."""
    return _VERB.sub("", NODES.sub("", _INVENTORY.sub("", message)))


def number(text: str | None) -> int:
    """Return the number that a message writes, as in `1,200`; 0 for None."""
    return int((text or "0").replace(",", "") or 0)
