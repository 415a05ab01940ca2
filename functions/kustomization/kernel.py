"""Call the kernel for what Python's library does not have, and say how a call has failed."""

from __future__ import annotations

import ctypes
import os
from functools import lru_cache

from krmfn.errors import KrmfnError

VARIABLE = "KRMFN_CONFINE"
"""The environment variable that turns confinement off."""
_NO_NEW_PRIVILEGES = 38


def is_off() -> bool:
    """Return whether the user has turned confinement off."""
    return os.environ.get(VARIABLE) == "off"


def forbid_new_privileges() -> None:
    """Keep this thread and what it starts from privileges of a file, such as set-user-ID: the kernel asks for that."""
    check("prctl", _library().prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))


def call(number: int, *args: object) -> int:
    """Return what the kernel answers to the system call of a number; -1 for an error, which `errno` gives."""
    return int(_library().syscall(number, *args))


def errno() -> int:
    """Return the error of this thread's last call."""
    return ctypes.get_errno()


def check(action: str, result: int) -> int:
    """Return the result of a call; `action` is a word for the message. Raises KrmfnError for -1."""
    if result < 0:
        reason = os.strerror(errno())
        raise KrmfnError(f"kustomize cannot be confined ({action}: {reason}); set {VARIABLE}=off to build without")
    return result


@lru_cache(maxsize=1)
def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    return library
