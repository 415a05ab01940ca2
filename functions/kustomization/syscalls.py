"""The system calls that a closed build is refused, with their numbers on both architectures.

The numbers are those of the kernel's tables, arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/
unistd.h (scripts/syscall.tbl since 6.11), Linux 6.18. A name has no number where an architecture does without it.
"""

from __future__ import annotations

import errno

from krmfn.typed import NamedTuple

LAST = 469
"""The last number of these tables. Whatever came later is not known, and answered as by an older kernel."""


class Argument(NamedTuple):
    """What an argument must be for a call to be refused: with one of `bits` in it, or equal to one of `values`."""

    position: int
    bits: int = 0
    values: tuple[int, ...] = ()


class Refused(NamedTuple):
    """A system call that is refused."""

    name: str
    x86_64: int | None
    aarch64: int | None
    argument: Argument | None = None
    """Of a call that is refused for some of its arguments only; their lower 32 bits count."""
    error: int = errno.EPERM


_NAMESPACES = 0x7E02_0000
"""The flags CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET (linux/sched.h)."""
_REQUESTS = (0x5412, 0x541C, 0x4008_6602, 0x401C_5820)
"""The requests TIOCSTI and TIOCLINUX (typing for a terminal), FS_IOC_SETFLAGS and FS_IOC_FSSETXATTR (file flags)."""

NETWORK = (
    Refused("socket", 41, 198),
    Refused("socketpair", 53, 199),  # through an end of one a datagram goes to any socket with a path
    Refused("connect", 42, 203),
    Refused("bind", 49, 200),
    Refused("listen", 50, 201),
    Refused("accept", 43, 202),
    Refused("accept4", 288, 242),
)

FILES = (  # what Landlock leaves alone, also of files that it lets nobody read
    Refused("chmod", 90, None),
    Refused("fchmod", 91, 52),
    Refused("fchmodat", 268, 53),
    Refused("fchmodat2", 452, 452),
    Refused("chown", 92, None),
    Refused("fchown", 93, 55),
    Refused("lchown", 94, None),
    Refused("fchownat", 260, 54),
    Refused("setxattr", 188, 5),
    Refused("lsetxattr", 189, 6),
    Refused("fsetxattr", 190, 7),
    Refused("setxattrat", 463, 463),
    Refused("getxattr", 191, 8),
    Refused("lgetxattr", 192, 9),
    Refused("fgetxattr", 193, 10),
    Refused("getxattrat", 464, 464),
    Refused("listxattr", 194, 11),
    Refused("llistxattr", 195, 12),
    Refused("flistxattr", 196, 13),
    Refused("listxattrat", 465, 465),
    Refused("removexattr", 197, 14),
    Refused("lremovexattr", 198, 15),
    Refused("fremovexattr", 199, 16),
    Refused("removexattrat", 466, 466),
    Refused("file_getattr", 468, 468),
    Refused("file_setattr", 469, 469),
    Refused("ioctl", 16, 29, Argument(1, values=_REQUESTS)),
    Refused("utime", 132, None),
    Refused("utimes", 235, None),
    Refused("futimesat", 261, None),
    Refused("utimensat", 280, 88),
    Refused("truncate", 76, 45),  # which Landlock bounds from version 3 on
    Refused("mknod", 133, None),
    Refused("mknodat", 259, 33),
    Refused("name_to_handle_at", 303, 264),
    Refused("open_by_handle_at", 304, 265),
    Refused("fanotify_init", 300, 262),
    Refused("fanotify_mark", 301, 263),
)

PROCESSES = (
    Refused("ptrace", 101, 117),
    Refused("process_vm_readv", 310, 270),
    Refused("process_vm_writev", 311, 271),
    Refused("process_madvise", 440, 440),
    Refused("process_mrelease", 448, 448),
    Refused("pidfd_getfd", 438, 438),
    Refused("kcmp", 312, 272),
    Refused("shmget", 29, 194),
    Refused("shmat", 30, 196),
    Refused("shmctl", 31, 195),
    Refused("msgget", 68, 186),
    Refused("msgsnd", 69, 189),
    Refused("msgrcv", 70, 188),
    Refused("msgctl", 71, 187),
    Refused("semget", 64, 190),
    Refused("semop", 65, 193),
    Refused("semtimedop", 220, 192),
    Refused("semctl", 66, 191),
    Refused("mq_open", 240, 180),
    Refused("mq_unlink", 241, 181),
)

NAMESPACES = (
    Refused("clone", 56, 220, Argument(0, bits=_NAMESPACES)),
    Refused("clone3", 435, 435, error=errno.ENOSYS),  # no filter sees its flags; the C library then calls clone
    Refused("unshare", 272, 97),
    Refused("setns", 308, 268),
    Refused("chroot", 161, 51),
    Refused("pivot_root", 155, 41),
    Refused("mount", 165, 40),
    Refused("umount2", 166, 39),
    Refused("open_tree", 428, 428),
    Refused("open_tree_attr", 467, 467),
    Refused("move_mount", 429, 429),
    Refused("mount_setattr", 442, 442),
    Refused("fsopen", 430, 430),
    Refused("fsconfig", 431, 431),
    Refused("fsmount", 432, 432),
    Refused("fspick", 433, 433),
)

KERNEL = (
    Refused("bpf", 321, 280),
    Refused("perf_event_open", 298, 241),
    Refused("userfaultfd", 323, 282),
    Refused("io_uring_setup", 425, 425),
    Refused("io_uring_enter", 426, 426),
    Refused("io_uring_register", 427, 427),
    Refused("add_key", 248, 217),
    Refused("request_key", 249, 218),
    Refused("keyctl", 250, 219),
    Refused("init_module", 175, 105),
    Refused("finit_module", 313, 273),
    Refused("delete_module", 176, 106),
    Refused("kexec_load", 246, 104),
    Refused("kexec_file_load", 320, 294),
    Refused("reboot", 169, 142),
    Refused("swapon", 167, 224),
    Refused("swapoff", 168, 225),
    Refused("acct", 163, 89),
    Refused("quotactl", 179, 60),
    Refused("quotactl_fd", 443, 443),
    Refused("syslog", 103, 116),
    Refused("sethostname", 170, 161),
    Refused("setdomainname", 171, 162),
    Refused("settimeofday", 164, 170),
    Refused("clock_settime", 227, 112),
    Refused("clock_adjtime", 305, 266),
    Refused("adjtimex", 159, 171),
    Refused("iopl", 172, None),
    Refused("ioperm", 173, None),
    Refused("vhangup", 153, 58),
)

REFUSED = (*NETWORK, *FILES, *PROCESSES, *NAMESPACES, *KERNEL)
