"""What an edit would lose: comments, anchors, spellings; it is refused then, with the path and the cause."""

import re
from collections import Counter

from ..errors import KrmfnError
from ..resource import same, split
from ..typed import Any
from . import linetree, positions
from .align import match_entries
from .remarks import Parts
from .simple import is_merge

__all__ = ["WouldLose", "anchor", "check_anchors", "comments", "first_difference", "reason", "shared"]
__all__ += ["is_said_of_many", "unknown", "unknown_word", "unlike"]

_ANCHOR = re.compile(r"(?:![^\s,\[\]{}]*[ \t]+)?&([^\s,\[\]{}]+)")
_UNLIKE = "cannot be written: its comments would be lost, since"
_CLEAR = "clear that first by `field.comment` or `field.head_comment`"
_ADVICE = "change it by hand, or remove the item and append it anew"


class WouldLose(KrmfnError):
    """An edit is refused: it would lose what is no data. `parts` is the path of the field, as far as it is known."""

    def __init__(self, problem: str, parts: Parts = ()) -> None:
        """Take the problem, as it goes on behind the field, and the field."""
        super().__init__(problem)
        self.parts = parts


def shared(text: str, root: Any) -> Counter[int]:
    """Return how often each node that has an alias stands in the tree, by its id."""
    if "*" not in text:
        return Counter()
    if isinstance(root, linetree.Node):
        return linetree.shared(root)
    counts: Counter[int] = Counter()
    for node in positions.nodes(root):
        counts.update(id(part) for part in positions.parts(node))
    return Counter({name: number for name, number in counts.items() if number > 1})


def anchor(text: str, node: Any) -> str:
    """Return the name of a node's anchor; "" for none."""
    match = _ANCHOR.match(text, node.start_mark.index)
    return match[1] if match else ""


def check_anchors(text: str, nodes: tuple[Any, ...], counts: Counter[int], parts: Parts) -> None:
    """Raise WouldLose when some nodes, which go, hold an anchor that an alias elsewhere needs."""
    if not (counts and nodes):
        return
    inside: Counter[int] = Counter(map(id, nodes))
    known = {id(part): part for node in nodes for part in positions.nodes(node)}
    for node in known.values():
        inside.update(id(part) for part in positions.parts(node))
    begin = min(node.start_mark.index for node in nodes)  # what is before it is there by an alias
    for name, node in known.items():
        if counts[name] > inside[name] and node.start_mark.index >= begin:
            problem = f"the anchor &{anchor(text, node)} is there, and an alias elsewhere needs it"
            raise WouldLose(f"cannot be changed: {problem}; write the value out there first", parts)


def comments(text: str, root: Any, start: int, end: int) -> list[tuple[int, int]]:
    """Return where the comments of a piece of a text begin and end."""
    spans, at = list[tuple[int, int]](), text.find("#", start, end)
    while at >= 0:
        stop = text.find("\n", at) + 1 or len(text) + 1
        holder = positions.scalar_at(root, at)
        if holder is not None and _content(text, holder) <= at:
            stop = int(holder.end_mark.index) + 1
        elif not at or text[at - 1] in " \t\n":
            spans.append((at, stop - 1))
        at = text.find("#", max(stop - 1, at + 1), end)
    return spans


def _content(text: str, node: Any) -> int:
    """Return where the text of a scalar begins: that of a block behind its first line, which may have a comment."""
    start = int(node.start_mark.index)
    return text.find("\n", start) + 1 or len(text) if node.style in ("|", ">") else start


def reason(text: str, node: Any, remarks: list[tuple[int, int]], values: tuple[Any, Any]) -> str:
    """Return why a value cannot be written anew as other data without a loss; "" where it can.

    `remarks`: the comments in it that would go; `values`: the old and the new data. What is wholly other data takes the
    place of all that was there.
    """
    if not _is_kept(*values):
        return ""
    if remarks:
        row = text[remarks[0][0] : remarks[0][1]].strip()
        return f"cannot be written: the comment {row[:40]!r} would be lost; {_ADVICE}"
    for part in positions.nodes(node):
        is_marked = text[part.start_mark.index : part.start_mark.index + 1] in ("&", "!")
        if is_marked or (part.id == "mapping" and any(is_merge(key) for key, _ in part.value)):
            return f"cannot be written: an anchor, alias, tag or `<<` would be lost; {_ADVICE}"
    return ""


def unlike(text: str, data: Any) -> WouldLose | None:
    """Return why a text cannot be written for the data: Kubernetes would not find that in it; None where it would."""
    from . import load, values

    try:
        root = load.compose(text.encode())
        known = values.build(root)
    except KrmfnError as failure:
        return WouldLose(f"{_UNLIKE} its lines are no YAML there ({failure}); write the value out as plain data")
    if twice := positions.duplicate_keys(root):
        return WouldLose(f"{_UNLIKE} the key stands twice in its text; remove one of them", split(twice[0]))
    if parts := first_difference(known, data):
        return WouldLose(f"{_UNLIKE} its lines are read otherwise there; write the value out as plain data", parts)
    return None


def first_difference(old: Any, new: Any, parts: Parts = ()) -> Parts | None:
    """Return the path of the first part in which two values differ; None where they are the same."""
    if isinstance(old, dict) and isinstance(new, dict):
        names: list[Any] = [*dict.fromkeys((*old, *new))]
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        names = [*range(len(old))]
    else:
        return None if same(old, new) else parts
    for name in names:
        inner = (*parts, str(name))
        is_in_both = not isinstance(old, dict) or (name in old and name in new)
        difference = first_difference(old[name], new[name], inner) if is_in_both else inner
        if difference is not None:
            return difference
    return None


def _is_kept(old: Any, new: Any) -> bool:
    """Return True when something of a collection is still there in the new one."""
    if isinstance(old, dict) and isinstance(new, dict):
        return not old.keys().isdisjoint(new)
    if isinstance(old, list) and isinstance(new, list):
        return any(match is not None for match in match_entries(old, new))
    return False


def is_said_of_many(value: Any) -> bool:
    """Return True for a boolean, null and what is empty: that one went and others have come does not say it moved."""
    return isinstance(value, bool) or value in (None, "", [], {})


def unknown_word(word: str, comment: str) -> str:
    """Return why a boolean cannot be written where a word for one, with a comment, went with what it was in."""
    problem = f"nothing says which value is the word {word} that went with the comment {comment[:40]!r}"
    return f"cannot be written: {problem}; {_CLEAR}"


def unknown(number: int, comment: str, come: int = 0) -> str:
    """Return why some equal values cannot move at once when one of them has a comment, or more of them have `come`."""
    went = f"{number} equal values went" if number > 1 else "a value went"
    went += f", {come} equal ones have come" if come > number else ""
    problem = f"{went}, and nothing says which has the comment {comment[:40]!r}"
    return f"cannot be written: {problem}; {_CLEAR}"
