"""The seccomp filter: interpreted for every number of a system call, and applied for real."""

from __future__ import annotations

import _thread
import errno
import os
import re
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.kustomization import kernel, landlock, sandbox, seccomp
from krmfn_functions.kustomization.landlock import Bounds
from krmfn_functions.kustomization.seccomp import ARCHITECTURES, Instruction
from krmfn_functions.kustomization.syscalls import LAST, REFUSED, Refused

from krmfn import KrmfnError

both = pytest.mark.parametrize("architecture", ARCHITECTURES)
filtered = pytest.mark.skipif(not seccomp.is_available(), reason=f"kustomize is {sandbox.status()}")
HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}
WORDS = st.integers(0, 2**32 - 1)


def interpret(program: tuple[Instruction, ...], number: int, code: int, args: tuple[int, ...] = (0,) * 6) -> str:
    """Return the answer of a filter, as the kernel would run it: "allowed", or the name of an error."""
    data = struct.pack("<IIQ6Q", number, code, 0, *args)
    position, loaded = 0, 0
    comparisons: dict[int, Callable[[int], bool]] = {
        seccomp.EQUAL: lambda value: loaded == value,
        seccomp.GREATER: lambda value: loaded > value,
        seccomp.ANY_BIT: lambda value: bool(loaded & value),
    }
    while True:
        step = program[position]
        position += 1
        if step.operation == seccomp.RETURN:
            if step.value == seccomp.ALLOW:
                return "allowed"
            assert step.value & 0xFFFF_0000 == seccomp.ERROR  # no answer ends a process
            return errno.errorcode[step.value & 0xFFFF]
        if step.operation == seccomp.LOAD:
            (loaded,) = struct.unpack_from("<I", data, step.value)
        else:
            position += step.if_true if comparisons[step.operation](step.value) else step.if_false


def expected(architecture: str, number: int, code: int, args: tuple[int, ...]) -> str:
    """Return the answer as the table says it."""
    if code != ARCHITECTURES[architecture].code or number >= 1 << 30:
        return "EPERM"
    if number > LAST:
        return "ENOSYS"
    refused = by_number(architecture).get(number)
    if not refused:
        return "allowed"
    if argument := refused.argument:
        word = args[argument.position] % 2**32
        if not (word & argument.bits or word in argument.values):
            return "allowed"
    return errno.errorcode[refused.error]


def by_number(architecture: str) -> dict[int, Refused]:
    return {
        getattr(refused, architecture): refused for refused in REFUSED if getattr(refused, architecture) is not None
    }


@both
def test_every_number_is_answered_as_the_table_says(architecture: str) -> None:
    program, code = seccomp.assemble(architecture), ARCHITECTURES[architecture].code
    zeros, ones = (0,) * 6, (2**64 - 1,) * 6
    for number in range(LAST + 600):
        for args in (zeros, ones):
            assert interpret(program, number, code, args) == expected(architecture, number, code, args), number


@both
@given(number=WORDS | st.integers(0, LAST + 1), code=WORDS | st.sampled_from([a.code for a in ARCHITECTURES.values()]),
       args=st.tuples(*[st.integers(0, 2**64 - 1)] * 6), data=st.data())  # fmt: skip
def test_any_call_is_answered_as_the_table_says(
    architecture: str, number: int, code: int, args: tuple[int, ...], data: st.DataObject
) -> None:
    program = seccomp.assemble(architecture)
    assert interpret(program, number, code, args) == expected(architecture, number, code, args)
    refused = data.draw(st.sampled_from([refused for refused in REFUSED if getattr(refused, architecture)]))
    if argument := refused.argument:
        values = [1 << bit for bit in range(64) if argument.bits >> bit & 1] + [*argument.values]
        chosen = list(args)
        chosen[argument.position] = data.draw(st.sampled_from(values)) | data.draw(WORDS) << 32
        args = tuple(chosen)
    answer = interpret(program, getattr(refused, architecture), ARCHITECTURES[architecture].code, args)
    assert answer == errno.errorcode[refused.error]


@both
def test_the_architecture_is_looked_at_first(architecture: str) -> None:
    first, second = seccomp.assemble(architecture)[:2]
    assert (first.operation, first.value) == (seccomp.LOAD, 4)
    assert (second.operation, second.value) == (seccomp.EQUAL, ARCHITECTURES[architecture].code)


def test_x32_is_refused_whole() -> None:
    program = seccomp.assemble("x86_64")
    for number in range(1024):
        assert interpret(program, number | 0x4000_0000, ARCHITECTURES["x86_64"].code) == "EPERM"


