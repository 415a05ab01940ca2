"""The sentences of the kernel and of modprobe about a kernel module that is not loaded, or not unloaded.

Sources: Linux 6.12 kernel/module/*.c, kernel/params.c, security/lockdown, drivers/base/firmware_loader, and errno's
names in include/uapi/asm-generic; kmod 33 tools/modprobe.c, tools/insmod.c, libkmod.
"""

from collections.abc import Iterable

from krmfn.typed import NamedTuple


class Word(NamedTuple):
    """What some sentences mean, and what to do."""

    signs: tuple[str, ...]
    """Parts of the sentences, in lower case."""
    sense: str
    remedy: str
    look: str = ""
    """What to run on the node to see more; "" where the Module says more than the node."""
    is_vague: bool = False
    """Whether any other sentence of the log says more."""


_OTHER_KERNEL = "build the image for the node's kernel, and look at the mapping that gives it"
_PARAMETER = (
    "the module refuses a parameter",
    "look at modprobe.parameters of the Module, and at dmesg on the node",
)
_SIGNED = "sign it with a key that is enrolled on the node (`sign` in the kernel mapping), or enroll the key"
WORDS = (
    Word(
        (
            *("key was rejected by service", "required key not available", "loading of unsigned module"),
            *("loading of module with un", "unsigned module loading is restricted"),
        ),
        "secure boot refuses the module: it is not signed with an enrolled key",
        _SIGNED,
    ),
    Word(("version magic",), "the module has the version magic of another kernel", _OTHER_KERNEL),
    Word(
        ("disagrees about version of symbol", "no symbol version for", "wrong symbol version"),
        "the module uses symbols of other versions: it is built for another kernel",
        _OTHER_KERNEL,
    ),
    Word(("invalid for parameter",), *_PARAMETER, "dmesg"),
    Word(
        ("unknown symbol",),
        "a module that it needs is not loaded, or another version of it is",
        "name that module in modprobe.modulesLoadingOrder; dmesg on the node names the symbol",
        "dmesg",
    ),
    Word(
        ("exec format error", "invalid module format", "invalid elf", "failed to validate module"),
        "the kernel cannot read the module: it is for another kernel or architecture",
        _OTHER_KERNEL,
    ),
    Word(
        ("firmware load for", "failed to load firmware", "failed to request firmware"),
        "the driver does not find its firmware",
        "look at modprobe.firmwarePath, and worker.firmwareHostPath in the operator's configuration",
        "dmesg",
    ),
    Word(
        ("file exists",),
        "the kernel has a module of this name already, of another Module or of its own tree",
        "look who loads it (lsmod on the node), or name it in inTreeModulesToRemove",
        "lsmod",
    ),
    Word(
        ("is in use", "resource temporarily unavailable"),
        "something on the node uses the module, so it cannot be unloaded",
        "stop the pods that use it; lsmod on the node says whether another module does",
        "lsmod",
    ),
    Word(
        ("device or resource busy",),
        "something on the node uses the module, or its device",
        "stop what uses it; lsmod on the node says which module does",
        "lsmod",
    ),
    Word(
        ("no such device",),
        "the driver finds no device on the node that it is for",
        "compare lspci on the node with the devices of this driver version, and the selector with both",
        "lspci",
    ),
    Word(
        ("not found in directory", "could not open moddep file", "could not find module"),
        "the image has no such module for this kernel",
        "look at dirName, moduleName and the image's folder lib/modules for the node's kernel",
    ),
    Word(
        ("no such file or directory",),
        "the image lacks a file",
        "look at dirName, firmwarePath and the folders of the image",
    ),
    Word(
        ("out of memory", "cannot allocate memory"),
        "the node has no memory left for the module",
        "look at the memory of the node, and at dmesg there",
        "dmesg",
    ),
    Word(("no space left on device",), "the node's disk is full", "free space on the node", "df"),
    Word(
        ("operation not permitted", "permission denied"),
        "something keeps the pod from loading modules: lockdown, SELinux, seccomp or a policy",
        "look at the node's audit log, and at worker.seLinuxType in the operator's configuration",
        "dmesg",
        True,
    ),
    Word(("invalid parameters", "invalid argument"), *_PARAMETER, "dmesg", True),
)
"""The sentences, those first that say more: a log has several about one failure."""


def word_of(text: str) -> Word | None:
    """Return what a text means by the first sentence that it has; None for one that is not known."""
    lower = text.lower()
    return next((word for word in WORDS if any(sign in lower for sign in word.signs)), None)


def meaning(text: str) -> str:
    """Return what a sentence of the kernel or of modprobe means; "" for one that is not known."""
    word = word_of(text)
    return word.sense if word else ""


def best(lines: Iterable[str]) -> tuple[str, Word] | None:
    """Return the line that says most, with what it means: of equal ones the last; None where nothing is known."""
    known = [(line, word) for line in lines if (word := word_of(line))]
    return min(reversed(known), key=lambda pair: WORDS.index(pair[1]), default=None)
