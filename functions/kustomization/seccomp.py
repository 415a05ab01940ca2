"""Refuse a thread, and what it starts, the system calls of `syscalls`: a seccomp filter (seccomp(2)).

A filter is a program for the kernel's packet filter, which reads the number of a call, the architecture that it was
made for, and its arguments (linux/seccomp.h). It answers with an error and never ends a process, so that a program
says itself what it could not do. The architecture comes first: the same number is another call on another one.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys
from collections.abc import Iterator
from functools import lru_cache

from krmfn.typed import NamedTuple

from . import kernel
from .syscalls import LAST, REFUSED, Argument

# Operations of the packet filter, from linux/bpf_common.h
LOAD, EQUAL, GREATER, ANY_BIT, RETURN = 0x20, 0x15, 0x25, 0x45, 0x06
# Answers of a filter, and where it finds a call's number, architecture and arguments, from linux/seccomp.h
ALLOW, ERROR = 0x7FFF_0000, 0x0005_0000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16

_X32 = 0x4000_0000
"""The bit in the numbers of x32, a second set of calls that a program for x86_64 can make."""
_SET_FILTER, _IS_ANSWER_KNOWN = 1, 2
"""The operations SECCOMP_SET_MODE_FILTER and SECCOMP_GET_ACTION_AVAIL."""


class Architecture(NamedTuple):
    """An architecture that filters are made for."""

    code: int
    """What a filter reads for it (linux/audit.h)."""
    seccomp: int
    """The number of the system call seccomp."""


ARCHITECTURES = {"x86_64": Architecture(0xC000_003E, 317), "aarch64": Architecture(0xC000_00B7, 277)}


_FORM, _SIZE = "HBBI", 8
"""The form of an instruction, and its bytes: linux/filter.h, struct sock_filter."""


class Instruction(NamedTuple):
    """An instruction of a filter."""

    operation: int
    value: int
    if_true: int = 0
    """How many instructions to pass over when a comparison holds."""
    if_false: int = 0


def assemble(architecture: str) -> tuple[Instruction, ...]:
    """Return the filter for an architecture, a key of ARCHITECTURES: step by step, from the first call to the last."""
    return (
        Instruction(LOAD, _ARCHITECTURE),
        Instruction(EQUAL, ARCHITECTURES[architecture].code, if_true=1),
        _answer(errno.EPERM),
        Instruction(LOAD, _NUMBER),
        Instruction(GREATER, _X32 - 1, if_false=1),
        _answer(errno.EPERM),
        Instruction(GREATER, LAST, if_false=1),
        _answer(errno.ENOSYS),
        *_refusals(architecture),
        Instruction(RETURN, ALLOW),
    )


def _refusals(architecture: str) -> Iterator[Instruction]:
    """Yield the instructions for each call that is refused: they end, or go on with the number still loaded."""
    for refused in REFUSED:
        number = refused.x86_64 if architecture == "x86_64" else refused.aarch64
        if number is None:
            continue
        answer = _answer(refused.error)
        steps = [*_of_argument(refused.argument, answer)] if refused.argument else [answer]
        yield Instruction(EQUAL, number, if_false=len(steps))
        yield from steps


def _of_argument(argument: Argument, answer: Instruction) -> Iterator[Instruction]:
    """Yield the instructions that give an answer for what is refused, and allow all else: no other call has the number.

    An argument has 64 bits with the lower ones first; the flags and requests that are looked for stand in those.
    """
    yield Instruction(LOAD, _ARGUMENTS + 8 * argument.position)
    if argument.bits:
        yield Instruction(ANY_BIT, argument.bits, if_false=1)
        yield answer
    for value in argument.values:
        yield Instruction(EQUAL, value, if_false=1)
        yield answer
    yield Instruction(RETURN, ALLOW)


def _answer(error: int) -> Instruction:
    return Instruction(RETURN, ERROR | error)


def architecture() -> str:
    """Return the key of ARCHITECTURES for this process; "" for another one, such as a 32-bit Python."""
    machine = os.uname().machine if sys.platform == "linux" else ""
    return machine if machine in ARCHITECTURES and sys.maxsize > 1 << 32 and sys.byteorder == "little" else ""


def is_available() -> bool:
    """Return whether calls can be refused here: the kernel has filters (4.14), and confinement is not turned off."""
    if kernel.is_off() or not (name := architecture()):
        return False
    answer = ctypes.create_string_buffer(struct.pack("I", ERROR))
    return kernel.call(ARCHITECTURES[name].seccomp, _IS_ANSWER_KNOWN, 0, answer) == 0


def restrict() -> None:
    """Refuse this thread, for good, what REFUSED names. Raises KrmfnError when the kernel refuses the filter."""
    name = architecture()
    code = _encoded(name)
    buffer = ctypes.create_string_buffer(code)
    program = ctypes.create_string_buffer(struct.pack("HP", len(code) // _SIZE, ctypes.addressof(buffer)))
    kernel.check("seccomp", kernel.call(ARCHITECTURES[name].seccomp, _SET_FILTER, 0, program))


@lru_cache  # it is the same for all builds of a run
def _encoded(name: str) -> bytes:
    steps = assemble(name)
    return b"".join(struct.pack(_FORM, step.operation, step.if_true, step.if_false, step.value) for step in steps)