@both
def test_threads_and_processes_are_started(architecture: str) -> None:
    """The flags are those of the C library and of Go's runtime."""
    program, code = seccomp.assemble(architecture), ARCHITECTURES[architecture].code
    clone = {refused.name: refused for refused in REFUSED}["clone"]
    number = getattr(clone, architecture)
    for flags in (0x3D0F00, 0x50F00, 0x1200011, 0x4111, 0x5100, 0x4011, 17):
        assert interpret(program, number, code, (flags, 0, 0, 0, 0, 0)) == "allowed"
    for bit in (0x20000, *(1 << shift for shift in range(25, 31))):
        assert interpret(program, number, code, (17 | bit, 0, 0, 0, 0, 0)) == "EPERM"


@both
def test_each_name_and_number_stands_once(architecture: str) -> None:
    assert len({refused.name for refused in REFUSED}) == len(REFUSED)
    numbers = [getattr(refused, architecture) for refused in REFUSED if getattr(refused, architecture) is not None]
    assert len({*numbers}) == len(numbers)
    assert len(seccomp.assemble(architecture)) <= 4096  # BPF_MAXINSNS


@both
def test_numbers_are_those_of_the_kernel(architecture: str) -> None:
    header = HEADERS[architecture]
    if not header.exists():
        pytest.skip("the kernel's headers are not installed")
    pattern = r"#define __NR(?:3264)?_(\w+)\s+(\d+)"
    numbers = {name: int(number) for name, number in re.findall(pattern, header.read_text())}
    table = {refused.name: getattr(refused, architecture) for refused in REFUSED}
    known = max(number for name, number in numbers.items() if name != "syscalls")
    for name, number in table.items():
        assert numbers.get(name) == number or (name not in numbers and (number is None or number > known)), name
    family = re.compile("chmod|chown|xattr|utime|^connect|^socket|^bind$|mknod|^setns|io_uring|process_vm|handle_at")
    assert [name for name in numbers if family.search(name) and name not in {*table, "utimensat_time64"}] == []


def run_filtered(code: str) -> str:
    """Return what Python prints in a child that is filtered, and nothing else."""
    bounds = Bounds(frozenset("/"), frozenset("/"))

    def start() -> subprocess.Popen[str]:
        command = [sys.executable, "-I", "-c", code]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    with sandbox.start_confined(bounds, start) as running:
        return running.communicate()[0]


@filtered
def test_what_programs_need_works() -> None:
    code = """\
import os, select, subprocess, threading
thread = threading.Thread(target=lambda: print("thread", flush=True)); thread.start(); thread.join()
print(subprocess.run(["/bin/echo", "child"], capture_output=True, text=True).stdout.strip())
print(os.waitstatus_to_exitcode(os.waitpid(os.posix_spawn("/bin/sh", ["sh", "-c", "exit 3"], os.environ), 0)[1]))
select.epoll().close(); os.close(os.eventfd(0)) if hasattr(os, "eventfd") else None
os.close(os.memfd_create("a"))
print("works")
"""
    assert run_filtered(code).splitlines() == ["thread", "child", "3", "works"]


@filtered
@pytest.mark.skipif(seccomp.architecture() != "x86_64", reason="only x86_64 has another way in")
def test_the_way_in_for_32_bit_programs_is_refused() -> None:
    """int 0x80 with 20, which is getpid for i386 and writev for x86_64."""
    code = """\
import ctypes, mmap
text = bytes.fromhex("b814000000cd80c3")  # mov eax, 20; int 0x80; ret
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(text)
call = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
print(call())
"""
    assert run_filtered(code) == f"{-errno.EPERM}\n"


@filtered
def test_krmfn_itself_is_not_filtered(tmp_path: Path) -> None:
    assert "PermissionError" in run_filtered("import os; os.chmod('/dev/null', 0o666)")
    tmp_path.chmod(0o700)


@filtered
def test_a_kernel_that_refuses_the_filter_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seccomp, "_SET_FILTER", 100)
    with pytest.raises(KrmfnError, match=r"cannot be confined \(seccomp: .*KRMFN_CONFINE=off"):
        run_filtered("")


@filtered
def test_many_programs_have_one_filter_each_and_krmfn_none(tmp_path: Path) -> None:
    """A filter takes the kernel long to set, so one thread sets it for all of them."""
    count = "print(*(line for line in open('/proc/self/status') if line.startswith('Seccomp_filters')), end='')"
    before = run_filtered(count)
    with sandbox.many():
        assert [run_filtered(count) for _ in range(3)] == [before] * 3
        with ThreadPoolExecutor(2) as pool:
            assert [*pool.map(run_filtered, [count] * 4)] == [before] * 4
        tmp_path.chmod(0o700)
    assert run_filtered(count) == before


