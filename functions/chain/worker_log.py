"""The log of a worker pod, or lines of dmesg: why the kernel, or modprobe, did not load or unload a kernel module."""

import re
from collections.abc import Collection, Iterator, Sequence

from krmfn.typed import NamedTuple

from .kernel_words import Word, best

MOST = 1 << 20
"""Bytes at the end of a log that are read: a worker tells why it fails in its last lines."""
_LONGEST = 2_000
"""Characters of a line that are looked at."""
_SHOWN = 160
_SUBJECT = re.compile(
    r"could not (?:insert|remove|find) (?:module )?'?([\w-]+)|module '?([\w-]+)'? (?:is in use|not fo)"
)
"""The kernel module that a sentence of modprobe is about."""
_GENERIC = re.compile(
    r"modprobe|insmod|finit_module|lockdown|loading of|exit status|exec format|no space left|"
    r"\b[ef]\d{4} [\d:.]{15} +\d+ \w+\.go:\d+\]"
)
"""Lines, in lower case, that may be about any kernel module, the last of them errors of the worker itself (klog).

Others of the kernel are about what stands in front of them.
"""
_HOST = re.compile(r"(?:\w{3} +\d+ [\d:]{8}|\d{4}-\d\d-\d\dT\S+) ([\w.-]+) (?:kernel|modprobe|systemd)\b")
"""The host in a line of a journal."""
_POD = re.compile(r"\bkmm-worker-[\w.-]+")
_WORD = re.compile(r"[\w-]+")


class Log(NamedTuple):
    """A log."""

    lines: Sequence[str] = ()
    """Those of its end, without the empty ones."""

    def __bool__(self) -> bool:
        """Return whether it has any line."""
        return bool(self.lines)


class Diagnosis(NamedTuple):
    """What a log says about a kernel module."""

    line: str
    word: Word
    is_named: bool
    """Whether the line names a kernel module of that Module, and is not about any."""


def log_of(data: bytes) -> Log:
    """Return the log in some bytes, whatever they are."""
    text = data[-MOST:].decode(errors="replace")
    return Log([line[:_LONGEST].strip() for line in text.splitlines() if line.strip()])


def diagnosis(log: Log, names: Collection[str], others: Collection[str] = ()) -> Diagnosis | None:
    """Return what a log says of the kernel modules of one Module; None where it says nothing that is known.

    `names` are those, `others` the kernel modules of other Modules, as the kernel names them. A line that names one of
    `names` counts before a line that names none; a line about another kernel module does not count.
    """
    lines = [line for line in log.lines if _named(line) & {*names}]
    pair = best(lines)
    if pair is None or pair[1].is_vague:
        pair = best([*_generic(log, names, others), *lines])
    if not pair:
        return None
    line, word = pair
    return Diagnosis(line if len(line) <= _SHOWN else _around(line, word), word, line in lines)


def _generic(log: Log, names: Collection[str], others: Collection[str]) -> Iterator[str]:
    """Yield the lines that may be about any kernel module."""
    for line in log.lines:
        lower = line.lower()
        subject = _SUBJECT.search(lower)
        name = (subject[1] or subject[2]).replace("-", "_") if subject else ""
        if _GENERIC.search(lower) and name in ("", *names) and not _named(line) & {*others}:
            yield line


def _named(line: str) -> set[str]:
    """Return the words of a line, as the kernel would name a module."""
    return {word.replace("-", "_") for word in _WORD.findall(line)}


def _around(line: str, word: Word) -> str:
    """Return the part of a long line in which the sentence stands."""
    lower = line.lower()
    at = max(0, min(lower.find(sign) for sign in word.signs if sign in lower) - _SHOWN // 2)
    return f"{'...' if at else ''}{line[at : at + _SHOWN]}..."


def stranger(log: Log, node: str) -> str:
    """Return the node or the worker pod that a log names, where it names this node nowhere; "" for none.

    A host stands in the lines of a journal or of syslog, a pod in those that `kubectl logs --prefix` prints.
    """
    hosts = [match[1] for line in log.lines if (match := _HOST.match(line))]
    pods = [pod for line in log.lines for pod in _POD.findall(line)]
    if any(_is_host_of(node, host) for host in hosts) or any(pod.startswith(f"kmm-worker-{node}-") for pod in pods):
        return ""
    return next((f"the node {host}" for host in hosts), next((f"the pod {pod}" for pod in pods), ""))


def _is_host_of(node: str, host: str) -> bool:
    """Return True for a node's host: one of the two names may lack the domain, and a node's is in lower case.

    Source: Kubernetes, component-helpers/node/util/hostname.go.
    """
    name = host.lower()
    return name in (node, node.partition(".")[0]) or name.partition(".")[0] == node


def other_modules(log: Log, names: Collection[str]) -> list[str]:
    """Return the kernel modules that modprobe's sentences in a log are about, but for `names`."""
    subjects = [_SUBJECT.search(line.lower()) for line in log.lines]
    modules = {(subject[1] or subject[2]).replace("-", "_") for subject in subjects if subject}
    return sorted(modules - {*names})


def last_line(log: Log) -> str:
    """Return the last line of a log, cut."""
    return log.lines[-1][:_SHOWN] if log.lines else "nothing"
