"""Confine kustomize and all that it starts by Landlock: what it may read, run, write and connect to.

This limits the harm of a trick that krmfn has overlooked; it is the build tree that keeps kustomize from calling other
programs than ours. Landlock restricts the calling thread and what it starts from then on (landlock_restrict_self(2)):
so a new thread restricts itself, starts the program, and ends. Other threads are not restricted, and nothing runs
between fork and exec, where Python is not safe.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
import threading
import weakref
from collections.abc import Callable
from functools import lru_cache

from krmfn.errors import KrmfnError
from krmfn.typed import NamedTuple, TypeVar

VARIABLE = "KRMFN_CONFINE"
"""The environment variable that turns confinement off."""

T = TypeVar("T")

_CREATE, _ADD, _RESTRICT = 444, 445, 446
"""The numbers of landlock_create_ruleset, landlock_add_rule and landlock_restrict_self, on all architectures."""
_VERSION, _BENEATH, _NO_NEW_PRIVILEGES = 1, 1, 38

# The rights on a file or folder, from linux/landlock.h
_EXECUTE, _WRITE, _READ, _READ_FOLDER = 1, 1 << 1, 1 << 2, 1 << 3
_OF_FILES = {1: _EXECUTE | _WRITE | _READ, 3: 1 << 14, 5: 1 << 15}
"""The rights on files, by the first version of Landlock that has them: truncate (3), ioctl of devices (5)."""
_OF_FOLDERS = {1: sum(1 << bit for bit in range(3, 13)), 2: 1 << 13}
_NETWORK, _SCOPES = 0b11, 0b11
"""Bind and connect of TCP (version 4); abstract sockets and signals of processes outside (version 6)."""


class Bounds(NamedTuple):
    """What a program may access. A path that does not exist allows nothing."""

    readable: frozenset[str]
    """The files and folders that it may read and run."""
    writable: frozenset[str]
    """The files and folders that it may also write."""
    is_offline: bool = True
    """Whether it may use neither TCP nor abstract sockets and signals of processes outside."""


def version() -> int:
    """Return the version of the kernel's Landlock; 0 when it has none, or confinement is turned off."""
    if os.environ.get(VARIABLE) == "off" or sys.platform != "linux":
        return 0
    return max(0, int(_library().syscall(_CREATE, None, 0, _VERSION)))


def status() -> str:
    """Return how kustomize is confined on this machine, as words of a sentence."""
    if os.environ.get(VARIABLE) == "off":
        return f"not confined: {VARIABLE}=off"
    if not (abi := version()):
        return "not confined: this kernel has no Landlock"
    network = ", and no TCP" if abi >= 4 else "; TCP needs version 4"
    return f"confined by Landlock {abi}: files of the build and of the system{network}"


def start_confined(bounds: Bounds, start: Callable[[], T]) -> T:
    """Call `start`, which starts a program, in a thread that is confined if the kernel has Landlock; return its result.

    Raises KrmfnError when Landlock refuses the bounds, and what `start` raises.
    """
    if not version():
        return start()
    results: list[T] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            ruleset = _ruleset(bounds)
            _check("prctl", _library().prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
            _call("restrict", _RESTRICT, ruleset.descriptor, 0)
            results.append(start())
        except BaseException as failure:
            failures.append(failure)

    thread = threading.Thread(target=run)
    try:
        thread.start()
    except RuntimeError as failure:  # a limit on processes
        raise KrmfnError(f"kustomize cannot be started: {failure}; raise the limit on processes") from failure
    thread.join()
    if failures:
        raise failures[0]
    return results[0]


class _Ruleset:
    """A ruleset of the kernel, which is closed after its last use."""

    def __init__(self, bounds: Bounds) -> None:
        abi = version()
        files = sum(right for since, right in _OF_FILES.items() if since <= abi)
        rights = files | sum(right for since, right in _OF_FOLDERS.items() if since <= abi)
        restrictions = [_NETWORK, _SCOPES] if bounds.is_offline else [0, 0]
        attributes = struct.pack("3Q", rights, *restrictions)[: 24 if abi >= 6 else 16 if abi >= 4 else 8]
        self.descriptor = _call("create", _CREATE, attributes, len(attributes), 0)
        weakref.finalize(self, os.close, self.descriptor)
        for path in bounds.readable:
            self._allow(path, _EXECUTE | _READ | _READ_FOLDER, files)
        for path in bounds.writable:
            self._allow(path, rights, files)

    def _allow(self, path: str, rights: int, of_files: int) -> None:
        try:
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:  # such as a folder of PATH that does not exist
            return
        try:
            rule = struct.pack("=Qi", rights if os.path.isdir(path) else rights & of_files, descriptor)
            _call("add", _ADD, self.descriptor, _BENEATH, rule, 0)
        finally:
            os.close(descriptor)


_ruleset = lru_cache(maxsize=8)(_Ruleset)  # most builds of a run have the same bounds


def _call(action: str, number: int, *args: object) -> int:
    return _check(action, _library().syscall(number, *args))


def _check(action: str, result: int) -> int:
    if result < 0:
        raise KrmfnError(
            f"kustomize cannot be confined ({action}: {os.strerror(ctypes.get_errno())}); set {VARIABLE}=off to build "
            "without"
        )
    return result


@lru_cache(maxsize=1)
def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    return library
