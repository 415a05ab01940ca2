"""The first line of an answer: names that the lines below it have whole are shortened, where it would be long."""

import re
from collections.abc import Hashable, Mapping
from functools import partial

from ..exclusivity.node import Taint
from ..sentence import Aside, Sentence, text
from .link import Subject
from .names import BESIDE, LOADED, PLANNED, POD, RANKS, REFUSAL, SPACE, TAINT, Name
from .words import Quoted

FITS = 125
"""Characters of a line: about 120, as a terminal shows them in two rows."""
_CORDON = Taint("node.kubernetes.io/unschedulable")
_POD = r"(?P<name>(?:[\w.-]+/)?[a-z0-9][\w.]*-[\w.-]*)"
"""The name of a pod that something has made: it has a hyphen, as no word has in that place."""
_QUOTED = {
    REFUSAL: (r'\bpods "[^"]*" is forbidden', "pods are forbidden"),
    SPACE: (r"\bpod [\w.-]+/(?P<name>[\w.-]+)", r"pod \g<name>"),
    BESIDE: (rf" \(pod {_POD}\)", ""),
    POD: (rf"\b(the (?:build |signing |pull )?pod) {_POD}", r"\1"),
}
"""What is shortened in the cluster's own words, and what stands in its place, by rank."""


def fitted(subject: Subject, head: str, reason: Sentence, below: str) -> str:
    """Return what is said of a Module on a node behind `head`, which names both and stays as it is.

    What says least goes first, and nothing goes from a line that fits. `below` is what stands under the line, or under
    `--verbose`: a name that is not in it stays.
    """
    quoted = {**_QUOTED, **_images(subject)}
    for rank in RANKS:
        if len(head) + len(text(reason)) <= FITS:
            break
        reason = tuple(_shorter(part, rank, below, quoted) for part in reason)
    return f"{head}{text(reason)}"


def _images(subject: Subject) -> Mapping[int, tuple[str, str]]:
    """Return how the images of a Module are shortened in the cluster's own words."""
    images = {PLANNED: subject.image, LOADED: subject.loaded.image if subject.loaded else ""}
    parts = {rank: image.rpartition("/") for rank, image in images.items() if image}
    return {
        rank: (rf"{re.escape(host + slash)}(?P<name>{re.escape(name)})", r"\g<name>")
        for rank, (host, slash, name) in parts.items()
    }


def _shorter(part: Hashable, rank: int, below: str, quoted: Mapping[int, tuple[str, str]]) -> Hashable:
    """Return a part of a reason with what stands in its place at a rank."""
    if isinstance(part, Name):
        words = dict(part.shorter).get(rank, part.words)
        return part._replace(words=words) if part.needed in below else part
    if isinstance(part, Quoted) and rank in quoted:
        pattern, short = quoted[rank]
        return Quoted(re.sub(pattern, partial(_short, short, below), part.words))
    if isinstance(part, Aside):
        is_left_out = (rank, part.about) == (TAINT, _CORDON)
        return part._replace(words="" if is_left_out else _shorter(part.words, rank, below, quoted))
    return part


def _short(short: str, below: str, match: re.Match[str]) -> str:
    name = match.groupdict().get("name", "").rpartition("/")[2]
    return match.expand(short) if name in below else match[0]
