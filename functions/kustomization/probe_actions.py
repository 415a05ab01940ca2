"""Try in a confined child what a program in kustomize's place must not do, and print what was not refused.

Each action is harmless where it is not refused: it concerns a file made for it, or asks for what cannot be. A system
call that Python's library does not have gets arguments that no kernel takes, and is refused if its error says so.
"""

from __future__ import annotations

import errno
import json
import os
import socket
import sys
from collections.abc import Callable, Mapping

from krmfn.typed import Any, NamedTuple

from . import kernel, seccomp
from .syscalls import REFUSED

_REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.EXDEV)
"""The errors of what is refused; the last one is Landlock's for a link or a move out of a folder."""


class Outcome(NamedTuple):
    """What came of the actions."""

    tried: int
    """How many there are."""
    allowed: list[str]
    """The names of those that were not refused."""


class Targets(NamedTuple):
    """What a child may not reach, made for it by `probe`."""

    outside: str
    """A folder that is not the build's, with the files `file` and `program` and the empty folder `empty`."""
    inside: str
    """A folder in which it may write, with the file `file`."""
    port: int
    """A TCP port of this machine at which a server listens."""
    path: str
    """The path of a socket at which a server listens."""
    abstract: str
    """The abstract name of another one."""
    process: int
    """The process that has started the child."""


def _listens(family: int, address: Any) -> None:
    with socket.socket(family, socket.SOCK_STREAM) as client:
        client.settimeout(5)
        client.connect(address)


def _runs(path: str) -> None:
    os.waitpid(os.posix_spawn(path, [path], {}), 0)


def _reads(path: str) -> None:
    with open(path, "rb") as file:
        file.read(1)


FILES: Mapping[str, Callable[[Targets], object]] = {
    "read a file": lambda to: _reads(f"{to.outside}/file"),
    "list a folder": lambda to: os.listdir(to.outside),
    "open a file to write": lambda to: os.close(os.open(f"{to.outside}/file", os.O_WRONLY)),
    "make a file": lambda to: os.close(os.open(f"{to.outside}/new", os.O_CREAT | os.O_WRONLY)),
    "make a folder": lambda to: os.mkdir(f"{to.outside}/folder"),
    "make a pipe": lambda to: os.mkfifo(f"{to.outside}/pipe"),
    "make a link": lambda to: os.symlink("file", f"{to.outside}/link"),
    "link to a file": lambda to: os.link(f"{to.outside}/file", f"{to.inside}/link"),
    "move a file": lambda to: os.rename(f"{to.outside}/file", f"{to.inside}/moved"),
    "remove a file": lambda to: os.unlink(f"{to.outside}/file"),
    "remove a folder": lambda to: os.rmdir(f"{to.outside}/empty"),
    "cut a file": lambda to: os.truncate(f"{to.outside}/file", 0),
    "run a program": lambda to: _runs(f"{to.outside}/program"),
    "read krmfn's environment": lambda to: _reads(f"/proc/{to.process}/environ"),
    "read krmfn's memory map": lambda to: _reads(f"/proc/{to.process}/maps"),
    "change a mode": lambda to: os.chmod(f"{to.outside}/file", 0o600),
    "change a mode in the build": lambda to: os.chmod(f"{to.inside}/file", 0o600),
    "change an owner": lambda to: os.chown(f"{to.outside}/file", -1, -1),
    "change a link's owner": lambda to: os.lchown(f"{to.outside}/file", -1, -1),
    "change times": lambda to: os.utime(f"{to.outside}/file", (0, 0)),
    "set an attribute": lambda to: os.setxattr(f"{to.outside}/file", "user.krmfn", b""),
    "read an attribute": lambda to: os.getxattr(f"{to.outside}/file", "user.krmfn"),
    "list attributes": lambda to: os.listxattr(f"{to.outside}/file"),
    "remove an attribute": lambda to: os.removexattr(f"{to.outside}/file", "user.krmfn"),
    "make a device": lambda to: os.mknod(f"{to.inside}/device", 0o020600, os.makedev(1, 3)),
}
"""What is done to files outside of the build, and to none of anybody's in it."""

