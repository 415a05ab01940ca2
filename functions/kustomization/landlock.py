"""Bound what a thread, and what it starts, may read, run, write and connect to: Landlock (landlock_restrict_self(2)).

This limits the harm of a trick that krmfn has overlooked; it is the build tree that keeps kustomize from calling other
programs than ours. Landlock leaves alone what `seccomp` refuses: modes, owners and times of files, sockets but TCP.
"""

from __future__ import annotations

import os
import struct
import sys
import weakref
from functools import lru_cache

from krmfn.typed import NamedTuple

from . import kernel

_CREATE, _ADD, _RESTRICT = 444, 445, 446
"""The numbers of landlock_create_ruleset, landlock_add_rule and landlock_restrict_self, on all architectures."""
_VERSION, _BENEATH = 1, 1

# The rights on a file or folder, from linux/landlock.h
_EXECUTE, _WRITE, _READ, _READ_FOLDER = 1, 1 << 1, 1 << 2, 1 << 3
_DEVICES = 1 << 6 | 1 << 11
"""To make a device, of characters or of blocks: through one of its own root would read any disk."""
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
    if kernel.is_off() or sys.platform != "linux":
        return 0
    return max(0, kernel.call(_CREATE, None, 0, _VERSION))


def restrict(bounds: Bounds) -> None:
    """Restrict this thread, for good, to `bounds`. Raises KrmfnError when the kernel refuses them."""
    kernel.check("restrict", kernel.call(_RESTRICT, _ruleset(bounds).descriptor, 0))


class _Ruleset:
    """A ruleset of the kernel, which is closed after its last use."""

    def __init__(self, bounds: Bounds) -> None:
        abi = version()
        files = sum(right for since, right in _OF_FILES.items() if since <= abi)
        rights = files | sum(right for since, right in _OF_FOLDERS.items() if since <= abi)
        restrictions = [_NETWORK, _SCOPES] if bounds.is_offline else [0, 0]
        attributes = struct.pack("3Q", rights, *restrictions)[: 24 if abi >= 6 else 16 if abi >= 4 else 8]
        self.descriptor = kernel.check("create", kernel.call(_CREATE, attributes, len(attributes), 0))
        weakref.finalize(self, os.close, self.descriptor)
        for path in bounds.readable:
            self._allow(path, _EXECUTE | _READ | _READ_FOLDER, files)
        for path in bounds.writable:
            self._allow(path, rights & ~_DEVICES, files)

    def _allow(self, path: str, rights: int, of_files: int) -> None:
        try:
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:  # such as a folder of PATH that does not exist
            return
        try:
            rule = struct.pack("=Qi", rights if os.path.isdir(path) else rights & of_files, descriptor)
            kernel.check("add", kernel.call(_ADD, self.descriptor, _BENEATH, rule, 0))
        finally:
            os.close(descriptor)


_ruleset = lru_cache(maxsize=8)(_Ruleset)  # most builds of a run have the same bounds