@filtered
def test_many_programs_set_one_filter(monkeypatch: pytest.MonkeyPatch) -> None:
    threads, restrict = list[int](), seccomp.restrict

    def noted() -> None:
        threads.append(threading.get_ident())
        restrict()

    monkeypatch.setattr(seccomp, "restrict", noted)
    with sandbox.many():
        assert [run_filtered("print(1)") for _ in range(3)] == ["1\n"] * 3
    assert len(threads) == 1


@filtered
@pytest.mark.skipif(landlock.version() < 6, reason="signals are Landlock's, from version 6 on")
def test_no_program_of_many_reaches_another_one() -> None:
    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-I", "-c", "input()"], stdin=subprocess.PIPE)

    with sandbox.many(), sandbox.start_confined(Bounds(frozenset("/"), frozenset("/")), start) as other:
        assert "PermissionError" in run_filtered(f"import os; os.kill({other.pid}, 0)")
        other.communicate(b"\n")
    assert other.returncode == 0


@filtered
def test_a_failed_start_of_many_is_said_and_the_next_one_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    bounds = Bounds(frozenset("/"), frozenset("/"))
    with sandbox.many():
        with pytest.raises(FileNotFoundError):
            sandbox.start_confined(bounds, lambda: subprocess.Popen(["/nothing"]))
        with monkeypatch.context() as patched:
            patched.setattr(_thread, "start_new_thread", _no_thread)
            with pytest.raises(KrmfnError, match=r"cannot be started: no more; raise the limit on processes"):
                run_filtered("")
        assert run_filtered("print(1)") == "1\n"
    with monkeypatch.context() as patched, sandbox.many():
        patched.setattr(seccomp, "_SET_FILTER", 100)
        for _ in range(2):
            with pytest.raises(KrmfnError, match=r"cannot be confined \(seccomp: .*KRMFN_CONFINE=off"):
                run_filtered("")


@filtered
def test_any_error_of_the_thread_that_starts_many_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise who has asked for a start waits for ever."""
    monkeypatch.setattr(seccomp, "restrict", _no_memory)
    with sandbox.many(), pytest.raises(MemoryError):
        run_filtered("")


def _no_memory() -> None:
    raise MemoryError


def _no_thread(*_: object) -> int:
    raise RuntimeError("no more")


@pytest.mark.parametrize(("machine", "name"), [("x86_64", "x86_64"), ("aarch64", "aarch64"), ("ppc64le", "")])
def test_another_architecture_has_no_filter_and_that_is_said(
    monkeypatch: pytest.MonkeyPatch, machine: str, name: str
) -> None:
    monkeypatch.setattr(os, "uname", lambda: os.uname_result(("Linux", "host", "6.18", "", machine)))
    monkeypatch.setattr(sys, "platform", "linux")
    assert seccomp.architecture() == name
    if not name:
        monkeypatch.setattr(landlock, "version", lambda: 7)
        assert not seccomp.is_available()
        assert sandbox.status() == (
            "confined by Landlock 7: files of the build and of the system, no TCP; not other sockets, modes, owners "
            "and times of files: no seccomp filter is made for ppc64le"
        )
        assert sandbox.gap() == "no seccomp filter is made for ppc64le"


@pytest.mark.parametrize(
    ("version", "is_filtered", "words"),
    [
        (7, True, "confined by Landlock 7 and seccomp: files of the build and of the system, no network, no other "
                  "process"),
        (3, True, "confined by Landlock 3 and seccomp: files of the build and of the system, no network, no other "
                  "process but by signals, for which Landlock 6 is needed"),
        (3, False, "confined by Landlock 3: files of the build and of the system; not sockets, modes, owners and times "
                   "of files: this kernel has no seccomp"),
        (0, True, "not confined: this kernel has no Landlock, but seccomp refuses the network and other processes"),
        (0, False, "not confined: this kernel has no Landlock"),
    ],
)  # fmt: skip
def test_what_holds_is_said(monkeypatch: pytest.MonkeyPatch, version: int, is_filtered: bool, words: str) -> None:
    monkeypatch.setattr(landlock, "version", lambda: version)
    monkeypatch.setattr(seccomp, "is_available", lambda: is_filtered)
    monkeypatch.setattr(seccomp, "architecture", lambda: "x86_64")
    monkeypatch.setattr(kernel, "is_off", lambda: False)
    assert sandbox.status() == words
    assert bool(sandbox.gap()) == (version == 0 or not is_filtered)