OTHERS: Mapping[str, Callable[[Targets], object]] = {
    "connect by TCP": lambda to: _listens(socket.AF_INET, ("127.0.0.1", to.port)),
    "connect to a socket's path": lambda to: _listens(socket.AF_UNIX, to.path),
    "connect to an abstract socket": lambda to: _listens(socket.AF_UNIX, f"\0{to.abstract}"),
    "open a UDP socket": lambda to: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close(),
    "open a netlink socket": lambda to: socket.socket(16, socket.SOCK_RAW).close(),  # AF_NETLINK
    "open a pair of sockets": lambda to: socket.socketpair(),
    "signal krmfn": lambda to: os.kill(to.process, 0),
}
"""What is done to the network and to other processes."""

CALLS: Mapping[str, tuple[int | None, ...]] = {
    "connect": (-1,),
    "bind": (-1,),
    "listen": (-1,),
    "accept4": (-1,),
    "fchmodat2": (-1, None, 0, -1),
    "fchown": (-1, -1, -1),
    "setxattrat": (-1, None, -1),
    "file_setattr": (-1, None, None, 0, -1),
    "ioctl": (-1, 0x4008_6602),
    "utimensat": (-1, None, None, -1),
    "name_to_handle_at": (-1, None, None, None, -1),
    "open_by_handle_at": (-1, None, 0),
    "fanotify_init": (-1, -1),
    "ptrace": (-1, -1),
    "process_vm_readv": (-1, None, -1, None, -1, -1),
    "process_vm_writev": (-1, None, -1, None, -1, -1),
    "process_madvise": (-1, None, 0, -1, -1),
    "pidfd_getfd": (-1, -1, -1),
    "kcmp": (-1, -1, -1),
    "shmget": (0x6B72_6D66, 1, 0),
    "msgget": (0x6B72_6D66, 0),
    "semget": (0x6B72_6D66, 1, 0),
    "mq_open": (None, 0),
    "clone": (0x1002_0200, 0),  # a new namespace of users with the folders of this process: no kernel takes both
    "clone3": (None, 0),
    "unshare": (1,),
    "setns": (-1, 0),
    "chroot": (None,),
    "pivot_root": (None, None),
    "mount": (None, None, None, 0, None),
    "umount2": (None, -1),
    "open_tree": (-1, None, -1),
    "move_mount": (-1, None, -1, None, -1),
    "mount_setattr": (-1, None, -1, None, 0),
    "fsopen": (None, -1),
    "bpf": (-1, None, 0),
    "perf_event_open": (None, -1, -1, -1, -1),
    "userfaultfd": (-1,),
    "io_uring_setup": (0, None),
    "io_uring_enter": (-1,),
    "add_key": (None, None, None, -1, 0),
    "keyctl": (-1,),
    "init_module": (None, 0, None),
    "finit_module": (-1, None, -1),
    "kexec_load": (0, -1, None, 0x8000),
    "reboot": (0, 0, 0, None),
    "swapon": (None, -1),
    "acct": (1,),
    "quotactl_fd": (-1, -1, 0, None),
    "syslog": (-1, None, 0),
    "sethostname": (None, -1),
    "clock_settime": (-1, None),
}
"""System calls by name, with arguments that make none of them do anything."""


def main() -> None:
    """Try every action against the Targets in the first argument, as JSON, and write an Outcome as JSON to stdout."""
    targets = Targets(**json.loads(sys.argv[1]))
    actions = {**FILES, **OTHERS}
    numbers = _numbers()
    allowed = [name for name, action in actions.items() if not _is_refused(action, targets)]
    allowed += [name for name, args in CALLS.items() if not _is_call_refused(numbers.get(name), args)]
    sys.stdout.write(json.dumps(Outcome(len(actions) + len(CALLS), allowed)._asdict()))


def _is_refused(action: Callable[[Targets], object], targets: Targets) -> bool:
    try:
        action(targets)
    except OSError as failure:
        return failure.errno in _REFUSALS
    return False


def _is_call_refused(number: int | None, args: tuple[int | None, ...]) -> bool:
    """Return whether a call is refused; not, where its number is not known."""
    return number is not None and kernel.call(number, *args) < 0 and kernel.errno() in _REFUSALS


def _numbers() -> dict[str, int]:
    """Return the numbers of this architecture's calls, by name; none for an architecture without a table."""
    name = seccomp.architecture()
    numbers = {call.name: call.x86_64 if name == "x86_64" else call.aarch64 for call in REFUSED if name}
    return {name: number for name, number in numbers.items() if number is not None}
