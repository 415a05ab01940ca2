"""What `check --fix` and `check --diff` do: mend in memory, judge that, and write or print it, or nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from difflib import unified_diff

from krmfn import KrmfnError
from krmfn.printing import counted, printable
from krmfn.results import Result
from krmfn.typed import NamedTuple

from ..command import Context
from ..mending import edits, guards, outcome
from ..paths import files, together
from .judged import Judged

_ROUNDS = 8
"""How often what is mended is judged for more: an unused entry shows when there is no error any more."""


Judge = Callable[[], Judged]


class Mended(NamedTuple):
    """What mends make of the clusters, in memory."""

    judged: Judged
    texts: Mapping[str, bytes] = {}  # read only
    """The files that change, by their paths without links."""
    findings: Sequence[Result] = ()
    problem: str = ""
    """Why nothing may be written; "" when all may."""


def mend(context: Context, judge: Judge) -> Mended:
    """Return the clusters after all mends of their findings, judged; as they were, with the reason, if these fail.

    A mended finding has to be gone, none may be new, and no resource without a mended finding may change.
    """
    first = current = judge()
    tops = guards.tops(first.streams.paths.values(), context.options.root)
    texts, mended = dict[str, bytes](), list[Result]()
    for _ in range(_ROUNDS):
        additions, findings = _edited(current.visible.results, texts, tops)
        if not findings:
            break
        texts |= additions
        mended += findings
        with files.in_place_of(texts):
            current = judge()
    if not mended:
        return Mended(first)
    ids = {finding.id for finding in mended}
    with files.in_place_of(texts):
        after = outcome.snapshots(current.streams, ids)
    before = outcome.snapshots(first.streams, ids)
    problem = "" if current.streams.is_whole else "not all can be read, so what else would change is not known"
    problem = problem or outcome.problem(mended, first.checked.results, current.checked.results)
    if not problem and (other := outcome.changed(before, after)):
        problem = f"{other} would change, which has no finding that is fixed"
    return Mended(first, problem=problem) if problem else Mended(current, texts, mended)


def _edited(
    findings: Sequence[Result], known: Mapping[str, bytes], tops: Sequence[str]
) -> tuple[dict[str, bytes], list[Result]]:
    """Return the texts of files after the mends of findings, and the findings; `known` are texts after others."""
    edits_by_path: dict[str, list[tuple[Result, edits.Edit]]] = {}
    for finding in filter(edits.is_mendable, findings):
        name = finding.place.path if finding.place else ""
        path = os.path.realpath(name)
        text = _text(path, known) if guards.is_mendable(name, tops) else None
        if text is not None and (edit := edits.edit_of(finding, text)):
            edits_by_path.setdefault(path, []).append((finding, edit))
    texts = {}
    for path, pairs in edits_by_path.items():
        texts[path] = edits.applied(_text(path, known) or "", [edit for _, edit in pairs]).encode()
    return texts, [finding for pairs in edits_by_path.values() for finding, _ in pairs]


def _text(path: str, known: Mapping[str, bytes]) -> str | None:
    """Return the text of a file after earlier mends; None where it is no text that can be read."""
    try:
        return (known[path] if path in known else files.read_regular(path, path)).decode()
    except (KrmfnError, UnicodeError):  # it is an error of the check already
        return None


def write(context: Context, mended: Mended, is_forced: bool) -> None:
    """Write the files that mends change, all or none, and say how many. Raises KrmfnError when they may not be."""
    if mended.problem:
        context.log.say(f"nothing is fixed: {mended.problem}", "error")
        return
    if not is_forced:
        guards.check_committed(mended.texts)
    if mended.texts:
        together.replace({path: (files.read_regular(path, path), text) for path, text in mended.texts.items()})
        number, extent = counted(len(mended.findings), "finding"), counted(len(mended.texts), "file")
        context.log.say(f"fixed {number} in {extent}")


def diff(mended: Mended) -> str:
    """Return what mends change in files, as a unified diff; "" for nothing."""
    lines = list[str]()
    for path, text in sorted(mended.texts.items()):
        name = os.path.relpath(path)
        before = files.read_regular(path, path).decode().splitlines(keepends=True)
        lines += unified_diff(before, text.decode().splitlines(keepends=True), name, name)
    ended = (line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
    return "\n".join("\t".join(map(printable, line.split("\t"))) for line in "".join(ended).split("\n"))
