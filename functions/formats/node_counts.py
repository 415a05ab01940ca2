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
"""How many clusters are named with their numbers; of more there is only the sum."""


def merge(messages: Sequence[tuple[str, str]]) -> str:
    """Return one message for several clusters, from a (cluster, message) of each; they differ in their nodes only."""
    if len(messages) == 1:
        return messages[0][1]
    counts = [list(NODES.finditer(text)) for _, text in messages]
    # the message of one node has verbs in the singular, so the one with most nodes is taken
    largest = max(range(len(messages)), key=lambda at: sum(number(match[1]) for match in counts[at]))
    columns = zip(*counts, strict=False)

    def total(count: re.Match[str]) -> str:
        column = next(columns)
        numbers = [(cluster, number(match[1])) for (cluster, _), match in zip(messages, column, strict=True)]
        of_all = sum(number(match[2]) for match in column)
        return total_of(numbers, f" of the {of_all:,}" if of_all else "", bool(count[3]))

    text = _SINGULAR.sub(lambda verb: verb[1] + _PLURAL[verb[2]], NODES.sub(total, messages[largest][1]))
    return _INVENTORY.sub("the NodeInventory of each cluster", text)


def total_of(numbers: Sequence[tuple[str, int]], of_all: str = "", names_clusters: bool = True) -> str:
    """Return `50 nodes (dev 4, stage 6, prod-a 40)`, `400 of the 600 nodes in 40 clusters`.

    `numbers` are those of each (cluster, nodes); `of_all` stands before `nodes`, such as ` of the 600`.
    """
    total = sum(count for _, count in numbers)
    nodes = f"{total:,}{of_all} nodes" if of_all else counted(total, "node")
    if not names_clusters:
        return nodes
    if len(numbers) > _SHOWN:
        return f"{nodes} in {len(numbers):,} clusters"
    return f"{nodes} ({', '.join(f'{cluster} {number:,}' for cluster, number in numbers)})"


def without_nodes(message: str) -> str:
    """Return a message without its nodes: equal for two messages that differ in their nodes only."""
    return _VERB.sub("", NODES.sub("", _INVENTORY.sub("", message)))


def number(text: str | None) -> int:
    """Return 1200 for `1,200`; 0 for None, and for commas alone."""
    return int((text or "0").replace(",", "") or 0)
