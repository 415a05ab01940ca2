"""The kernel's bounds for kustomize and all that it starts: what it may read, run, write and connect to (Landlock).

It bounds what a missed trick could reach; that nothing foreign is called rests on the build tree alone. Landlock binds
the calling thread and what that starts from then on (landlock_restrict_self(2)): so one thread restricts itself, starts
the program, and ends. No other thread is bound, and nothing runs between fork and exec, where Python is not safe.
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
"""The environment variable that turns it off."""

T = TypeVar("T")

_CREATE, _ADD, _RESTRICT = 444, 445, 446
"""The system calls: landlock_create_ruleset, landlock_add_rule, landlock_restrict_self; alike on all architectures."""
_VERSION, _BENEATH, _NO_NEW_PRIVILEGES = 1, 1, 38

# linux/landlock.h: what may be done with a file or folder
_EXECUTE, _WRITE, _READ, _READ_FOLDER = 1, 1 << 1, 1 << 2, 1 << 3
_OF_FILES = {1: _EXECUTE | _WRITE | _READ, 3: 1 << 14, 5: 1 << 15}
"""What may be done with a file, by the first version of Landlock that knows it: truncate (3), ioctl of devices (5)."""
_OF_FOLDERS = {1: sum(1 << bit for bit in range(3, 13)), 2: 1 << 13}
_NETWORK, _SCOPES = 0b11, 0b11
"""TCP, bind and connect (version 4); abstract sockets, and signals to what runs outside (version 6)."""


class Bounds(NamedTuple):
    """What a program may reach. A path that is not there allows nothing."""

    read: frozenset[str]
    """The files and folders that it may read and run."""
    written: frozenset[str]
    """Those that it may write as well."""
    is_offline: bool = True
    """Whether it may reach neither TCP nor other processes' abstract sockets and signals."""


def version() -> int:
    """Return the version of Landlock that holds here; 0 for none, or where it is turned off."""
    if os.environ.get(VARIABLE) == "off" or sys.platform != "linux":
        return 0
    return max(0, int(_library().syscall(_CREATE, None, 0, _VERSION)))


def holds() -> str:
    """Return what bounds kustomize here, as words of a sentence."""
    if os.environ.get(VARIABLE) == "off":
        return f"not confined: {VARIABLE}=off"
    found = version()
    if not found:
        return "not confined: this kernel has no Landlock"
    offline = ", and no TCP" if found >= 4 else "; TCP needs version 4"
    return f"confined by Landlock {found}: files of the build and of the system{offline}"


def started(bounds: Bounds, start: Callable[[], T]) -> T:
    """Return what `start` returns, which starts a program, in a thread that is bound; as it is where nothing holds.

    Raises KrmfnError where Landlock is there and refuses, and what `start` raises.
    """
    if not version():
        return start()
    made: list[T] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            allowed = _allowed(bounds)
            _checked("prctl", _library().prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
            _called("restrict", _RESTRICT, allowed.descriptor, 0)
            made.append(start())
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
    return made[0]


class _Allowed:
    """A ruleset of the kernel's; it is closed with the last use of it."""

    def __init__(self, bounds: Bounds) -> None:
        found = version()
        files = sum(right for since, right in _OF_FILES.items() if since <= found)
        every = files | sum(right for since, right in _OF_FOLDERS.items() if since <= found)
        outside = [_NETWORK, _SCOPES] if bounds.is_offline else [0, 0]
        ruleset = struct.pack("3Q", every, *outside)[: 24 if found >= 6 else 16 if found >= 4 else 8]
        self.descriptor = _called("create", _CREATE, ruleset, len(ruleset), 0)
        weakref.finalize(self, os.close, self.descriptor)
        for path in bounds.read:
            self._allow(path, _EXECUTE | _READ | _READ_FOLDER, files)
        for path in bounds.written:
            self._allow(path, every, files)

    def _allow(self, path: str, allowed: int, of_files: int) -> None:
        try:
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:  # a folder of PATH that is not there, or may not be seen
            return
        try:
            rule = struct.pack("=Qi", allowed if os.path.isdir(path) else allowed & of_files, place)
            _called("add", _ADD, self.descriptor, _BENEATH, rule, 0)
        finally:
            os.close(place)


_allowed = lru_cache(maxsize=8)(_Allowed)  # the builds of a run have the same bounds, most of them


def _called(what: str, number: int, *args: object) -> int:
    return _checked(what, _library().syscall(number, *args))


def _checked(what: str, result: int) -> int:
    if result < 0:
        raise KrmfnError(
            f"kustomize cannot be confined ({what}: {os.strerror(ctypes.get_errno())}); set {VARIABLE}=off to build "
            "without"
        )
    return result


@lru_cache(maxsize=1)
def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    return library
